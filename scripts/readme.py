"""Writes the generated parts of README.md: the tasks, and the benchmarks from docs/benchmarks.json.

That file is what ``scripts/compare --json docs/benchmarks.json`` writes. With --check, it only tells whether
README.md is up to date.
"""

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from envpool.registration import registry

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
BENCHMARKS = ROOT / "docs" / "benchmarks.json"


def table(headers: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a Markdown table."""
    lines = [list(headers)]
    lines += [["---"] * len(lines[0]), *map(list, rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def tasks() -> str:
    """Return the table of the tasks of this package, one row for a kind of environment."""
    kinds: dict[tuple[str, str], list[str]] = {}
    for name, task in registry.tasks.items():
        package, *inner = task.import_path.split(".")
        if package == "envpool":
            limit = task.config.get("max_episode_steps")
            shown = f"`{name}`" + (f" ({limit})" if limit else "")
            kinds.setdefault((".".join(inner[:-1]), task.env or ""), []).append(shown)
    rows = ([family, env, ", ".join(names)] for (family, env), names in kinds.items())
    return table(("family", "environment", "task ids"), rows)


def benchmarks(report: dict[str, Any]) -> str:
    """Return the table of a comparison with EnvPool, and the machine it was made on."""
    machine = report["machine"]
    rows = (
        [
            row["cell"],
            str(row["num_threads"]),
            rate(row.get("steps_per_second")),
            rate(row.get("peer_steps_per_second")),
            "" if row.get("ratio") is None else f"{row['ratio']:.1f}",
        ]
        for row in report["rows"]
    )
    head = ("task / envs / batch", "threads", "envpool, steps/s", f"{machine['peer']}, steps/s", "ratio")
    about = (
        f"Measured with `{report['command']}` on {machine['cores_available']} cores of a {machine['cpu']}, "
        f"{machine['system']}, {machine['python']}, NumPy {machine['numpy']}:"
    )
    return f"{about}\n\n{table(head, rows)}"


def rate(steps_per_second: float | None) -> str:
    """Return a rate in millions with two decimals below ten and one above."""
    if steps_per_second is None:
        return ""
    millions = steps_per_second / 1e6
    return f"{millions:.2f} M" if millions < 10 else f"{millions:.1f} M"


def replace(text: str, name: str, content: str) -> str:
    """Return the text with what stands between the two marks of a part replaced."""
    begin = text.index("\n", text.index(f"<!-- {name}: begin")) + 1
    end = text.index(f"<!-- {name}: end -->")
    return text[:begin] + content + "\n" + text[end:]


def render(text: str) -> str:
    """Return README.md's text with its generated parts up to date."""
    text = replace(text, "tasks", tasks())
    if BENCHMARKS.exists():
        text = replace(text, "benchmarks", benchmarks(json.loads(BENCHMARKS.read_text())))
    return text


if __name__ == "__main__":
    old = README.read_text()
    new = render(old)
    if "--check" not in sys.argv:
        README.write_text(new)
    elif new != old:
        raise SystemExit("README.md is out of date: run python scripts/readme.py")
