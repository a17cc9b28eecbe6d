"""Playing envs of a pool with given actions, from wherever they are, and recording every bit of what they return."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from envpool.verify.records import leaves

#: Entries of info that tell which env a row belongs to, and not what it did.
PLACES = ("env_id", "players")


class Player:
    """Steps some envs of a pool in lockstep, and records their rows by place: place k is env ``ids[k]`` of the pool.

    Parameters
    ----------
    pool : EnvPool
        A pool in gymnasium's style. If it is async, its batch size must divide the number of places.
    actions : numpy.ndarray
        (steps, places, *action shape): place k takes ``actions[t, k]`` in step t.
    ids : sequence of int, optional
        Env of each place; by default 0, 1 and so on.
    frames : sequence of int
        Steps after which a frame of each place is recorded.
    """

    def __init__(self, pool: Any, actions: Any, ids: Sequence[int] | None = None, frames: Sequence[int] = ()):
        self.pool = pool
        self.actions = actions
        self.ids = np.arange(actions.shape[1]) if ids is None else np.asarray(ids)
        self.place = np.full(pool.num_envs, -1)
        self.place[self.ids] = np.arange(len(self.ids))
        self.frames = frames
        self.num_ended = np.zeros(len(self.ids), int)

    def play(self, first: int, last: int) -> list[dict[str, bytes]]:
        """Return the bytes of every array of the steps `first` to ``last - 1``, by name, in the order of the places."""
        return [self.record(t) for t in range(first, last)]

    def record(self, t: int) -> dict[str, bytes]:
        self.pool.send(self.actions[t], self.ids)
        rows: dict[str, npt.NDArray[Any]] = {}
        for _ in range(len(self.ids) // self.pool.config["batch_size"] if self.pool.is_async else 1):
            self.store(rows, *self.pool.recv())
        ended = rows["terminated"] | rows["truncated"]
        self.num_ended += ended
        if ended.any() and self.pool.config["autoreset_mode"] == "disabled":
            obs, info = self.pool.reset(self.ids[ended])
            self.store_nest(rows, "first", {"obs": obs} | without_places(info), self.place[info["env_id"]])
        if t in self.frames:
            rows["frame"] = self.pool.render(self.ids)
        return {name: values.tobytes() for name, values in rows.items()}

    def store(self, rows: dict[str, Any], obs: Any, reward: Any, terminated: Any, truncated: Any, info: Any) -> None:
        batch = {"obs": obs, "reward": reward, "terminated": terminated, "truncated": truncated}
        for name, values in batch.items():
            self.store_nest(rows, name, values, self.place[info["env_id"]])
        self.store_nest(rows, "info", without_places(info), self.place[info["env_id"]])

    def store_nest(self, rows: dict[str, Any], name: str, nest: Any, places: Any) -> None:
        for leaf, values in leaves(nest, name):
            if leaf not in rows:
                rows[leaf] = np.zeros((len(self.ids), *values.shape[1:]), values.dtype)
            rows[leaf][places] = values


def without_places(info: Mapping[str, Any]) -> dict[str, Any]:
    """Return info without the ids of envs, also within the info of final steps."""
    return {k: without_places(v) if isinstance(v, Mapping) else v for k, v in info.items() if k not in PLACES}


def first_difference(expected: Sequence[Mapping[str, bytes]], actual: Sequence[Mapping[str, bytes]]) -> str:
    """Return the step and the arrays in which two recordings first differ; "" if they are equal."""
    if len(expected) != len(actual):
        return f"{len(expected)} and {len(actual)} steps"
    for t, (a, b) in enumerate(zip(expected, actual, strict=True)):
        names = sorted(name for name in a.keys() | b.keys() if a.get(name) != b.get(name))
        if names:
            return f"step {t}: {', '.join(names)}"
    return ""
