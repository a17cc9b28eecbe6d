"""The options of ``make`` that tasks share: each is declared once, with its default, type, check and description.

The checks of a configuration, the types for type checkers (`envpool.config.task_options`, written by
scripts/task_options.py), the output of ``envpool spec`` and the tables on the pages are derived from these tables.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Mapping
from typing import Any, Literal, NamedTuple

import numpy as np

from envpool._support.text import shown
from envpool.config.checks import (
    INT32_MAX,
    Check,
    canonical_mode,
    check_controlled,
    check_opponents,
    check_timeout,
    flag,
    integer,
    one_of,
    unchecked,
    whole_number,
)
from envpool.config.randomize import check_form
from envpool.config.render_options import RENDER_MODES, check_camera, check_size
from envpool.config.transform_checks import (
    check_bounds,
    check_normalization,
    check_rescaling,
    check_reward_bounds,
    check_scale,
    check_time,
)
from envpool.errors import ConfigError


class Option(NamedTuple):
    """An option of ``make`` that tasks share.

    Attributes
    ----------
    name : str
        The name.
    default : object
        The default of tasks that do not set one of their own.
    check : callable
        ``check(name, value)`` returns the value in its normal form, or raises ConfigError or TypeError.
        `check_together` and, for seeds, `envpool.tasks.spec.validate` check options that depend on each other.
    text : str
        Meaning, one line of Markdown whose links start at the root of the repository.
    type : str
        Annotation of the values that are accepted; by default that of the check, see `Check`.
    allowed : str
        The allowed values, by default those of the check; empty if the type says it all.
    normal_type : str
        Annotation of the normal form; empty if it is `type`.
    default_text : str
        Text in place of the default; empty if the default is shown.
    aliases : tuple of str
        Other words for the option, those of other libraries and other tasks.
    where : {"", "players", "turns", "chosen players", "legacy"}
        Where the option has an effect: in all tasks, in those with players, in the turn-based ones, in those in which
        ``max_num_players`` chooses the number of players, or in the legacy gym style. Elsewhere ``envpool spec`` does
        not show it.
    is_in_states : bool
        True if saved states of environments depend on the option.
    """

    name: str
    default: Any
    check: Callable[[str, Any], Any]
    text: str
    type: str = ""
    allowed: str = ""
    normal_type: str = ""
    default_text: str = ""
    aliases: tuple[str, ...] = ()
    where: Literal["", "players", "turns", "chosen players", "legacy"] = ""
    is_in_states: bool = False

    @property
    def type_text(self) -> str:
        """The type as documentation shows it, e.g. ``"int, sequence or None"``."""
        *names, last = dict.fromkeys(type_names(ast.parse(self.type, mode="eval").body))
        return f"{', '.join(names)} or {last}" if names else last


def type_names(node: ast.expr) -> list[str]:
    """Return the names of the alternatives of an annotation."""
    if isinstance(node, ast.BinOp):
        return [*type_names(node.left), *type_names(node.right)]
    if isinstance(node, ast.Subscript):
        kind = ast.unparse(node.value)
        if kind == "Literal":
            first = ast.literal_eval(node.slice)
            return [type(first[0] if isinstance(first, tuple) else first).__name__]
        return [{"Mapping": "dict", "Callable": "callable"}.get(kind, "sequence")]
    return [ast.unparse(node)]


#: The values of the option `players`.
PLAYER_VIEWS = ("rows", "grid", "dict")


def table(*options: Option) -> dict[str, Option]:
    """Return options by name, each with the type and the allowed values that its check declares."""
    return {option.name: completed(option, option.check) for option in options}


def completed(option: Option, check: Callable[[str, Any], Any]) -> Option:
    """Return an option with the type and the allowed values of its check, where it has none of its own."""
    if not isinstance(check, Check):
        return option
    return option._replace(type=option.type or check.type, allowed=option.allowed or check.allowed)


def defaults(options: Mapping[str, Option]) -> dict[str, Any]:
    """Return the defaults of options by name."""
    return {name: option.default for name, option in options.items()}


#: Options of every pool; the first ones are in the order of EnvPool's configurations.
POOL_OPTIONS = table(
    Option("num_envs", 1, integer(1), "number of environments in the pool"),
    Option(
        "batch_size",
        0,
        whole_number,
        "number of rows in a batch; 0 means `num_envs`. A smaller value makes the pool async",
        type="int",
        allowed="0 to `num_envs`",
    ),
    Option(
        "num_threads",
        0,
        integer(0, 4096),
        "number of threads; 0 means `batch_size` or the number of CPUs available to this process (its affinity, or "
        "the CPU quota of its control group), whichever is smaller",
        aliases=("num_workers",),
    ),
    Option(
        "max_num_players",
        1,
        integer(1),
        "number of players per environment: fixed in tasks with players, see [docs/players.md](docs/players.md), and 1 "
        "in all others, except in ViZDoom, where you choose it",
        allowed="the number of the task; in ViZDoom, 1 to 16",
        where="chosen players",
    ),
    Option(
        "thread_affinity_offset",
        -1,
        integer(-1),
        "pins thread `k` to one of the CPUs that this process may use: entry `offset + k` of their list, modulo its "
        "length; -1 pins no thread",
    ),
    Option(
        "seed",
        42,
        unchecked,
        "environment `i` gets the seed `seed + i`; a sequence has one seed per environment. None draws a random seed, "
        'which `env.config["seed"]` contains; see [docs/exactness.md](docs/exactness.md#seeds)',
        type="int | Sequence[int] | npt.NDArray[np.integer[Any]] | None",
        allowed="0 to 2⁶⁴ - 1",
        normal_type="int | None",
    ),
    Option(
        "env_seed",
        [],
        unchecked,
        "seeds as a sequence, equivalent to a sequence for `seed`",
        type="Sequence[int] | npt.NDArray[np.integer[Any]]",
        allowed="0 to 2⁶⁴ - 1 each",
        normal_type="list[int]",
    ),
    Option(
        "gym_reset_return_info",
        True,
        flag,
        "if True, `reset` returns an info. False is only allowed in the legacy gym style, where it is the default",
        where="legacy",
    ),
    Option(
        "autoreset_mode",
        "next_step",
        canonical_mode,
        "when environments start their next episode; see [docs/api.md](docs/api.md#auto-reset)",
        type='Literal["next_step", "same_step", "disabled"] | AutoresetMode',
        allowed='`"next_step"`, `"same_step"`, `"disabled"`',
        normal_type="str",
        is_in_states=True,
    ),
    Option(
        "max_episode_steps",
        INT32_MAX,
        integer(1),
        "number of steps after which an episode is truncated",
        aliases=("max_cycles",),
        default_text="per task",
        is_in_states=True,
    ),
    Option(
        "numa",
        False,
        flag,
        "if True, threads and environments are divided among the NUMA nodes of the machine. The threads of a node "
        "stay on its CPUs; they seed and reset its environments, and step those of other nodes only when they have "
        "nothing else to do",
    ),
    Option(
        "on_error",
        "raise",
        one_of("raise", "restart"),
        'what happens if an environment fails: `"raise"` raises an `EnvStepError`; `"restart"` reports the failure '
        "in the results and restarts the environment, see [docs/failures.md](docs/failures.md)",
    ),
    Option(
        "step_timeout",
        None,
        check_timeout,
        "seconds after which a call that waits for an environment raises an `EnvTimeoutError` that names it, see "
        "[docs/failures.md](docs/failures.md); None waits forever",
        type="float | None",
        allowed="above 0",
    ),
    Option(
        "episode_statistics",
        False,
        flag,
        "if True, the info of a step that ends an episode contains its return, length and time as "
        '`info["episode"]`, and `stats()` counts episodes; see [docs/api.md](docs/api.md#episode-statistics)',
    ),
    Option(
        "finished_episodes",
        False,
        flag,
        'if True, the info of a step that ends episodes also contains `info["finished"]`, arrays of only these '
        "episodes and their last observations; needs `episode_statistics=True`, see "
        "[docs/api.md](docs/api.md#finished-episodes)",
    ),
    Option(
        "require_finite_actions",
        False,
        flag,
        "if True, an action that is NaN or infinite raises an `ActionError` in every task; if False, only NaN does, "
        "and only where results would become NaN, see [docs/api.md](docs/api.md#nan-in-actions)",
    ),
    Option(
        "players",
        None,
        one_of(None, *PLAYER_VIEWS),
        "form of the arrays of a task with players, see [docs/players.md](docs/players.md): a row for each player that "
        "is present (the default), a place for each player, or an entry for each group of players. Tasks with one "
        "player accept None only",
        where="players",
    ),
    Option(
        "observe",
        None,
        one_of(None, "all", "current"),
        "players of a turn-based task that have rows, see [docs/players.md](docs/players.md#turns): all of them "
        "(the default), or the one whose turn it is. Other tasks accept None only",
        where="turns",
    ),
    Option(
        "illegal_actions",
        None,
        one_of(None, "raise", "lose"),
        "what happens in a turn-based task if a move is not legal: an `ActionError` (the default), or what the "
        "rules of the game say, usually that the player loses. Other tasks accept None only",
        where="turns",
    ),
    Option(
        "randomize",
        None,
        check_form,
        "distributions from which parameters are drawn for each episode, by their names, see "
        "[docs/options.md](docs/options.md#randomized-parameters)",
        type="Mapping[str, Sequence[Any]] | None",
        allowed='e.g. `{"length": ("uniform", 0.3, 0.7)}`',
        normal_type="dict[str, tuple[Any, ...]] | None",
    ),
)

#: Options that transform observations, rewards and actions, each in the order in which they are applied. A task has
#: those for which its environment has no option of its own.
TRANSFORM_OPTIONS = table(
    Option(
        "time_aware",
        False,
        check_time,
        'if True, flattens the observation and appends the elapsed steps of the episode; with `"normalized"`, '
        "their fraction of `max_episode_steps`. The observation must be one array of floats",
        type='bool | Literal["normalized"]',
        allowed='bool, `"normalized"`',
        is_in_states=True,
    ),
    Option(
        "frame_stack",
        1,
        integer(1, 1024),
        "number of the last observations of the episode that are stacked in a new first dimension, the oldest "
        "first. After a reset, all of them are the first observation",
        aliases=("stack_num",),
        is_in_states=True,
    ),
    Option(
        "float32_obs",
        False,
        flag,
        "if True, observations are cast to float32. With `normalize_obs`, whose results are float32 anyway, it has no "
        "effect: the statistics are computed from the values without the cast",
    ),
    Option(
        "normalize_obs",
        False,
        check_normalization,
        "if True, subtracts the running mean from observations and divides by the running standard deviation; "
        '`{"epsilon": 1e-8}` sets the number that is added to the variance. The result is float32',
        type="bool | Mapping[str, float]",
    ),
    Option(
        "clip_obs",
        None,
        check_bounds,
        "clips observations, which must be floats, to `(-c, c)` or to a pair `(low, high)`",
        type="float | Sequence[float] | None",
        allowed="above 0, or a pair",
        normal_type="tuple[float, float] | None",
    ),
    Option("scale_reward", 1.0, check_scale, "factor of the rewards", type="float"),
    Option(
        "normalize_reward",
        False,
        check_normalization,
        "if True, divides rewards by the running standard deviation of their discounted sums; "
        '`{"gamma": 0.99, "epsilon": 1e-8}` sets the discount factor and the number that is added to the variance',
        type="bool | Mapping[str, float]",
    ),
    Option(
        "reward_clip",
        None,
        check_reward_bounds,
        "clips rewards to `(-c, c)` or to a pair `(low, high)`; True stands for 1",
        type="bool | float | Sequence[float] | None",
        allowed="True, above 0, or a pair",
        normal_type="bool | tuple[float, float] | None",
        aliases=("clip_reward",),
    ),
    Option(
        "clip_action",
        False,
        flag,
        "if True, actions are clipped to their bounds, and the action space has no bounds",
        is_in_states=True,
    ),
    Option(
        "rescale_action",
        None,
        check_rescaling,
        "new bounds of the actions, a pair `(low, high)` of numbers or arrays, or True for (-1, 1). Actions are "
        "mapped linearly from these bounds to those of the environment",
        type="Literal[True] | Sequence[Any] | None",
        allowed="True, or a pair",
        normal_type="tuple[Any, Any] | None",
        is_in_states=True,
    ),
)

#: Options that say how a pool renders.
RENDER_OPTIONS = table(
    Option(
        "render_mode",
        None,
        one_of(None, *RENDER_MODES),
        "whether `render` returns frames or shows one environment in a window; with None, the pool cannot render",
    ),
    Option(
        "render_env_id",
        0,
        whole_number,
        "environment that `render()` draws",
        type="int",
        allowed="0 to `num_envs` - 1",
    ),
    Option(
        "render_width",
        0,
        check_size,
        "width of frames in pixels; 0 selects the width in the upstream environment",
        type="int",
        allowed="0 to 4096",
    ),
    Option(
        "render_height",
        0,
        check_size,
        "height of frames in pixels; 0 selects the height in the upstream environment",
        type="int",
        allowed="0 to 4096",
    ),
    Option(
        "render_camera_id",
        -1,
        check_camera,
        'camera of the task; -1 is the default camera, and `"track"` the first camera of the model that follows the '
        "robot, or the default camera if there is none",
        type='int | Literal["track"]',
        allowed='at least -1, `"track"`',
    ),
)

#: The option that stands for several others; `envpool.tasks.presets` checks it.
PRESET_OPTIONS = table(
    Option(
        "preset",
        None,
        unchecked,
        "sets all options that a paper or a library uses, see [docs/options.md](docs/options.md); options that are "
        "passed together with it take precedence",
        type="str | None",
        allowed="the presets of the task",
    )
)

#: The option of ``env_type="gym"``.
GYM_OPTIONS = table(
    Option(
        "gym_api",
        "auto",
        one_of("auto", "gymnasium", "legacy"),
        'form of the results with `env_type="gym"`: that of Gymnasium, or that of gym before 0.26; `"auto"` '
        "selects the latter if such a gym is loaded",
    )
)

#: Options of pools that play some of the players themselves.
OPPONENT_OPTIONS = table(
    Option(
        "controlled",
        None,
        check_controlled,
        "players of a task with players whose actions you choose: numbers or names of groups, or "
        '`"alternate"`; `opponents` play the others, see [docs/players.md](docs/players.md#opponents). None stands for '
        "all players",
        type="int | str | Sequence[int | str] | None",
        allowed='numbers, names of groups, `"alternate"`',
    ),
    Option(
        "opponents",
        "random",
        check_opponents,
        'policy of the players that are not `controlled`: `"random"`, or a function of observations and info that '
        "returns actions; needs `controlled`",
        type='Literal["random"] | Callable[..., Any]',
        allowed='`"random"`, callable',
    ),
)

#: All options in this module.
SHARED_OPTIONS = POOL_OPTIONS | TRANSFORM_OPTIONS | RENDER_OPTIONS | PRESET_OPTIONS | GYM_OPTIONS | OPPONENT_OPTIONS

POOL_DEFAULTS = defaults(POOL_OPTIONS)
TRANSFORM_DEFAULTS = defaults(TRANSFORM_OPTIONS)

#: The words for an option of which a task may have any one.
WORDS = {word: (o.name, *o.aliases) for o in SHARED_OPTIONS.values() for word in (o.name, *o.aliases) if o.aliases}


def canonical(options: Mapping[str, Any], known: Collection[str]) -> dict[str, Any]:
    """Return options by the names that a task or a function knows, in place of their aliases.

    Parameters
    ----------
    options : mapping of str to object
        Options by any name; those that are unknown stay as they are.
    known : collection of str
        The known names.

    Raises
    ------
    TypeError
        An option is given under two names.
    """
    result: dict[str, Any] = {}
    given: dict[str, str] = {}
    for word, value in options.items():
        name = word if word in known else next((name for name in WORDS.get(word, ()) if name in known), word)
        if name in result:
            raise TypeError(f"{given[name]} and {word} are two names of the option {name}: pass only one of them")
        result[name], given[name] = value, word
    return result


def with_transforms(options: dict[str, Any]) -> dict[str, Any]:
    """Return the options of a pool and of its environment with their defaults, followed by those of transforms."""
    return options | {
        name: default for name, default in TRANSFORM_DEFAULTS.items() if not {name, *WORDS.get(name, ())} & {*options}
    }


def transforms_of(config: Any, own: Mapping[str, Any]) -> list[str]:
    """Return the names of the options of a configuration that are those of transforms.

    An option of the environment takes the place of a transform. If it is a flag, the environment gets its values True
    and False only, and the transform all others.

    Parameters
    ----------
    config : namedtuple
        The options of a task, checked or not.
    own : mapping of str to object
        The options and parameters of the environment, with their defaults.
    """
    names = [name for name in TRANSFORM_OPTIONS if name in config._fields]
    return [n for n in names if n not in own or (own[n] is False and not is_flag(getattr(config, n)))]


def is_flag(value: Any) -> bool:
    """Return whether a value is True or False, or a number that stands for one of them."""
    return isinstance(value, (bool, np.bool_, int)) and value in (0, 1)


def check_together(options: dict[str, Any]) -> None:
    """Check options of a pool that depend on each other, and put the number of rows in the place of batch_size 0.

    Parameters
    ----------
    options : dict
        Options by name, in their normal forms; changed.

    Raises
    ------
    ConfigError
        The values do not fit together.
    """
    num_envs, batch_size, offset = options["num_envs"], options["batch_size"], options["thread_affinity_offset"]
    if not 0 <= batch_size <= num_envs:
        raise ConfigError(
            f"batch_size must be between 1 and num_envs, which is {num_envs}, or 0 for num_envs, got "
            f"{shown(batch_size)}"
        )
    options["batch_size"] = batch_size or num_envs
    if options["numa"] and offset >= 0:
        raise ConfigError(
            f"numa=True binds threads to nodes and thread_affinity_offset={offset} binds them to CPUs: use one of the "
            "two"
        )
    if options["finished_episodes"] and not options["episode_statistics"]:
        raise ConfigError(
            "finished_episodes=True needs the returns and lengths of episodes: set episode_statistics=True"
        )


def checked(options: Mapping[str, Any], declared: Mapping[str, Option]) -> dict[str, Any]:
    """Return the values of declared options in their normal forms; an option that is missing or None has its default.

    Raises
    ------
    ConfigError, TypeError
        A value is not allowed.
    """
    given = {name: options.get(name) for name in declared}
    return {n: o.default if given[n] is None else o.check(n, given[n]) for n, o in declared.items()}
