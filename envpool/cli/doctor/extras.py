"""Which extras are installed, and whether their packages work."""

from __future__ import annotations

from collections.abc import Sequence

from envpool._support.diagnosis import NOTE, PROBLEM, Finding
from envpool._support.packages import install
from envpool._support.requirements import Requirement, requirements
from envpool._support.window import check_windows, opencv_problem
from envpool.cli.doctor.imports import import_errors

TITLE = "extras"


def findings() -> list[Finding]:
    """Return which extras are installed, and whether their packages can be imported."""
    found = {name: rows for name, rows in requirements().items() if name}
    distinct = list({r.name: r for rows in found.values() for r in rows}.values())
    errors = dict(zip((r.name for r in distinct), import_errors(distinct), strict=True))
    return [*(extra(name, rows, errors) for name, rows in found.items()), windows()]


def extra(name: str, required: Sequence[Requirement], errors: dict[str, str]) -> Finding:
    """Return the finding about an extra; it is a problem if an installed package cannot be imported."""
    remedy = install(name)
    present = {r: version for r in required if (version := r.installed())}
    missing = [str(r) for r in required if r not in present]
    broken = [r for r in present if errors[r.name]]
    others = [f"{r.name} {version}, where {r} is required" for r, version in present.items() if not r.allows(version)]
    if broken:
        text = "; ".join(f"{r.name} {present[r]} cannot be imported: {errors[r.name]}" for r in broken)
        return Finding(name, text, PROBLEM, "pip install --force-reinstall " + " ".join(f"'{r}'" for r in broken))
    if not present:
        return Finding(name, "not installed", NOTE, remedy)
    if others:
        return Finding(name, "; ".join(others), NOTE, remedy)
    if missing:
        return Finding(name, f"incomplete, without {', '.join(missing)}", NOTE, remedy)
    return Finding(name, ", ".join(f"{r.name} {version}" for r, version in present.items()))


def windows() -> Finding:
    """Return whether frames can be shown in windows, as far as the installed libraries are concerned."""
    try:
        check_windows()
    except ImportError as error:
        return Finding("windows", "render_mode='human' is not available", NOTE, str(error))
    return Finding("windows", f"{'pygame' if opencv_problem() else 'OpenCV'} can show them")
