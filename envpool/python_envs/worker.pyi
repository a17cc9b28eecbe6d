from typing import Any

from typing_extensions import disjoint_base

from envpool.python_envs.arena import Arena

def follow(pidfd: int) -> None: ...

@disjoint_base
class Worker:
    def __init__(self, arena: Arena, index: int, source: Any, is_successor: bool) -> None: ...
    def serve(self) -> None: ...
