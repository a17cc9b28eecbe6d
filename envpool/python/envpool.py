"""The base class of all pools under EnvPool's name, for ``isinstance`` checks."""

from envpool.pools.env_pool import EnvPool as EnvPoolMixin

__all__ = ["EnvPoolMixin"]
