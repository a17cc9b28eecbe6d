"""Tools for the build_needs.py of a family: pinned source distributions, and static libraries built from them.

A family's folder has a ``build_needs.py`` if its extensions need more than NumPy and libm. Before setup.py compiles an
extension of that folder or of a subfolder, it calls ``configure(extension, build)`` of that file, which adds include
folders, sources, libraries and flags. If a requirement is missing, ``configure`` raises `Unavailable`: the extension is
left out, and the rest of the package is built.
"""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import Any

#: Flags for code that no step runs, or whose steps spend their time elsewhere. Against -O1, they spare the compiler a
#: third of its time; without the last two, the code would be larger.
LIGHTLY = ("-Og", "-finline-functions-called-once", "-fmove-loop-invariants")


class Unavailable(Exception):
    """A build requirement of an extension is missing on this machine; the message names it and says what to do."""


@dataclass(frozen=True)
class Build:
    """The settings of the current build.

    Attributes
    ----------
    profile : str
        The build profile, a key of PROFILES in setup.py.
    folder : Path
        The folder of all build products. Each profile has its own.
    flags : tuple of str
        The compiler flags of all extensions, without those that single files ask for.
    is_profiled : bool
        If True, libraries that have a training run are compiled with the profile of that run.
    is_portable : bool
        If True, only system calls are used that macOS has as well.
    """

    profile: str
    folder: Path
    flags: tuple[str, ...]
    is_profiled: bool
    is_portable: bool = False


def usable_cpus() -> int:
    """Return the number of CPUs that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


#: setup.py builds extensions in several threads. A lock by name makes sure that shared files are built once.
_locks: dict[str, threading.Lock] = {}
_locks_guard = threading.Lock()


def lock_for(name: str) -> threading.Lock:
    """Return the lock of a file or folder that several extensions share."""
    with _locks_guard:
        return _locks.setdefault(name, threading.Lock())


def needs_linux(build: Build, name: str) -> None:
    """Raise Unavailable in a portable build: what `name` simulates cannot do without system calls of Linux."""
    if build.is_portable:
        raise Unavailable(f"{name} uses system calls of Linux, which a portable build does without")


def is_for_another_processor() -> bool:
    """Return whether this is a cross build: ENVPOOL_TARGET_PACKAGES names the folder of the target's packages."""
    return bool(os.environ.get("ENVPOOL_TARGET_PACKAGES"))


def package_folder(name: str) -> Path | None:
    """Return the folder of an installed package whose headers and libraries are used, or None.

    A cross build uses packages that the running Python cannot import.
    """
    if is_for_another_processor():
        folder = Path(os.environ["ENVPOOL_TARGET_PACKAGES"]) / name
        return folder if folder.is_dir() else None
    found = find_spec(name)
    return Path(next(iter(found.submodule_search_locations or [""]))) if found else None


def numpy_headers() -> str:
    """Return the folder of NumPy's headers."""
    folder = package_folder("numpy")
    assert folder is not None, "the build system requires numpy"
    return str(folder / "_core/include")


