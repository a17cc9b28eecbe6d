from collections.abc import Sequence

from typing_extensions import disjoint_base

@disjoint_base
class Arena:
    fd: int
    num_envs: int
    window: int
    region_bytes: int
    def __init__(
        self,
        num_envs: int,
        num_workers: int,
        action_bytes: Sequence[int],
        row_bytes: Sequence[int],
        window: int,
        num_players: int = 0,
        region_bytes: int = 0,
        fd: int = -1,
    ) -> None: ...
    @property
    def plan(self) -> tuple[int, int, tuple[int, ...], tuple[int, ...], int, int, int]: ...
    def readiness(self, worker: int) -> int: ...
    def text(self, id: int) -> str: ...
    def unfinished(self, worker: int) -> list[int]: ...
    def stop(self) -> None: ...
    def bury(self, worker: int) -> None: ...
    def give_up(self, worker: int, text: str) -> None: ...
    def close(self) -> None: ...
