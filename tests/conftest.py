"""Settings of all tests."""

import gc
import itertools
import os
import random
import signal
import sys
from importlib.util import find_spec

import numpy as np
import pytest
from gymnasium.utils import seeding

from tests import room_times, selection

# A shell ignores Ctrl-C in commands that it runs in the background, and so would every process that tests start: tests
# of Ctrl-C would wait forever.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

collect_ignore = [*selection.ABSENT]
if not find_spec("torch"):  # scripts/test --python does not install it
    collect_ignore.append("pools/styles/test_torch.py")
os.environ.setdefault("MUJOCO_GL", "egl")  # dm_control chooses its OpenGL library when it is imported.


def pytest_addoption(parser):
    selection.add_options(parser)
    room_times.add_options(parser)
    parser.addoption("--upstream", action="store_true", help="compare recorded results with upstream itself")


def pytest_configure(config):
    config.pluginmanager.register(selection.Selection(config))
    if config.getoption("--room-times"):
        config.pluginmanager.register(room_times.RoomTimes())


def pytest_collection_finish():
    """Spare the collections that tests ask for the objects of the collected tests, which take a quarter of a second."""
    gc.freeze()


@pytest.fixture(autouse=True)
def repeated_draws(monkeypatch):
    """Give what a test draws without a seed the same values in each run, so that a test that failed fails again."""
    np_random, seeds = seeding.np_random, itertools.count(2**20)
    monkeypatch.setattr(seeding, "np_random", lambda seed=None: np_random(next(seeds) if seed is None else seed))
    random.seed(0)
    np.random.seed(0)
    if torch := sys.modules.get("torch"):
        torch.manual_seed(0)


@pytest.fixture
def gate():
    """Yield the plug-in with its gate closed: envs with the action WAIT stop there. The gate is opened at the end."""
    from tests.support import plugin

    native = plugin.load().native
    native.close_gate()
    yield native
    native.open_gate()
