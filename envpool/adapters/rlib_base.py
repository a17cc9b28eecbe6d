"""The base classes of rlib: `RLEnv` for environments and wrappers, `RLVecEnv` for vector environments."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any


class RLEnv(ABC):
    """An environment or a wrapper with gymnasium's ``reset`` and ``step``.

    A subclass implements `reset` and `step`. Everything else is taken from the wrapped environment.

    Attributes
    ----------
    env : object or None
        The wrapped environment. A class that wraps none leaves it None and has its own spaces.
    """

    env: Any = None
    metadata: dict[str, Any] = {}  # noqa: RUF012  # a default as in gymnasium, which instances replace

    @abstractmethod
    def reset(self, *, seed: Any = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        """Start an episode; return (obs, info)."""

    @abstractmethod
    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Take one step; return (obs, reward, terminated, truncated, info)."""

    @property
    def unwrapped(self) -> Any:
        """The innermost environment; this object if it wraps none."""
        return self if self.env is None else getattr(self.env, "unwrapped", self.env)

    def render(self, *args: Any, **kwargs: Any) -> Any:
        """Return what ``render`` of the wrapped environment returns.

        Raises
        ------
        NotImplementedError
            No environment is wrapped.
        """
        if self.env is None:
            raise NotImplementedError(f"{type(self).__name__} wraps no environment: it must implement render()")
        return self.env.render(*args, **kwargs)

    def close(self) -> None:
        """Close the wrapped environment."""
        if self.env is not None:
            self.env.close()

    def __enter__(self) -> RLEnv:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or self.env is None:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(self.env, name)


class RLVecEnv(ABC):
    """Environments that are stepped together, with one flag for the end of an episode."""

    @abstractmethod
    def reset(self) -> Any:
        """Start episodes in all environments; return their first observations, stacked."""

    @abstractmethod
    def step(self, actions: Any) -> Any:
        """Step all environments; return (obs, rewards, dones, infos)."""

    @abstractmethod
    def close(self) -> None:
        """Close the environments."""

    @abstractmethod
    def __len__(self) -> int: ...

    @staticmethod
    def merge_done(terminated: bool, truncated: bool) -> bool:
        """Return whether an episode has ended, in one way or the other."""
        return bool(terminated) or bool(truncated)

    @staticmethod
    def merge_info(info: Any, terminated: bool, truncated: bool) -> Any:
        """Return a copy of an info with ``TimeLimit.truncated``: whether the episode was truncated and not terminated.

        An info that has the entry keeps it; an info that is not a dict is returned as it is.
        """
        if not isinstance(info, dict):
            return info
        return {"TimeLimit.truncated": bool(truncated) and not bool(terminated)} | info
