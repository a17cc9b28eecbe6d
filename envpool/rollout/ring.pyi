from typing import Any

import numpy as np
import numpy.typing as npt
from typing_extensions import disjoint_base

_Array = npt.NDArray[Any]
_Arrays = tuple[tuple[str, np.dtype[Any], tuple[int, ...]], ...]

LARGEST_PRIORITY: float

_Batch = tuple[list[_Array], list[_Array], _Array, list[_Array], _Array, _Array, _Array | None]

@disjoint_base
class Ring:
    def __init__(
        self,
        obs: _Arrays,
        actions: _Arrays,
        num_envs: int,
        num_steps: int,
        depth: int,
        n_step: int,
        gamma: float,
        prioritized: bool,
        prefetches: bool,
        seed: npt.NDArray[np.uint32],
    ) -> None: ...
    @property
    def obs(self) -> _Arrays: ...
    @property
    def actions(self) -> _Arrays: ...
    @property
    def num_bytes(self) -> int: ...
    @property
    def num_ready(self) -> int: ...
    @property
    def capacity(self) -> int: ...
    @property
    def num_slots(self) -> int: ...
    @property
    def num_row_bytes(self) -> int: ...
    @property
    def highest(self) -> float: ...
    def draw(self, n: int) -> npt.NDArray[np.int64]: ...
    def sample(self, n: int, threads: int, beta: float) -> tuple[npt.NDArray[np.int64], _Batch]: ...
    def gather(self, index: npt.NDArray[np.int64], threads: int, beta: float) -> _Batch: ...
    def indices(self) -> npt.NDArray[np.int64]: ...
    def set_priorities(self, index: npt.NDArray[np.int64], priorities: npt.NDArray[np.float64]) -> None: ...
    def views(self) -> dict[str, _Array]: ...
    def get_counts(self) -> tuple[int, int, int]: ...
    def get_rows(self, strays: bool) -> npt.NDArray[np.uint8]: ...
    def get_generator(self) -> bytes: ...
    def set_state(
        self,
        head: int,
        live: int,
        has_obs: bool,
        arrays: dict[str, _Array],
        last: npt.NDArray[np.uint8],
        strays: npt.NDArray[np.uint8] | None,
        generator: bytes,
        highest: float,
    ) -> None: ...
