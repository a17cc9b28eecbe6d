from typing import Any

import numpy as np
import numpy.typing as npt
from typing_extensions import disjoint_base

from envpool.rollout.layout import RolloutLayout, RolloutMemory

@disjoint_base
class FrameStore:
    def __init__(self, layout: RolloutLayout, column: int, depth: int) -> None: ...

def gather(
    layout: RolloutLayout,
    memory: RolloutMemory,
    name: str,
    depth: int,
    ids: npt.NDArray[np.int64],
    out: npt.NDArray[Any],
    scale: float | None,
    num_threads: int,
) -> None: ...
