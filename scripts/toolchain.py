"""A check before a build: the compilers, and the headers of Python, zlib and the C library.

Without it, the first missing one would be found minutes later, as an error of the compiler.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sysconfig

#: What a build needs, in the order in which it is checked: language, code, package of Debian, description.
NEEDS = (
    ("c", "#include <stdlib.h>", "gcc libc6-dev", "a C compiler"),
    ("c++", "#include <vector>", "g++", "a C++ compiler"),
    ("c", "#include <Python.h>", "python3-dev", "the headers of Python"),
    ("c", "#include <zlib.h>", "zlib1g-dev", "the headers of zlib"),
)


def command_of(language: str) -> list[str]:
    """Return the command of the compiler of a language, "c" or "c++"."""
    variable, usual = ("CC", "cc") if language == "c" else ("CXX", "c++")
    return shlex.split(os.environ.get(variable) or sysconfig.get_config_var(variable) or usual)


def compiles(language: str, code: str) -> bool:
    """Return whether a compiler exists and accepts this code."""
    command = [*command_of(language), "-x", language, "-fsyntax-only", f"-I{sysconfig.get_path('include')}", "-"]
    try:
        return subprocess.run(command, input=code, capture_output=True, text=True, check=False).returncode == 0
    except OSError:
        return False


def missing() -> list[tuple[str, str]]:
    """Return what a build needs and this machine lacks, as (package of Debian, description)."""
    found: list[tuple[str, str]] = []
    without: set[str] = set()
    for language, code, package, text in NEEDS:
        if language not in without and not compiles(language, code):
            found.append((package, text))
            if text.endswith("compiler"):
                without.add(language)
    return found


def check() -> None:
    """Exit with one sentence if something is missing that every build needs."""
    if absent := missing():
        packages = " ".join(package for package, _ in absent)
        texts = [text for _, text in absent]
        listed = f"{', '.join(texts[:-1])} and {texts[-1]}" if len(texts) > 1 else texts[0]
        raise SystemExit(f"a build of envpool needs {listed}; on Debian and Ubuntu: apt-get install {packages}")


def use_ccache() -> None:
    """Let ccache keep compiled objects, if it is installed and the user has not chosen compilers."""
    if shutil.which("ccache") and not (os.environ.get("CC") or os.environ.get("CXX")):
        os.environ["CC"] = shlex.join(["ccache", *command_of("c")])
        os.environ["CXX"] = shlex.join(["ccache", *command_of("c++")])
