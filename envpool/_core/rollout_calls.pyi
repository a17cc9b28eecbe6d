from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from envpool._core.recorder import Recorder
from envpool._core.rollout_layout import RolloutMemory

_T = TypeVar("_T")

class RolloutCalls(Recorder):
    def step(self, action: Any, env_id: Any = None, **extras: Any) -> Any: ...
    def send(self, action: Any, env_id: Any = None, **extras: Any) -> None: ...
    def recv(self) -> Any: ...
    def reset_envs(self, env_id: Any, seeds: Sequence[int | None] | None) -> Any: ...
    def begin_with(self, arrays: dict[str, Any]) -> None: ...
    def take_finished(
        self, extras: dict[str, Any], make: Callable[[RolloutMemory, npt.NDArray[np.int64]], _T]
    ) -> _T: ...
