from collections.abc import Sequence
from typing import Any

import numpy as np
from typing_extensions import disjoint_base

from envpool._core.definition import Field

CORE_COLUMNS: dict[int, tuple[str, type[np.generic]]]

@disjoint_base
class Memory:
    def __new__(cls, size: int) -> Memory: ...

@disjoint_base
class BatchBlock: ...

@disjoint_base
class BlockStore:
    def __init__(self, fields: Sequence[Field], capacity: int, optional: Sequence[str], same_step: bool) -> None: ...
    @property
    def names(self) -> tuple[str, ...]: ...
    @property
    def shapes(self) -> tuple[tuple[int, ...], ...]: ...
    @property
    def dtypes(self) -> tuple[np.dtype[Any], ...]: ...
    @property
    def allocated(self) -> int: ...
