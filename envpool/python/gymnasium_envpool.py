"""The base class of pools in gymnasium's style under EnvPool's name, for ``isinstance`` checks."""

from envpool.pools.styles.gymnasium import GymnasiumEnvPool as GymnasiumEnvPoolMixin

__all__ = ["GymnasiumEnvPoolMixin"]
