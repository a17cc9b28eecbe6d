"""The base class of the environment definitions of all levels."""

from __future__ import annotations

from collections.abc import Mapping
from string import ascii_lowercase
from typing import Any, ClassVar

import numpy as np

from envpool.minigrid.level_options import LevelOptions
from envpool.minigrid.observation import LARGEST_TILE, form_of
from envpool.minigrid.tiles import atlas
from envpool.native import TextField, describe

MISSION_LETTERS = ascii_lowercase + " ,"


class MiniGrid(LevelOptions):
    """The options that all levels have.

    Observation: ``direction`` int32, 0 right, 1 down, 2 left, 3 up; ``image`` uint8 (view, view, 3), kind, colour and
    state of the cells in front of the agent, 0 where it does not see them; ``mission`` uint8 (mission_bytes,), ASCII
    padded with zeros, see ``envpool.minigrid.decode_mission``. Info: ``agent_pos`` int32 (2,), column and row;
    ``mission_id`` int32, the number of the mission among the missions of the level, or -1 if they are too many.

    Action int32: 0 turn left, 1 turn right, 2 forward, 3 pick up, 4 drop, 5 toggle, 6 done.

    Options
    -------
    max_steps : int
        Steps after which the environment itself truncates an episode; the reward depends on them. Default 0: the number
        of steps that upstream gives the level.
    agent_view_size : int
        Rows and columns of the agent's view, odd, 3 to 31. Default 7.
    see_through_walls : bool
        If True, the agent sees every cell of its view. The default depends on the level.
    mission : str
        ``"bytes"``; ``"text"`` for a sequence of str that decodes a mission when it is read, in gymnasium's style only;
        or ``"id"`` for the number of the mission, int32, in place of its text. Default ``"bytes"``.
    mission_bytes : int
        Length of the array ``mission``, 1 to 512; longer missions are cut. Default 96, in BabyAI 512.
    observation : str
        Kind of observations, as upstream's wrappers make them: ``"partial"``, ``"full"``, ``"rgb_partial"``,
        ``"rgb_full"``, ``"one_hot"``, ``"flat"`` or ``"symbolic"``; docs/grid_worlds.md describes them. Default
        ``"partial"``.
    goal_direction : str
        ``"slope"``, ``"angle"`` or ``"angle_atan2"`` adds the array ``goal_direction`` to observations, as upstream's
        DirectionObsWrapper of this type does. The level must have a goal. Default ``""``, no array.
    bonus : str
        ``"position"`` adds to rewards what upstream's PositionBonus adds, ``"action"`` what ActionBonus adds. The
        counts of an environment last as long as the pool, and saved states contain them. Default ``""``, no bonus.
    bonus_scale : float
        Factor of the bonus. Default 1.0.
    reset_seeds : sequence of int
        If not empty, each reset of an environment seeds its generator with the next of these seeds, in turn, as
        upstream's ReseedWrapper does; seeds of the pool and of ``reset`` have no effect. Default (), none.
    obs_tile_size : int
        Height and width of a cell in an RGB observation, in pixels, 1 to 64. Default 8.
    from_pixels : bool
        If True, observations are ``"rgb_partial"`` unless `observation` is ``"rgb_full"``. Default False.
    tile_size : int
        Height and width of a cell in a frame of the default size, in pixels, 1 to 64. Default 32.
    highlight : bool
        If True, frames and ``"rgb_full"`` observations show the cells that the agent sees lighter. Default True.
    agent_pov : bool
        If True, frames show only what the agent sees. Default False.
    """

    options: ClassVar[Mapping[str, Any]] = {
        "max_steps": 0,
        "agent_view_size": 7,
        "see_through_walls": False,
        "mission": "bytes",
        "mission_bytes": 96,
        "observation": "partial",
        "goal_direction": "",
        "bonus": "",
        "bonus_scale": 1.0,
        "reset_seeds": (),
        "obs_tile_size": 8,
        "from_pixels": False,
        "tile_size": 32,
        "highlight": True,
        "agent_pov": False,
    }

    @staticmethod
    def text_fields(config: Any) -> Mapping[str, TextField]:
        """Return the mission if it is observed as text."""
        is_text = config.mission == "text" and form_of(config) != "flat"
        return {"obs:mission": TextField(MISSION_LETTERS, "mission='text'")} if is_text else {}

    @staticmethod
    def render_fps(config: Any) -> int:
        """Return the frame rate of upstream's window."""
        return 10

    @classmethod
    def render_assets(cls, config: Any, height: int, width: int) -> bytes:
        """Return the tiles of frames, uint8, behind their size, int32; frames of no whole tiles are scaled."""
        frame_size = describe(cls.build(config)).frame_size
        assert frame_size is not None
        rows, columns = frame_size
        rows, columns = rows // config.tile_size, columns // config.tile_size
        size = height // rows
        if size > LARGEST_TILE or (height, width) != (size * rows, size * columns) or size < 1:
            size = config.tile_size
        return np.int32(size).tobytes() + atlas(size)
