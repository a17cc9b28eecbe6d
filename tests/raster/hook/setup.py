"""Builds the hook with headers that are not installed: ENVPOOL_SOURCES is the folder envpool/."""

import os

import numpy as np
from Cython.Build import cythonize
from setuptools import Extension, setup

import envpool

sources = os.environ["ENVPOOL_SOURCES"]
hook = Extension(
    "figures_hook",
    ["figures_hook.pyx"],
    # The .pxd files name the headers from a family's folder.
    include_dirs=[f"{sources}/raster", envpool.get_include(), np.get_include()],
    extra_compile_args=["-O3", "-ffp-contract=off", "-fno-tree-slp-vectorize", "-fwrapv"],
)
setup(
    name="figures-hook",
    version="0",
    ext_modules=cythonize([hook], language_level=3, include_path=[os.path.dirname(sources)]),
)
