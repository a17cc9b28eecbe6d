from typing import Any

import numpy as np
import numpy.typing as npt
from typing_extensions import disjoint_base

@disjoint_base
class Draws:
    def __init__(self, words: npt.NDArray[np.uint32]) -> None: ...
    def get_state(self) -> bytes: ...
    def set_state(self, state: bytes) -> None: ...
    def permute(self, out: npt.NDArray[np.int64]) -> None: ...
    def integers(self, out: npt.NDArray[Any], low: npt.NDArray[np.int64], last: npt.NDArray[np.uint64]) -> None: ...
    def floats(self, out: npt.NDArray[Any], low: npt.NDArray[np.float64], high: npt.NDArray[np.float64]) -> None: ...
    def choices(
        self,
        logits: npt.NDArray[Any],
        sizes: npt.NDArray[np.int64],
        actions: npt.NDArray[np.int64],
        log_probs: npt.NDArray[Any],
        entropies: npt.NDArray[Any],
    ) -> int: ...
    def normals(
        self,
        mean: npt.NDArray[Any],
        log_std: npt.NDArray[Any],
        actions: npt.NDArray[Any],
        log_probs: npt.NDArray[Any],
        entropies: npt.NDArray[Any],
    ) -> int: ...
