from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from typing_extensions import disjoint_base

DTYPES: tuple[np.dtype[Any], ...]
KINDS: dict[str, int]

@disjoint_base
class ParamDraws:
    ranges: Any
    def __new__(cls, ranges: Any, draws: Sequence[Any]) -> Self: ...
