"""The classes of specs and pools under EnvPool's path, for annotations."""

from envpool.api.dm import DMEnvPool
from envpool.api.gymnasium import GymnasiumEnvPool
from envpool.pool import EnvPool
from envpool.spaces import ArraySpec
from envpool.spec import EnvSpec

__all__ = ["ArraySpec", "DMEnvPool", "EnvPool", "EnvSpec", "GymnasiumEnvPool"]
