"""Builds plain_queue.pyx into a folder; run in benchmarks/: python build.py FOLDER."""

import sys

import numpy as np
from Cython.Build import cythonize
from setuptools import Extension, setup

import envpool

folder = sys.argv.pop()
sys.argv += ["build_ext", f"--build-lib={folder}", f"--build-temp={folder}/temp"]
setup(
    name="plain-queue",
    packages=[],
    ext_modules=cythonize(
        [
            Extension(
                "plain_queue",
                ["plain_queue.pyx"],
                include_dirs=[envpool.get_include(), np.get_include()],
                extra_compile_args=["-O3", "-pthread"],
                extra_link_args=["-pthread"],
            )
        ],
        build_dir=folder,
        include_path=[".."],
        compiler_directives={"language_level": 3, "boundscheck": False, "wraparound": False, "cdivision": True},
    ),
)
