from typing import Any

from typing_extensions import disjoint_base

@disjoint_base
class Orphan:
    def __init__(self, capsule: Any) -> None: ...

def count() -> int: ...
def stop() -> None: ...
