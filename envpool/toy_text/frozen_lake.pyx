"""FrozenLake: crossing slippery ice without falling into a hole.

Source of the dynamics: ``gymnasium.envs.toy_text.frozen_lake``; the transition probabilities are its float64 numbers.
"""

import numpy as np

from cpython.pycapsule cimport PyCapsule_New

from envpool.env cimport ENVPOOL_CAPSULE_NAME, envpool_env, envpool_env_init
from envpool.toy_text cimport tabular

from envpool.errors import ConfigError
from envpool.native import Field, define
from envpool.toy_text.checks import check_probability, check_rewards
from envpool.toy_text.sprites import lake, lake_size
from envpool.toy_text.tabular import grid_targets, pack, slipping

MAPS = {
    "4x4": ("SFFF", "FHFH", "FFFH", "HFFG"),
    "8x8": ("SFFFFFFF", "FFFFFFFF", "FFFHFFFF", "FFFFFHFF", "FFFHFFFF", "FHHFFFHF", "FHFFHFHF", "FFFHFFFG"),
}
MOVES = ((0, -1), (1, 0), (0, 1), (-1, 0))      # left, down, right, up
FROZEN, HOLE, GOAL = range(3)                   # kinds of outcomes, by the cell that is reached
KINDS = {"S": FROZEN, "F": FROZEN, "H": HOLE, "G": GOAL}
MAX_CELLS = 2**20                               # the observation stays Discrete

cdef envpool_env ENV_DEF
envpool_env_init(&ENV_DEF, "FrozenLake")
ENV_DEF.create = tabular.create
ENV_DEF.destroy = tabular.destroy
ENV_DEF.seed_many = tabular.seed_many
ENV_DEF.step_many = tabular.step_many
ENV_DEF.write_many = tabular.write_many
ENV_DEF.run_many = tabular.run_many
ENV_DEF.render_many = tabular.render_many


def named_map(map_name, size):
    """The map that map_name, or without it size, chooses."""
    if map_name is not None:
        if not isinstance(map_name, str) or map_name not in MAPS:
            raise ConfigError(
                f"map_name is {map_name!r}, allowed are {' and '.join(map(repr, MAPS))}: pass other maps as desc"
            )
        return MAPS[map_name]
    name = f"{size}x{size}"
    if name not in MAPS:
        raise ConfigError(f"size is {size}, allowed are 4 and 8: pass maps of other sizes as desc")
    return MAPS[name]


def check_map(desc):
    """A map as a tuple of strings, or ConfigError."""
    try:
        rows = tuple("".join(row) for row in desc) if isinstance(desc, (list, tuple)) else ()
    except TypeError:
        rows = ()
    if not rows or not rows[0]:
        raise ConfigError(
            f"desc is {desc!r}, allowed is a list of strings, one for each row of the map, such as ['SFH', 'FFG']"
        )
    for i, row in enumerate(rows):
        if len(row) != len(rows[0]):
            raise ConfigError(
                f"desc[{i}] is {row!r} with {len(row)} cells, but desc[0] has {len(rows[0])}: make them equally long"
            )
        unknown = sorted(set(row) - set(KINDS))
        if unknown:
            raise ConfigError(
                f"desc[{i}] is {row!r} with {unknown[0]!r} in it, allowed are 'S' (start), 'F' (frozen), 'H' (hole) "
                "and 'G' (goal)"
            )
    if not any("S" in row for row in rows):
        raise ConfigError("desc has no 'S' (start): put at least one on the map")
    if len(rows) * len(rows[0]) > MAX_CELLS:
        raise ConfigError(
            f"desc has {len(rows)} x {len(rows[0])} cells, allowed are up to {MAX_CELLS} in all: use a smaller map"
        )
    return rows


def rows_of(config):
    """The map that the options choose."""
    return named_map(config.map_name, config.size) if config.desc is None else check_map(config.desc)


class FrozenLake:
    """A walk over a lake of frozen cells with holes.

    Observation int32: row * columns + column. Action int32: 0 left, 1 down, 2 right, 3 up. On slippery ice the walker
    goes where it wants with probability `success_rate`, else to one of the sides. A hole or the goal ends the episode.

    Info ``prob`` float32: probability of the transition that happened; 1 after a reset.

    Options
    -------
    size : {4, 8}
        Side of the map; EnvPool's option.
    map_name : {"4x4", "8x8"}, optional
        Upstream's name of the map; if given, it holds instead of `size`.
    desc : list of str, optional
        A map of your own; if given, it holds instead of `map_name` and `size`. One string a row, of the letters S
        (start), F (frozen), H (hole) and G (goal). With several S one is drawn for each episode. Upstream takes any
        other letter for F; here it is an error. Where both map_name and desc are None upstream draws a map, here `size`
        holds; ``gymnasium.envs.toy_text.frozen_lake.generate_random_map`` returns random maps to pass as `desc`.
    is_slippery : bool
        Whether the walker may slip; if not, `success_rate` does not matter.
    success_rate : float
        In [0, 1].
    reward_schedule : tuple of float
        Rewards for reaching the goal, a hole, and any other cell.
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
        """Return the capsule of this kind."""
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
        fields = [
            Field("obs", np.int32, (-1,), 0, len(letters) - 1),
            Field("info:prob", np.float32, (-1,), 0, 1),
        ]
        actions = [Field("action", np.int32, (-1,), 0, len(MOVES) - 1)]
        template = PyCapsule_New(&ENV_DEF, ENVPOOL_CAPSULE_NAME, NULL)
        return define(template, fields, actions, table, frame_size=lake_size(rows))

    @staticmethod
    def render_assets(config, height, width):
        """Return the map and the walker."""
        return lake(rows_of(config), height, width)

    @staticmethod
    def render_fps(config):
        """Return the pictures a second of upstream."""
        return 4
