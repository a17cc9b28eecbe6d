"""Environments that draw from the generators of the modules `numpy.random` and `random`, which a process has once."""

import os
import random

import numpy as np
import pytest
from gymnasium import spaces

import envpool
from envpool.python_envs.choice import seconds_per_step
from tests.python_envs.test_processes import METHODS


class Drawing:
    """Its observations are draws of NumPy's and of Python's global generators."""

    def __init__(self):
        self.observation_space = spaces.Box(0, 1, (2,), np.float64)
        self.action_space = spaces.Discrete(2)

    def draw(self):
        return np.array([np.random.random(), random.random()])

    def reset(self):
        return self.draw()

    def step(self, action):
        return self.draw(), 0.0, False, {}


class Leaving(Drawing):
    def step(self, action):
        if action == 1:
            os._exit(3)
        return super().step(action)


def draws(method="fork", num_envs=4, num_threads=3, moves=(0, 0), env=Drawing, **options):
    """Return the draws of all environments and steps."""
    options = {"workers": "process", "start_method": method, "num_threads": num_threads} | options
    with envpool.make_python(env, num_envs, on_error="restart", **options) as pool:
        found = [pool.reset()[0]]
        for move in moves:
            found.append(pool.step(np.array([move] + [0] * (num_envs - 1)))[0])
    return np.array(found)


def are_different(values):
    return len(np.unique(values)) == np.size(values)


@pytest.mark.parametrize("method", METHODS)
def test_workers_draw_different_numbers(method):
    found = draws(method)
    assert are_different(found) and np.array_equal(draws(method), found)
    assert np.array_equal(draws("fork"), found)
    assert are_different([found, draws(method, seed=43), draws(method, env_seed=[1, 2, 3, 4])])
    assert are_different([draws(method, seed=None), draws(method, seed=None)])


@pytest.mark.parametrize("method", METHODS)
def test_a_worker_that_was_replaced_draws_other_numbers(method):
    lives, again = (draws(method, 2, 2, (1, 0, 1, 0), Leaving)[[0, 2, 4], 0] for _ in range(2))
    assert are_different(lives) and np.array_equal(lives, again)


def test_the_process_of_the_pool_keeps_its_generators():
    def state():
        return [np.random.get_state()[1].tolist(), np.random.get_state()[2], random.getstate()]

    before = state()
    draws()
    assert state() == before
    with envpool.make_python(Drawing, 2, seed=1) as pool:
        assert seconds_per_step(pool.spec.config.source) > 0
    assert state() == before


def test_auto_keeps_the_generators():
    found = []
    for workers in ("inline", "auto"):
        np.random.seed(5), random.seed(5)
        with envpool.make_python(Drawing, 2, workers=workers, num_threads=1) as pool:
            found.append(pool.reset()[0])
    assert np.array_equal(*found)
