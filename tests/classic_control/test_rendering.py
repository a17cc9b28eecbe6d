"""Pictures of classic control equal gymnasium's, pixel by pixel."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import gymnasium
import numpy as np
import pytest

import envpool
from envpool.errors import ConfigError
from tests.support.oracles.gymnasium_frames import RECORDS, assert_pictures, assert_rendering_changes_nothing
from tests.support.oracles.gymnasium_oracle import Upstream

SEEDS = [pytest.param(1, RECORDS, id="short"), pytest.param(2, range(101), id="full", marks=pytest.mark.slow)]


def set_screen(env: gymnasium.Env[Any, Any], height: int, width: int) -> None:
    env.unwrapped.screen_height, env.unwrapped.screen_width = height, width


def set_lower_screen(env: gymnasium.Env[Any, Any], height: int, width: int) -> None:
    assert height == width
    env.unwrapped.screen_dim = height


def set_upper_screen(env: gymnasium.Env[Any, Any], height: int, width: int) -> None:
    assert height == width
    env.unwrapped.SCREEN_DIM = height


#: Task, upstream's id, how to set upstream's size.
TASKS = [
    ("CartPole-v0", "CartPole-v0", set_screen),
    ("CartPole-v1", "CartPole-v1", set_screen),
    ("MountainCar-v0", "MountainCar-v0", set_screen),
    ("MountainCarContinuous-v0", "MountainCarContinuous-v0", set_screen),
    ("Acrobot-v1", "Acrobot-v1", set_upper_screen),
    ("Pendulum-v0", "Pendulum-v1", set_lower_screen),
    ("Pendulum-v1", "Pendulum-v1", set_lower_screen),
]
IDS = [task for task, _, _ in TASKS]
CONTINUOUS = ["MountainCarContinuous-v0", "Pendulum-v1"]


def sizes_of(set_size: Callable[..., None]) -> list[tuple[int, int]]:
    """Height and width: smaller and larger than the default, where only a part of the scene fits too."""
    return [(211, 333), (90, 640), (500, 131)] if set_size is set_screen else [(84, 84), (317, 317), (701, 701)]


@pytest.mark.parametrize(("seeds", "records"), SEEDS)
@pytest.mark.parametrize(("task_id", "upstream_id", "set_size"), TASKS, ids=IDS)
def test_default_size(task_id: str, upstream_id: str, set_size: Any, seeds: int, records: Any) -> None:
    upstream = Upstream(upstream_id, {"render_mode": "rgb_array"})
    for seed in range(seeds):
        assert_pictures(task_id, upstream, seed=seed, records=records)


@pytest.mark.parametrize(("seeds", "records"), SEEDS)
@pytest.mark.parametrize(("task_id", "upstream_id", "set_size"), TASKS, ids=IDS)
def test_other_sizes(task_id: str, upstream_id: str, set_size: Any, seeds: int, records: Any) -> None:
    for size in sizes_of(set_size):
        prepare = partial(set_size, height=size[0], width=size[1])
        upstream = Upstream(upstream_id, {"render_mode": "rgb_array"}, prepare)
        for seed in range(seeds):
            assert_pictures(task_id, upstream, size=size, seed=seed, records=records)


@pytest.mark.parametrize("mode", ["sticky", "boundary"])
@pytest.mark.parametrize(("task_id", "upstream_id", "set_size"), TASKS, ids=IDS)
def test_far_from_the_start(task_id: str, upstream_id: str, set_size: Any, mode: str) -> None:
    upstream = Upstream(upstream_id, {"render_mode": "rgb_array"})
    assert_pictures(task_id, upstream, actions=mode, records=(1, 2, 9, 60, 130, 180))


@pytest.mark.parametrize("task_id", CONTINUOUS)
def test_actions_out_of_range(task_id: str) -> None:
    upstream = Upstream(task_id, {"render_mode": "rgb_array"})
    assert_pictures(task_id, upstream, actions="out_of_range", records=(1, 2, 3, 4, 60))


@pytest.mark.parametrize(
    ("task_id", "colour", "most"),
    [("MountainCarContinuous-v0", (128, 128, 128), 100), ("Pendulum-v1", (204, 77, 77), 600)],
)
def test_states_that_are_no_numbers(task_id: str, colour: tuple[int, ...], most: int) -> None:
    """Upstream cannot draw them; here what has no place, the wheels or the rod, is left out."""
    with envpool.make_gymnasium(task_id, num_envs=2, render_mode="rgb_array") as pool:
        pool.reset()
        for _ in range(3):
            obs = pool.step(np.array([[np.nan], [np.inf]], np.float32))[0]
        assert np.isnan(obs[0, 0]) and np.isfinite(obs[1, 0])
        lost, drawn = (int((picture == colour).all(axis=2).sum()) for picture in pool.render(range(2)))
    assert lost < most < drawn


@pytest.mark.parametrize("mode", ["random", "sticky"])
@pytest.mark.parametrize("task_id", IDS)
def test_rendering_changes_nothing(task_id: str, mode: str) -> None:
    assert_rendering_changes_nothing(task_id, mode)


@pytest.mark.parametrize("task_id", ["Acrobot-v1", "Pendulum-v1"])
def test_pictures_that_are_no_squares(task_id: str) -> None:
    with pytest.raises(ConfigError, match=r"300 x 200 \(render_width x render_height\), allowed are squares"):
        envpool.make_gymnasium(task_id, render_mode="rgb_array", render_width=300, render_height=200)


@pytest.mark.parametrize("size", [(1, 1), (1, 4096), (4096, 1), (2, 3)])
def test_smallest_and_longest_pictures(size: tuple[int, int]) -> None:
    for task_id in IDS:
        height, width = size if task_id[0] in "CM" else (min(size), min(size))
        with envpool.make_gymnasium(task_id, render_mode="rgb_array", render_height=height, render_width=width) as pool:
            pool.reset()
            pool.step(np.ones((1, *pool.action_space.shape), pool.action_space.dtype))
            assert pool.render().shape == (1, height, width, 3)


def test_without_pygame(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only Pendulum needs it: for upstream's arrow."""
    monkeypatch.setitem(sys.modules, "pygame", None)
    for task_id in IDS:
        if task_id.startswith("Pendulum"):
            with pytest.raises(ImportError, match=r"Pendulum need pygame: pip install 'envpool\[render\]'"):
                envpool.make_gymnasium(task_id, render_mode="rgb_array")
            envpool.make_gymnasium(task_id).close()
        else:
            envpool.make_gymnasium(task_id, render_mode="rgb_array").close()
