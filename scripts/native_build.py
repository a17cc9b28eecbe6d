"""What the build_needs.py of a family may use: pinned source distributions, and static libraries made of them.

A family's folder has a ``build_needs.py`` when its extensions need more than NumPy and libm. setup.py calls its
``configure(extension, build)`` before it compiles an extension of that folder (or of one below it): there it adds
include folders, sources, libraries and flags. It raises `Unavailable` where they cannot be had: then the extension is
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
from pathlib import Path
from types import MappingProxyType
from typing import Any


class Unavailable(Exception):
    """Something that an extension needs is not to be had on this machine; the text says what, and the way out."""


@dataclass(frozen=True)
class Build:
    """The build that is going on.

    Attributes
    ----------
    profile : str
        A key of setup.py's PROFILES.
    folder : Path
        For what the build makes; one a profile.
    flags : tuple of str
        Compiler flags of all extensions.
    is_profiled : bool
        Whether what can be compiled by a profile should be.
    """

    profile: str
    folder: Path
    flags: tuple[str, ...]
    is_profiled: bool


#: Extensions are built in threads; what several of them need is made once.
_locks: dict[str, threading.Lock] = {}
_locks_guard = threading.Lock()


def lock_for(name: str) -> threading.Lock:
    """Return the lock of something that is made once."""
    with _locks_guard:
        return _locks.setdefault(name, threading.Lock())


def run(command: Sequence[str | Path], **env: str) -> None:
    """Run a command; its output appears only in the `Unavailable` that a failure raises."""
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
    """Download a source distribution through the user's own pip configuration, check it, unpack it.

    Parameters
    ----------
    requirement : str
        ``"name==version"``.
    sha256 : str
        Of the archive; pip refuses another.
    *pip_options
        More options for ``pip download``.
    python_path : Path, optional
        Folder with stand-ins for the build backend of the sdist, which pip asks for the name and version.

    Returns
    -------
    Path
        Its top folder, under build/sdists. Downloaded once.
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
            paths = {"PYTHONPATH": str(python_path.absolute())} if python_path else {}
            run([*command, *pip_options], **paths)
            (archive,) = archives.iterdir()
            with tarfile.open(archive) as tar:
                # Python 3.11.4 and later
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
    """Compile C++ sources into a static library; only what changed, on all cores.

    Parameters
    ----------
    build : Build
        The build.
    name : str
        Of the library, and of the folder of its objects.
    sources : iterable of Path
        C++ files.
    includes : sequence of Path
        Include folders.
    flags : sequence of str
        Compiler flags; those of the extensions are not added.
    depends : iterable of Path
        Headers that may change.

    Returns
    -------
    Path
        ``lib<name>.a``, for ``extension.extra_objects``.
    """
    return archive(build.folder / name, name, compile_all(build.folder / name, sources, includes, flags, depends))


def merged(file: Path, sources: Iterable[Path]) -> Path:
    """Write a file that includes C++ sources, and return it.

    Compiling the file takes a fraction of the time that the sources take one by one, since the compiler reads the
    headers of all of them once. The sources must not define one name for different things.
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
    """Compile C++ sources that changed, on all cores; return the object of each.

    `profiles` has, by source, what a training run counted: a .gcda file.
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
        counts = made.with_suffix(".gcda")  # the compiler looks for it there
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
        with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            return dict(zip(sources, pool.map(compile_one, sources), strict=True))


def archive(folder: Path, name: str, objects: Mapping[Path, Path]) -> Path:
    """Make a static library of objects, unless it is newer than them."""
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
    """Compile a static library that is laid out by what a training run counted; with gcc only.

    The sources are compiled with counters, `train` runs them, then they are compiled for use.

    Parameters
    ----------
    build, name, sources, includes, flags, depends
        As of `static_library`.
    train : callable
        Gets the library with counters, and the flags to compile and link a program with it; runs the program.

    Returns
    -------
    Path
        ``lib<name>.a``.
    """
    version = subprocess.run([*compiler(), "--version"], capture_output=True, text=True, check=False).stdout
    if "Free Software Foundation" not in version:
        raise SystemExit(f"a profile-guided build needs gcc, got {shlex.join(compiler())}; CXX may name another one")
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
        counts = {source: path for source, path in counts.items() if path.exists()}  # none where nothing ran
        using = [*flags, "-fprofile-use", "-fprofile-partial-training", "-Wno-missing-profile"]
        made = compile_all(build.folder / name, sources, includes, using, depends, counts)
    return archive(build.folder / name, name, made)
