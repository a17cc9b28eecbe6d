"""Python side of the synthetic plug-in: its options, its field tables, and the tasks it registers."""

import struct
from types import MappingProxyType

import _envpool_synthetic as native
import numpy as np

import envpool
from envpool.errors import ConfigError
from envpool.native import Field, PlayerGroup, define

#: Actions with a meaning, see synthetic.c; 0 to 93 are only recorded.
NO_FRAME, TRUNCATE, TERMINATE, FAIL, WAIT, NUM_ACTIONS = 94, 95, 96, 97, 98, 100
#: Numbers that describe an env's history: id, episode, step, action, calls, seed.
CODE = 6
DISTRIBUTIONS = ("fixed", "exponential", "heavy_tailed", "stragglers")
REPORTS = ("both", "status", "errors")
LAYOUTS = ("flat", "rich")
WAITS = ("step", "reset", "seed", "write")
SEED_FAILURES = ("none", "odd_envs", "all_envs", "silent_status")


def choice(name, value, allowed):
    """Return the position of an option's value among the allowed values."""
    if value not in allowed:
        raise ConfigError(f"{name} must be one of {', '.join(allowed)}, got {value!r}")
    return allowed.index(value)


class Synthetic:
    """An env whose steps take the time that its options set; synthetic.c says what it reports."""

    options = MappingProxyType(
        {
            "cost_ns": 0.0,
            "distribution": "fixed",
            "sleeps": False,
            "layout": "flat",
            "items": CODE,
            "episode_length": 5,
            "truncate_after": 0,
            "fail_reset": -1,
            "fail_create": 0,
            "fail_seed": "none",
            "counted": False,
            "frames_wait": False,
            "frame_ns": 0,
            "report": "both",
            "fused": False,
            "waits_in": "step",
            "fails_again": False,
        }
    )

    @staticmethod
    def build(config):
        """Return the capsule of this env definition."""
        if config.items < (CODE if config.layout == "flat" else 1):
            raise ConfigError(f"items must be at least {CODE} (layout 'rich': 1), got {config.items}")
        options = struct.pack(
            "dq14i0d",  # "0d": as long as the struct in C, which ends at a multiple of its alignment
            config.cost_ns,
            config.items,
            choice("distribution", config.distribution, DISTRIBUTIONS),
            config.sleeps,
            choice("layout", config.layout, LAYOUTS),
            config.episode_length,
            config.truncate_after,
            config.fail_reset,
            config.fail_create,
            choice("fail_seed", config.fail_seed, SEED_FAILURES),
            config.counted,
            config.frames_wait,
            config.frame_ns,
            choice("report", config.report, REPORTS),
            choice("waits_in", config.waits_in, WAITS),
            config.fails_again,
        )
        move = Field("action", np.int32, (-1,), 0, NUM_ACTIONS - 1)
        if config.layout == "flat":
            fields = [Field("obs", np.int64, (config.items,)), Field("info:draws", np.int64)]
            return define(native.definition(config.fused), fields, [move], options)
        fields = [
            Field("obs:a", np.int64, (CODE,)),
            Field("obs:b.c", np.float32, (2, 3)),
            Field("obs:b.d", np.uint8, (config.items,), 0, 255),
            Field("obs:b.e", np.bool_),
            Field("info:calls", np.int32),
            Field("info:draws", np.float64, (2,)),
            Field("info:push", np.float32, (2,)),
            Field("info:mode", np.int8, (-1, 3)),
            Field("info:count", np.int64),
        ]
        actions = [
            move._replace(name="action.move"),
            Field("action.push", np.float32, (2,), -1, 1),
            Field("action.mode", np.int8, (3,), np.array([0, 0, -5]), np.array([1, 2, 5])),
            Field("action.count", np.int64, (-1,)),
        ]
        return define(native.definition(config.fused), fields, actions, options)

    @staticmethod
    def render_assets(config, height, width):
        """Return what a frame shows besides the history of the env: its size."""
        return struct.pack("2h", height, width)

    @staticmethod
    def render_fps(config):
        """Return the frame rate in frames per second."""
        return 25


class StaticSynthetic:
    """The same env as a const table: flat, episodes of five steps, no options."""

    options = MappingProxyType({})

    @staticmethod
    def build(config):
        """Return the capsule of this env definition."""
        return native.static_definition()


class Crowd:
    """An env whose players come and go; crowd.c has its rules.

    Options
    -------
    places : int
        Places for players.
    groups : bool
        If True, the last player is a group of its own with a smaller observation and fewer actions.
    float_obs : bool
        If True, observations are float64.
    """

    options = MappingProxyType(
        {
            "places": 8,
            "episode_length": 12,
            "fail_reset": -1,
            "constant": False,
            "layout": "flat",
            "groups": False,
            "float_obs": False,
        }
    )

    @staticmethod
    def player_groups(config):
        """Return the groups of players."""
        if not config.groups:
            return None
        last = config.places - 1
        return [PlayerGroup("hunters", tuple(range(last))), PlayerGroup("prey", (last,), {"obs": (6,)})]

    @staticmethod
    def build(config):
        """Return the capsule of this env definition."""
        layout = choice("layout", config.layout, (*LAYOUTS, "floats"))
        numbers = config.places, config.episode_length, config.fail_reset, config.constant, layout, config.float_obs
        options = struct.pack("6i", *numbers)
        fields = [
            Field("obs", np.float64 if config.float_obs else np.int64, (-1, 8)),
            Field("info:token", np.int64, (-1,)),
            Field("info:num_present", np.int32),
            Field("info:mode", np.int32),
        ]
        most = np.full(config.places, 15)
        if config.groups:
            most[-1] = 10
        actions = [Field("action", np.int32, (-1,), 0, most)]
        if config.layout == "floats":
            actions = [Field("action", np.float32, (-1, 2), 0, np.stack([most, np.full(config.places, 3)], 1))]
        if config.layout == "rich":
            actions = [
                actions[0]._replace(name="action.move"),
                Field("action.push", np.float32, (-1, 2), -1, 1),
                Field("action.mode", np.int32, (), 0, 3),
            ]
        return define(native.crowd_definition(), fields, actions, options, max_num_players=config.places)


class Turns:
    """A game whose players move in turn; turns.c has its rules.

    Options
    -------
    places : int
        Number of players.
    masks : {"none", "mover", "players"}
        Whose legal moves are known.
    groups : bool
        If True, the last player is a group of its own.
    """

    options = MappingProxyType({"places": 3, "masks": "mover", "groups": False})

    @staticmethod
    def player_groups(config):
        """Return the groups of players."""
        last = config.places - 1
        return [PlayerGroup("many", tuple(range(last))), PlayerGroup("last", (last,))] if config.groups else None

    @staticmethod
    def build(config):
        """Return the capsule of this env definition."""
        masks = choice("masks", config.masks, ("none", "mover", "players"))
        fields = [Field("obs", np.int64, (-1, 4)), Field("info:current_player", np.int32, (), -1, config.places - 1)]
        if masks:
            fields.append(Field("info:legal_action_mask", np.bool_, ((), (7,), (-1, 7))[masks]))
        actions = [Field("action", np.int32, (), 0, 6)]
        options = struct.pack("2i", config.places, masks)
        return define(native.turns_definition(), fields, actions, options, max_num_players=config.places, turns=True)


envpool.register("Turns-v0", __name__, env="Turns")
envpool.register("Crowd-v0", __name__, env="Crowd")
envpool.register("Synthetic-v0", __name__, env="Synthetic")
envpool.register("StaticSynthetic-v0", __name__, env="StaticSynthetic")
