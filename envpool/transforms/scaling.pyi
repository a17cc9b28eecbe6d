from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from typing_extensions import disjoint_base

@disjoint_base
class BatchScaling:
    is_frozen: bool
    def __init__(
        self,
        num_envs: int,
        arrays: Sequence[tuple[str, int, int, int, int, bool]],
        obs_epsilon: float | None,
        obs_bounds: tuple[float, float] | None,
        scale: float,
        returns: tuple[float, float] | None,
        reward_bounds: tuple[float, float] | None,
        num_players: int = 0,
    ) -> None: ...
    @property
    def names(self) -> tuple[str, ...]: ...
    @property
    def normalizes_reward(self) -> bool: ...
    def moments(self, name: str) -> tuple[npt.NDArray[Any], npt.NDArray[Any], float]: ...
    def set_moments(
        self,
        name: str,
        mean: npt.NDArray[np.float64],
        var: npt.NDArray[np.float64],
        count: float,
        single: bool,
    ) -> None: ...
    def discounted_rewards(self) -> npt.NDArray[np.float32]: ...
