"""Pools for a task id, or for what ``make_python`` takes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from envpool.pools.classes import open_pool
from envpool.registration import is_known_to_gymnasium, registry
from envpool.tasks.resolve import resolve


def open_task(task: Any, num_envs: int, seeds: Sequence[int], /, **options: Any) -> Any:
    """Return a pool of gymnasium's style; that of a task with players returns a grid, unless the options say otherwise.

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
    """
    options = {"env_seed": list(seeds)} | options
    if isinstance(task, str) and (registry.has(task) or not is_known_to_gymnasium(task)):
        options = dict(num_envs=num_envs, **options)  # a TypeError if it is given twice
        spec, render = resolve(task, "gymnasium", options)
        if spec.num_players and options.get("players") is None and spec.controlled != "alternate":
            spec, render = resolve(task, "gymnasium", options | {"players": "grid"})
        return open_pool(spec, render)
    from envpool.python_envs.make import make_python

    return make_python(task, num_envs, **options)
