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
import subprocess
import sys
import sysconfig
import tarfile
import threading
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path


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
    """

    profile: str
    folder: Path
    flags: tuple[str, ...]


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
                tar.extractall(target.with_name(target.name + ".part"), filter="data")
            target.with_name(target.name + ".part").rename(target)
    (top,) = target.iterdir()
    return top


def static_library(
    build: Build, name: str, sources: Iterable[Path], includes: Sequence[Path] = (), flags: Sequence[str] = ()
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

    Returns
    -------
    Path
        ``lib<name>.a``, for ``extension.extra_objects``.
    """
    folder = (build.folder / name).absolute()
    archive = folder / f"lib{name}.a"
    compiler = shlex.split(os.environ.get("CXX") or sysconfig.get_config_var("CXX") or "c++")
    common = [*compiler, "-c", "-fPIC", *flags, *(f"-I{i}" for i in includes)]

    def compile_one(source: Path) -> tuple[Path, bool]:
        command = [*common, str(source)]
        key = hashlib.sha256("\0".join(command).encode()).hexdigest()[:12]
        made = folder / f"{source.stem}-{key}.o"
        if made.exists() and made.stat().st_mtime > source.stat().st_mtime:
            return made, False
        part = made.with_suffix(".part")
        run([*command, "-o", part])
        part.rename(made)
        return made, True

    with lock_for(str(archive)):
        folder.mkdir(parents=True, exist_ok=True)
        with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            made = list(pool.map(compile_one, sources))
        if not archive.exists() or any(is_new for _, is_new in made):
            archive.unlink(missing_ok=True)
            run([os.environ.get("AR") or "ar", "rcs", archive, *(path for path, _ in made)])
    return archive
