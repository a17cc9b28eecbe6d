from typing import Any

import numpy as np
import numpy.typing as npt
from typing_extensions import disjoint_base

RAW_PREFIX: str
WITH_OBSERVATION: tuple[str, ...]

@disjoint_base
class RolloutMemory: ...

@disjoint_base
class RolloutLayout:
    def __init__(
        self,
        store: Any,
        own: list[tuple[str, Any, tuple[int, ...], int]],
        num_envs: int,
        num_slots: int,
        left_out: list[str],
        pins: bool = False,
        shapes: list[tuple[int, ...]] | None = None,
    ) -> None: ...
    @property
    def names(self) -> tuple[str, ...]: ...
    @property
    def dtypes(self) -> tuple[np.dtype[Any], ...]: ...
    @property
    def num_slots(self) -> int: ...
    @property
    def num_bytes(self) -> int: ...
    def array(self, memory: RolloutMemory, name: str, first: int = 0, count: int | None = None) -> npt.NDArray[Any]: ...
