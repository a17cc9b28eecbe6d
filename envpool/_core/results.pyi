from collections.abc import Sequence
from typing import Any

from typing_extensions import disjoint_base

@disjoint_base
class ResultTemplate:
    def __init__(self, nest: Any, names: Sequence[str]) -> None: ...
