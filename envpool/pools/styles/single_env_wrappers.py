"""Refusal of gymnasium's wrappers for single environments, which would return wrong results for the batches of a pool.

A pool is a ``gymnasium.Env`` because clients rely on the type, so that such a wrapper accepts it. The wrappers of
clients themselves, which know batches, are not affected. Stable-Baselines3 is: it would put a pool into a Monitor and a
DummyVecEnv, as one environment.
"""

from __future__ import annotations

import sys
from typing import Any

import gymnasium

PACKAGE = "gymnasium.wrappers."
SB3 = "stable_baselines3."


def is_for_single_envs(wrapper: Any) -> bool:
    """Return whether an object is a wrapper of gymnasium for single environments, or of a class derived from one."""
    return isinstance(wrapper, gymnasium.Wrapper) and any(
        f"{cls.__module__}.".startswith(PACKAGE) for cls in type(wrapper).__mro__
    )


def is_of_sb3(caller: Any) -> bool:
    """Return whether an object is a DummyVecEnv or a Monitor of Stable-Baselines3, or of a class derived from one."""
    return any(
        cls.__name__ in ("DummyVecEnv", "Monitor") and cls.__module__.startswith(SB3) for cls in type(caller).__mro__
    )


def refuse_single_env_wrappers(pool: Any, *methods: str) -> None:
    """Raise TypeError if the caller of a method of a pool is such a wrapper, or one of Stable-Baselines3.

    Parameters
    ----------
    pool : EnvPool
        The pool.
    *methods : str
        Names of the methods of wrappers from which the pool may have been called.
    """
    frame = sys._getframe(2)
    while frame is not None and frame.f_code.co_name in methods:
        wrapper = frame.f_locals.get("self")
        if is_for_single_envs(wrapper):
            name = type(wrapper).__name__
            known = hasattr(gymnasium.wrappers.vector, name)
            instead = f"gymnasium.wrappers.vector.{name}" if known else "a wrapper of gymnasium.wrappers.vector"
            raise TypeError(
                f"gymnasium.wrappers.{name} is for a single environment, but this pool returns batches of "
                f"{pool.num_envs}: use {instead} on gymnasium.make_vec('envpool/{pool.spec.task_id}', "
                f"num_envs={pool.num_envs}), or gymnasium.make('envpool/{pool.spec.task_id}') for one environment"
            )
        if is_of_sb3(wrapper):
            raise TypeError(
                f"Stable-Baselines3 takes this pool of {pool.num_envs} environments for a single one: pass "
                "envpool.adapters.sb3.VecEnv(pool) instead of the pool"
            )
        frame = frame.f_back  # type: ignore[assignment]
