"""Builds figures_hook.pyx, which makes the figures of envpool/raster callable from Python."""

from pathlib import Path

import numpy as np
from Cython.Build import cythonize
from setuptools import Extension, setup

import envpool

root = str(Path(envpool.__file__).resolve().parents[1])  # Headers below envpool/ are included by their path from here.
hook = Extension(
    "figures_hook",
    ["figures_hook.pyx"],
    include_dirs=[root, envpool.get_include(), np.get_include()],
    extra_compile_args=["-O3", "-ffp-contract=off", "-fno-tree-slp-vectorize", "-fwrapv"],
)
setup(name="figures-hook", version="0", ext_modules=cythonize([hook], language_level=3, include_path=[root]))
