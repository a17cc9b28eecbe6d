"""Builds every .pyx file under envpool/ as an extension and packs the headers; pyproject.toml has the rest.

The modules of CORE are linked into one shared library, see envpool/_core/__init__.py; every other module has its own.

ENVPOOL_PROFILE selects one of PROFILES. ENVPOOL_PGO=1 selects a profile-guided build for the families that have a
training run, ENVPOOL_PORTABLE=1 a build that does without system calls of Linux. Each combination has its own build
folder, because compilers do not track flags. A family that needs more has a build_needs.py, which
scripts/native_build.py describes.

In the release profile, a file is compiled at -O3, or with the flags LIGHTLY if the comments at its top have the line
`# optimize: -Og`: the steps of environments do not run its code, or spend their time elsewhere. In the core, such files
have -O1 instead: with LIGHTLY, a step of a single environment took 2% longer. SPARED is about the code that Cython adds
to a module. With -O3 for everything, a build would take far longer, and no pool would be faster.
"""

import gc
import hashlib
import os
import re
import shutil
import sys
import sysconfig
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import Cython
import numpy as np
from Cython.Build import cythonize
from setuptools import Extension, find_packages, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.egg_info import egg_info
from setuptools.modified import newer_group

sys.path.insert(0, str(Path(__file__).parent / "scripts"))
import old_libraries
import toolchain
from native_build import LIGHTLY, Build, Unavailable, is_for_another_processor, numpy_headers, usable_cpus

# Bit-exactness depends on these flags: they forbid contraction to FMA, folding of pow(x, 2) and vectorisation of
# straight-line code (in which gcc drops float roundings), and make integers wrap. The wheel must run on any x86-64
# processor, so no -march is set.
EXACT = ["-ffp-contract=off", "-fno-tree-slp-vectorize", "-fno-builtin-pow", "-fwrapv"]
COMMON = ["-pipe", "-fvisibility=hidden", "-pthread", *EXACT]
# A function begins a cache line, so that what stands before it does not change how its own code lies in lines.
ALIGNED = ["-falign-functions=64"]
# In the debug profile only: looking for them takes time, and who installs the package cannot act on them.
WARNINGS = ["-Wall", "-Wextra", "-Wno-unused-parameter"]
# Without symbols, and without padding between segments: a tenth of the size of an installation.
SMALL = ["-Wl,-s", "-Wl,-z,noseparate-code"] if sys.platform == "linux" else []
PROFILES = {
    "release": {"compile": ["-O3", "-g0", "-w"], "link": SMALL},
    "debug": {"compile": ["-O1", "-g", "-UNDEBUG", *WARNINGS], "link": []},
    "asan": {
        "compile": ["-O1", "-g", "-UNDEBUG", "-fsanitize=address,undefined"],
        "link": ["-fsanitize=address,undefined"],
    },
    "ubsan": {"compile": ["-O1", "-g", "-UNDEBUG", "-fsanitize=undefined"], "link": ["-fsanitize=undefined"]},
    "tsan": {"compile": ["-O1", "-g", "-UNDEBUG", "-fsanitize=thread"], "link": ["-fsanitize=thread"]},
}

profile = os.environ.get("ENVPOOL_PROFILE", "release")
if profile not in PROFILES:
    raise SystemExit(f"ENVPOOL_PROFILE must be one of {', '.join(PROFILES)}, got {profile!r}")
checked = profile != "release"
guided = {"0": False, "1": True}.get(os.environ.get("ENVPOOL_PGO") or "0")
if guided is None or (guided and checked):
    allowed = "0" if checked else "0 or 1"
    raise SystemExit(f"ENVPOOL_PGO must be {allowed} with ENVPOOL_PROFILE={profile}, got {os.environ['ENVPOOL_PGO']!r}")
if guided and is_for_another_processor():
    raise SystemExit("ENVPOOL_PGO=1 runs what was built, which this machine cannot do with code for another processor")
portable = {"0": sys.platform != "linux", "1": True}.get(os.environ.get("ENVPOOL_PORTABLE") or "0")
if portable is None:
    raise SystemExit(f"ENVPOOL_PORTABLE must be 0 or 1, got {os.environ['ENVPOOL_PORTABLE']!r}")
macros = [("ENVPOOL_PORTABLE", "1")] if portable else []
folder = Path("build") / (
    profile + "-pgo" * guided + "-portable" * portable + f"-{sysconfig.get_platform()}" * is_for_another_processor()
)
cpus = usable_cpus()

# A wheel runs with an older glibc and libstdc++ than those of the machine that builds it.
linking = [*PROFILES[profile]["link"]]
# Not among the flags, before which setuptools names the folder of a shared libpython, such as Debian's.
library_folders = []
if glibc := os.environ.get("ENVPOOL_GLIBC"):
    library_folders.append(str(folder / "old_libraries"))
    linking += old_libraries.link_flags(folder / "old_libraries", glibc)

