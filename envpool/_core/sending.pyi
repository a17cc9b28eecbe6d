from collections.abc import Sequence
from typing import Any

from envpool._core.frames import Renderer

class Sender(Renderer):
    def first_busy(self) -> int | None: ...
    def send(self, action: Any, env_id: Any = None) -> None: ...
    def send_reset(
        self, env_id: Any = None, seeds: Sequence[int | None] | None = None, returns_at_once: bool = False
    ) -> int: ...
