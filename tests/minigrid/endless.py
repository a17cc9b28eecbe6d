"""Upstream's search for a place for the agent ends where there is none: the level is rejected, as ours is."""

from __future__ import annotations

from typing import Any

import pytest
from minigrid.core.roomgrid import RoomGrid
from minigrid.envs.babyai.core.roomgrid_level import RejectSampling
from minigrid.minigrid_env import MiniGridEnv

from tests.minigrid.explorer import STEPS

#: Tries after which a level is rejected, as docs/grid_worlds.md says.
TRIES = 100


def has_place(env: Any, corner: tuple[int, int], size: tuple[int, int]) -> bool:
    """Return whether a free cell of a room has another free cell, or a wall, beside it."""
    cells = [(x, y) for x in range(corner[0], corner[0] + size[0]) for y in range(corner[1], corner[1] + size[1])]
    free = [(x, y) for x, y in cells if env.grid.get(x, y) is None]
    beside = (env.grid.get(x + dx, y + dy) for x, y in free for dx, dy in STEPS)
    return any(thing is None or thing.type == "wall" for thing in beside)


def end_searches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let all environments of this process reject levels without a place for the agent."""
    search, try_once = RoomGrid.place_agent, MiniGridEnv.place_agent
    tries: int | None = None  # of the search that is under way

    def start(env: Any, *args: Any, **kwargs: Any) -> Any:
        nonlocal tries
        tries = 0
        try:
            return search(env, *args, **kwargs)
        finally:
            tries = None

    def count(env: Any, *args: Any, **kwargs: Any) -> Any:
        nonlocal tries
        if tries is not None:
            if tries == TRIES and not has_place(env, *args[:2]):
                raise RejectSampling("there is no place for the agent")
            tries += 1
        return try_once(env, *args, **kwargs)

    monkeypatch.setattr(RoomGrid, "place_agent", start)
    monkeypatch.setattr(MiniGridEnv, "place_agent", count)