# The package whose modules are linked into one library, and the module that gives the library its name.
CORE = "envpool._core"
LIBRARY = f"{CORE}.pool"
# All modules share one module with Cython's utility code, instead of a copy in each of them.
UTILITIES = f"{CORE}._cython"
DIRECTIVES = {
    "language_level": 3,
    "embedsignature": True,
    "embedsignature.format": "python",
    "auto_pickle": False,
    "autotestdict": False,
    "freethreading_compatible": False,
    "boundscheck": checked,
    "wraparound": False,
    "initializedcheck": checked,
    "cdivision": True,
}

# What stands after this line in a generated file is mostly Cython's own code: the start of the module, its types, and
# helpers of Python code. In files that are compiled at -O3, it is compiled at -Os, which takes half the time, without
# passes that take time and do not make it smaller; at LIGHTLY, modules would be an eighth larger. What steps need of it
# is in the module UTILITIES.
SPARED = "/* #### Code section: module_exttypes ### */\n"
GCC = "#if defined(__GNUC__) && !defined(__clang__)\n{}\n#endif\n"
FEWER = ", ".join(f'"no-{name}"' for name in ("expensive-optimizations", "gcse", "tree-pre", "tree-vrp"))
LESS = GCC.format(f'#pragma GCC push_options\n#pragma GCC optimize ("Os", {FEWER})')
AGAIN = GCC.format("#pragma GCC pop_options")  # the compiler instantiates C++ templates at the end of a file

# The static library in the numpy wheel has the distributions other than uniform floats and integers.
random_lib = Path(numpy_headers()).parents[1] / "random" / "lib"

# A change to one of these files rebuilds every extension: a stale one could disagree about the layout of a struct.
shared = [str(p) for p in sorted(Path("include").rglob("*.h"))] + ["setup.py", "scripts/native_build.py"]


def optimization(source: Path) -> Sequence[str]:
    """Return the flags that the comments at the top of a .pyx file ask for, which only the release profile needs."""
    head = re.match(r"(#.*\n)*", source.read_text())
    assert head is not None
    levels = re.findall(r"(?m)^# optimize: (-O1|-Og)$", head[0]) if profile == "release" else []
    return LIGHTLY if "-Og" in levels else levels


def extension(source: Path) -> Extension:
    """Return the extension of a .pyx file, in C++ if the file begins with `# distutils: language = c++`."""
    return Extension(
        ".".join(source.with_suffix("").parts),
        [str(source)],
        include_dirs=["include", ".", str(source.parent), numpy_headers()],
        define_macros=[("NPY_NO_DEPRECATED_API", "NPY_2_0_API_VERSION"), *macros],
        extra_compile_args=[*COMMON, *ALIGNED, *PROFILES[profile]["compile"], *optimization(source)],
        extra_link_args=["-pthread", *linking],
        library_dirs=[*library_folders, str(random_lib)],
        libraries=["npyrandom", "m"],
        depends=shared
        + [str(p) for pattern in ("*.h", "build_needs.py") for p in sorted(source.parent.rglob(pattern))],
    )


class Library(Extension):
    """Extensions that become one library.

    Parameters
    ----------
    modules : list of Extension
        The extensions; their libraries and link flags are the same.
    """

    def __init__(self, modules: list[Extension]):
        self.modules = modules
        needed = {path for module in modules for path in (*module.sources, *module.depends)}
        super().__init__(LIBRARY, [], depends=sorted(needed), extra_link_args=modules[0].extra_link_args)
        self.library_dirs, self.libraries = modules[0].library_dirs, modules[0].libraries


def is_of_core(ext: Extension) -> bool:
    """Return whether an extension is a module of CORE."""
    return ext.name.rpartition(".")[0] == CORE


def translated() -> str:
    """Return a hash of everything that Cython's output depends on."""
    inputs = [Cython.__version__, np.__version__, UTILITIES, repr(DIRECTIVES), Path(__file__).read_text()]
    sources = sorted(path for pattern in ("*.pyx", "*.pxd") for path in Path("envpool").rglob(pattern))
    inputs += [f"{path}\n{path.read_text()}" for path in sources]
    return hashlib.sha256("\0".join(inputs).encode()).hexdigest()


def spare(file: Path) -> None:
    """Let the compiler spend less time on the code that Cython has added to a generated file."""
    text = file.read_text()
    if SPARED + LESS not in text:
        assert text.count(SPARED) == 1, file
        file.write_text(text.replace(SPARED, SPARED + LESS) + AGAIN)


def reuse(other: Path, key: str) -> None:
    """Copy the generated files of another build folder, if it has those of the same sources."""
    mark = other / "translated.txt"
    if not mark.exists() or mark.read_text() != key:
        print(f"{other} has no translation of these sources: Cython translates them again")
        return
    for pattern in ("*.c", "*.cpp", "cython-options.txt"):
        for file in (*other.glob(pattern), *(other / "envpool").rglob(pattern)):
            target = folder / file.relative_to(other)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, target)  # newer than the sources


