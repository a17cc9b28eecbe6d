from collections.abc import Sequence
from typing import Any

from envpool._core.rendering import Renderer

class Pool(Renderer):
    def first_busy(self) -> int | None: ...
    def send(self, action: Any, env_id: Any = None) -> None: ...
    def send_reset(
        self, env_id: Any = None, seeds: Sequence[int | None] | None = None, returns_at_once: bool = False
    ) -> int: ...
    def recv(
        self,
        reset: bool = False,
        return_info: bool = True,
        *,
        min_ready: int | None = None,
        timeout: float | None = None,
        env_ids: Any = None,
    ) -> Any: ...
    def recv_reset(self, env_id: Any = None) -> Any: ...
    def step(self, action: Any, env_id: Any = None) -> Any: ...
