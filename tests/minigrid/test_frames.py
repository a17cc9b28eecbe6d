"""Tiles and scaled frames of MiniGrid."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from minigrid.core.constants import IDX_TO_COLOR
from minigrid.core.grid import Grid
from minigrid.core.world_object import Ball, Box, Door, Floor, Goal, Key, Lava, Wall

import envpool
from envpool.minigrid.tiles import AGENTS, HIGHLIGHTS, LOOKS, atlas

COLOURS = [IDX_TO_COLOR[i] for i in range(6)]
OBJECTS: list[Any] = [
    None,
    *(make(colour) for make in (Wall, Floor) for colour in COLOURS),
    *(Door(colour, state == 0, state == 2) for colour in COLOURS for state in range(3)),
    *(make(colour) for make in (Key, Ball, Box, Goal) for colour in COLOURS),
    Lava(),
]


def upstreams_tile(thing: Any, agent: int, highlight: int, size: int) -> np.ndarray:
    """Return a tile as upstream puts it into a frame."""
    tile = np.zeros((size, size, 3), np.uint8)
    tile[:] = Grid.render_tile(thing, agent - 1 if agent else None, bool(highlight), size)
    return tile


@pytest.mark.parametrize("size", [1, 3, *(pytest.param(size, marks=pytest.mark.sweep) for size in (8, 16, 24, 32, 64))])
def test_every_tile(size: int) -> None:
    tiles = np.frombuffer(atlas(size), np.uint8).reshape(LOOKS, AGENTS, HIGHLIGHTS, size, size, 3)
    assert len(OBJECTS) == LOOKS
    for look, agent, highlight in np.ndindex(LOOKS, AGENTS, HIGHLIGHTS):
        assert np.array_equal(tiles[look, agent, highlight], upstreams_tile(OBJECTS[look], agent, highlight, size))


@pytest.mark.parametrize(("height", "width"), [(64, 100), (7, 3), (161, 160), (320, 160)])
def test_other_sizes_are_scaled(height: int, width: int) -> None:
    task_id = "MiniGrid-DoorKey-5x5-v0"
    with envpool.make_gymnasium(task_id, render_mode="rgb_array") as pool:
        pool.reset()
        (whole,) = pool.render()
    with envpool.make_gymnasium(task_id, render_mode="rgb_array", render_width=width, render_height=height) as pool:
        pool.reset()
        (frame,) = pool.render()
    assert np.array_equal(frame, whole[np.arange(height) * 160 // height][:, np.arange(width) * 160 // width])
