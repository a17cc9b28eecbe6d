"""Random actions of a task, for ``EnvPool.sample_actions``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from envpool.config.spaces import ArraySpec, nested
from envpool.sampling.sampler import Sampler


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
        self.fields = {name: ActionField(spec) for name, spec in specs.items() if not name.endswith("env_id")}

    def draw(self, sampler: Sampler, env_ids: npt.NDArray[np.int32]) -> Any:
        """Return a row for each id: an array, or a dict with ids if there are several arrays."""
        arrays = {name: field.draw(sampler, len(env_ids)) for name, field in self.fields.items()}
        if len(arrays) == 1:
            return next(iter(arrays.values()))
        return nested({"env_id": env_ids.copy(), "players.env_id": env_ids.copy()} | arrays)
