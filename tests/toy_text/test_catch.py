"""Catch: results belong to the caller, and frames show the board."""

from __future__ import annotations

import numpy as np
import pytest

import envpool


def test_boards_belong_to_the_caller() -> None:
    """Writing into a board does not change later boards."""
    with envpool.make_gymnasium("Catch-v0", num_envs=2) as pool:
        board, _ = pool.reset()
        for _ in range(12):
            board[:] = 7
            board = pool.step(np.ones(2, np.int32))[0]
            assert set(np.unique(board)) == {0.0, 1.0}


def test_frames_show_the_observation() -> None:
    with envpool.make_gymnasium("Catch-v0", num_envs=5, render_mode="rgb_array") as pool:
        obs, _ = pool.reset()
        for _ in range(12):
            frames = pool.render(range(5))
            assert frames.shape == (5, 320, 160, 3)
            expected = np.kron(obs, np.ones((32, 32)))[..., None] * 255
            np.testing.assert_array_equal(frames, np.broadcast_to(expected, frames.shape))
            obs = pool.step(np.array([0, 1, 2, 0, 2]))[0]


@pytest.mark.parametrize(("height", "width"), [(2, 1), (7, 1000), (4096, 4096)])
def test_frames_of_boards_of_any_size(height: int, width: int) -> None:
    """Ball and paddle are visible, even where a pixel shows several cells."""
    for size in ((0, 0), (5, 1), (33, 77)):
        with envpool.make_gymnasium(
            "Catch-v0",
            height=height,
            width=width,
            render_mode="rgb_array",
            render_height=size[0],
            render_width=size[1],
        ) as pool:
            pool.reset()
            drawn = pool.render()[0]
            assert drawn[0].any() and drawn[-1].any()
            assert set(np.unique(drawn)) <= {0, 255}
