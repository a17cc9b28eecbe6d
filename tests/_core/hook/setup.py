"""Builds policy_hook.pyx, which makes decisions of envpool/_core/policy.pxd callable from Python."""

from pathlib import Path

import numpy as np
from Cython.Build import cythonize
from setuptools import Extension, setup

import envpool

root = str(Path(envpool.__file__).resolve().parents[1])  # Headers below envpool/ are included by their path from here.
hook = Extension(
    "policy_hook",
    ["policy_hook.pyx"],
    include_dirs=[root, str(Path(root, "envpool", "_core")), envpool.get_include(), np.get_include()],
)
directives = {"language_level": 3, "cdivision": True}  # As in the package: a division by zero ends the process.
setup(
    name="policy-hook",
    version="0",
    ext_modules=cythonize([hook], include_path=[root], compiler_directives=directives),
)
