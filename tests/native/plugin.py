"""Building and loading the synthetic plug-in, on first use, into a temporary folder."""

import atexit
import functools
import importlib
import os
import shutil
import sys
import tempfile
from pathlib import Path

import envpool
from tests.builds import build_extension

HERE = Path(__file__).resolve().parent
#: Folder of a plug-in that is already built; set for child processes.
FOLDER = "ENVPOOL_SYNTHETIC"


def build(folder):
    """Build the plug-in in an empty folder; return the folder to put on sys.path."""
    return str(build_extension(HERE, folder))


@functools.cache
def load():
    """Return the module envpool_synthetic; its tasks are registered then."""
    if FOLDER not in os.environ:
        folder = tempfile.mkdtemp(prefix="envpool-synthetic-")
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        os.environ[FOLDER] = build(folder)
    sys.path.insert(0, os.environ[FOLDER])
    return importlib.import_module("envpool_synthetic")


def make(env_type="gymnasium", **options):
    """Return a pool of synthetic envs; see the options of envpool_synthetic.Synthetic."""
    load()
    return envpool.make("Synthetic-v0", env_type, **options)
