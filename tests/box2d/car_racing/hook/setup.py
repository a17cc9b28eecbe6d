"""Builds the hook with headers that are not installed: DRAWING_FOLDER is where frame.h is."""

import os

import numpy as np
from Cython.Build import cythonize
from setuptools import Extension, setup

import envpool

hook = Extension(
    "car_racing_hook",
    ["car_racing_hook.pyx"],
    include_dirs=[".", os.environ["DRAWING_FOLDER"], envpool.get_include(), np.get_include()],
    extra_compile_args=["-O3", "-ffp-contract=off", "-fno-tree-slp-vectorize", "-fwrapv"],
)
setup(name="car-racing-hook", version="0", ext_modules=cythonize([hook], language_level=3))
