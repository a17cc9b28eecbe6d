"""Random generators of envpool that Python can call; the extension is built when the first of them is created."""

from pathlib import Path

from tests.support.builds import load_hook

HOOK = Path(__file__).parent / "hook"


def Generator(seed):
    """Return the counterpart of ``numpy.random.Generator(numpy.random.PCG64(seed))``."""
    return load_hook(HOOK, "random_hook").Generator(seed)


def RandomState(seed):
    """Return the counterpart of ``numpy.random.RandomState(seed)``."""
    return load_hook(HOOK, "random_hook").RandomState(seed)
