from typing import Any

import numpy as np
import numpy.typing as npt
from typing_extensions import disjoint_base

from envpool._core.pool import Pool
from envpool._core.rollout_layout import RolloutLayout, RolloutMemory

@disjoint_base
class Recorder:
    def __init__(
        self,
        pool: Pool,
        num_steps: int,
        num_slots: int,
        extras: list[tuple[str, Any, tuple[int, ...]]],
        pins: bool = False,
        depth: int = 0,
    ) -> None: ...
    @property
    def layout(self) -> RolloutLayout: ...
    @property
    def memory(self) -> RolloutMemory | None: ...
    @property
    def received(self) -> npt.NDArray[np.int32] | None: ...
    @property
    def recorded(self) -> int: ...
    @property
    def is_full(self) -> bool: ...
    @property
    def num_in_flight(self) -> int: ...
    def note_errors(self, pair: Any, errors: dict[int, str], count: int) -> None: ...
