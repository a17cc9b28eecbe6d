"""Builds every .pyx file under envpool/ as its own extension and packs the headers; pyproject.toml has the rest.

ENVPOOL_PROFILE selects one of PROFILES. ENVPOOL_PGO=1 selects a profile-guided build for the families that have a
training run. Each combination has its own build folder, because compilers do not track flags. A family that needs more
has a build_needs.py, which scripts/native_build.py describes.
"""

import gc
import os
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import numpy as np
from Cython.Build import cythonize
from setuptools import Extension, find_packages, setup
from setuptools.command.build_ext import build_ext

sys.path.insert(0, str(Path(__file__).parent / "scripts"))
import toolchain
from native_build import Build, Unavailable

# Bit-exactness depends on these flags: they forbid contraction to FMA, folding of pow(x, 2) and vectorisation of
# straight-line code (in which gcc drops float roundings), and make integers wrap. The wheel must run on any x86-64
# processor, so no -march is set.
EXACT = ["-ffp-contract=off", "-fno-tree-slp-vectorize", "-fno-builtin-pow", "-fwrapv"]
COMMON = ["-Wall", "-Wextra", "-Wno-unused-parameter", "-fvisibility=hidden", "-pthread", *EXACT]
PROFILES = {
    # Without symbols, and without padding between segments: a tenth of the size of an installation.
    "release": {"compile": ["-O3", "-g0"], "link": ["-Wl,-s", "-Wl,-z,noseparate-code"]},
    "debug": {"compile": ["-O1", "-g", "-UNDEBUG"], "link": []},
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
folder = Path("build") / (profile + "-pgo" * guided)
cpus = len(os.sched_getaffinity(0))

# All modules share one module with Cython's utility code, instead of a copy in each of them.
UTILITIES = "envpool._cython"
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

# The static library in the numpy wheel has the distributions other than uniform floats and integers.
random_lib = Path(np.get_include()).parents[1] / "random" / "lib"

# A change to one of these files rebuilds every extension: a stale one could disagree about the layout of a struct.
shared = [str(p) for p in sorted(Path("include").rglob("*.h"))] + ["setup.py", "scripts/native_build.py"]


def extension(source: Path) -> Extension:
    """Return the extension of a .pyx file, in C++ if the file begins with `# distutils: language = c++`."""
    return Extension(
        ".".join(source.with_suffix("").parts),
        [str(source)],
        include_dirs=["include", ".", str(source.parent), np.get_include()],
        define_macros=[("NPY_NO_DEPRECATED_API", "NPY_2_0_API_VERSION")],
        extra_compile_args=COMMON + PROFILES[profile]["compile"],
        extra_link_args=["-pthread", *PROFILES[profile]["link"]],
        library_dirs=[str(random_lib)],
        libraries=["npyrandom", "m"],
        depends=shared
        + [str(p) for pattern in ("*.h", "build_needs.py") for p in sorted(source.parent.rglob(pattern))],
    )


def cythonized() -> list[Extension]:
    """Translate the .pyx files that changed and return all extensions.

    cythonize() does not notice changed directives: if they changed since the last build, every file is translated.
    """
    sources = sorted(Path("envpool").rglob("*.pyx"))
    utilities = Extension(UTILITIES, [], extra_compile_args=COMMON + PROFILES[profile]["compile"], depends=["setup.py"])
    record = folder / "cython-options.txt"
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
    return extensions


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


class BuildExt(build_ext):
    """Adds the build requirements of families, skips extensions whose requirements are unavailable, shows progress."""

    done = 0

    def build_extension(self, ext: Extension) -> None:
        """Compile an extension."""
        needs = needs_of(Path(ext.name.replace(".", "/")))
        try:
            if needs is not None:
                needs.configure(ext, Build(profile, folder, tuple(ext.extra_compile_args), guided))
            super().build_extension(ext)
        except Unavailable as reason:
            ext.optional = True
            self.warn(f"{ext.name} is left out: {reason}")
        self.done += 1
        print(f"[{self.done}/{len(self.extensions)}] {ext.name}", flush=True)

    def copy_extensions_to_source(self) -> None:
        """Copy every extension into the tree with --inplace, since a newer one there may be of another profile."""
        self.force = True
        super().copy_extensions_to_source()


if "sdist" not in sys.argv:
    toolchain.check()
    toolchain.use_ccache()

setup(
    packages=[*find_packages(include=["envpool*"]), "envpool.include"],
    package_dir={"envpool.include": "include"},
    ext_modules=cythonized(),
    cmdclass={"build_ext": BuildExt},
    options={"build": {"build_base": str(folder)}, "build_ext": {"parallel": cpus}},
)
