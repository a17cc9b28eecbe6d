"""Builds random_hook.pyx, which makes the generators of envpool/rng.h and envpool/rng_legacy.h callable from Python."""

from pathlib import Path

import numpy as np
from Cython.Build import cythonize
from setuptools import Extension, setup

import envpool

numpy_include = Path(np.get_include())
hook = Extension(
    "random_hook",
    ["random_hook.pyx"],
    include_dirs=[envpool.get_include(), str(numpy_include)],
    define_macros=[("NPY_NO_DEPRECATED_API", "NPY_2_0_API_VERSION")],
    extra_compile_args=["-O3", "-ffp-contract=off", "-fno-tree-slp-vectorize", "-fno-builtin-pow", "-fwrapv"],
    library_dirs=[str(numpy_include.parents[1] / "random" / "lib")],
    libraries=["npyrandom", "m"],
)
setup(
    name="random-hook",
    version="0",
    ext_modules=cythonize(
        [hook],
        include_path=[str(Path(envpool.__file__).parents[1])],
        compiler_directives={"language_level": 3, "wraparound": False, "cdivision": True, "boundscheck": False},
    ),
)
