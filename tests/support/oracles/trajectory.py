"""What many envs returned over many steps, and how two such records differ in bits.

A trajectory has one row per env and record. Record 0 is the first reset; after that each record is a step, or the reset
that follows the last step of an episode (reward 0, not done, elapsed_step 0). So it is the same for every auto-reset
style, thread count and batch size.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from envpool.verify.bits import bits_apart


@dataclass
class Trajectory:
    """Records of `num_envs` envs.

    Attributes
    ----------
    arrays : dict of str to numpy.ndarray
        (records, num_envs, *row): "obs" or "obs:a.b", "reward" (float32), "terminated", "truncated", "elapsed_step",
        and "info:key".
    known : dict of str to numpy.ndarray
        bool (records, num_envs): for arrays that do not have a value in every record, where they have one.
    """

    records: int
    num_envs: int
    arrays: dict[str, np.ndarray] = field(default_factory=dict)
    known: dict[str, np.ndarray] = field(default_factory=dict)

    def put(self, name: str, at: Any, rows: Any) -> None:
        """Store rows at index `at`, which is (record or records, env or envs)."""
        rows = np.asarray(rows)
        if name not in self.arrays:
            row_shape = rows.shape[np.ndim(at[1]) :]
            self.arrays[name] = np.zeros((self.records, self.num_envs, *row_shape), rows.dtype)
        if not np.can_cast(rows.dtype, self.arrays[name].dtype, "equiv"):
            raise TypeError(f"{name} changed its dtype from {self.arrays[name].dtype} to {rows.dtype}")
        self.arrays[name][at] = rows

    def put_known(self, name: str, at: Any, rows: Any) -> None:
        """Store rows of an array that may lack values in other records."""
        self.put(name, at, rows)
        if name not in self.known:
            self.known[name] = np.zeros((self.records, self.num_envs), bool)
        self.known[name][at] = True

    @property
    def num_episodes(self) -> int:
        """Episodes that ended."""
        return int((self.arrays["terminated"] | self.arrays["truncated"]).sum())


@dataclass
class Differences:
    """Result of `compare`.

    Attributes
    ----------
    bits : dict of str to int
        Differing bits of each array of the expected trajectory.
    first : str
        The earliest difference in words; empty if there is none.
    """

    bits: dict[str, int]
    first: str

    @property
    def total(self) -> int:
        """Differing bits in all arrays."""
        return sum(self.bits.values())

    def __str__(self) -> str:
        found = {name: count for name, count in self.bits.items() if count}
        return f"{self.total} bits differ: {found}; first: {self.first}" if found else "no bit differs"


def compare(expected: Trajectory, actual: Trajectory) -> Differences:
    """Count the bits in which two trajectories differ.

    Every array of `expected` must be in `actual`, and every observation array of `actual` in `expected`. Where
    `expected` has no value (an info key that upstream does not give at reset), nothing is compared.

    Raises
    ------
    AssertionError
        Arrays are missing or their shapes or float types differ.
    """
    missing = [n for n in expected.arrays if n not in actual.arrays]
    assert not missing, f"missing are {missing}, there are {list(actual.arrays)}"
    unexpected = [n for n in actual.arrays if n.startswith("obs") and n not in expected.arrays]
    assert not unexpected, f"{unexpected} are not in {list(expected.arrays)}"
    bits: dict[str, int] = {}
    first: tuple[int, str] | None = None
    for name, array in expected.arrays.items():
        try:
            apart = bits_apart(array, actual.arrays[name])
        except AssertionError as error:
            raise AssertionError(f"{name}: {error}") from None
        if name in expected.known:
            apart[~expected.known[name]] = 0
        bits[name] = int(apart.sum())
        if bits[name]:
            at = tuple(int(i) for i in np.argwhere(apart)[0])
            if first is None or at[0] < first[0]:
                where = f"{name}{list(at[2:]) if at[2:] else ''} of env {at[1]}, record {at[0]}"
                first = at[0], f"{where}: expected {array[at]!r}, got {actual.arrays[name][at]!r}"
    return Differences(bits, first[1] if first else "")
