"""Random generators of envpool that Python can call; the extension is built when the first of them is created."""

import functools
import importlib
import sys
import tempfile
from pathlib import Path

from tests.support.builds import build_extension


@functools.cache
def _hook():
    folder = tempfile.TemporaryDirectory(prefix="envpool-random-hook-")
    sys.path.insert(0, str(build_extension(Path(__file__).parent / "hook", folder.name)))
    module = importlib.import_module("random_hook")
    module.folder = folder  # The folder is removed when the process ends.
    return module


def Generator(seed):
    """Return the counterpart of ``numpy.random.Generator(numpy.random.PCG64(seed))``."""
    return _hook().Generator(seed)


def RandomState(seed):
    """Return the counterpart of ``numpy.random.RandomState(seed)``."""
    return _hook().RandomState(seed)
