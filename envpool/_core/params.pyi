from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from typing_extensions import disjoint_base

from envpool._core.draws import ParamDraws
from envpool._core.inputs import ResetOptions
from envpool._core.pool import Pool

DTYPES: tuple[np.dtype[Any], ...]

@disjoint_base
class OptionRows(ResetOptions):
    def __init__(self, values: Sequence[tuple[int, npt.NDArray[Any]]], has_options: npt.NDArray[np.bool_]) -> None: ...

def set_params(pool: Pool, values: Sequence[tuple[int, npt.NDArray[Any]]], env_id: Any) -> None: ...
def set_draws(pool: Pool, draws: ParamDraws | None, env_id: Any) -> None: ...
def get_ranges(pool: Pool, env_id: Any) -> list[Any]: ...
def get_params(pool: Pool, env_id: Any, in_force: bool) -> list[npt.NDArray[Any]]: ...
