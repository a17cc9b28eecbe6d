from collections.abc import Sequence

from typing_extensions import disjoint_base

@disjoint_base
class Arena:
    fd: int
    plan: tuple[int, int, tuple[int, ...], tuple[int, ...], int]
    num_envs: int
    window: int
    def __init__(
        self,
        num_envs: int,
        num_workers: int,
        action_bytes: Sequence[int],
        row_bytes: Sequence[int],
        window: int,
        fd: int = -1,
    ) -> None: ...
    def readiness(self, worker: int) -> int: ...
    def text(self, id: int) -> str: ...
    def unfinished(self, worker: int) -> list[int]: ...
    def stop(self) -> None: ...
    def bury(self, worker: int) -> None: ...
    def close(self) -> None: ...
