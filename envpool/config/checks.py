"""Checks of the values of options: types, ranges, seeds, auto-reset modes, timeouts, refused floats in actions."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from envpool._support.text import shown
from envpool.errors import NEXT_EPISODES, ConfigError, EnvPoolError

T = TypeVar("T")

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


@dataclass(frozen=True)
class Check(Generic[T]):
    """A check of an option that also says what it accepts.

    Attributes
    ----------
    run : callable
        ``run(name, value)`` returns the value in its normal form, or raises ConfigError or TypeError.
    type : str
        Annotation of the accepted values.
    allowed : str
        The accepted values in Markdown; empty if the type says it all.
    """

    run: Callable[[str, Any], T]
    type: str
    allowed: str = ""

    def __call__(self, name: str, value: Any) -> T:
        """Return the value of an option in its normal form, or raise ConfigError or TypeError."""
        return self.run(name, value)


def unchecked(name: str, value: Any) -> Any:
    """Return a value of any kind; it is checked elsewhere."""
    return value


#: Returns True or False.
flag = Check(lambda name, value: bool(convert(name, value, False)), "bool")


def whole_number(name: str, value: Any) -> int:
    """Return an integer of any size."""
    return int(convert(name, value, 0))


def integer(low: int, high: int = INT32_MAX) -> Check[int]:
    """Return a check that returns integers in [low, high]."""

    def check(name: str, value: Any) -> int:
        number = whole_number(name, value)
        check_range(name, number, low, high)
        return number

    return Check(check, "int", f"at least {low}" if high == INT32_MAX else f"{low} to {high}")


def one_of(*allowed: str | None) -> Check[Any]:
    """Return a check that returns values that are equal to one of `allowed`."""

    def check(name: str, value: Any) -> Any:
        if value is not None or None not in allowed:
            check_choice(name, value, allowed)
        return value

    words = [f'"{word}"' for word in allowed if word is not None]
    kind = f"Literal[{', '.join(words)}]" + " | None" * (None in allowed)
    return Check(check, kind, ", ".join(f"`{word}`" for word in words))


def check_range(name: str, value: int, low: int, high: int = INT32_MAX) -> None:
    """Raise ConfigError if an integer is outside [low, high]."""
    if not low <= value <= high:
        raise ConfigError(f"{name} must be between {low} and {high}, got {shown(value)}")


def check_choice(name: str, value: Any, allowed: Iterable[str | None]) -> None:
    """Raise ConfigError if a value is not one of some texts."""
    if not isinstance(value, str) or value not in allowed:
        raise ConfigError(f"{name} must be one of {', '.join(map(repr, allowed))}, got {shown(value)}")


def check_seed(name: str, seed: Any, limit: int = LARGEST_SEED, count: int = 1) -> int:
    """Return a seed as int, or raise an error.

    Parameters
    ----------
    name : str
        Name of the argument.
    seed : object
        The seed of the first of `count` environments; environment i gets ``seed + i``.
    limit : int
        The largest seed of an environment.
    count : int
        Number of environments.

    Raises
    ------
    ConfigError
        The seed of an environment is outside [0, limit].
    TypeError
        The seed is not an integer.
    """
    seed = convert(name, seed, 0)
    if 0 <= seed <= limit - (count - 1):
        return int(seed)
    end = "2**64 - 1" if limit == LARGEST_SEED else f"{limit}, where the seeds of the upstream generator end"
    if 0 <= seed <= limit:
        raise ConfigError(
            f"{name} must be at most {limit - (count - 1)}, since environment i gets {name} + i and seeds are at most "
            f"{end}, got {shown(seed)}"
        )
    raise ConfigError(f"{name} must be between 0 and {end}, got {shown(seed)}")


def as_array(what: str, values: Any, error: type[EnvPoolError]) -> npt.NDArray[Any]:
    """Return values as an array, or raise an error about `what` if they cannot be one, such as unequal rows."""
    try:
        return np.asarray(values)
    except EnvPoolError:  # of a call that the conversion has made
        raise
    except (TypeError, ValueError, RuntimeError) as cause:  # RuntimeError: of a tensor that needs gradients
        raise error(f"{what} must be an array, got {shown(values)}: {cause}") from cause


def is_sequence(seed: Any) -> bool:
    """Return whether a seed has one entry for each environment: a list, a tuple, or an array that is not a scalar."""
    has_order = hasattr(seed, "__len__") and not isinstance(seed, (str, bytes, Set, Mapping))
    return has_order and getattr(seed, "ndim", 1) > 0


def check_seeds(name: str, seeds: Any, count: int, limit: int = LARGEST_SEED) -> list[int]:
    """Return one seed, at most `limit`, for each of `count` environments, or raise ConfigError or TypeError."""
    if not is_sequence(seeds):
        raise TypeError(f"{name} must be a sequence of integers, got {shown(seeds)}")
    shape = np.array(seeds, dtype=object).shape
    if shape != (count,):
        got = f"shape {shape}" if len(shape) > 1 else f"{len(seeds)} entries"
        raise ConfigError(f"{name} must have one entry for each of the {count} environments, got {got}")
    return [check_seed(f"{name}[{i}]", s, limit) for i, s in enumerate(seeds)]


def check_seed_options(seed: Any, env_seed: Any, num_envs: int, limit: int = LARGEST_SEED) -> tuple[int, list[int]]:
    """Return the options seed and env_seed, checked; a sequence of seeds becomes env_seed, and None a random seed."""
    is_empty = is_sequence(env_seed) and len(env_seed) == 0
    if seed is None:  # a random seed, which the configuration records so that it can be used again
        largest = min(max(limit - (num_envs - 1), 0), INT32_MAX)
        seed = int(np.random.SeedSequence().generate_state(1)[0]) % (largest + 1)
    if not is_sequence(seed):
        if is_empty:
            return check_seed("seed", seed, limit, num_envs), []
        return check_seed("seed", seed, limit), check_seeds("env_seed", env_seed, num_envs, limit)
    if not is_empty:
        raise ConfigError("seed is a sequence and env_seed is given: pass only one of them")
    return 0, check_seeds("seed", seed, num_envs, limit)


#: Names of the modes. The position of a mode is its code in the core, see ``_core/structs.pxd``.
AUTORESET_MODES = tuple(NEXT_EPISODES)


def canonical_mode(name: str, mode: Any) -> str:
    """Return the canonical name of an auto-reset mode.

    Parameters
    ----------
    name : str
        Name of the argument.
    mode : str or gymnasium.vector.AutoresetMode
        ``"next_step"``: the step after the last step of an episode ignores its action and returns the first observation
        of the next episode. ``"same_step"``: the last step of an episode already returns the first observation of the
        next one; the last observation and info of the episode are in ``info["final_obs"]`` and ``info["final_info"]``.
        ``"disabled"``: the caller resets environments whose episode has ended.

    Returns
    -------
    str
        One of `AUTORESET_MODES`.

    Raises
    ------
    ConfigError
        There is no such mode.
    """
    value = getattr(mode, "value", mode)
    if isinstance(value, str):
        letters = value.lower().replace("_", "").replace("-", "")
        for known in AUTORESET_MODES:
            if letters == known.replace("_", ""):
                return known
    raise ConfigError(
        f"{name} must be one of {', '.join(map(repr, AUTORESET_MODES))} or a gymnasium.vector.AutoresetMode, "
        f"got {shown(mode)}"
    )


def core_code(mode: str) -> int:
    """Return the code by which the core knows a mode."""
    return AUTORESET_MODES.index(mode)


def gymnasium_mode(mode: str) -> Any:
    """Return the ``gymnasium.vector.AutoresetMode`` of a mode."""
    from gymnasium.vector import AutoresetMode

    return AutoresetMode[mode.upper()]


#: The largest step_timeout, in seconds: about thirty years.
MOST_SECONDS = 1e9


def check_timeout(name: str, value: Any) -> float | None:
    """Return a timeout in seconds as a float, None for no timeout; or raise ConfigError or TypeError."""
    if value is None:
        return None
    try:
        seconds = float(None if isinstance(value, (bool, np.bool_, str, bytes)) else value)  # type: ignore[arg-type]
    except OverflowError:
        seconds = math.inf
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be a number of seconds, or None for no timeout, got {shown(value)}") from None
    if not 0 < seconds <= MOST_SECONDS or math.isnan(seconds):
        raise ConfigError(
            f"{name} must be greater than 0 and at most {MOST_SECONDS:g} seconds, or None for no timeout, got "
            f"{shown(value)}"
        )
    return seconds


def check_controlled(name: str, value: Any) -> str | tuple[int | str, ...] | None:
    """Return the option `controlled`: None, "alternate", or numbers of players and names of groups, all different."""
    if value is None or (isinstance(value, str) and value == "alternate"):
        return value
    try:
        given = [value] if isinstance(value, (str, int, np.integer)) else list(value)
        chosen = tuple(item if isinstance(item, str) else whole_number(name, item) for item in given)
    except TypeError:
        raise TypeError(
            f"{name} must have numbers of players or names of groups, or be 'alternate', got {shown(value)}"
        ) from None
    if not chosen or len({*chosen}) < len(chosen):
        raise ConfigError(f"{name} must have one or more different players, got {shown(value)}")
    return chosen


def check_opponents(name: str, value: Any) -> Any:
    """Return the option `opponents`: "random" or a callable."""
    if callable(value) or (isinstance(value, str) and value == "random"):
        return value
    if isinstance(value, str):
        raise ConfigError(f"{name} must be 'random' or a callable, got {shown(value)}")
    raise TypeError(f"{name} must be 'random' or a callable policy(obs, info) -> actions, got {shown(value)}")


def nanoseconds(seconds: float | None) -> int:
    """Return a timeout in nanoseconds, at least 1; 0 for no timeout."""
    return 0 if seconds is None else max(round(seconds * 1e9), 1)


#: Codes of the core, see ``_core/actions.pyx``.
NO_FLOAT, NAN, NOT_FINITE = range(3)


def refused_floats(requires_finite: bool, refuses_nan: bool) -> int:
    """Return the code of the floats that a pool refuses.

    Parameters
    ----------
    requires_finite : bool
        The option `require_finite_actions` of the pool.
    refuses_nan : bool
        ``EnvDefinition.refuses_nan`` of the environment.
    """
    return NOT_FINITE if requires_finite else NAN if refuses_nan else NO_FLOAT
