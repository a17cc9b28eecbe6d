from typing import Any

import numpy as np
from numpy.typing import NDArray
from typing_extensions import disjoint_base

from envpool.errors import EnvPoolError

COMPILER: str

class KernelLoopError(EnvPoolError, RuntimeError): ...

@disjoint_base
class KernelLoop:
    arrays: dict[str, NDArray[Any]]
    def __init__(
        self,
        capsule: Any,
        num_envs: int,
        seeds: NDArray[np.uint64],
        max_episode_steps: int,
        actions: dict[str, NDArray[Any]],
    ) -> None: ...
    def close(self) -> None: ...
    def run(self, seconds: float, max_rounds: int = ...) -> tuple[int, float]: ...
