from collections.abc import Sequence
from typing import Any

from typing_extensions import disjoint_base

KINDS: dict[str, int]

@disjoint_base
class ParamDraws:
    ranges: Any
    def __init__(self, ranges: Any, draws: Sequence[Any]) -> None: ...
