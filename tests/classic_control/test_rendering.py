"""Rendering of classic control where upstream cannot be compared with: odd states, sizes, and a missing library."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import envpool
from envpool.errors import ConfigError
from tests.classic_control.cases import RENDERED


@pytest.mark.parametrize(
    ("task_id", "colour", "most"),
    [("MountainCarContinuous-v0", (128, 128, 128), 100), ("Pendulum-v1", (204, 77, 77), 600)],
)
def test_states_with_nan(task_id: str, colour: tuple[int, ...], most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Upstream cannot draw such states; here the shapes with non-finite coordinates, wheels or rod, are not drawn."""
    monkeypatch.setattr(envpool.make_spec(task_id).definition, "refuses_nan", False)
    with envpool.make_gymnasium(task_id, num_envs=2, render_mode="rgb_array") as pool:
        pool.reset()
        for _ in range(3):
            obs = pool.step(np.array([[np.nan], [np.inf]], np.float32))[0]
        assert np.isnan(obs[0, 0]) and np.isfinite(obs[1, 0])
        lost, drawn = (int((frame == colour).all(axis=2).sum()) for frame in pool.render(range(2)))
    assert lost < most < drawn


@pytest.mark.parametrize("task_id", ["Acrobot-v1", "Pendulum-v1"])
def test_only_square_frames(task_id: str) -> None:
    with pytest.raises(ConfigError, match="must be square, got render_width=300 and render_height=200"):
        envpool.make_gymnasium(task_id, render_mode="rgb_array", render_width=300, render_height=200)


@pytest.mark.parametrize("size", [(1, 1), (1, 4096), (4096, 1), (2, 3)])
def test_smallest_and_longest_frames(size: tuple[int, int]) -> None:
    for task_id in RENDERED:
        height, width = size if task_id[0] in "CM" else (min(size), min(size))
        with envpool.make_gymnasium(task_id, render_mode="rgb_array", render_height=height, render_width=width) as pool:
            pool.reset()
            pool.step(np.ones((1, *pool.action_space.shape), pool.action_space.dtype))
            assert pool.render().shape == (1, height, width, 3)


def test_without_pygame(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only Pendulum needs pygame, which loads the image of its arrow."""
    monkeypatch.setitem(sys.modules, "pygame", None)
    for task_id in RENDERED:
        if task_id.startswith("Pendulum"):
            with pytest.raises(ImportError, match=r"Pendulum need pygame-ce: pip install 'envpool-cython\[render\]'"):
                envpool.make_gymnasium(task_id, render_mode="rgb_array")
            envpool.make_gymnasium(task_id).close()
        else:
            envpool.make_gymnasium(task_id, render_mode="rgb_array").close()
