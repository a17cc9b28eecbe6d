"""Pools for a task id, or for what ``make_python`` takes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from envpool.registration import is_known_to_gymnasium, make_gymnasium, registry


def open_task(task: Any, num_envs: int, seeds: Sequence[int], **options: Any) -> Any:
    """Return a pool of gymnasium's style.

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
        return make_gymnasium(task, num_envs=num_envs, **options)
    from envpool.python_envs.make import make_python

    return make_python(task, num_envs, **options)
