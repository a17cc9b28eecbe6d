"""Links those extensions of this family that call libmujoco with the library of the ``mujoco`` package.

The file name of the library includes its version, so an extension cannot be loaded with another version. At run time
``envpool.mujoco.base`` loads the library from wherever the package is installed; the rpath covers the usual layout, in
which both packages stand side by side.
"""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

from native_build import Build, Unavailable, package_folder

HERE = Path(__file__).parent


def needed_version() -> str:
    """Return ``envpool.mujoco.base.MUJOCO_VERSION``, read from the source since the package may not be built yet."""
    for node in ast.parse((HERE / "base" / "__init__.py").read_text()).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "MUJOCO_VERSION":
            return str(ast.literal_eval(node.value))
    raise AssertionError("envpool/mujoco/base/__init__.py does not define MUJOCO_VERSION")


def configure(extension: Any, build: Build) -> None:
    """Add MuJoCo's headers and library to an extension."""
    version = needed_version()
    folder = package_folder("mujoco")
    library = f"libmujoco.so.{version}"
    if folder is None or not (folder / library).exists():
        got = f"{folder} holds {[p.name for p in folder.glob('libmujoco*')]}" if folder else "it is not installed"
        raise Unavailable(f"building needs mujoco {version}, but {got}; run: pip install mujoco=={version}")
    depth = len(Path(extension.name.replace(".", "/")).parents) - 1
    if build.profile == "release":
        # libmujoco does the simulation: -O3 for the code around it would take half as long again to compile, and would
        # not make steps faster.
        extension.extra_compile_args.append("-O1")
    extension.include_dirs += [str(folder / "include"), str(HERE / "base")]
    extension.extra_link_args += [
        f"-L{folder}",
        "-Wl,--as-needed,--enable-new-dtags",
        f"-l:{library}",
        f"-Wl,-rpath,$ORIGIN/{'../' * depth}mujoco",
    ]
