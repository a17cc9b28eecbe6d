"""The interface of upstream environments: what a family implements so that its tasks can be verified."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from envpool.sampling.sequences import make_actions


class Player(Protocol):
    """One upstream environment that is played episode after episode."""

    def record(self, action: Any) -> dict[str, Any]:
        """Return the next record, see `envpool.verify.records`.

        Parameters
        ----------
        action : object
            Row of the pool's action. It is not used if the record is a reset: the first one, and each one after the end
            of an episode.

        Returns
        -------
        dict of str to object
            Values of one environment. Entries of info that upstream does not give in this record are left out.
        """

    def close(self) -> None:
        """Free the environment."""


@dataclass(frozen=True, kw_only=True)
class Oracle:
    """The upstream environment of a task.

    Attributes
    ----------
    options : mapping
        Options of the pool under which it equals upstream; the others have their defaults.
    packages : tuple of str
        Packages whose versions may change what upstream returns, as pip names them. The task equals the
        versions of the extra ``verify``.
    """

    options: Mapping[str, Any] = field(default_factory=dict)
    packages: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """Name of the upstream environment."""
        raise NotImplementedError

    @property
    def mapped(self) -> tuple[str, ...]:
        """Names of arrays that upstream must return in one record or more; the default is none."""
        return ()

    def start(self, seed: int) -> Player:
        """Return an environment with a seed."""
        raise NotImplementedError

    def choose_actions(self, space: Any, mode: str, records: int, num_envs: int, seed: int) -> Any:
        """Return actions that upstream accepts; see `envpool.sampling.sequences.make_actions` for the arguments."""
        return make_actions(space, mode, records, num_envs, seed)
