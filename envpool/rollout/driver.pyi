from typing import Any

from typing_extensions import disjoint_base

from envpool._core.pool import Pool, SendPart

@disjoint_base
class PoolDriver(SendPart):
    def __init__(self, pool: Pool, what: str, names: tuple[str, ...], view: Any = None) -> None: ...
    def _note_errors(self, pair: Any, errors: dict[int, str], count: int) -> None: ...
    def _note_failed(self, pair: Any, errors: dict[int, str], count: int) -> None: ...
