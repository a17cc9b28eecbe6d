"""Arrays with a place for each player, of what users pass to a rollout in the form of the option `players`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from envpool._core.inputs import as_ids
from envpool._support.text import shown
from envpool.errors import ConfigError
from envpool.rollout.casting import as_array
from envpool.tasks.players import has_players

Array = npt.NDArray[Any]


class Places:
    """Spreads rows and groups of players over the places of a pool's results.

    Parameters
    ----------
    pool : EnvPool
        A pool of a task with players.
    """

    def __init__(self, pool: Any):
        self._pool, spec = pool, pool.spec
        self._view, self._groups = spec.config.players, spec.groups
        self._count = len(spec.shown_players)
        self._place = {player: k for k, player in enumerate(spec.shown_players)}

    def extra(self, name: str, value: Any, shape: tuple[int, ...], env_id: Any, action: Any) -> Any:
        """Return what the learner adds to a step, (B, places, ...), unless it has that form already.

        Parameters
        ----------
        name : str
            Its name, for messages.
        value : object
            Rows (R, ...) with ``players="rows"``, or a dict by group; anything else is returned as it is.
        shape : tuple of int
            The declared shape, (places, ...) for a value of each player.
        env_id, action : object
            Arguments of ``step``, which say to which environments the rows belong.
        """
        if not shape or shape[0] != self._count:
            return value
        if self._view == "dict" and isinstance(value, Mapping):
            return self.joined(name, value, shape[1:])
        if self._view == "rows" and np.ndim(value) == len(shape):
            if env_id is None and isinstance(action, Mapping):
                env_id = action.get("env_id")
            return self.spread(name, np.asarray(value), shape[1:], env_id)
        return value

    def observations(
        self, obs: Any, named_arrays: Callable[[Any], dict[str, Any]], env_id: Any = None
    ) -> dict[str, Any]:
        """Return the arrays of observations by name, with a place for each player.

        Parameters
        ----------
        obs : object
            Observations in the form in which the pool returns them.
        named_arrays : callable
            Returns the arrays of a nest of observations by name.
        env_id : array_like of int, optional
            The environments, by default all.
        """
        fields = self._pool.spec.state_array_spec

        def row_of(name: str) -> tuple[int, ...]:
            return fields[name].shape[1:] if name in fields else ()

        if self._view == "dict":
            if not isinstance(obs, Mapping):
                raise ConfigError(
                    f"obs must be a dict with the keys {[group.name for group in self._groups]}, got {shown(obs)}"
                )
            groups = {group.name: named_arrays(obs.get(group.name, {})) for group in self._groups}
            own = next(iter(groups.values()))
            joined = {
                name: self.joined(name, {g: part[name] for g, part in groups.items() if name in part}, row_of(name))
                for name in own
            }
            return joined | named_arrays({k: v for k, v in obs.items() if k not in groups} or {})
        arrays = named_arrays(obs)
        if self._view == "rows":
            for name, value in arrays.items():
                if name in fields and has_players(fields[name]):
                    arrays[name] = self.spread(name, as_array(name, value), row_of(name), env_id)
        return arrays

    def spread(self, name: str, rows: Array, shape: tuple[int, ...], env_id: Any) -> Array:
        """Return rows of the players in the last results of idle environments as an array (B, places, ...)."""
        ids = as_ids(env_id)
        ids = np.arange(self._pool.num_envs) if ids is None else ids
        mask = self.mask(ids)
        expected = (int(np.count_nonzero(mask)), *shape)
        if rows.shape != expected:
            raise ConfigError(
                f"{name} must have the shape {expected}, a row for each row of the last results, or "
                f"{(len(ids), self._count, *shape)}, a place for each player, got {rows.shape}"
            )
        grid = np.zeros((*mask.shape, *shape), rows.dtype)
        grid[mask] = rows
        return grid

    def split(self, arrays: Mapping[str, Array], like: Mapping[str, Any]) -> dict[str, Any]:
        """Return arrays (B, places, ...) by name as observations by group, in the form that an earlier step had."""
        result: dict[str, Any] = {}
        for key, nest in like.items():
            group = next((group for group in self._groups if group.name == key), None)
            result[key] = self._part(arrays, nest, "obs" if group else f"obs:{key}", group)
        return result

    def _part(self, arrays: Mapping[str, Array], nest: Any, name: str, group: Any) -> Any:
        if isinstance(nest, Mapping):
            join = "." if ":" in name else ":"
            return {key: self._part(arrays, inner, f"{name}{join}{key}", group) for key, inner in nest.items()}
        if group is None:
            return arrays[name]
        places = [self._place[player] for player in group.players]
        at: Any = (slice(None), places, *map(slice, nest.shape[2:]))
        return arrays[name][at]

    def mask(self, ids: Array) -> Array:
        """Return which places have a row in the last results of idle environments, bool (B, places)."""
        mask: Array = self._pool._player_mask(ids)
        if self._pool.spec.controlled is None:
            return mask
        own: Array = np.take_along_axis(mask, self._pool._games.shown[ids].astype(np.intp), 1)
        return own

    def joined(self, name: str, groups: Mapping[str, Any], shape: tuple[int, ...]) -> Array:
        """Return arrays (B, players of the group, ...) by group as an array (B, places, ...), padded with zeros."""
        names = [group.name for group in self._groups]
        if sorted(groups) != sorted(names):
            raise ConfigError(f"{name} must have an array for each of the groups {names}, got {list(groups)}")
        parts = {group: as_array(f"{name} of group {group!r}", value) for group, value in groups.items()}
        for group in self._groups:
            part = parts[group.name]
            fits = part.ndim == 2 + len(shape) and part.shape[1] == len(group.players)
            if not fits or any(own > limit for own, limit in zip(part.shape[2:], shape, strict=True)):
                raise ConfigError(
                    f"{name} of group {group.name!r} must have the shape (B, {len(group.players)}, ...) of at most "
                    f"{shape}, got {part.shape}"
                )
        counts = {len(part) for part in parts.values()}
        if len(counts) > 1:
            raise ConfigError(f"{name} must have one number of environments in all groups, got {sorted(counts)}")
        grid = np.zeros((counts.pop(), self._count, *shape), np.result_type(*parts.values()))
        for group in self._groups:
            part = parts[group.name]
            places = [self._place[player] for player in group.players]
            at: Any = (slice(None), places, *map(slice, part.shape[2:]))
            grid[at] = part
        return grid
