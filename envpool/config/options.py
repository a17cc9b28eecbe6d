"""The options of ``make`` that every task has: types for type checkers and editors, and texts for the documentation.

Defaults are in `envpool.tasks.spec.COMMON_OPTIONS`, `envpool.transforms.options.TRANSFORM_OPTIONS` and
`envpool.config.render_options.RENDER_DEFAULTS`. The table in docs/options.md and the output of ``envpool spec`` are
made from this module. `envpool.config.task_options` has the types of the options that only some tasks have.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import UnionType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Literal,
    TypedDict,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from gymnasium.vector import AutoresetMode


@dataclass(frozen=True)
class About:
    """What the documentation says about an option besides its type and its default.

    Attributes
    ----------
    allowed : str
        The allowed values; empty if the type says it all.
    text : str
        Meaning, one line of Markdown.
    default : str
        Text in place of the default; empty if the default is shown.
    """

    allowed: str
    text: str
    default: str = ""


class CommonOptions(TypedDict, total=False):
    """The options of every task and every API style."""

    num_envs: Annotated[int, About("at least 1", "number of environments in the pool")]
    batch_size: Annotated[
        int,
        About("0 to `num_envs`", "number of rows in a batch; 0 means `num_envs`. A smaller value makes the pool async"),
    ]
    num_threads: Annotated[
        int,
        About(
            "0 to 4096",
            "number of threads; 0 means `batch_size` or the number of CPUs available to this process (its affinity, or "
            "the CPU quota of its control group), whichever is smaller",
        ),
    ]
    seed: Annotated[
        int | Sequence[int] | npt.NDArray[np.integer[Any]] | None,
        About(
            "0 to 2⁶⁴ - 1",
            "environment `i` gets the seed `seed + i`; a sequence has one seed per environment. None draws a random "
            'seed, which `env.config["seed"]` contains; see [docs/exactness.md](docs/exactness.md#seeds)',
        ),
    ]
    env_seed: Annotated[
        Sequence[int] | npt.NDArray[np.integer[Any]],
        About("0 to 2⁶⁴ - 1 each", "seeds as a sequence, equivalent to a sequence for `seed`"),
    ]
    autoreset_mode: Annotated[
        Literal["next_step", "same_step", "disabled"] | AutoresetMode,
        About(
            '`"next_step"`, `"same_step"`, `"disabled"`',
            "when environments start their next episode; see [docs/api.md](docs/api.md#auto-reset)",
        ),
    ]
    max_episode_steps: Annotated[
        int, About("at least 1", "number of steps after which an episode is truncated", default="per task")
    ]
    thread_affinity_offset: Annotated[
        int, About("at least -1", "pins thread `k` to CPU number `offset + k`; -1 pins no thread")
    ]
    numa: Annotated[
        bool,
        About(
            "",
            "if True, threads and environments are divided among the NUMA nodes of the machine. The threads of a node "
            "stay on its CPUs; they seed and reset its environments, and step those of other nodes only when they have "
            "nothing else to do",
        ),
    ]
    on_error: Annotated[
        Literal["raise", "restart"],
        About(
            '`"raise"`, `"restart"`',
            'what happens if an environment fails: `"raise"` raises an `EnvStepError`; `"restart"` reports the failure '
            "in the results and restarts the environment, see [docs/failures.md](docs/failures.md)",
        ),
    ]
    step_timeout: Annotated[
        float | None,
        About(
            "above 0",
            "seconds after which a call that waits for an environment raises an `EnvTimeoutError` that names it, see "
            "[docs/failures.md](docs/failures.md); None waits forever",
        ),
    ]
    episode_statistics: Annotated[
        bool,
        About(
            "",
            "if True, the info of a step that ends an episode contains its return, length and time as "
            '`info["episode"]`, and `stats()` counts episodes; see [docs/api.md](docs/api.md#episode-statistics)',
        ),
    ]
    finished_episodes: Annotated[
        bool,
        About(
            "",
            'if True, the info of a step that ends episodes also contains `info["finished"]`, arrays of only these '
            "episodes and their last observations; needs `episode_statistics=True`, see "
            "[docs/api.md](docs/api.md#finished-episodes)",
        ),
    ]
    check_actions: Annotated[
        Literal["nan"] | None,
        About(
            '`"nan"`',
            'with `"nan"`, an action that is NaN or infinite raises an `ActionError` in every task; with None, only '
            "NaN does, and only where results would become NaN, see [docs/api.md](docs/api.md#nan-in-actions)",
        ),
    ]
    max_num_players: Annotated[
        int,
        About(
            "at least 1",
            "accepted for compatibility with EnvPool and has no effect; every environment here has one player",
        ),
    ]
    gym_reset_return_info: Annotated[
        bool,
        About(
            "",
            "if True, `reset` returns an info. False is only allowed in the legacy gym style, where it is the default",
        ),
    ]


class RenderingOptions(TypedDict, total=False):
    """The options of every task that say how a pool renders."""

    render_mode: Annotated[
        Literal["rgb_array", "human"] | None,
        About(
            '`"rgb_array"`, `"human"`',
            "whether `render` returns frames or shows one environment in a window; with None, the pool cannot render",
        ),
    ]
    render_env_id: Annotated[int, About("0 to `num_envs` - 1", "environment that `render()` draws")]
    render_width: Annotated[
        int, About("0 to 4096", "width of frames in pixels; 0 selects the width in the upstream environment")
    ]
    render_height: Annotated[
        int, About("0 to 4096", "height of frames in pixels; 0 selects the height in the upstream environment")
    ]
    render_camera_id: Annotated[int, About("at least -1", "camera of the task; -1 is the default camera")]


class TransformOptions(TypedDict, total=False):
    """The options of every task that transform observations, rewards and actions, in the order of their application."""

    time_aware: Annotated[
        bool | Literal["normalized"],
        About(
            'bool, `"normalized"`',
            'if True, flattens the observation and appends the elapsed steps of the episode; with `"normalized"`, '
            "their fraction of `max_episode_steps`. The observation must be one array of floats",
        ),
    ]
    frame_stack: Annotated[
        int,
        About(
            "1 to 1024",
            "number of the last observations of the episode that are stacked in a new first dimension, the oldest "
            "first. After a reset, all of them are the first observation",
        ),
    ]
    dtype: Annotated[
        Literal["float32"] | None,
        About(
            '`"float32"`',
            'with `"float32"`, observations are cast to float32. With `normalize_obs`, whose results are float32 '
            "anyway, it has no effect: the statistics are computed from the values without the cast",
        ),
    ]
    normalize_obs: Annotated[
        bool | Mapping[str, float],
        About(
            "",
            "if True, subtracts the running mean from observations and divides by the running standard deviation; "
            '`{"epsilon": 1e-8}` sets the number that is added to the variance. The result is float32',
        ),
    ]
    clip_obs: Annotated[
        float | Sequence[float] | None,
        About(
            "above 0, or a pair", "clips observations, which must be floats, to `(-c, c)` or to a pair `(low, high)`"
        ),
    ]
    scale_reward: Annotated[float, About("", "factor of the rewards")]
    normalize_reward: Annotated[
        bool | Mapping[str, float],
        About(
            "",
            "if True, divides rewards by the running standard deviation of their discounted sums; "
            '`{"gamma": 0.99, "epsilon": 1e-8}` sets the discount factor and the number that is added to the variance',
        ),
    ]
    clip_reward: Annotated[
        float | Sequence[float] | None,
        About("above 0, or a pair", "clips rewards to `(-c, c)` or to a pair `(low, high)`"),
    ]
    clip_action: Annotated[
        bool, About("", "if True, actions are clipped to their bounds, and the action space has no bounds")
    ]
    rescale_action: Annotated[
        Literal[True] | Sequence[Any] | None,
        About(
            "True, or a pair",
            "new bounds of the actions, a pair `(low, high)` of numbers or arrays, or True for (-1, 1). Actions are "
            "mapped linearly from these bounds to those of the environment",
        ),
    ]


class PresetOptions(TypedDict, total=False):
    """The option that stands for several others."""

    preset: Annotated[
        str | None,
        About(
            "the presets of the task",
            "sets all options that a paper or a library uses, see [docs/atari.md](docs/atari.md#presets); options that "
            "are passed together with it take precedence",
        ),
    ]


class GymOptions(TypedDict, total=False):
    """The options of ``env_type="gym"`` alone."""

    gym_api: Annotated[
        Literal["auto", "gymnasium", "legacy"],
        About(
            '`"auto"`, `"gymnasium"`, `"legacy"`',
            'form of the results with `env_type="gym"`: that of Gymnasium, or that of gym before 0.26; `"auto"` '
            "selects the latter if such a gym is loaded",
        ),
    ]


@dataclass(frozen=True)
class OptionRow:
    """One row of the table of options; texts are Markdown whose links start at the root of the repository."""

    name: str
    type: str
    default: str
    allowed: str
    text: str


def option_rows(options: type, defaults: Mapping[str, Any]) -> list[OptionRow]:
    """Return the table of one of the classes in this module.

    Parameters
    ----------
    options : type
        `CommonOptions`, `TransformOptions`, `RenderingOptions`, `PresetOptions` or `GymOptions`.
    defaults : mapping of str to object
        Default of each option.
    """
    import gymnasium.vector
    import numpy
    import numpy.typing

    names = {"np": numpy, "npt": numpy.typing, "AutoresetMode": gymnasium.vector.AutoresetMode}
    rows = []
    for name, hint in get_type_hints(options, localns=names, include_extras=True).items():
        kind, about = get_args(hint)
        rows.append(OptionRow(name, type_name(kind), about.default or repr(defaults[name]), about.allowed, about.text))
    return rows


def type_name(hint: Any) -> str:
    """Return the name of a type as documentation shows it, e.g. ``"int, sequence or None"``."""
    origin = get_origin(hint)
    if origin is Literal:
        return type(get_args(hint)[0]).__name__
    if origin is Mapping:
        return "dict"
    if origin in (Union, UnionType):
        *names, last = dict.fromkeys(map(type_name, get_args(hint)))
        return f"{', '.join(names)} or {last}" if names else last
    if origin is not None:
        return "sequence"
    return "None" if hint is type(None) else str(hint.__name__)
