"""Links those extensions of this family that call libmujoco with the library of the ``mujoco`` package.

ENVPOOL_MUJOCO=3.14.0 selects a version from 3.3 on; by default, the installed one is used. The file name of the library
includes its version, so an extension cannot be loaded with another version. At run time
``envpool.mujoco.base`` loads the library from wherever the package is installed; the rpath covers the usual layout, in
which both packages stand side by side.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Any

from native_build import LIGHTLY, Build, Unavailable, is_for_another_processor, lock_for, package_folder, run

HERE = Path(__file__).parent
LIBRARY = "libmujoco.so."
SUPPORTED = re.compile(r"3\.([3-9]|[1-9]\d+)\.\d+")


def wanted_version() -> str:
    """Return the version of MuJoCo to build for: that in ENVPOOL_MUJOCO, or else the installed one."""
    if asked := os.environ.get("ENVPOOL_MUJOCO"):
        if not SUPPORTED.fullmatch(asked):
            raise SystemExit(
                f"ENVPOOL_MUJOCO must be a version from 3.3.0 on and below 4, such as 3.17.0, got {asked!r}"
            )
        return asked
    version = version_in(package_folder("mujoco"))
    if not SUPPORTED.fullmatch(version):
        got = f"mujoco {version} is installed" if version else "mujoco is not installed"
        raise Unavailable(f"the build needs mujoco from 3.3.0 on and below 4, but {got}; set ENVPOOL_MUJOCO=3.17.0")
    return version


def version_in(folder: Path | None) -> str:
    """Return the version of the library in the folder of a package mujoco; an empty text if there is none."""
    libraries = sorted(folder.glob(f"{LIBRARY}*")) if folder else []
    return libraries[-1].name.removeprefix(LIBRARY) if libraries else ""


def folder_of(version: str) -> Path:
    """Return the folder of a package mujoco of this version: the installed one, or else one that pip downloads."""
    folder = package_folder("mujoco")
    if folder is not None and (folder / f"{LIBRARY}{version}").exists():
        return folder
    target = Path("build/mujoco").absolute() / version
    with lock_for(str(target)):
        if version_in(target / "mujoco") != version:
            if is_for_another_processor():
                raise Unavailable(f"ENVPOOL_MUJOCO={version}, but {folder} holds {version_in(folder) or 'no library'}")
            command = [sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-deps"]
            run([*command, "--upgrade", "--target", str(target), f"mujoco=={version}"])
    return target / "mujoco"


def mark_of(version: str, build: Build) -> Path:
    """Return a file that is newer than all products of a build for another version."""
    mark = build.folder / "mujoco.txt"
    with lock_for(str(mark)):
        if not mark.exists() or mark.read_text() != version:
            mark.parent.mkdir(parents=True, exist_ok=True)
            mark.write_text(version)
    return mark


def pins() -> dict[str, str]:
    """Return the version of each package that the built package requires exactly."""
    try:
        return {"mujoco": wanted_version()}
    except Unavailable:
        return {}


def configure(extension: Any, build: Build) -> None:
    """Add MuJoCo's headers and library to an extension."""
    version = wanted_version()
    folder = folder_of(version)
    extension.depends.append(str(mark_of(version, build)))
    depth = len(Path(extension.name.replace(".", "/")).parents) - 1
    if build.profile == "release":
        # libmujoco does the simulation: -O3 for the code around it would not make steps faster.
        extension.extra_compile_args += LIGHTLY
    extension.include_dirs += [str(folder / "include"), str(HERE / "base")]
    extension.extra_link_args += [
        f"-L{folder}",
        "-Wl,--as-needed,--enable-new-dtags",
        f"-l:{LIBRARY}{version}",
        f"-Wl,-rpath,$ORIGIN/{'../' * depth}mujoco",
    ]
