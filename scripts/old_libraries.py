"""Links extensions for an older glibc and libstdc++ than those of this machine.

A linker binds a reference to the newest version of a symbol that a library has, so that an extension needs the glibc of
the machine on which it was linked, although nearly all symbols have older versions that do the same. Stubs of the
libraries offer the linker only what the older glibc has. The few functions of a newer libstdc++ are linked statically.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from toolchain import command_of

LIBRARIES = ("libc.so.6", "libm.so.6")
#: What is newer than GCC 8: the member of libstdc++.a with std::filesystem::path, and what compiled code refers to.
MEMBER = "fs_path.o"
NEWER = """\
#include <new>
#include <sstream>
#define HIDDEN __attribute__((visibility("hidden")))
extern "C" HIDDEN char __libc_single_threaded = 0; // shared_ptr reads it to spare atomic operations
namespace std {
HIDDEN void __throw_bad_array_new_length() { throw bad_array_new_length(); }
}
// Part of libstdc++ since GCC 9; in code of the level -Og they are not inlined.
template std::basic_istringstream<char>::basic_istringstream();
template std::basic_ostringstream<char>::basic_ostringstream();
template std::basic_stringstream<char>::basic_stringstream();
"""
SYMBOL = re.compile(r"(FUNC|IFUNC|OBJECT|TLS|NOTYPE) +(GLOBAL|WEAK) +DEFAULT +(\S+) +([^@\s]+)(?:@+\w+_(\S+))?")
SECTIONS = {"OBJECT": (".data", "object"), "TLS": ('.section .tdata,"awT",@progbits', "tls_object")}


def run(*command: str | Path, cwd: Path | None = None) -> str:
    """Run a command and return what it prints."""
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=True).stdout


def path_of(library: str) -> Path:
    """Return where the compiler finds a library."""
    return Path(run(*command_of("c"), f"-print-file-name={library}").strip()).resolve()


def symbols(file: Path, *, defined: bool) -> Iterator[tuple[str, str, tuple[int, ...]]]:
    """Yield kind, name and version, () for none, of dynamic symbols: those that are defined, or needed."""
    for kind, binding, section, name, version in SYMBOL.findall(run("readelf", "--dyn-syms", "-W", file)):
        if defined == (section != "UND") and (defined or binding == "GLOBAL") and version != "PRIVATE":
            yield kind, name, tuple(map(int, version.split("."))) if version else ()


def make_stub(library: str, folder: Path, newest: tuple[int, ...]) -> None:
    """Write a library without code that has the symbols of one of LIBRARIES, in the versions of an older glibc."""
    chosen: dict[str, tuple[tuple[int, ...], str]] = {}
    for kind, name, version in symbols(path_of(library), defined=True):
        if chosen.get(name, ((), ""))[0] < version <= newest:
            chosen[name] = version, kind
    code = []
    for number, (name, (version, kind)) in enumerate(sorted(chosen.items())):
        section, symbol_type = SECTIONS.get(kind, (".text", "function"))
        code += [section, f".globl s{number}", f".type s{number}, @{symbol_type}", f".size s{number}, 8"]
        code += [f"s{number}: .quad 0", f".symver s{number}, {name}@@@GLIBC_{'.'.join(map(str, version))}"]
    source, versions = folder / f"{library}.s", folder / f"{library}.map"
    source.write_text("\n".join([*code, '.section .note.GNU-stack,"",@progbits\n']))
    nodes = sorted({version for version, _ in chosen.values()})
    versions.write_text("".join(f"GLIBC_{'.'.join(map(str, node))} {{ }};\n" for node in nodes))
    options = ["-shared", "-nostdlib", f"-Wl,-soname,{library}", f"-Wl,--version-script,{versions}"]
    run(*command_of("c"), *options, "-o", folder / library, source)


def link_flags(folder: Path, glibc: str) -> list[str]:
    """Return the flags for the linker, after writing the stubs for a version such as "2.28" into a folder.

    The folder must be the first one in which the linker looks for libraries.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for library in LIBRARIES:
        make_stub(library, folder, tuple(map(int, glibc.split("."))))
    # Like the system's libc.so, with what is always linked statically, and with the loader, for thread-locals.
    loader = next(path_of("libc.so.6").parent.glob("ld-linux*.so.*"))
    (folder / "libc.so").write_text(f"GROUP ( libc.so.6 {path_of('libc_nonshared.a')} AS_NEEDED ( {loader} ) )\n")
    (folder / "libm.so").write_text("GROUP ( libm.so.6 )\n")
    run(os.environ.get("AR") or "ar", "x", path_of("libstdc++.a"), MEMBER, cwd=folder)
    (folder / "newer.cpp").write_text(NEWER)
    run(*command_of("c++"), "-c", "-O2", "-fPIC", "newer.cpp", cwd=folder)
    archive = folder / "libnewer.a"
    archive.unlink(missing_ok=True)
    run(os.environ.get("AR") or "ar", "rcs", archive, folder / MEMBER, folder / "newer.o")
    return [f"-Wl,--exclude-libs,{archive.name}", str(archive)]


def missing(extension: Path) -> list[str]:
    """Return what an extension needs of glibc or libstdc++ that no older library has: references without a version."""
    wanted = {name for _, name, version in symbols(extension, defined=False) if not version}
    known = {name for library in LIBRARIES for _, name, _ in symbols(path_of(library), defined=True)}
    return sorted(name for name in wanted if name in known or name.startswith(("_ZSt", "_ZNSt", "_ZN9__gnu_cxx")))


if __name__ == "__main__":  # with the extensions to check
    found = {path: names for path in sys.argv[1:] if (names := missing(Path(path)))}
    if found:
        raise SystemExit(
            "\n".join(f"{path} needs a newer library: {', '.join(names)}" for path, names in found.items())
        )
