"""Random actions of a task, for ``EnvPool.sample_actions``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from envpool.config.spaces import ArraySpec, nested
from envpool.native import Field, PlayerGroup
from envpool.sampling.sampler import Sampler
from envpool.tasks.players import group_spec, has_players, row_shape, row_spec
from envpool.tasks.spec import CORE_ACTION, EnvSpec

#: Of moves that are legal, and of those that are not.
LOGITS = np.float32(0), np.float32(-np.inf)


class ActionField:
    """One array of an action.

    Parameters
    ----------
    spec : ArraySpec
        Its entry in ``EnvSpec.action_array_spec``.
    """

    def __init__(self, spec: ArraySpec):
        self.dtype = spec.dtype
        self.shape = spec.row_shape
        bounds = (np.asarray(bound, spec.dtype) for bound in (spec.minimum, spec.maximum))
        low, high = (np.broadcast_to(bound, self.shape).ravel() for bound in bounds)
        self.is_float = spec.dtype.kind == "f"
        if self.is_float:
            self.bounds: tuple[Any, Any] = low.astype(np.float64), high.astype(np.float64)
        else:
            last = [int(b) - int(a) for a, b in zip(low, high, strict=True)]
            self.bounds = low.astype(np.uint64).view(np.int64), np.array(last, np.uint64)

    def draw(self, sampler: Sampler, rows: int) -> npt.NDArray[Any]:
        """Return random rows of this array."""
        out: npt.NDArray[Any] = np.empty((rows, *self.shape), self.dtype)
        (sampler.draws.floats if self.is_float else sampler.draws.integers)(out, *self.bounds)
        return out


class RandomPlayerActions:
    """Random actions of a task with players, in the form of its option `players`; see `RandomActions`.

    Parameters
    ----------
    fields : sequence of envpool.native.Field
        The table of actions.
    num_players : int
        Places for players in an environment.
    groups : sequence of PlayerGroup
        The groups of players.
    view : {"rows", "grid", "dict"}
        The option `players`. Moves of turn-based tasks have the same form in all of them: a row for each environment.
    shown : sequence of int, optional
        The players that have places in a grid; by default all.
    """

    def __init__(
        self,
        fields: Sequence[Field],
        num_players: int,
        groups: Sequence[PlayerGroup],
        view: str,
        shown: Sequence[int] | None = None,
    ):
        everybody = PlayerGroup("", tuple(range(num_players)))
        self.of_players = {f.name: f for f in fields if has_players(f)}
        self.fields = {
            f.name: ActionField(group_spec(f, num_players, everybody) if has_players(f) else row_spec(f, num_players))
            for f in fields
        }
        by_group = view == "dict" and len(self.of_players) == len(fields)
        self.groups = groups if by_group else ()
        self.view = view
        self.places = None if shown is None or len(shown) == num_players else list(shown)

    def draw(
        self,
        sampler: Sampler,
        env_ids: npt.NDArray[np.int32],
        mask: npt.NDArray[np.bool_] | None = None,
        legal: npt.NDArray[np.bool_] | None = None,
    ) -> Any:
        """Return actions of environments.

        `mask`, for rows, says which players have one, bool (B, players); `legal`, which moves are legal, bool (B, A).
        """
        if legal is not None:
            return draw_legal(sampler, legal).astype(next(iter(self.fields.values())).dtype)
        arrays = {name: field.draw(sampler, len(env_ids)) for name, field in self.fields.items()}
        if self.groups:
            return {group.name: self._part(arrays, group) for group in self.groups}
        ids: dict[str, Any] = {"env_id": env_ids.copy()}
        if mask is not None:
            arrays = {name: a[mask] if name in self.of_players else a for name, a in arrays.items()}
            rows, players = np.nonzero(mask)
            ids |= {"players.env_id": env_ids[rows], "players.id": players.astype(np.int32)}
        elif self.places is not None:
            arrays = {name: a[:, self.places] if name in self.of_players else a for name, a in arrays.items()}
        return next(iter(arrays.values())) if len(arrays) == 1 else nested(ids | arrays)

    def _part(self, arrays: Mapping[str, Any], group: PlayerGroup) -> Any:
        parts = {}
        for name, array in arrays.items():
            shape = group.shapes.get(name, row_shape(self.of_players[name]))
            part = (slice(None), list(group.players), *map(slice, shape))
            parts[name.removeprefix("action").removeprefix(".")] = array[part]
        return parts[""] if list(parts) == [""] else nested(parts)


def draw_legal(sampler: Sampler, legal: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
    """Return the index of a True of each row of a mask (B, A), each with the same probability."""
    return sampler.categorical(np.where(legal, *LOGITS)).actions


class RandomActions:
    """Random actions with the distribution of the ``sample()`` of gymnasium's spaces.

    Integers and bools are uniform. Floats are uniform between two bounds; with one bound, their distance to it is
    exponential with mean 1; without bounds, they are standard normal.

    Parameters
    ----------
    specs : mapping
        ``EnvSpec.action_array_spec``.
    """

    def __init__(self, specs: Mapping[str, ArraySpec]):
        self.fields = {name: ActionField(spec) for name, spec in specs.items() if name not in CORE_ACTION}

    def draw(self, sampler: Sampler, env_ids: npt.NDArray[np.int32]) -> Any:
        """Return a row for each id: an array, or a dict with ids if there are several arrays."""
        arrays = {name: field.draw(sampler, len(env_ids)) for name, field in self.fields.items()}
        if len(arrays) == 1:
            return next(iter(arrays.values()))
        return nested({"env_id": env_ids.copy(), "players.env_id": env_ids.copy()} | arrays)


def random_actions_of(spec: EnvSpec) -> RandomActions | RandomPlayerActions:
    """Return the random actions of a task; in a task with players, they have a place for each player."""
    if not spec.num_players:
        return RandomActions(spec.action_array_spec)
    return RandomPlayerActions(
        spec.action_fields, spec.num_players, spec.groups, str(spec.config.players), spec.shown_players
    )
