from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

def limits_of(probabilities: ArrayLike) -> NDArray[np.uint64]: ...
def pack(
    next_state: NDArray[Any],
    kind: NDArray[Any],
    odds: ArrayLike,
    rewards: Sequence[float],
    terminated: Sequence[bool],
    start: NDArray[np.float64],
) -> bytes: ...
def grid_targets(num_rows: int, num_columns: int, moves: Sequence[tuple[int, int]]) -> NDArray[np.int64]: ...
def slipping(targets: NDArray[np.int64]) -> NDArray[np.int64]: ...
