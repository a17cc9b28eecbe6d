"""The env definition of all football tasks: their options, and the checks before the engine sees them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from envpool._support.packages import load_compiled
from envpool._support.text import shown
from envpool.config.checks import check_choice, check_range
from envpool.errors import ConfigError
from envpool.gfootball.scenario_files import MAX_PERIOD, read_file
from envpool.gfootball.scenarios import TEAMS, UPSTREAM, Scenario, scenario_from, with_settings
from envpool.native import EnvDefinition, Param

REPRESENTATIONS = ("extracted", "simple115", "simple115v2", "raw")
REWARDS = ("scoring", "scoring,checkpoints", "checkpoints,scoring")
#: Settings of a scenario that options replace; None keeps the scenario's.
OVERRIDES = (
    *("deterministic", "offsides", "second_half", "end_episode_on_score", "end_episode_on_possession_change"),
    "end_episode_on_out_of_play",
)
#: Actions of the sets: numbers of the engine, which orders them differently.
DEFAULT_ACTIONS = [*range(13), 18, 20, 30, 14, 19, 31]
ACTION_SETS = {
    "default": DEFAULT_ACTIONS,
    "v2": [*DEFAULT_ACTIONS, 32],
    "full": [*DEFAULT_ACTIONS, 32, 13, *range(15, 18), *range(21, 30)],
}
#: Actions that stay in force until they are released: directions, sprint, dribble, rush and both kinds of pressure.
STICKY = {*range(1, 9), 18, 19, 13, 15, 16}
INT32_MAX = 2**31 - 1


class Gfootball(EnvDefinition):
    """A scenario of Google Research Football, played by the engine of gfootball 2.10.2.

    The results equal those of upstream's ``create_environment`` after ``random.seed(seed + i)``, bit for bit.

    By default, one agent controls a player of the left team, and the built-in AI all others. The action is int32, 0 to
    18: idle, left, top left, top, top right, right, bottom right, bottom, bottom left, long pass, high pass, short
    pass, shot, sprint, release direction, release sprint, sliding, dribble, release dribble; 19 in the set "v2" lets
    the built-in AI act. The observation is uint8 (72, 96, 4), float32 (115,), or a dict of upstream's raw arrays.

    With ``left_agents + right_agents`` above 1, each of them is a player, the left team's first. Agents of the
    right team see the pitch turned by 180 degrees, and their actions are turned, too.

    Options
    -------
    env_name : str
        Name of the scenario in gfootball, e.g. ``"11_vs_11_stochastic"``.
    scenario : str, os.PathLike, dict or None
        For ``gfootball/custom-v1``: a Python file with upstream's ``build_scenario(builder)``, or a dict. Default None.
    representation : str
        ``"extracted"`` (minimap), ``"simple115v2"``, ``"simple115"`` or ``"raw"``.
    stacked : bool
        If True, an observation consists of the last 4 frames, along the last axis. Not for raw observations.
    rewards : str
        ``"scoring"``: 1 for a goal, -1 for one of the other team. ``"scoring,checkpoints"``: in addition, 0.1 for each
        of ten regions that an agent with the ball reaches first on its way to the goal.
    left_agents, right_agents : int
        Controlled players of each team, 0 to as many as the scenario lets agents control.
    action_set : str
        ``"default"``, ``"v2"`` or ``"full"``.
    channel_dimensions : (int, int)
        Width and height of the minimap.
    raw_info : bool
        If True, info has upstream's raw arrays as ``raw_ball``, ``raw_left_team`` and so on.
    game_engine_random_seed : int or None
        Seed of the engine in all episodes. Default None: each episode draws one.
    physics_steps_per_frame : int
        Frames of the simulation in a step, at 100 frames per second.
    deterministic : bool or None
        If True, all episodes have the seed of the scenario. Here and below, None keeps the value of the scenario.
    offsides : bool or None
        If True, the offside rule applies.
    second_half : int or None
        Step at which the second half begins.
    end_episode_on_score, end_episode_on_possession_change, end_episode_on_out_of_play : bool or None
        If True, this event ends an episode early.
    render : bool
        This option has no effect: it must be False, since the scenes that upstream draws with OpenGL are unavailable.
        ``render()`` shows the pitch from above.
    render_resolution_x, render_resolution_y : int
        Default width and height of the frames of ``render()``.
    """

    options: ClassVar[dict[str, Any]] = {
        "env_name": "11_vs_11_stochastic",
        "scenario": None,
        "representation": "extracted",
        "stacked": False,
        "rewards": "scoring",
        "left_agents": 1,
        "right_agents": 0,
        "action_set": "default",
        "channel_dimensions": (96, 72),
        "raw_info": False,
        "game_engine_random_seed": None,
        "physics_steps_per_frame": 10,
        **dict.fromkeys(OVERRIDES),
        "render": False,
        "render_resolution_x": 1280,
        "render_resolution_y": 720,
    }
    params: ClassVar[dict[str, Param]] = {
        f"{team}_difficulty": Param(None, 0, 1, text=f"strength of the built-in AI of the {team.replace('_', ' ')}")
        for team in TEAMS
    }
    default_source = "from the scenario"

    @staticmethod
    def build(config: Any) -> Any:
        """Return the capsule of a scenario under a configuration."""
        check_options(config)
        variants = variants_of(config)
        agents = checked_agents(config, variants)
        duration = min(variant.game_duration for variant in variants)
        limit = config.max_episode_steps or INT32_MAX
        is_limited = config.scenario is not None and duration < limit - 1
        if not is_limited:
            duration = limit - 1
        native = load_compiled("envpool.gfootball.env")
        actions = ACTION_SETS[config.action_set]
        params, num_sticky = Gfootball.params_of(variants), len(STICKY.intersection(actions))
        return native.build(config, params, variants, agents, actions, num_sticky, duration, is_limited)

    @classmethod
    def resolve_params(cls, config: Any) -> Mapping[str, Param]:
        """Return the parameters with the difficulties of the scenario."""
        return cls.params_of(variants_of(config))

    @classmethod
    def params_of(cls, variants: list[Scenario]) -> Mapping[str, Param]:
        """Return the parameters with the difficulties of a scenario."""
        return {
            name: Param(float(getattr(variants[0], name)), 0, 1, text=param.text) for name, param in cls.params.items()
        }


def check_options(config: Any) -> None:
    """Raise an error for an option whose value is not allowed, whatever the scenario."""
    check_choice("representation", config.representation, REPRESENTATIONS)
    check_choice("rewards", config.rewards, REWARDS)
    check_choice("action_set", config.action_set, ACTION_SETS)
    if config.stacked and config.representation == "raw":
        raise ConfigError(
            f"stacked must be False with representation='raw', got {shown(config.stacked)}: only arrays of one shape "
            "can be stacked"
        )
    dimensions = config.channel_dimensions
    if (
        not isinstance(dimensions, (tuple, list))
        or len(dimensions) != 2
        or not all(isinstance(n, int) and 1 <= n <= 1024 for n in dimensions)
    ):
        raise ConfigError(
            f"channel_dimensions must be width and height of the minimap, 1 to 1024 each, got {shown(dimensions)}"
        )
    if (seed := config.game_engine_random_seed) is not None:
        if isinstance(seed, bool) or not isinstance(seed, int):
            raise TypeError(f"game_engine_random_seed must be an int or None, got {shown(seed)}")
        check_range("game_engine_random_seed", seed, 0, INT32_MAX)
    check_range("physics_steps_per_frame", config.physics_steps_per_frame, 1, 1000)
    if config.render:
        raise ConfigError(
            f"render must be False, got {shown(config.render)}: the engine is built without OpenGL, so upstream's "
            "scenes are unavailable. Pass render_mode='rgb_array' for frames of the pitch from above"
        )
    for name in ("render_resolution_x", "render_resolution_y"):
        check_range(name, getattr(config, name), 1, 8192)


def variants_of(config: Any) -> list[Scenario]:
    """Return the scenarios of the episodes 1, 2, ..., which repeat, or raise an error."""
    given, name = config.scenario, config.env_name
    if given is None:
        if not name:
            raise ConfigError(
                "scenario must be a Python file with build_scenario(builder), or a dict such as {'left_team': "
                "[(-1, 0, 'GK'), (0, 0, 'CM')], 'ball': (0.1, 0)}, got None"
            )
        check_choice("env_name", name, UPSTREAM)
        variants = UPSTREAM[name]
    elif name:
        raise ConfigError(
            f"scenario must be None for a task with the scenario {name!r}, got {shown(given)}: use the task "
            "'gfootball/custom-v1'"
        )
    elif isinstance(given, Mapping):
        variants = [scenario_from(given, "scenario")]
    elif isinstance(given, (str, os.PathLike)):
        variants = read_file(Path(given).absolute())
    else:
        raise TypeError(f"scenario must be the path of a Python file, or a dict, got {shown(given)}")
    for team in TEAMS:
        if len({getattr(variant, f"{team}_difficulty") for variant in variants}) > 1:
            raise ConfigError(
                f"scenario: {team}_difficulty must not depend on the episode; it is a parameter of the pool"
            )
    assert len(variants) <= MAX_PERIOD
    overrides = {option: getattr(config, option) for option in OVERRIDES if getattr(config, option) is not None}
    return with_settings(variants, overrides)


def checked_agents(config: Any, variants: list[Scenario]) -> tuple[int, int]:
    """Return the numbers of controlled players of both teams, or raise an error."""
    agents = (config.left_agents, config.right_agents)
    for name, team, count in zip(("left_agents", "right_agents"), TEAMS, agents, strict=True):
        limit = min(variant.controllable(team) for variant in variants)
        if not 0 <= count <= limit:
            raise ConfigError(
                f"{name} must be between 0 and {limit}, the players of this team that agents may control in the "
                f"scenario, got {shown(count)}"
            )
        if any(variant.control_all_players for variant in variants) and count not in (0, limit):
            raise ConfigError(f"{name} must be 0 or {limit}, since the scenario sets control_all_players, got {count}")
    if sum(agents) == 0:
        raise ConfigError("left_agents + right_agents must be at least 1, got 0: no player is left to control")
    return agents
