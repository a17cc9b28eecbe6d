"""Functions that the adapters share: making the pool, and joining actions."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from gymnasium import spaces

from envpool.errors import ConfigError
from envpool.pools import classes
from envpool.pools.env_pool import EnvPool
from envpool.pools.styles.gymnasium import GymnasiumEnvPool
from envpool.registration import check_native, make_gymnasium
from envpool.tasks.players import refuse_players
from envpool.tasks.resolve import resolve

if TYPE_CHECKING:
    from envpool.config.render_options import RenderOptions
    from envpool.tasks.spec import EnvSpec

#: Defaults for tasks with players in adapters in which each place for a player is a row.
GRID = {"players": "grid", "autoreset_mode": "same_step"}
#: How to use tasks with players without an adapter.
WAY_OUT = "use the pool of envpool.make, whose rows are players"


def pool_of(
    pool: Any,
    options: dict[str, Any],
    pool_type: type[EnvPool],
    make_pool: Callable[..., EnvPool],
    *,
    knows_players: bool = False,
) -> Any:
    """Return the pool that the user of an adapter gave, or a pool of the task id that the user gave.

    Parameters
    ----------
    pool : str or EnvPool
        Task id, or a pool of type `pool_type`.
    options : dict
        Options of ``envpool.make``; they must be empty if `pool` is a pool.
    pool_type : type
        Type of pools that the adapter accepts.
    make_pool : callable
        The function of ``envpool`` that makes such pools.
    knows_players : bool
        If True, the adapter supports tasks with players.

    Raises
    ------
    TypeError
        `pool` is neither a str nor of the right type, or there are options besides a pool.
    ConfigError
        The task has players, and the adapter does not support them.
    """
    if isinstance(pool, str):
        made = make_pool(pool, **options)
        return made if knows_players else without_players(made)
    maker = f"envpool.{make_pool.__name__}"
    if not isinstance(pool, pool_type):
        raise TypeError(f"pool must be a task id or a pool made by {maker}, got {type(pool).__name__}")
    if options:
        raise TypeError(f"{', '.join(options)}: a pool takes no options after it was made: pass them to {maker}")
    if not knows_players:
        refuse_players(pool.spec, "this adapter", WAY_OUT)
    return pool


def without_players(pool: Any) -> Any:
    """Return a new pool, or close it and raise ConfigError if its task has players."""
    try:
        refuse_players(pool.spec, "this adapter", WAY_OUT)
    except ConfigError:
        pool.close()
        raise
    return pool


def open_pool(
    pool: Any, options: dict[str, Any], *, knows_same_step: bool = False, players: dict[str, Any] | None = None
) -> Any:
    """Return a pool for an adapter whose user resets the environments.

    Parameters
    ----------
    pool : str or GymnasiumEnvPool
        Task id, or a pool made by ``envpool.make_gymnasium`` or ``make_python`` whose ``batch_size`` is num_envs and
        whose ``autoreset_mode`` the adapter knows.
    options : dict
        Options of ``envpool.make``, allowed with a task id only. The default of ``autoreset_mode`` is "disabled", and
        "next_step" with ``on_error="restart"``.
    knows_same_step : bool
        If True, the adapter also works on pools that reset environments in the step that ends their episode, which is
        faster than a reset of some environments: then the default of ``autoreset_mode`` is "same_step", except with
        ``on_error="restart"``. Other adapters accept no such pool.
    players : dict, optional
        Defaults of options for tasks with players; None if the adapter does not support them.

    Raises
    ------
    TypeError
        `pool` is neither a task id nor such a pool, or there are options besides a pool.
    ConfigError
        The pool has another ``batch_size`` or ``autoreset_mode``.
    """
    if isinstance(pool, str):
        # An env whose reset fails must not end the run: if the pool restarts it, each step tries again.
        is_restarting = options.get("on_error") == "restart"
        resets = "next_step" if is_restarting else "same_step" if knows_same_step else "disabled"
        defaults = {"autoreset_mode": resets}
        if players is None:
            options = defaults | options
        else:
            check_native(pool)
            pool, options = classes.open_pool(*resolved(pool, options, defaults, players)), {}
    pool = pool_of(pool, options, GymnasiumEnvPool, make_gymnasium, knows_players=players is not None)
    refuse_alternation(pool.spec)
    refuse_batches(pool.spec)
    if pool.config["autoreset_mode"] == "same_step" and not knows_same_step:
        raise ConfigError(
            "autoreset_mode is 'same_step', but the user of this adapter resets environments whose episode has ended: "
            "use 'disabled' or 'next_step'"
        )
    pool._continues_games = True  # the adapter, or its user, resets after a lost life, too, which is not a new game
    return pool


def resolved(
    task_id: str, options: dict[str, Any], defaults: dict[str, Any], players: dict[str, Any]
) -> tuple[EnvSpec, RenderOptions | None]:
    """Return the spec and the render options of a pool, see `resolve`, with defaults that depend on the task.

    Parameters
    ----------
    task_id : str
        Id of the task.
    options : dict
        The options of the user.
    defaults : dict
        Defaults of options.
    players : dict
        Further ones for tasks with players, which take precedence.
    """
    spec, render = resolve(task_id, "gymnasium", defaults | options)
    refuse_alternation(spec)
    return resolve(task_id, "gymnasium", defaults | players | options) if spec.num_players else (spec, render)


def refuse_alternation(spec: EnvSpec) -> None:
    """Raise ConfigError for pools in which the player of the user changes with each episode."""
    if spec.controlled == "alternate":
        raise ConfigError(f"controlled must name players for an adapter, such as [0], got 'alternate': {WAY_OUT}")


def refuse_batches(spec: EnvSpec) -> None:
    """Raise ConfigError for pools whose batches hold fewer environments than the pool."""
    if spec.config.batch_size != spec.config.num_envs:
        raise ConfigError(
            f"batch_size must be num_envs={spec.config.num_envs} for an adapter, got {spec.config.batch_size}: leave "
            "batch_size out"
        )


def open_same_step_pool(
    task_id: str, num_envs: int, options: dict[str, Any], client: str, style: str = "gymnasium"
) -> Any:
    """Return a pool that resets an environment in the step that ends its episode.

    Parameters
    ----------
    task_id : str
        Id of the task, one of ``envpool.list_all_envs()``.
    num_envs : int
        Number of environments.
    options : dict
        Further options of ``envpool.make``.
    client : str
        Name of the library that expects this auto-reset mode, for the error text.
    style : str
        API style of the pool, the name of a module in ``envpool.pools.styles``. Tasks with players are supported with
        "arrays", which returns them as with ``players="grid"``.

    Raises
    ------
    ConfigError
        There is an option autoreset_mode, or a ``batch_size`` less than `num_envs`.
    """
    if "autoreset_mode" in options:
        raise ConfigError(f"autoreset_mode is always 'same_step' for {client}: leave it out")
    if options.get("controlled") is not None:
        raise ConfigError(f"controlled is not available for {client}, which plays no opponents: leave it out")
    options = options | {"num_envs": num_envs, "autoreset_mode": "same_step"}
    check_native(task_id)
    spec, render = resolved(task_id, options, {}, GRID)
    refuse_batches(spec)
    if style == "gymnasium":
        return without_players(make_gymnasium(task_id, **options))
    return classes.pool_class(type(spec), style)(spec, render)


def joined_actions(actions: Any, space: Any) -> Any:
    """Return the actions of several environments in the structure of an action space, with their values in lists."""
    if isinstance(space, spaces.Dict):
        return {k: joined_actions([action[k] for action in actions], part) for k, part in space.spaces.items()}
    if isinstance(space, spaces.Tuple):
        return tuple(joined_actions([action[k] for action in actions], part) for k, part in enumerate(space.spaces))
    return actions
