from collections.abc import Sequence
from typing import Any

from typing_extensions import disjoint_base

from envpool._core.inputs import ResetOptions

@disjoint_base
class EnvsBase:
    source: Any
    def __init__(self, source: Any, num_envs: int) -> None: ...
    def packed(self, options: Any) -> Any: ...

@disjoint_base
class ObjectOptions(ResetOptions):
    def __init__(self, envs: EnvsBase, options: Sequence[Any]) -> None: ...
