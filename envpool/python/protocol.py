"""The classes of specs and pools under EnvPool's path, for annotations."""

from envpool.config.spaces import ArraySpec
from envpool.pools.pool import EnvPool
from envpool.pools.styles.dm import DMEnvPool
from envpool.pools.styles.gymnasium import GymnasiumEnvPool
from envpool.tasks.spec import EnvSpec

__all__ = ["ArraySpec", "DMEnvPool", "EnvPool", "EnvSpec", "GymnasiumEnvPool"]
