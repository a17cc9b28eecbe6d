"""The classes of specs and pools, and what pools take and return, under EnvPool's path, for annotations."""

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from dm_env import TimeStep

from envpool.config.spaces import ArraySpec
from envpool.pools.env_pool import EnvPool
from envpool.pools.styles.dm import DMEnvPool
from envpool.pools.styles.gymnasium import GymnasiumEnvPool
from envpool.tasks.spec import EnvSpec

__all__ = [
    "ActionInput",
    "ArraySpec",
    "DMEnvPool",
    "EnvPool",
    "EnvSpec",
    "GymnasiumEnvPool",
    "GymnasiumResetReturn",
    "GymnasiumStepReturn",
    "InfoDict",
    "ObsType",
    "RenderEnvId",
    "TimeStep",
]

ActionInput: TypeAlias = dict[str, Any] | np.ndarray[Any, Any]
InfoDict: TypeAlias = dict[str, Any]
ObsType: TypeAlias = Any
RenderEnvId: TypeAlias = int | Sequence[int] | np.ndarray[Any, Any] | None
GymnasiumResetReturn: TypeAlias = tuple[ObsType, InfoDict]
GymnasiumStepReturn: TypeAlias = tuple[ObsType, Any, Any, Any, InfoDict]
