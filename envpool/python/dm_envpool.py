"""The base class of pools in dm_env's style under EnvPool's name, for ``isinstance`` checks."""

from envpool.pools.styles.dm import DMEnvPool as DMEnvPoolMixin

__all__ = ["DMEnvPoolMixin"]
