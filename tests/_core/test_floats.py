"""Environments compute in the same way on every thread, however the thread that steps them rounds."""

import ctypes
import ctypes.util
import platform
from contextlib import contextmanager

import numpy as np
import pytest

import envpool

UPWARD = {"x86_64": 0x800, "aarch64": 0x400000}


@contextmanager
def rounding_up():
    libm = ctypes.CDLL(ctypes.util.find_library("m"))
    assert libm.fesetround(UPWARD[platform.machine()]) == 0
    try:
        yield
    finally:
        assert libm.fegetround() == UPWARD[platform.machine()], "a call has changed how its thread rounds"
        assert libm.fesetround(0) == 0


def played(num_envs, num_threads, make_inside, **options):
    """Return all observations of a pool that is made, reset and stepped by a thread that rounds upward."""
    kwargs = {"num_envs": num_envs, "num_threads": num_threads, "seed": 1} | options
    rng, obs = np.random.default_rng(0), []
    if not make_inside:
        pool = envpool.make_gymnasium("Pendulum-v1", **kwargs)
    with rounding_up():
        if make_inside:
            pool = envpool.make_gymnasium("Pendulum-v1", **kwargs)
        obs.append(pool.reset()[0].copy())
    for _ in range(50):
        actions = rng.uniform(-2, 2, (num_envs, 1)).astype(np.float32)
        with rounding_up():
            obs.append(pool.step(actions)[0].copy())
    pool.close()
    return np.stack(obs)


@pytest.mark.skipif(platform.machine() not in UPWARD, reason="the number of the rounding mode is not known")
@pytest.mark.parametrize("num_envs", [1, 7, 600])
@pytest.mark.parametrize("num_threads", [1, 3])
@pytest.mark.parametrize("make_inside", [False, True])
def test_rounding(num_envs, num_threads, make_inside):
    pool = envpool.make_gymnasium("Pendulum-v1", num_envs=num_envs, seed=1)
    rng, wanted = np.random.default_rng(0), [pool.reset()[0].copy()]
    wanted += [pool.step(rng.uniform(-2, 2, (num_envs, 1)).astype(np.float32))[0].copy() for _ in range(50)]
    np.testing.assert_array_equal(played(num_envs, num_threads, make_inside), np.stack(wanted))
