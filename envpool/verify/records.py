"""Records: what an environment, or a batch of environments, returned at one reset or step, as arrays by name.

The names are ``obs`` for an observation that is one array, ``obs:a`` and ``obs:a.b`` for the arrays of a nested one,
``reward``, ``terminated``, ``truncated``, ``elapsed_step``, and ``info:key``. The first record of an episode is its
reset: reward 0, neither terminated nor truncated, elapsed_step 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

#: Entries of info that every task has.
CORE_INFO = (
    "env_id",
    "players",
    "player_mask",
    "player_terminated",
    "player_truncated",
    "elapsed_step",
    "final_obs",
    "_final_obs",
    "final_info",
    "_final_info",
)


def leaves(nest: Any, prefix: str) -> Iterator[tuple[str, npt.NDArray[Any]]]:
    """Yield the arrays of a nested dict by name: ``obs`` for a plain array, else ``obs:a``, ``obs:a.b``."""
    if not isinstance(nest, Mapping):
        yield prefix, np.asarray(nest)
        return
    for key, value in nest.items():
        yield from leaves(value, f"{prefix}.{key}" if ":" in prefix else f"{prefix}:{key}")


def batch_record(
    obs: Any, reward: Any, terminated: Any, truncated: Any, info: Mapping[str, Any]
) -> dict[str, npt.NDArray[Any]]:
    """Return what a gymnasium-style pool returned as arrays by name, with one row per environment."""
    own_info = {key: value for key, value in info.items() if key not in CORE_INFO}
    core = {"reward": reward, "terminated": terminated, "truncated": truncated, "elapsed_step": info["elapsed_step"]}
    return core | dict(leaves(obs, "obs")) | dict(leaves(own_info, "info"))


def as_reset(obs: Any, info: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return the result of a pool's ``reset`` in the form of ``step``; with players, in the view "grid"."""
    no = np.zeros(len(info["env_id"]), bool)
    return obs, np.zeros(np.shape(info.get("player_mask", no)), np.float32), no, no, info
