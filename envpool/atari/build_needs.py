"""The sources of the Atari extension: ALE's C++ code, from the pinned sdist of ale-py.

ALE is free software under the GPL, version 2, and so is an extension that contains it.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from pathlib import Path

from native_build import (
    LIGHTLY,
    Build,
    compiler,
    fetch_sdist,
    lock_for,
    merged,
    numpy_headers,
    profiled_library,
    run,
    static_library,
)
from setuptools import Extension

VERSION = "0.12.1"
SHA256 = "c503d574c5983e1063b451201ccb779d935919c0f6bf116fb0f4f8aa4c86d249"
HERE, RASTER = Path("envpool/atari"), Path("envpool/raster")  # setup.py runs in the root of the tree

#: Flags of ALE's C++ code in every profile: its assertions would end the process, so they always stay off.
#: The code that runs in every frame is in core/. ALE's starts games and reads scores: -O2 saves 0.3 % over -O1 there.
FLAGS = ["-std=c++17", *LIGHTLY, "-g0", "-DNDEBUG", "-fvisibility=hidden", "-ffp-contract=off", "-w"]

#: Files that cannot be merged with others of their folder: they include NullDev.hxx, which cannot be included twice.
APART = {"emucore/NullDev.cxx"}

#: The only header that ALE's own build generates.
VERSION_HEADER = f'#define ALE_VERSION "{VERSION}"\n#define ALE_VERSION_GIT_SHA ""\n'

#: Games of the training run: with and without bank switching, paddles and joysticks, all kinds of screens.
TRAINING_GAMES = ("breakout", "montezuma_revenge", "ms_pacman", "pong", "robotank", "seaquest", "space_invaders")


def configure(extension: Extension, build: Build) -> None:
    """Add the image code to the extensions of this folder, and ALE to the extension with the environment."""
    flags = [*build.flags, "-std=c++17", "-Iinclude"]
    for name, folder in (("atari_screen", HERE), ("resizing", RASTER)):
        sources, headers = files_of(folder)
        extension.extra_objects.append(str(static_library(build, name, sources, [], flags, headers)))
    extension.extra_compile_args.append("-std=c++17")
    if extension.name.endswith(".env"):
        add_ale(extension, build)


def files_of(folder: Path) -> tuple[list[Path], list[Path]]:
    """Return the C++ files of a folder, and the headers that they may include."""
    headers = [*folder.glob("*.h"), HERE / "emulator.h", *Path("include/envpool").glob("*.h")]
    return sorted(folder.glob("*.cpp")), headers


def add_ale(extension: Extension, build: Build) -> None:
    """Add ALE, the faster core that replaces parts of it, and zlib, with which ALE reads ROMs."""
    library, quiet, roms = ale_library(build)
    if build.is_profiled:
        core = profiled_core(build, quiet, library, roms)
        extension.extra_objects += linked(core, library)
    else:
        extension.sources += map(str, files_of(HERE / "core")[0])
        extension.extra_objects.append(str(library))
    extension.extra_compile_args += quiet
    extension.libraries.append("z")


def ale_source() -> Path:
    """Return the folder of the pinned sdist of ale-py."""
    return fetch_sdist(
        f"ale-py=={VERSION}", SHA256, "--no-build-isolation", python_path=make_backend(Path("build/ale_backend"))
    )


def ale_library(build: Build) -> tuple[Path, list[str], Path]:
    """Return ALE's library without the parts that core/ replaces, the flags that find its headers, and its ROMs."""
    source = ale_source()
    generated = [
        make_header(build.folder / "ale_headers/version.hpp", VERSION_HEADER),
        make_header(build.folder / "ale_headers/ale/emucore/DefProps.hxx", properties_of_games(source / "src/ale")),
    ]
    # The first folder that has a header is used: the generated DefProps.hxx takes the place of ALE's.
    includes = [build.folder / "ale_headers", source / "src", source / "src/ale"]
    sources = ale_sources(source / "src/ale", build.folder / "ale")
    library = static_library(build, "ale", sources, includes, FLAGS, generated)
    return library, [f"-isystem{path}" for path in includes], source / "src/ale/python/roms"


