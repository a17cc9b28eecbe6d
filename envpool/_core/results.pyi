from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from typing_extensions import disjoint_base

class RowsOf:
    POSITION: ClassVar[str]
    mask: str
    nest: Any
    def __init__(self, mask: str, nest: Any) -> None: ...

class MadeOf(str):
    make: Callable[[Any], Any]
    def __new__(cls, name: str, make: Callable[[Any], Any]) -> MadeOf: ...

@disjoint_base
class RowsTemplate:
    def __init__(self, nest: Any, names: list[str]) -> None: ...

@disjoint_base
class ResultTemplate:
    def __init__(
        self,
        nest: Any,
        names: Sequence[str],
        add_errors: Callable[[Any, dict[int, str], int], None] | None = None,
        finish: Callable[[Any, Sequence[Any]], Any] | None = None,
    ) -> None: ...
    def make(self, arrays: list[Any], has_ended: bool, errors: dict[int, str], n: int) -> Any: ...
