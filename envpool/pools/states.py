"""EnvStates: saved states of environments, as `EnvPool.get_state` returns them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from envpool._core.state import split_states
from envpool.config.options import POOL_OPTIONS, TRANSFORM_OPTIONS
from envpool.config.params import Param


class EnvStates(Sequence["EnvStates"]):
    """Saved states of environments: an immutable sequence that can be pickled.

    ``states[i]`` is the state of one environment, as an EnvStates with one entry, and iteration yields these.
    ``states[1:3]``, ``states[[0, 0, 2]]`` and ``states[mask]`` select states, ``+`` concatenates. ``bytes(states)`` is
    one byte string, from which `from_bytes` returns an equal object.

    Parameters
    ----------
    states : iterable of bytes
        One byte string per environment. They are checked when they are restored.

    Attributes
    ----------
    states : tuple of bytes
        The byte strings.
    """

    __slots__ = ("states",)

    states: tuple[bytes, ...]

    def __init__(self, states: Iterable[bytes]):
        states = tuple(states)
        for i, state in enumerate(states):
            if type(state) is not bytes:
                raise TypeError(f"states[{i}] must be bytes, got {type(state).__name__}")
        object.__setattr__(self, "states", states)

    @classmethod
    def from_bytes(cls, data: bytes) -> EnvStates:
        """Return the states whose concatenation is `data`.

        Raises
        ------
        StateError
            `data` is truncated, or not made of states.
        TypeError
            `data` is not bytes.
        """
        try:
            content = bytes(memoryview(data))
        except TypeError:
            raise TypeError(
                f"data must be bytes, got {type(data).__name__}: pass what bytes(states) returned"
            ) from None
        return cls(split_states(content))

    @property
    def nbytes(self) -> int:
        """Size of all states in bytes."""
        return sum(map(len, self.states))

    def __bytes__(self) -> bytes:
        return b"".join(self.states)

    def __len__(self) -> int:
        return len(self.states)

    def __iter__(self) -> Iterator[EnvStates]:
        return (EnvStates((state,)) for state in self.states)

    def __getitem__(self, key: Any) -> EnvStates:
        if isinstance(key, slice):
            return EnvStates(self.states[key])
        if isinstance(key, (int, np.integer)):
            return EnvStates((self.states[key],))
        return EnvStates(self.states[i] for i in np.atleast_1d(np.arange(len(self))[key]))

    def __add__(self, other: object) -> EnvStates:
        return EnvStates(self.states + other.states) if isinstance(other, EnvStates) else NotImplemented

    def __eq__(self, other: object) -> bool:
        return isinstance(other, EnvStates) and self.states == other.states

    def __hash__(self) -> int:
        return hash(self.states)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("EnvStates cannot be changed: make a new one")

    def __reduce__(self) -> tuple[Any, ...]:
        return EnvStates, (self.states,)

    def __repr__(self) -> str:
        return f"EnvStates(num_envs={len(self)}, nbytes={self.nbytes})"


def plain(value: Any) -> Any:
    """Return the value of an option such that equal values have equal texts: lists for tuples and arrays."""
    if isinstance(value, (np.ndarray, np.generic)):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return sorted((str(key), plain(item)) for key, item in value.items())
    return value


def options_digest(config: Any, params: Mapping[str, Param], transforms: Mapping[str, Any]) -> bytes:
    """Return a digest, 16 bytes, of the options of a task on which its dynamics and snapshots depend.

    The values of the parameters of single environments are part of a state, so they may differ; their shapes may not.
    `transforms` are the options of transforms that the pool applies; those with their defaults do not count.
    """
    relevant = [
        (name, plain(value))
        for name, value in config._asdict().items()
        if (name not in POOL_OPTIONS or POOL_OPTIONS[name].is_in_states)
        and name not in params
        and name not in transforms
    ]
    relevant += [
        (name, plain(transforms[name]))
        for name, option in TRANSFORM_OPTIONS.items()
        if option.is_in_states and name in transforms and transforms[name] != option.default
    ]
    relevant += [(name, param.shape) for name, param in params.items() if param.shape]
    return hashlib.blake2b(repr(relevant).encode(), digest_size=16).digest()
