"""Builds engine_hook.pyx, which makes the football engine callable from Python."""

from pathlib import Path

import numpy as np
from Cython.Build import cythonize
from setuptools import Extension, setup

import envpool

root = str(Path(envpool.__file__).resolve().parents[1])
hook = Extension(
    "engine_hook",
    ["engine_hook.pyx"],
    include_dirs=[root + "/envpool/gfootball", envpool.get_include(), np.get_include()],
    extra_compile_args=["-O1"],
)
setup(name="engine-hook", version="0", ext_modules=cythonize([hook], language_level=3, include_path=[root]))
