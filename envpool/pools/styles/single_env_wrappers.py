"""Refusal of wrappers for single environments, which would return wrong results for the batches of a pool.

A pool is a ``gymnasium.Env`` or a ``gym.Env`` because clients rely on the type, so that such a wrapper accepts it. The
wrappers of clients themselves, which know batches, are not affected. Stable-Baselines3 is: it would put a pool into a
Monitor and a DummyVecEnv, as one environment.
"""

from __future__ import annotations

import sys
from typing import Any

import gymnasium

SB3 = "stable_baselines3."

#: Wrappers of gym before 0.26 that also accept batches; gymnasium has other ones for batches.
OF_BATCHES = {
    "ClipAction",
    "FilterObservation",
    "NormalizeObservation",
    "NormalizeReward",
    "OrderEnforcing",
    "RescaleAction",
    "TransformObservation",
    "TransformReward",
}


def library_of(wrapper: Any) -> str | None:
    """Return "gymnasium" or "gym" if an object is a wrapper of that library for single environments, else None.

    An object of a class that is derived from such a wrapper is one, too.
    """
    for cls in type(wrapper).__mro__:
        library, _, rest = f"{cls.__module__}.".partition(".")
        if rest.startswith("wrappers.") and (
            (library == "gymnasium" and issubclass(cls, gymnasium.Wrapper))
            or (library == "gym" and issubclass(cls, sys.modules["gym"].Wrapper) and cls.__name__ not in OF_BATCHES)
        ):
            return library
    return None


def way_out(pool: Any, library: str, name: str) -> str:
    """Return what to use in place of a wrapper for single environments."""
    if library == "gym":
        return (
            "use an option of envpool.make, such as max_episode_steps, frame_stack or episode_statistics, or a "
            "gym.Wrapper of your own for batches"
        )
    known = hasattr(gymnasium.wrappers.vector, name)
    instead = f"gymnasium.wrappers.vector.{name}" if known else "a wrapper of gymnasium.wrappers.vector"
    return (
        f"use {instead} on gymnasium.make_vec('envpool/{pool.spec.task_id}', num_envs={pool.num_envs}), or "
        f"gymnasium.make('envpool/{pool.spec.task_id}') for one environment"
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
        library = library_of(wrapper)
        if library is not None:
            name = type(wrapper).__name__
            raise TypeError(
                f"{library}.wrappers.{name} is for a single environment, but this pool returns batches of "
                f"{pool.num_envs}: {way_out(pool, library, name)}"
            )
        if is_of_sb3(wrapper):
            raise TypeError(
                f"Stable-Baselines3 takes this pool of {pool.num_envs} environments for a single one: pass "
                "envpool.adapters.sb3.VecEnv(pool) instead of the pool"
            )
        frame = frame.f_back  # type: ignore[assignment]
