"""Normalization: the running statistics of a pool that normalises observations or rewards."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from envpool._core.casts import fitted
from envpool._support.text import shown
from envpool.errors import ConfigError

if TYPE_CHECKING:
    from envpool.transforms.scaling import BatchScaling

#: Limits of what `Normalization.set` takes. Those of float32 arrays are computed in float32: the squares of larger
#: means, or larger sums of squares, would become infinite and then NaN.
LARGEST_MEAN, LARGEST_SUM = 1e18, 1e38


class Normalization:
    """The running statistics with which a pool normalises, ``pool.normalization``.

    Parameters
    ----------
    transforms : BatchScaling
        The transforms of the pool.
    shapes : mapping of str to tuple of int
        Shape of one environment's row of each observation array that is normalised.
    """

    __slots__ = ("_shapes", "_transforms")  # a misspelt attribute is an error

    def __init__(self, transforms: BatchScaling, shapes: Mapping[str, tuple[int, ...]]):
        self._transforms = transforms
        self._shapes = dict(shapes) | ({"reward": ()} if transforms.normalizes_reward else {})

    @property
    def is_frozen(self) -> bool:
        """If True, the statistics are used but not updated, as for an evaluation; False by default."""
        return self._transforms.is_frozen

    @is_frozen.setter
    def is_frozen(self, value: bool) -> None:
        if not isinstance(value, (bool, np.bool_)):
            raise TypeError(f"is_frozen must be True or False, got {shown(value)}")
        self._transforms.is_frozen = bool(value)

    def get(self) -> dict[str, npt.NDArray[Any]]:
        """Return the statistics, from which `set` continues exactly.

        Returns
        -------
        dict of str to numpy.ndarray
            For each array that is normalised, with its name in place of ``obs``: ``obs.mean`` and ``obs.var`` of the
            shape of one row, and ``obs.count``, the number of rows plus 1e-4. If rewards are normalised:
            ``reward.mean``, ``reward.var`` and ``reward.count`` of the discounted sums of rewards, and
            ``reward.discounted``, the sum of each environment, float32 (num_envs,). Fresh arrays, yours to keep;
            ``np.savez`` and pickle can save them.
        """
        values: dict[str, Any] = {}
        for name, shape in self._shapes.items():
            mean, var, count = self._transforms.moments(name)
            values |= {f"{name}.mean": mean.reshape(shape), f"{name}.var": var.reshape(shape)}
            values[f"{name}.count"] = np.float64(count)
        if self._transforms.normalizes_reward:
            values["reward.discounted"] = self._transforms.discounted_rewards().copy()
        return {name: np.asarray(value) for name, value in values.items()}

    def set(self, values: Mapping[str, Any]) -> None:
        """Replace the statistics.

        Parameters
        ----------
        values : mapping of str to array_like
            A result of `get` of a pool with the same observations, or ``np.load`` of a file that contains one.
            ``reward.discounted`` may be left out; the sums of the environments then stay unchanged.

        Raises
        ------
        ConfigError
            An entry is missing, unknown, of another shape, or has a value that is not allowed. Nothing has changed.
        TypeError
            `values` is not a mapping.
        """
        if not isinstance(values, Mapping):
            raise TypeError(f"values must be what get() of a pool returns, a mapping of arrays, got {shown(values)}")
        required = {f"{name}.{part}" for name in self._shapes for part in ("mean", "var", "count")}
        optional = {"reward.discounted"} if self._transforms.normalizes_reward else set()
        missing, unknown = sorted(required - set(values)), sorted(set(values) - required - optional)
        if missing or unknown:
            raise ConfigError(
                f"normalization.set() needs the entries {', '.join(sorted(required))}; missing are {missing}, unknown "
                f"are {unknown}: pass what get() of a pool with the same options returns"
            )
        checked = {name: self._check(name, values[name]) for name in required | optional & set(values)}
        for name in self._shapes:
            var, rows = checked[f"{name}.var"], float(checked[f"{name}.count"])
            if (var > LARGEST_SUM / max(rows, 1.0)).any():
                raise ConfigError(
                    f"{name}.var times {name}.count must be at most {LARGEST_SUM:g}, which float32 can hold, got "
                    f"{var.max():g} and {rows:g}"
                )
        for name in self._shapes:
            mean, var, count = (checked[f"{name}.{part}"] for part in ("mean", "var", "count"))
            is_single = np.asarray(values[f"{name}.mean"]).dtype == np.float32
            self._transforms.set_moments(name, mean, var, float(count), bool(is_single))
        if "reward.discounted" in checked:
            self._transforms.discounted_rewards()[:] = checked["reward.discounted"]

    def restart(self, env_id: Any = None) -> None:
        """Restart the discounted sums of environments, by default of all, as a reset does."""
        self._transforms.discounted_rewards()[slice(None) if env_id is None else integers(env_id)] = 0

    def copy(self, source_ids: Any, target_ids: Any) -> None:
        """Copy the discounted sums of environments to others."""
        sums = self._transforms.discounted_rewards()
        sums[integers(target_ids)] = sums[integers(source_ids)]

    def _check(self, name: str, value: Any) -> npt.NDArray[np.float64]:
        """Return an entry as a C-contiguous array, or raise ConfigError."""
        owner, part = name.rsplit(".", 1)
        shape = self._shapes[owner] if part in ("mean", "var") else ()
        if part == "discounted":
            shape = self._transforms.discounted_rewards().shape
        try:
            array = np.array(fitted(value, np.dtype(np.float64)))
        except (TypeError, ValueError) as error:
            raise ConfigError(f"{name} must have numbers, got {shown(value)}: {error}") from None
        if array.shape != shape:
            way_out = ": leave it out to keep the pool's own" if part == "discounted" else ""
            raise ConfigError(f"{name} must have the shape {shape}, got {array.shape}{way_out}")
        is_fine = np.isfinite(array) & ((array >= 0) if part in ("var", "count") else True)
        if not np.all(is_fine):
            allowed = "finite and not negative" if part in ("var", "count") else "finite"
            raise ConfigError(f"{name} must be {allowed}, got {array[~is_fine].flat[0]}")
        if part == "count" and not 0 < array <= LARGEST_SUM:
            raise ConfigError(f"{name} must be greater than 0 and at most {LARGEST_SUM:g}, got {array}")
        if part in ("mean", "discounted") and (too_large := np.abs(array) > LARGEST_MEAN).any():
            raise ConfigError(
                f"{name} must be between {-LARGEST_MEAN:g} and {LARGEST_MEAN:g}, whose squares float32 can "
                f"hold, got {array[too_large].flat[0]}"
            )
        return array


def integers(ids: Any) -> npt.NDArray[np.int64]:
    """Return ids that a pool has accepted as integers: an empty list would become an array of floats."""
    return np.asarray(ids, np.int64)
