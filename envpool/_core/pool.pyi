from typing import Any

from envpool._core.sending import Sender

class Pool(Sender):
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
