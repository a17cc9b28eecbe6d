from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from typing_extensions import disjoint_base

NEXT_STEP: int
SAME_STEP: int
DISABLED: int
RECV: str

class _Style(Protocol):
    optional: Sequence[str]

    def forms(self, names: Sequence[str]) -> tuple[Any, Any]: ...

def available_cpus() -> int: ...

@disjoint_base
class Pool:
    def __init__(
        self,
        capsule: Any,
        num_envs: int,
        batch_size: int,
        num_threads: int,
        thread_affinity_offset: int,
        max_episode_steps: int,
        autoreset: int,
        seeds: npt.NDArray[np.uint64],
        style: _Style,
    ) -> None: ...
    @property
    def is_closed(self) -> bool: ...
    @property
    def num_outstanding(self) -> int: ...
    @property
    def blocks_allocated(self) -> int: ...
    def first_busy(self) -> int | None: ...
    def close(self) -> None: ...
    def send(self, action: Any, env_id: Any = None) -> None: ...
    def send_reset(
        self, env_id: Any = None, seeds: Sequence[int | None] | None = None, returns_at_once: bool = False
    ) -> int: ...
    def recv(self, reset: bool = False, return_info: bool = True) -> Any: ...
    def recv_reset(self, may_be_empty: bool) -> Any: ...
    def step(self, action: Any, env_id: Any = None) -> Any: ...
