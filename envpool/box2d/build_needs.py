"""Box2D for the extensions of this folder: the C++ sources in pybox2d's distribution, which gymnasium uses as well.

The original Box2D has different constants and produces different trajectories.
"""

from __future__ import annotations

import re
import shutil
import sysconfig
from pathlib import Path
from typing import Any

from native_build import Build, fetch_sdist, lock_for, merged, static_library

SDIST = "box2d-py==2.3.8"
SHA256 = "bdacfbbc56079bb317548efe49d3d5a86646885cc27f4a2ee97e4b2960921ab7"
OWN = Path("envpool/box2d/src").absolute()

#: Files that src/ replaces.
REPLACED = ("b2Settings.cpp", "b2Timer.cpp")

#: Statistics counters of algorithms. They are global, so that threads would contend for them: they are removed.
COUNTERS = r"(?m)^.*\bb2_(gjk|toi)(Max)?(Root)?(Calls|Iters|Time)\b.*\n"

#: Headers whose classes befriend the class of src/world_step.h, which does the work of b2World::Step.
STEPPED = ("b2World", "b2Body", "Contacts/b2Contact", "Joints/b2Joint", "Joints/b2RevoluteJoint")
FRIENDS = r"(?s)(\t)(friend class )(.*)"

#: Headers whose classes befriend the class of src/world_image.h, which saves and restores worlds.
SAVED = (*(f"Dynamics/{name}" for name in (*STEPPED, "b2Fixture")), "Collision/b2BroadPhase")

#: The passes over the contacts of an impact, which src/settle.cc does instead.
PASSES = (
    r"for \(int32 i = 0; i < subStep\.velocityIterations; \+\+i\)\s*"
    r"\{\s*contactSolver\.SolveVelocityConstraints\(\);\s*\}"
)

#: Changes to the sources: file, pattern, replacement, and the number of occurrences.
CHANGES = [
    ("Dynamics/b2Island.cpp", PASSES, "settle_contacts(&contactSolver, m_bodyCount, subStep.velocityIterations);", 1),
    ("Dynamics/b2Island.cpp", "#include <Box2D/Dynamics/b2Island.h>", r'#include "settle.h"\n\g<0>', 1),
    ("Collision/b2Distance.cpp", COUNTERS, "", 4),
    ("Collision/b2TimeOfImpact.cpp", COUNTERS, "", 10),
    *((f"Dynamics/{name}.h", FRIENDS, r"\1\2Stepper;\n\1\2\3", 1) for name in STEPPED),
    *((f"{name}.h", FRIENDS, r"\1\2WorldImage;\n\1\2\3", 1) for name in SAVED),
    ("Collision/b2DynamicTree.h", "private:", r"\g<0>\n\tfriend class WorldImage;", 1),
]


def box2d_source(build: Build) -> Path:
    """Return a folder whose subfolder Box2D contains the changed sources."""
    target = (build.folder / "box2d-source").absolute()
    with lock_for(str(target)):
        if target.exists() and target.stat().st_mtime > Path(__file__).stat().st_mtime:
            return target
        part = target.with_suffix(".part")
        for old in (part, target):
            shutil.rmtree(old, ignore_errors=True)
        shutil.copytree(fetch_sdist(SDIST, SHA256) / "Box2D", part / "Box2D")
        for name, pattern, replacement, times in CHANGES:
            file = part / "Box2D" / name
            text, found = re.subn(pattern, replacement, file.read_text())
            assert found == times, f"{name} has {found} occurrences of {pattern!r}, expected {times}"
            file.write_text(text)
        part.rename(target)
        return target


def configure(extension: Any, build: Build) -> None:
    """Add the headers and the library of Box2D to an extension."""
    source = box2d_source(build)
    includes = [source, OWN, Path(sysconfig.get_path("include"))]
    theirs = [f for f in sorted(source.rglob("*.cpp")) if f.name not in REPLACED]
    files = [merged(source / "all.cc", theirs), *sorted(OWN.glob("*.cc"))]
    flags = (*build.flags, "-w", "-include", "box2d_asserts.h")
    library = static_library(build, "box2d", files, includes, flags, [Path(__file__), *OWN.glob("*.h")])
    extension.include_dirs += map(str, includes)
    extension.extra_compile_args += ["-include", "box2d_asserts.h", "-Wno-unused-variable", "-Wno-class-memaccess"]
    extension.extra_objects.append(str(library))
