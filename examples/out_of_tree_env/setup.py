"""Build the environment against the envpool that is installed: ``pip install --no-build-isolation .``."""

import numpy as np
from Cython.Build import cythonize
from setuptools import Extension, setup

import envpool

setup(
    name="random-walk",
    version="0.1.0",
    ext_modules=cythonize(
        [Extension("random_walk", ["random_walk.pyx"], include_dirs=[envpool.get_include(), np.get_include()])],
        compiler_directives={"language_level": 3, "cdivision": True},
    ),
)
