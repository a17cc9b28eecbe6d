from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from typing_extensions import disjoint_base

from envpool._core.definition import Field

@disjoint_base
class ActionField:
    def __init__(self, field: Field) -> None: ...
    def to_int64(self, action: npt.NDArray[Any]) -> npt.NDArray[np.int64]: ...

@disjoint_base
class ActionTable:
    def __init__(self, fields: Sequence[Field]) -> None: ...
    @property
    def fields(self) -> tuple[ActionField, ...]: ...
    def names(self) -> list[str]: ...
