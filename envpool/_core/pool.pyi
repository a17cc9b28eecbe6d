from collections.abc import Callable, Collection, Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from typing_extensions import disjoint_base

from envpool._core.inputs import ResetOptions
from envpool._core.statistics import Statistics

class _Style(Protocol):
    optional: Sequence[str]
    statistics: Statistics
    groups: Sequence[Any]

    def view(self, names: Sequence[str], of_players: Collection[str]) -> Any: ...
    def forms(self, names: Sequence[str]) -> tuple[Any, Any]: ...
    def add_errors(self, result: Any, errors: dict[int, str], count: int) -> None: ...

@disjoint_base
class SendPart: ...

@disjoint_base
class Pool:
    def __init__(
        self,
        capsule: Any,
        num_envs: int,
        batch_size: int,
        num_threads: int,
        thread_affinity_offset: int,
        nodes: list[list[int]],
        max_episode_steps: int,
        autoreset: int,
        seeds: Callable[[], npt.NDArray[np.uint64] | None],
        style: _Style,
        restarts: bool = False,
        step_timeout: int = 0,
        refused: int = 0,
        movers_only: bool = False,
        checks_moves: bool = True,
    ) -> None: ...
    _continues_games: bool
    @property
    def is_closed(self) -> bool: ...
    @property
    def num_outstanding(self) -> int: ...
    @property
    def _blocks_allocated(self) -> int: ...
    def _totals(self) -> dict[str, Any]: ...
    def _player_mask(self, env_ids: Any) -> npt.NDArray[np.bool_]: ...
    def _acting(self, env_ids: Any) -> npt.NDArray[np.bool_]: ...
    def _legal_mask(self, env_ids: Any) -> npt.NDArray[np.bool_] | None: ...
    def close(self) -> None: ...
    def _close_at_once(self) -> None: ...
    def send(self, action: Any, env_id: Any = None) -> None: ...
    def _check_actions(self, action: Any, env_id: Any) -> None: ...
    def _send_reset(
        self, env_id: Any = None, seeds: Sequence[int | None] | None = None, options: ResetOptions | None = None
    ) -> int: ...
    def _go_on(self, env_ids: Any) -> None: ...
    def recv(
        self,
        reset: bool = False,
        return_info: bool = True,
        *,
        min_ready: int | None = None,
        timeout: float | None = None,
        env_ids: Any = None,
    ) -> Any: ...
    def _reset_envs(
        self, env_id: Any = None, seeds: Sequence[int | None] | None = None, options: ResetOptions | None = None
    ) -> Any: ...
    def step(self, action: Any, env_id: Any = None) -> Any: ...
    def _use_envs(self, call: bytes, env_ids: Any, function: Callable[[list[int]], Any]) -> Any: ...
    def _render_frames(
        self, env_ids: Any, height: int, width: int, camera: int, assets: bytes | None = None
    ) -> npt.NDArray[np.uint8]: ...
