"""Pickling of pools: a pickle contains the recipe of the pool and the states of its environments.

Unpickling makes a new pool, with threads of its own, and restores the states. ``copy.deepcopy`` and the arguments of
processes that multiprocessing spawns use the same functions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from importlib import import_module
from pickle import PicklingError
from typing import Any

from envpool.errors import ConfigError, EnvIdError, PoolStateError
from envpool.pools.states import EnvStates
from envpool.tasks.entries import TaskEntry
from envpool.tasks.resolve import make_render_options
from envpool.tasks.spec import EnvSpec, spec_class, spec_class_of


@dataclass(frozen=True)
class Recipe:
    """How to make a pool again. It has only plain values, so that a missing class can be reported by name.

    Attributes
    ----------
    entry : TaskEntry or None
        The row of the task table.
    env : (str, str) or None
        Module and name of the class of the environment, or None if the class is only known through `entry`.
    options : dict
        The configuration.
    made_by : (callable, str) or None
        The function that makes the pool class, and the API style that it gets; None if `pool` names the class.
    pool : (str, str) or None
        Module and name of a pool class that no API style provides.
    follows_gym : bool
        See `EnvSpec`.
    render : dict or None
        The options of ``make`` that concern rendering; None if the pool has no render mode.
    opponents : (callable, dict) or None
        The function that returns the subclass with opponents of a pool class, and the options `controlled` and
        `opponents`, the latter with the present policy; None without opponents.
    """

    entry: TaskEntry | None
    env: tuple[str, str] | None
    options: dict[str, Any]
    made_by: tuple[Callable[..., Any], str] | None
    pool: tuple[str, str] | None
    follows_gym: bool
    render: dict[str, Any] | None
    opponents: tuple[Callable[..., Any], dict[str, Any]] | None = None


def reduce_pool(pool: Any) -> tuple[Any, ...]:
    """Return what ``EnvPool.__reduce__`` returns.

    Raises
    ------
    PoolStateError
        The pool is closed or in use, or environments are in flight or being rendered.
    StateError
        The task does not support states, or the last step of an environment failed.
    pickle.PicklingError
        The class of the environment or of the pool cannot be imported by its name.
    """
    try:
        states = pool.get_state()
    except EnvIdError as error:
        raise PoolStateError(
            "a pool can be pickled or copied only while no environment is in flight or being rendered: receive all "
            f"results first, for example with recv(min_ready=k) for the k environments in flight ({error})"
        ) from error
    normalization = None if pool.normalization is None else (pool.normalization.get(), pool.normalization.is_frozen)
    ranges = pool.get_randomize()
    if all(entry == (pool.spec.config.randomize or {}) for entry in ranges):
        ranges = None
    opponent_sampler = None if pool.spec.controlled is None else pool._opponent_sampler
    return restore_pool, (recipe_of(pool), states, normalization, ranges, opponent_sampler)


def recipe_of(pool: Any) -> Recipe:
    """Return the recipe of a pool, or raise PicklingError if one of its classes cannot be found again."""
    spec, render, cls = pool.spec, pool._render_options, type(pool)
    opponents = None
    if spec.controlled is not None:
        with_opponents, cls = cls._made_from
        opponents = with_opponents, {"controlled": spec.controlled, "opponents": pool.opponents}
    env = reference_to(spec.env) if type(spec) is spec_class(spec.env) else None
    if env is None and not has_class_of_entry(spec):
        raise PicklingError(
            f"a pool of {spec.env!r} cannot be pickled: {spec.env.__qualname__} is not found in the module "
            f"{spec.env.__module__}, and no registered task has it; define the class at the top level of a module"
        )
    made_by, pool_reference = vars(cls).get("_made_by"), reference_to(cls)
    if made_by is None and pool_reference is None:
        raise PicklingError(
            f"a pool of the class {cls!r} cannot be pickled: {cls.__qualname__} is not found in the module "
            f"{cls.__module__}; define the class at the top level of a module"
        )
    options = None
    if render is not None:
        options = {
            "render_mode": render.mode,
            "render_env_id": render.env_id,
            "render_height": render.height,
            "render_width": render.width,
            "render_camera_id": render.camera,
        }
    given = spec.config._asdict()
    reference = None if made_by else pool_reference
    return Recipe(spec.entry, env, given, made_by, reference, spec.follows_gym, options, opponents)


def restore_pool(
    recipe: Recipe,
    states: EnvStates,
    normalization: tuple[Any, bool] | None = None,
    ranges: list[dict[str, Any]] | None = None,
    opponent_sampler: Any = None,
) -> Any:
    """Return a new pool whose environments continue from the states.

    Parameters
    ----------
    recipe : Recipe
        How to make the pool.
    states : EnvStates
        The states of all environments.
    normalization : (dict, bool), optional
        Running statistics, and whether they are frozen.
    ranges : list of dict, optional
        Draws of each environment, if they differ from the option `randomize`.
    opponent_sampler : Sampler, optional
        The generator of random opponents, if the pool has opponents.

    Raises
    ------
    ImportError
        The class of the environment or of the pool cannot be found.
    ConfigError, TypeError, StateError
        This version of the task has other options, or cannot restore the states.
    """
    cls = find_spec_class(recipe)
    spec = cls(cls.gen_config(**recipe.options))
    spec.entry, spec.follows_gym = recipe.entry, recipe.follows_gym
    if recipe.opponents is not None:
        spec._set_pool_options(recipe.opponents[1])
    if recipe.made_by is not None:
        pool_class, spec.style = recipe.made_by
        make = pool_class(cls, spec.style)
    else:
        assert recipe.pool is not None
        make = spec.pool_cls = find_pool_class(recipe.pool)
    if recipe.opponents is not None:
        make = recipe.opponents[0](make)
    pool = make(spec, None if recipe.render is None else make_render_options(spec, recipe.render))
    try:
        for i, entry in enumerate(ranges or ()):
            pool.set_randomize(entry, i)
        pool.set_state(states)
        if pool.normalization is not None and normalization is not None:
            values, pool.normalization.is_frozen = normalization
            pool.normalization.set(values)
        if opponent_sampler is not None:
            pool._opponent_sampler = opponent_sampler
    except BaseException:
        pool.close()
        raise
    return pool


def find_spec_class(recipe: Recipe) -> type[EnvSpec]:
    """Return the EnvSpec class of a recipe, by the name of its environment or else by the row of the task table."""
    reason: Exception | None = None
    if recipe.env is not None:
        try:
            return spec_class(look_up(recipe.env))
        except (ImportError, AttributeError) as error:
            reason = error
    if recipe.entry is not None:
        try:
            return spec_class_of(recipe.entry)  # type: ignore[no-any-return]
        except (ImportError, ConfigError) as error:
            reason = reason or error
    task, name = (recipe.entry.task_id if recipe.entry else None), ".".join(recipe.env or ())
    raise ImportError(
        f"a pool of the task {task!r} cannot be unpickled, since its environment {name and name + ' '}cannot be "
        f"imported ({reason}): install the package that defines it, or add its folder to sys.path"
    ) from reason


def has_class_of_entry(spec: EnvSpec) -> bool:
    """Return whether the module that the row of the task table names has the class of a spec."""
    return spec.entry is not None and spec_class_of(spec.entry) is type(spec)


def reference_to(cls: type) -> tuple[str, str] | None:
    """Return the module and the name of a class, or None if the class is not found there."""
    reference = (cls.__module__, cls.__qualname__)
    try:
        return reference if look_up(reference) is cls else None
    except (ImportError, AttributeError):
        return None


def look_up(reference: tuple[str, str]) -> Any:
    """Return the class of a reference, or raise what importing it raises."""
    module, name = reference
    return reduce(getattr, name.split("."), import_module(module))


def find_pool_class(reference: tuple[str, str]) -> Any:
    """Return the pool class of a reference, or raise an ImportError that names it."""
    try:
        return look_up(reference)
    except (ImportError, AttributeError) as error:
        raise ImportError(
            f"a pool cannot be unpickled, since its class {'.'.join(reference)} cannot be imported ({error}): install "
            "the package that defines it, or add its folder to sys.path"
        ) from error
