"""CliffWalking: a walk along a cliff (Sutton and Barto, Reinforcement Learning, example 6.6).

Source of the dynamics: ``gymnasium.envs.toy_text.cliffwalking``.
"""

import numpy as np

from envpool.env cimport envpool_env
from envpool.scaffold cimport envpool_template
from envpool.toy_text cimport tabular

from envpool.native import EnvDefinition, define
from envpool.toy_text.sprites import cliff
from envpool.toy_text.tabular import grid_targets, pack, slipping, transition_fields

ROWS, COLUMNS = 4, 12
MOVES = ((-1, 0), (0, 1), (1, 0), (0, -1))      # up, right, down, left
START, GOAL = 36, 47                            # corners of the last row; the cells between them are the cliff
WALKS, FALLS, ARRIVES = range(3)                # kinds of outcomes

cdef envpool_env ENV_DEF = tabular.definition("CliffWalking")
ENV_DEF.frame_height, ENV_DEF.frame_width = 256, 768


class CliffWalking(EnvDefinition):
    """A walk from one end of a cliff to the other.

    Observation int32: row * 12 + column on the 4 x 12 grid. Action int32: 0 up, 1 right, 2 down, 3 left. Reward -1 for
    every step, but -100 for a step off the cliff, which leads back to the start. The goal ends the episode.

    ``info["prob"]`` float32: probability of the transition that happened; 1 after a reset.

    Options
    -------
    is_slippery : bool
        If True, a step goes to the cell asked for or to either side of it, each with probability 1/3. Default False.
    """

    continues_after_end = True
    options = {"is_slippery": False}

    @staticmethod
    def build(config):
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
        return define(envpool_template(&ENV_DEF), *transition_fields(ROWS * COLUMNS, len(MOVES)), table)

    @staticmethod
    def render_assets(config, height, width):
        """Return the sheet of the map and the walker."""
        return cliff(height, width)

    @staticmethod
    def render_fps(config):
        """Return the frame rate of the upstream environment, in frames per second."""
        return 4
