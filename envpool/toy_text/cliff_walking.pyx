"""CliffWalking: a walk along a cliff (Sutton and Barto, Reinforcement Learning, example 6.6).

Source of the dynamics: ``gymnasium.envs.toy_text.cliffwalking``.
"""

import numpy as np

from cpython.pycapsule cimport PyCapsule_New

from envpool.env cimport ENVPOOL_CAPSULE_NAME, envpool_env, envpool_env_init
from envpool.toy_text cimport tabular

from envpool.native import Field, define
from envpool.toy_text.sprites import cliff
from envpool.toy_text.tabular import grid_targets, pack, slipping

ROWS, COLUMNS = 4, 12
MOVES = ((-1, 0), (0, 1), (1, 0), (0, -1))      # up, right, down, left
START, GOAL = 36, 47                            # the corners of the last row; the cells between are the cliff
WALKS, FALLS, ARRIVES = range(3)                # kinds of outcomes

cdef envpool_env ENV_DEF
envpool_env_init(&ENV_DEF, "CliffWalking")
ENV_DEF.create = tabular.create
ENV_DEF.destroy = tabular.destroy
ENV_DEF.seed_many = tabular.seed_many
ENV_DEF.step_many = tabular.step_many
ENV_DEF.write_many = tabular.write_many
ENV_DEF.run_many = tabular.run_many
ENV_DEF.render_many = tabular.render_many
ENV_DEF.frame_height = 256
ENV_DEF.frame_width = 768


class CliffWalking:
    """A walk from one end of a cliff to the other.

    Observation int32: row * 12 + column on the 4 x 12 grid. Action int32: 0 up, 1 right, 2 down, 3 left. Reward -1 for
    every step, -100 for one off the cliff, which leads back to the start. The goal ends the episode.

    Info ``prob`` float32: probability of the transition that happened; 1 after a reset.

    Options
    -------
    is_slippery : bool
        Whether a step may go to either side instead, all three with the same probability.
    """

    options = {"is_slippery": False}

    @staticmethod
    def build(config):
        """Return the capsule of this kind."""
        targets = grid_targets(ROWS, COLUMNS, MOVES)
        outcomes = slipping(targets) if config.is_slippery else targets[:, :, None]
        falls = (outcomes > START) & (outcomes < GOAL)
        kind = np.where(falls, FALLS, np.where(outcomes == GOAL, ARRIVES, WALKS))
        start = np.zeros(ROWS * COLUMNS)
        start[START] = 1.0
        table = pack(
            np.where(falls, START, outcomes),
            kind,
            [[1 / outcomes.shape[2]] * outcomes.shape[2]] * len(MOVES),
            rewards=(-1, -100, -1),
            terminated=(False, False, True),
            start=start,
        )
        fields = [
            Field("obs", np.int32, (-1,), 0, ROWS * COLUMNS - 1),
            Field("info:prob", np.float32, (-1,), 0, 1),
        ]
        actions = [Field("action", np.int32, (-1,), 0, len(MOVES) - 1)]
        return define(PyCapsule_New(&ENV_DEF, ENVPOOL_CAPSULE_NAME, NULL), fields, actions, table)

    @staticmethod
    def render_assets(config, height, width):
        """Return the map and the walker."""
        return cliff(height, width)

    @staticmethod
    def render_fps(config):
        """Return the pictures a second of upstream."""
        return 4
