"""Compiles NAME.pyx of this folder into FOLDER. Run it in benchmarks/: python extension.py NAME FOLDER."""

import sys

import numpy as np
from Cython.Build import cythonize
from setuptools import Extension, setup

import envpool

folder = sys.argv.pop()
name = sys.argv.pop()
sys.argv += ["build_ext", f"--build-lib={folder}", f"--build-temp={folder}/temp"]
setup(
    name=name,
    packages=[],
    ext_modules=cythonize(
        [
            Extension(
                name,
                [f"{name}.pyx"],
                include_dirs=["..", envpool.get_include(), np.get_include()],
                extra_compile_args=["-O3", "-pthread"],
                extra_link_args=["-pthread"],
            )
        ],
        build_dir=folder,
        include_path=[".."],
        compiler_directives={"language_level": 3, "boundscheck": False, "wraparound": False, "cdivision": True},
    ),
)
