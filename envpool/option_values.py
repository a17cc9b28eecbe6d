"""Values of options: their conversion to the type of a default, ranges, and seeds."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any

import numpy as np

from envpool.error_texts import shown
from envpool.errors import ConfigError

INT32_MAX = 2**31 - 1

#: The largest seed, unless a generator takes fewer.
LARGEST_SEED = 2**64 - 1


def convert(name: str, value: Any, default: Any) -> Any:
    """Return the value of an option in the type of its default; a default of None accepts any value."""
    try:
        if isinstance(default, bool):
            if isinstance(value, (bool, np.bool_, int)) and value in (0, 1):
                return bool(value)
        elif isinstance(default, int):
            if not isinstance(value, (bool, np.bool_)):
                return operator.index(value)
        elif isinstance(default, float):
            if not isinstance(value, (bool, np.bool_, str, bytes)):
                return float(value)
        elif isinstance(default, str):
            if isinstance(value, str):
                return value
        else:
            return value
    except TypeError:
        pass
    except OverflowError:  # of an int that is not in the range of float64
        raise ConfigError(f"{name} must be in the range of float64, got {shown(value)}") from None
    raise TypeError(f"{name} must be of type {type(default).__name__}, got {shown(value)}")


def check_range(name: str, value: int, low: int, high: int = INT32_MAX) -> None:
    """Raise ConfigError if an integer is outside [low, high]."""
    if not low <= value <= high:
        raise ConfigError(f"{name} must be between {low} and {high}, got {shown(value)}")


def check_choice(name: str, value: Any, allowed: Iterable[str]) -> None:
    """Raise ConfigError if a value is not one of some texts."""
    if not isinstance(value, str) or value not in allowed:
        raise ConfigError(f"{name} must be one of {', '.join(map(repr, allowed))}, got {shown(value)}")


def check_seed(name: str, seed: Any, most: int = LARGEST_SEED, count: int = 1) -> int:
    """Return a seed as int, or raise an error.

    Parameters
    ----------
    name : str
        Name of the argument.
    seed : object
        The seed of the first of `count` environments; environment i gets ``seed + i``.
    most : int
        The largest seed of an environment.
    count : int
        Number of environments.

    Raises
    ------
    ConfigError
        The seed of an environment is outside [0, most].
    TypeError
        The seed is not an integer.
    """
    seed = convert(name, seed, 0)
    if 0 <= seed <= most - (count - 1):
        return int(seed)
    limit = "2**64 - 1" if most == LARGEST_SEED else f"{most}, where the seeds of the upstream generator end"
    if 0 <= seed <= most:
        raise ConfigError(
            f"{name} must be at most {most - (count - 1)}, since environment i gets {name} + i and seeds are at most "
            f"{limit}, got {shown(seed)}"
        )
    raise ConfigError(f"{name} must be between 0 and {limit}, got {shown(seed)}")


def is_sequence(seed: Any) -> bool:
    """Return whether a seed has one entry for each environment: a list, a tuple, or an array that is not a scalar."""
    return hasattr(seed, "__len__") and not isinstance(seed, (str, bytes)) and getattr(seed, "ndim", 1) > 0


def check_seeds(name: str, seeds: Any, count: int, most: int = LARGEST_SEED) -> list[int]:
    """Return one seed, at most `most`, for each of `count` environments, or raise ConfigError or TypeError."""
    if not is_sequence(seeds):
        raise TypeError(f"{name} must be a sequence of integers, got {shown(seeds)}")
    shape = np.array(seeds, dtype=object).shape
    if shape != (count,):
        got = f"shape {shape}" if len(shape) > 1 else f"{len(seeds)} entries"
        raise ConfigError(f"{name} must have one entry for each of the {count} environments, got {got}")
    return [check_seed(f"{name}[{i}]", s, most) for i, s in enumerate(seeds)]


def check_seed_options(seed: Any, env_seed: Any, num_envs: int, most: int = LARGEST_SEED) -> tuple[int, list[int]]:
    """Return the options seed and env_seed, checked; a sequence of seeds becomes env_seed, and None a random seed."""
    is_empty = is_sequence(env_seed) and len(env_seed) == 0
    if seed is None:  # entropy of the system, which is recorded in the configuration so that it can be used again
        seed = int(np.random.SeedSequence().generate_state(1)[0]) % (INT32_MAX + 1)
    if not is_sequence(seed):
        if is_empty:
            return check_seed("seed", seed, most, num_envs), []
        return check_seed("seed", seed, most), check_seeds("env_seed", env_seed, num_envs, most)
    if not is_empty:
        raise ConfigError("seed is a sequence and env_seed is given: pass only one of them")
    return 0, check_seeds("seed", seed, num_envs, most)
