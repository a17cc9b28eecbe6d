"""What the adapters share: the pool inside, and its rows as values for one environment each."""

from __future__ import annotations

from typing import Any

from gymnasium.vector import AutoresetMode

from envpool.api.gymnasium import GymnasiumEnvPool
from envpool.errors import ConfigError
from envpool.registration import make_gymnasium

#: Entries of info that tell whose row it is: no news to somebody who has a dict for each environment.
IDS = ("env_id", "players")


def open_pool(pool: Any, options: dict[str, Any]) -> Any:
    """Return the pool that an adapter was given, or one of the task that it was given.

    Parameters
    ----------
    pool : str or GymnasiumEnvPool
        Task id, or a pool in the gymnasium style whose batches are whole and whose episodes do not start in the step
        that ends one.
    options : dict
        As for ``envpool.make``, with a task id.

    Raises
    ------
    TypeError
        It is neither, or a pool with options.
    ConfigError
        A pool of another ``batch_size`` or ``autoreset_mode``.
    """
    if isinstance(pool, str):
        pool = make_gymnasium(pool, **{"autoreset_mode": "disabled"} | options)
    elif not isinstance(pool, GymnasiumEnvPool):
        raise TypeError(f"needs a task id or a pool of envpool.make_gymnasium, got {type(pool).__name__}")
    elif options:
        raise TypeError(f"{', '.join(options)}: a pool takes no options any more, give them to the call that makes it")
    if pool.is_async:
        raise ConfigError(
            f"batch_size is {pool.config['batch_size']}, but an adapter steps all of its {pool.num_envs} envs: leave "
            "batch_size out"
        )
    if pool.metadata["autoreset_mode"] == AutoresetMode.SAME_STEP:
        raise ConfigError(
            "autoreset_mode is 'same_step', but here the caller of step() resets: use 'disabled' or 'next_step'"
        )
    return pool


def split(nest: Any, count: int) -> list[Any]:
    """Return the rows of an array, or of a nest of them; they are views."""
    if not isinstance(nest, dict):
        return list(nest)
    if not nest:
        return [{} for _ in range(count)]
    return [dict(zip(nest, row, strict=True)) for row in zip(*(split(v, count) for v in nest.values()), strict=True)]


def split_info(info: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the info of each row, without the entries that tell whose it is."""
    return split({k: v for k, v in info.items() if k not in IDS}, len(info["env_id"]))
