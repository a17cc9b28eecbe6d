"""The checks of ``envpool doctor`` for the OpenGL libraries that render MuJoCo tasks."""

from __future__ import annotations

import os

from envpool._support.diagnosis import NOTE, OK, PROBLEM, Finding, run_python

TITLE = "OpenGL"
LOAD = "import sys; from envpool.mujoco.base.opengl import load; print(load(sys.argv[1]) or '')"
REQUIRE = "from envpool.mujoco.base.opengl import require_gl; require_gl()"


def findings() -> list[Finding]:
    """Return which libraries can be used, and whether rendering works with the present MUJOCO_GL.

    A process loads one library only, so each is loaded in a process of its own.
    """
    try:
        from envpool.mujoco.base.opengl import CHOICES
    except ImportError as error:
        return [Finding("MuJoCo", "not available", NOTE, " ".join(str(error).split()))]
    found = [back_end(kind) for kind in CHOICES]
    succeeded, text = run_python(REQUIRE)
    chosen = f"MUJOCO_GL={os.environ['MUJOCO_GL']}" if "MUJOCO_GL" in os.environ else "MUJOCO_GL is not set"
    if succeeded:
        return [*found, Finding("frames", f"can be rendered ({chosen})")]
    works = [finding.name for finding in found if finding.state == OK]
    remedy = f"export MUJOCO_GL={works[0]}" if works else text.partition(": ")[2]
    return [*found, Finding("frames", f"cannot be rendered ({chosen})", NOTE, remedy)]


def back_end(kind: str) -> Finding:
    """Return whether an OpenGL library can be used."""
    succeeded, text = run_python(LOAD, kind)
    reason = text.strip()
    if not succeeded:
        return Finding(kind, reason, PROBLEM, "reinstall the library, or choose another one with MUJOCO_GL")
    return Finding(kind, "works") if not reason else Finding(kind, reason, NOTE)
