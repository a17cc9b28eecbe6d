"""The colours of MinAtar's frames."""

from __future__ import annotations

import numpy as np
import pytest

import envpool
from envpool.minatar.palette import PALETTES
from tests.minatar.cases import TASKS
from tests.minatar.upstream import color_palette


@pytest.mark.parametrize("channels", PALETTES)
def test_colours_are_those_of_matplotlib(channels: int) -> None:
    expected = np.rint(255 * np.array(color_palette("cubehelix", channels)))
    assert PALETTES[channels].dtype == np.uint8
    assert np.array_equal(PALETTES[channels], expected)


def test_every_game_has_colours() -> None:
    assert {envpool.make_spec(task_id).observation_space.shape[-1] for task_id in TASKS} == PALETTES.keys()


def test_cells_of_a_frame() -> None:
    """Twelve rows of pixels show ten rows of cells; a cell shows its last channel."""
    with envpool.make_gymnasium("MinAtar/Breakout-v1", render_mode="rgb_array", render_height=12) as pool:
        obs, _ = pool.reset()
        (frame,) = pool.render()
    assert frame.shape == (12, 10, 3)
    expected = np.zeros((10, 10, 3), np.uint8)
    for channel, colour in enumerate(PALETTES[4]):
        expected[obs[0, :, :, channel]] = colour
    assert np.array_equal(frame, expected[np.arange(12) * 10 // 12])
