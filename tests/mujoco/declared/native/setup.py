"""Builds native_terms.pyx against the installed envpool and mujoco, as a separate package would."""

from pathlib import Path

import mujoco
from Cython.Build import cythonize
from setuptools import Extension, setup

import envpool

folder = Path(mujoco.HEADERS_DIR).parents[1]
terms = Extension(
    "native_terms",
    ["native_terms.pyx"],
    include_dirs=[envpool.get_include(), str(folder / "include")],
    extra_link_args=[f"-L{folder}", f"-l:libmujoco.so.{mujoco.__version__}"],
)
directives = {"language_level": 3, "cdivision": True}
setup(name="native-terms", version="0", ext_modules=cythonize([terms], compiler_directives=directives))
