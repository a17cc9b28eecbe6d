"""Build the terms against the envpool and the mujoco that are installed: ``pip install --no-build-isolation .``."""

from pathlib import Path

import mujoco
from setuptools import Extension, setup

import envpool

headers = [envpool.get_include(), str(Path(mujoco.HEADERS_DIR).parent)]
setup(name="my-terms", version="0.1.0", ext_modules=[Extension("my_terms", ["my_terms.c"], include_dirs=headers)])