def cythonized() -> list[Extension]:
    """Translate the .pyx files that changed and return all extensions.

    cythonize() does not notice changed directives: if they changed since the last build, every file is translated.
    """
    sources = sorted(Path("envpool").rglob("*.pyx"))
    utilities = Extension(UTILITIES, [], extra_compile_args=COMMON + PROFILES[profile]["compile"], depends=["setup.py"])
    record, mark, key = folder / "cython-options.txt", folder / "translated.txt", translated()
    if other := os.environ.get("ENVPOOL_TRANSLATED"):
        reuse(Path(other), key)
    mark.unlink(missing_ok=True)
    # Cython creates many objects that live until a file is finished, so frequent collections take a third of its time.
    gc.set_threshold(100_000, 50, 100)
    options = repr((UTILITIES, DIRECTIVES))
    extensions = cythonize(
        [*map(extension, sources), utilities],
        nthreads=cpus,
        build_dir=str(folder),
        shared_utility_qualified_name=UTILITIES,
        compiler_directives=DIRECTIVES,
        force=not record.exists() or record.read_text() != options,
    )
    record.write_text(options)
    mark.write_text(key)
    return [Library([e for e in extensions if is_of_core(e)]), *(e for e in extensions if not is_of_core(e))]


def needs_of(source: Path) -> ModuleType | None:
    """Return the nearest build_needs.py, from the folder of a source up to envpool/."""
    for folder in source.parents[:-1]:
        if (path := folder / "build_needs.py").exists():
            spec = spec_from_file_location("_".join((*folder.parts, path.stem)), path)
            assert spec is not None and spec.loader is not None
            module = module_from_spec(spec)
            spec.loader.exec_module(module)
            return module
    return None


class EggInfo(egg_info):
    """Lets the extras require the versions of packages for which the families are built."""

    def finalize_options(self) -> None:
        """Replace the versions that pyproject.toml requires."""
        pins: dict[str, str] = {}
        for path in sorted(Path("envpool").rglob("build_needs.py")):
            pins |= getattr(needs_of(path), "pins", dict)()
        for requirements in self.distribution.extras_require.values():
            for k, text in enumerate(requirements):
                name, exactly, _ = text.partition("==")
                if exactly and name in pins:
                    requirements[k] = f"{name}=={pins[name]}"
        super().finalize_options()


class BuildExt(build_ext):
    """Adds the build requirements of families, skips extensions whose requirements are unavailable, shows progress."""

    done = 0

    def build_extension(self, ext: Extension) -> None:
        """Compile an extension."""
        needs = needs_of(Path(ext.name.replace(".", "/")))
        try:
            if needs is not None:
                needs.configure(ext, Build(profile, folder, (*COMMON, *PROFILES[profile]["compile"]), guided, portable))
                ext.depends += ext.extra_objects  # a library that was made anew is linked anew
            if isinstance(ext, Library):
                with ThreadPoolExecutor(cpus) as pool:
                    ext.extra_objects = list(pool.map(self.compiled, ext.modules))
            else:
                self.prepare(ext)
            super().build_extension(ext)
        except Unavailable as reason:
            ext.optional = True
            self.warn(f"{ext.name} is left out: {reason}")
        self.done += 1
        print(f"[{self.done}/{len(self.extensions)}] {ext.name}", flush=True)

    def prepare(self, ext: Extension) -> None:
        """Get the generated file of an extension ready for the compiler."""
        level = [flag for flag in ext.extra_compile_args if flag.startswith("-O")][-1]
        if level == "-O3" and ext.name != UTILITIES:
            spare(Path(ext.sources[0]))

    def compiled(self, ext: Extension) -> str:
        """Return the object file of an extension, compiled if something that it depends on is newer."""
        self.prepare(ext)
        (target,) = self.compiler.object_filenames(ext.sources, output_dir=self.build_temp)
        if self.force or newer_group([*ext.sources, *ext.depends], target, "newer"):
            self.compiler.compile(
                ext.sources,
                output_dir=self.build_temp,
                macros=ext.define_macros,
                include_dirs=ext.include_dirs,
                extra_postargs=ext.extra_compile_args,
            )
        return target

    def copy_extensions_to_source(self) -> None:
        """Copy every extension into the tree with --inplace, since a newer one there may be of another profile."""
        self.force = True
        super().copy_extensions_to_source()


if "sdist" not in sys.argv:
    toolchain.check()
    toolchain.use_ccache()

# Folders that a wheel has inside the package: headers, programs for `envpool example`, the project that `envpool
# new-env` copies, and the pages of `envpool docs`. pyproject.toml names those of their files that are no modules.
SHIPPED = ("include", "examples", "examples.cleanrl", "examples.out_of_tree_env", "docs")

setup(
    packages=[*find_packages(include=["envpool*"]), *(f"envpool.{name}" for name in SHIPPED)],
    package_dir={f"envpool.{name}": name.replace(".", "/") for name in SHIPPED},
    ext_modules=[] if {"sdist", "egg_info", "dist_info"} & set(sys.argv) else cythonized(),  # MANIFEST.in lists sources
    cmdclass={"build_ext": BuildExt, "egg_info": EggInfo},
    options={"build": {"build_base": str(folder)}, "build_ext": {"parallel": cpus}},
)