def run(command: Sequence[str | Path], **env: str) -> None:
    """Run a command; if it fails, raise `Unavailable` with its output, which is not printed otherwise."""
    done = subprocess.run(
        [str(c) for c in command],
        env=os.environ | env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode:
        raise Unavailable(f"{shlex.join(map(str, command))} failed:\n{done.stdout[-4000:]}")


def fetch_sdist(requirement: str, sha256: str, *pip_options: str, python_path: Path | None = None) -> Path:
    """Download a source distribution with the user's pip configuration, verify its hash and unpack it.

    Parameters
    ----------
    requirement : str
        The distribution, as ``"name==version"``.
    sha256 : str
        The hash of the archive. pip rejects an archive with another hash.
    *pip_options : str
        Additional options for ``pip download``.
    python_path : Path, optional
        A folder with a substitute for the build backend of the sdist, which pip asks for name and version.

    Returns
    -------
    Path
        The top folder of the sources, under build/sdists. Later calls return it without a download.
    """
    target = Path("build/sdists").absolute() / requirement.replace("==", "-")
    with lock_for(requirement):
        if not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            wanted = target.with_suffix(".txt")
            wanted.write_text(f"{requirement} --hash=sha256:{sha256}\n")
            archives = target.with_name(target.name + ".archive")
            command = [sys.executable, "-m", "pip", "download", "-q", "--disable-pip-version-check", "--no-deps"]
            command += ["--no-binary", ":all:", "--require-hashes", "-d", str(archives), "-r", str(wanted)]
            env = {}
            if python_path:  # before a path that is set: that of a cross build has the settings of the target's Python
                before = filter(None, [os.environ.get("PYTHONPATH")])
                env["PYTHONPATH"] = os.pathsep.join([str(python_path.absolute()), *before])
            run([*command, *pip_options], **env)
            (archive,) = archives.iterdir()
            with tarfile.open(archive) as tar:
                # Python 3.11.4 and later have extraction filters.
                safely: dict[str, Any] = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
                tar.extractall(target.with_name(target.name + ".part"), **safely)
            target.with_name(target.name + ".part").rename(target)
    (top,) = target.iterdir()
    return top


def compiler() -> list[str]:
    """Return the command of the C++ compiler."""
    return shlex.split(os.environ.get("CXX") or sysconfig.get_config_var("CXX") or "c++")


def static_library(
    build: Build,
    name: str,
    sources: Iterable[Path],
    includes: Sequence[Path] = (),
    flags: Sequence[str] = (),
    depends: Iterable[Path] = (),
) -> Path:
    """Compile the C++ sources that changed, on all cores, and return a static library of all objects.

    Parameters
    ----------
    build : Build
        The settings of the current build.
    name : str
        The name of the library, and of the folder of its objects.
    sources : iterable of Path
        The C++ files.
    includes : sequence of Path
        The include folders.
    flags : sequence of str
        The compiler flags. The flags of the extensions are not added.
    depends : iterable of Path
        Headers that may change. If one is newer than an object, the object is compiled again.

    Returns
    -------
    Path
        The library, ``lib<name>.a``, for ``extension.extra_objects``.
    """
    return archive(build.folder / name, name, compile_all(build.folder / name, sources, includes, flags, depends))


def merged(file: Path, sources: Iterable[Path]) -> Path:
    """Write a file that includes C++ sources, and return its path.

    Compiling this file takes a fraction of the time of compiling the sources one by one, because the compiler reads
    their common headers once. The sources must not define different things under one name.

    Parameters
    ----------
    file : Path
        The file to write. It is left alone if it is up to date.
    sources : iterable of Path
        The C++ files to include.

    Returns
    -------
    Path
        `file`, to be passed to `static_library` instead of the sources.
    """
    sources = list(sources)
    text = "".join(f'#include "{source.absolute()}"\n' for source in sources)
    with lock_for(str(file)):
        newest = max(source.stat().st_mtime for source in sources)
        if not file.exists() or file.stat().st_mtime < newest or file.read_text() != text:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
    return file


def compile_all(
    folder: Path,
    sources: Iterable[Path],
    includes: Sequence[Path],
    flags: Sequence[str],
    depends: Iterable[Path] = (),
    profiles: Mapping[Path, Path] = MappingProxyType({}),
) -> dict[Path, Path]:
    """Compile the C++ sources that changed, on all cores, and return the object of each source.

    `profiles` maps sources to the .gcda files of a training run.
    """
    folder = folder.absolute()
    common = [*compiler(), "-c", "-fPIC", *flags, *(f"-I{i}" for i in includes)]
    newest = max((path.stat().st_mtime for path in depends), default=0.0)

    def compile_one(source: Path) -> Path:
        command = [*common, str(source)]
        key = hashlib.sha256("\0".join(command).encode()).hexdigest()[:12]
        made = folder / f"{source.stem}-{key}.o"
        profile = profiles.get(source)
        inputs = [source, profile] if profile else [source]
        if made.exists() and made.stat().st_mtime > max(newest, *(path.stat().st_mtime for path in inputs)):
            return made
        counts = made.with_suffix(".gcda")  # the place where the compiler looks for the profile
        counts.unlink(missing_ok=True)
        if profile:
            shutil.copyfile(profile, counts)
        part = made.with_suffix(".part")
        run([*command, "-o", part])
        part.rename(made)
        return made

    with lock_for(str(folder)):
        folder.mkdir(parents=True, exist_ok=True)
        sources = list(sources)
        with ThreadPoolExecutor(usable_cpus()) as pool:
            return dict(zip(sources, pool.map(compile_one, sources), strict=True))


def archive(folder: Path, name: str, objects: Mapping[Path, Path]) -> Path:
    """Make a static library of objects, unless the library is newer than all of them."""
    library = folder.absolute() / f"lib{name}.a"
    with lock_for(str(library)):
        newest = max(path.stat().st_mtime for path in objects.values())
        if not library.exists() or library.stat().st_mtime < newest:
            library.unlink(missing_ok=True)
            run([os.environ.get("AR") or "ar", "rcs", library, *objects.values()])
    return library


def profiled_library(
    build: Build,
    name: str,
    sources: Iterable[Path],
    includes: Sequence[Path],
    flags: Sequence[str],
    depends: Iterable[Path],
    train: Callable[[Path, Sequence[str]], None],
) -> Path:
    """Compile a static library with the profile of a training run; this needs gcc.

    The sources are compiled with counters, `train` runs them, and they are compiled again with the counts.

    Parameters
    ----------
    build, name, sources, includes, flags, depends
        As in `static_library`.
    train : callable
        A function that is called with the library with counters, and with the flags to compile and link a program with
        this library; it must build and run such a program.

    Returns
    -------
    Path
        The library, ``lib<name>.a``, for ``extension.extra_objects``.
    """
    version = subprocess.run([*compiler(), "--version"], capture_output=True, text=True, check=False).stdout
    if "Free Software Foundation" not in version:
        raise SystemExit(f"ENVPOOL_PGO=1 needs gcc, but the C++ compiler is {shlex.join(compiler())!r}; set CXX=g++")
    sources, depends = list(sources), list(depends)
    counting = ["-fprofile-generate", "-fprofile-update=prefer-atomic"]
    folder = build.folder / f"{name}-counting"
    with lock_for(str(folder) + " counts"):
        objects = compile_all(folder, sources, includes, [*flags, *counting], depends)
        trained = folder / "trained"
        newest = max(path.stat().st_mtime for path in objects.values())
        if not trained.exists() or trained.stat().st_mtime < newest:
            train(archive(folder, name, objects), [*flags, *counting])
            trained.touch()
        counts = {source: made.with_suffix(".gcda") for source, made in objects.items()}
        counts = {source: path for source, path in counts.items() if path.exists()}  # none for code that did not run
        using = [*flags, "-fprofile-use", "-fprofile-partial-training", "-Wno-missing-profile"]
        made = compile_all(build.folder / name, sources, includes, using, depends, counts)
    return archive(build.folder / name, name, made)
