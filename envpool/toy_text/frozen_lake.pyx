"""FrozenLake: cross slippery ice without falling into a hole.

Source of the dynamics: ``gymnasium.envs.toy_text.frozen_lake``; the transition probabilities are its float64 values.
"""

import numpy as np

from envpool.env cimport envpool_env
from envpool.scaffold cimport envpool_template
from envpool.toy_text cimport tabular

from envpool.errors import ConfigError
from envpool.native import EnvDefinition, define
from envpool.toy_text.checks import check_probability, check_rewards
from envpool.toy_text.sprites import lake, lake_size
from envpool.toy_text.tabular import grid_targets, pack, slipping, transition_fields

MAPS = {
    "4x4": ("SFFF", "FHFH", "FFFH", "HFFG"),
    "8x8": ("SFFFFFFF", "FFFFFFFF", "FFFHFFFF", "FFFFFHFF", "FFFHFFFF", "FHHFFFHF", "FHFFHFHF", "FFFHFFFG"),
}
MOVES = ((0, -1), (1, 0), (0, 1), (-1, 0))      # left, down, right, up
FROZEN, HOLE, GOAL = range(3)                   # kinds of outcomes, by the cell that is reached
KINDS = {"S": FROZEN, "F": FROZEN, "H": HOLE, "G": GOAL}
MAX_CELLS = 2**20                               # so that the observation space stays Discrete

cdef envpool_env ENV_DEF = tabular.definition("FrozenLake")


def named_map(map_name, size):
    """Return the map called map_name, or the square map of this size if map_name is None."""
    if map_name is not None:
        if not isinstance(map_name, str) or map_name not in MAPS:
            raise ConfigError(
                f"map_name must be {' or '.join(map(repr, MAPS))}, got {map_name!r}: pass any other map as desc"
            )
        return MAPS[map_name]
    name = f"{size}x{size}"
    if name not in MAPS:
        raise ConfigError(f"size must be 4 or 8, got {size}: pass a map of any other size as desc")
    return MAPS[name]


def check_map(desc):
    """Return a map as a tuple of strings, or raise ConfigError."""
    try:
        rows = tuple("".join(row) for row in desc) if isinstance(desc, (list, tuple)) else ()
    except TypeError:
        rows = ()
    if not rows or not rows[0]:
        raise ConfigError(
            f"desc must be a list of strings, one for each row of the map, such as ['SFH', 'FFG']; got {desc!r}"
        )
    for i, row in enumerate(rows):
        if len(row) != len(rows[0]):
            raise ConfigError(
                f"all rows of desc must be equally long: desc[{i}] is {row!r} with {len(row)} cells, but desc[0] has "
                f"{len(rows[0])}"
            )
        unknown = sorted(set(row) - set(KINDS))
        if unknown:
            raise ConfigError(
                f"desc[{i}] is {row!r}, which contains {unknown[0]!r}: allowed are 'S' (start), 'F' (frozen), "
                "'H' (hole) and 'G' (goal)"
            )
    if not any("S" in row for row in rows):
        raise ConfigError("desc has no 'S' (start): the map needs at least one")
    if len(rows) * len(rows[0]) > MAX_CELLS:
        raise ConfigError(
            f"desc must have at most {MAX_CELLS} cells, got {len(rows)} x {len(rows[0])} cells: use a smaller map"
        )
    return rows


def rows_of(config):
    """Return the map that the options choose."""
    return named_map(config.map_name, config.size) if config.desc is None else check_map(config.desc)


class FrozenLake(EnvDefinition):
    """A walk over a lake of frozen cells with holes.

    Observation int32: row * columns + column. Action int32: 0 left, 1 down, 2 right, 3 up. On slippery ice the walker
    goes where it wants with probability `success_rate`, otherwise to one of the two sides. A hole or the goal ends the
    episode. By default only reaching the goal has a reward, which is 1.

    ``info["prob"]`` float32: probability of the transition that happened; 1 after a reset.

    Options
    -------
    size : {4, 8}
        Side of the map, in cells. The option is EnvPool's; it is ignored if `map_name` or `desc` is given.
    map_name : {"4x4", "8x8"}, optional
        Upstream's name of the map. It is ignored if `desc` is given.
    desc : list of str, optional
        A custom map: one string per row, of the letters S (start), F (frozen), H (hole) and G (goal). If there are
        several S, one is drawn for each episode. Upstream treats any other letter as F; here it is an error. If both
        `map_name` and `desc` are None, upstream draws a random map, whereas here `size` chooses one;
        ``gymnasium.envs.toy_text.frozen_lake.generate_random_map`` returns random maps to pass as `desc`.
    is_slippery : bool
        If True, the default, the walker may slip. If False, `success_rate` is ignored.
    success_rate : float
        Probability in [0, 1] of going in the direction of the action. Default 1/3.
    reward_schedule : tuple of float
        Rewards for reaching the goal, a hole, and any other cell. Default (1, 0, 0).
    """

    options = {
        "reward_threshold": 0.7,
        "size": 4,
        "map_name": None,
        "desc": None,
        "is_slippery": True,
        "success_rate": 1.0 / 3.0,
        "reward_schedule": (1, 0, 0),
    }

    @staticmethod
    def build(config):
        """Return the capsule of this environment definition."""
        rows = rows_of(config)
        goal, hole, frozen = check_rewards("reward_schedule", config.reward_schedule, ("goal", "hole", "frozen"))
        success = check_probability("success_rate", config.success_rate)
        failure = (1.0 - success) / 2.0
        targets = grid_targets(len(rows), len(rows[0]), MOVES)
        outcomes = slipping(targets) if config.is_slippery else targets[:, :, None]
        letters = np.array(list("".join(rows)))
        kind = np.array([KINDS[letter] for letter in letters], np.uint8)
        start = (letters == "S").astype(np.float64)
        table = pack(
            outcomes,
            kind[outcomes],
            [[failure, success, failure] if config.is_slippery else [1.0]] * len(MOVES),
            rewards=(frozen, hole, goal),
            terminated=(False, True, True),
            start=start / start.sum(),
        )
        fields, actions = transition_fields(len(letters), len(MOVES))
        return define(envpool_template(&ENV_DEF), fields, actions, table, frame_size=lake_size(rows))

    @staticmethod
    def render_assets(config, height, width):
        """Return the sheet of the map and the walker."""
        return lake(rows_of(config), height, width)

    @staticmethod
    def render_fps(config):
        """Return the frame rate of the upstream environment, in frames per second."""
        return 4