def profiled_core(build: Build, includes: list[str], ale: Path, roms: Path) -> Path:
    """Compile core/ with the profile of a training run, which plays a few games with the ROMs of the sdist."""

    def train(core: Path, flags: Sequence[str]) -> None:
        play(core, ale, flags, [roms / f"{game}.bin" for game in TRAINING_GAMES])

    sources, headers = files_of(HERE / "core")
    return profiled_library(build, "atari_core", sources, [], core_flags(build, includes), headers, train)


def core_flags(build: Build, includes: Sequence[str]) -> list[str]:
    """Return the compiler flags of core/."""
    return [*build.flags, "-std=c++17", f"-I{HERE}", "-Iinclude", f"-I{numpy_headers()}", *includes]


def play(core: Path, ale: Path, flags: Sequence[str], roms: Sequence[Path]) -> None:
    """Play games with the program in training/, which is linked with a library of core/."""
    program = core.with_name("train")
    run([*compiler(), *flags, str(HERE / "training/train.cpp"), *linked(core, ale), "-lz", "-o", str(program)])
    run([str(program.absolute()), *map(str, roms)])


def linked(core: Path, ale: Path) -> list[str]:
    """Return two libraries that depend on each other for a linker, which reads each occurrence of a library once."""
    return [str(core), str(ale)] * 2


def ale_sources(ale: Path, folder: Path) -> list[Path]:
    """Return the source files of the emulator and its RL environment, except the files that core/ replaces.

    The files of a folder are merged into one, which is written to `folder`.
    """
    apart = {Path(name).name for name in APART}
    replaced = {path.stem for path in (HERE / "core").glob("*.cpp")}
    sources = [ale / name for name in sorted(APART)]
    for part in ("common", "emucore", "environment", "games", "games/supported"):
        files = sorted(p for p in (ale / part).glob("*.c*") if p.suffix in (".cpp", ".cxx"))
        files = [p for p in files if p.name not in apart and p.stem.lower() not in replaced]
        sources.append(merged(folder / f"{part.replace('/', '-')}.cpp", files))
    return sources


def properties_of_games(ale: Path) -> str:
    """Return ALE's header of ROM properties without the ROMs that belong to no game of ALE.

    Such a ROM cannot be loaded. The whole header would be two thirds of the extension: 2676 rows of 21 pointers, all
    of them relocated by the dynamic loader.
    """
    games = "".join(path.read_text() for path in sorted((ale / "games/supported").glob("*.hpp")))
    md5s = set(re.findall(r'md5\(\) const override \{ return "([0-9a-f]{32})"; \}', games))
    head, *rows = (ale / "emucore/DefProps.hxx").read_text().split("\n  { ")
    last, tail = rows[-1].split("\n", 1)
    rows = [row for row in (*rows[:-1], last) if row[1:33] in md5s]
    assert len(md5s) == 104 and len(rows) == 103, (len(md5s), len(rows))  # Road Runner has the defaults
    head = re.sub(r"(?m)^(#define DEF_PROPS_SIZE) \d+$", rf"\1 {len(rows)}", head)
    return "\n  { ".join((head, *rows)) + "\n" + tail


def make_header(path: Path, text: str) -> Path:
    """Write a generated header unless it is up to date, and return its path."""
    with lock_for(str(path)):
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text() != text:
            path.write_text(text)
    return path


def make_backend(folder: Path) -> Path:
    """Write a substitute for the build backend that the sdist names, and return the folder for the Python path.

    pip asks the backend for name and version before it downloads the sdist. The real backend would first have to be
    installed with all its build requirements.
    """
    text = textwrap.dedent(f"""\
        from pathlib import Path

        def get_requires_for_build_wheel(config_settings=None):
            return []

        def prepare_metadata_for_build_wheel(folder, config_settings=None):
            info = Path(folder) / "ale_py-{VERSION}.dist-info"
            info.mkdir()
            (info / "METADATA").write_text("Metadata-Version: 2.1\\nName: ale-py\\nVersion: {VERSION}\\n")
            return info.name
        """)
    package = folder / "scikit_build_core"
    with lock_for("ale backend"):
        package.mkdir(parents=True, exist_ok=True)
        (package / "__init__.py").touch()
        (package / "build.py").write_text(text)
    return folder
