from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from typing_extensions import disjoint_base

from envpool._core.inputs import ResetOptions
from envpool._core.pool import Pool
from envpool.rollout.driver import PoolDriver
from envpool.rollout.layout import RolloutLayout, RolloutMemory

_T = TypeVar("_T")

@disjoint_base
class Recorder(PoolDriver):
    def __init__(
        self,
        pool: Pool,
        num_steps: int,
        num_slots: int,
        extras: list[tuple[str, Any, tuple[int, ...]]],
        pins: bool = False,
        depth: int = 0,
        shown: npt.NDArray[np.int32] | None = None,
        begun: npt.NDArray[np.bool_] | None = None,
        shapes: list[tuple[int, ...]] | None = None,
        spread: Callable[[str, Any, tuple[int, ...], Any, Any], Any] | None = None,
    ) -> None: ...
    @property
    def _layout(self) -> RolloutLayout: ...
    @property
    def received(self) -> npt.NDArray[np.int32] | None: ...
    @property
    def _num_ahead(self) -> int: ...
    _unanswered: Any
    @property
    def _needs_actions(self) -> bool: ...
    @property
    def recorded(self) -> int: ...
    @property
    def is_full(self) -> bool: ...
    @property
    def num_in_flight(self) -> int: ...
    def step(self, action: Any, env_id: Any = None, **extras: Any) -> Any: ...
    def send(self, action: Any, env_id: Any = None, **extras: Any) -> None: ...
    def recv(self) -> Any: ...
    def _reset_envs(self, env_id: Any, seeds: Sequence[int | None] | None, options: ResetOptions | None) -> Any: ...
    def _begin_with(
        self, arrays: dict[str, Any], mask_of: Callable[[npt.NDArray[np.int32]], npt.NDArray[np.bool_]] | None
    ) -> None: ...
    def _take_finished(
        self, extras: dict[str, Any], make: Callable[[RolloutMemory, npt.NDArray[np.int64]], _T]
    ) -> _T: ...
