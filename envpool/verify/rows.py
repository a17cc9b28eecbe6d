"""A check that a native environment writes everything that a step must write; for the tests of its author."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from envpool.config.checks import integer
from envpool.errors import UnwrittenRowsError
from envpool.pools.classes import open_pool
from envpool.registration import make_spec
from envpool.sampling.sampler import Sampler
from envpool.transforms.poisoned import poisoned

#: The bytes with which two pools fill rows before each call: a value that is left out differs between them.
POISONS = (0x00, 0xFF)


def check_rows(task_id: str, *, steps: int = 300, num_envs: int = 3, **options: Any) -> None:
    """Raise unless a task writes all of its fields in every step and reset, and reward and terminated in every step.

    Memory of a batch is used again, so that a value which an environment leaves out comes from an earlier batch. The
    function plays the task with random actions in two pools, in which this memory is filled with zeros and ones before
    each call, and compares their results.

    Parameters
    ----------
    task_id : str
        Id of a native task.
    steps : int
        Number of steps of each environment. Take enough of them for each way in which an episode can end.
    num_envs : int
        Number of environments.
    **options
        Options of the task. A batch always has the rows of all environments, and no statistics of episodes.

    Raises
    ------
    ConfigError, TypeError
        `steps` is not an integer of at least 1, or an option is not allowed.
    UnwrittenRowsError
        A value depends on what the memory contained before; the text names the array, the step and the environment.
    """
    steps, pools = integer(1)("steps", steps), []
    options |= {"batch_size": 0, "episode_statistics": False, "finished_episodes": False}
    first = make_spec(task_id, num_envs=num_envs, **options)
    if first.num_players:
        options = {"players": "grid"} | options
    seeds = first.seeds()  # drawn once: random seeds would differ between the pools
    options |= {"seed": list(range(num_envs)) if seeds is None else seeds.tolist(), "env_seed": []}
    try:
        for byte in POISONS:
            spec = make_spec(task_id, num_envs=num_envs, **options)
            spec.capsule = poisoned(spec.capsule, byte)
            pools.append(open_pool(spec, None))
        compare_pools(task_id, pools, steps)
    finally:
        for pool in pools:
            pool.close()


def compare_pools(name: str, pools: Sequence[Any], steps: int) -> None:
    """Play pools of gymnasium's style with random actions; raise UnwrittenRowsError when their results differ."""
    sampler = Sampler(0)
    compare(name, [dict(flattened(pool.reset(), ("obs", "info"))) for pool in pools], 0)
    names = ("obs", "reward", "terminated", "truncated", "info")
    for step in range(1, steps + 1):
        action = pools[0].sample_actions(sampler)
        compare(name, [dict(flattened(pool.step(action), names)) for pool in pools], step)


def flattened(value: Any, names: tuple[str, ...] = (), prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the arrays of a result with their names, for instance ``"info:lives"``."""
    items = zip(names, value, strict=True) if names else value.items() if isinstance(value, dict) else None
    if items is None:
        yield prefix, np.asarray(value)
        return
    for key, inner in items:
        yield from flattened(inner, (), f"{prefix}:{key}" if prefix else str(key))


def bits(element: Any) -> bytes:
    """Return the bytes of a row, which may be the text of an environment that has failed."""
    return np.asarray(element).tobytes()


def compare(task: str, results: list[dict[str, Any]], step: int) -> None:
    """Raise UnwrittenRowsError if the results of two pools differ in any bit."""
    for name, first in results[0].items():
        second = results[1][name]
        env = next((k for k in range(len(first)) if bits(first[k]) != bits(second[k])), None)
        if env is not None:
            raise UnwrittenRowsError(
                f"{task}: {f'step {step}' if step else 'the reset'} of env {env} leaves "
                f"{'elements of ' if first.ndim > 1 else ''}{name} unwritten: every step must write reward and "
                "terminated, and every step and reset must write all elements of all fields, also those that are zero"
            )
