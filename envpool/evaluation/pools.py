"""Pools for a task id, or for what ``make_python`` takes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from envpool.config.transform_checks import OBS_PARAMETERS, REWARD_PARAMETERS
from envpool.errors import ConfigError
from envpool.pools.classes import open_pool
from envpool.registration import is_known_to_gymnasium, registry
from envpool.tasks.resolve import resolve
from envpool.transforms.plan import parameters

#: The options that normalise with running statistics.
NORMALIZERS = ("normalize_obs", "normalize_reward")


def open_task(task: Any, num_envs: int, seeds: Sequence[int], /, **options: Any) -> Any:
    """Return a pool of gymnasium's style; with players, it returns a grid, unless the options say otherwise.

    Parameters
    ----------
    task : str or callable
        Id of a task; any other id of gymnasium, or a function that returns an environment, for Python environments.
    num_envs : int
        Number of environments.
    seeds : sequence of int
        One seed per environment.
    **options
        Options of the pool.

    Raises
    ------
    ConfigError
        The options normalise: a new pool has no statistics, and a policy expects the ones of its training.
    """
    pool = made(task, num_envs, seeds, **options)
    if pool.normalization is None:
        return pool
    pool.close()
    names = list(normalizers(pool))
    raise ConfigError(
        f"{' and '.join(names)} need{'s' if len(names) == 1 else ''} statistics, which a new pool does not have: call "
        "envpool.evaluate or envpool.record with a pool whose normalization.set(...) was called, or pass "
        f"{', '.join(f'{name}=False' for name in names)}"
    )


def normalizers(pool: Any) -> dict[str, Any]:
    """Return the parameters of each option with which a pool normalises."""
    known = dict(zip(NORMALIZERS, (OBS_PARAMETERS, REWARD_PARAMETERS), strict=True))
    values = {name: parameters(pool.spec.transforms.options.get(name, False), known[name]) for name in known}
    return {name: value for name, value in values.items() if value is not None}


def made(task: Any, num_envs: int, seeds: Sequence[int], /, **options: Any) -> Any:
    """Return the pool of `open_task`, whatever its options are."""
    options = {"env_seed": list(seeds)} | options
    if isinstance(task, str) and (registry.has(task) or not is_known_to_gymnasium(task)):
        options = dict(num_envs=num_envs, **options)  # a TypeError if it is given twice
        spec, render = resolve(task, "gymnasium", options)
        if spec.num_players and options.get("players") is None and spec.controlled != "alternate":
            spec, render = resolve(task, "gymnasium", options | {"players": "grid"})
        return open_pool(spec, render)
    from envpool.python_envs.make import make_python

    return make_python(task, num_envs, **options)
