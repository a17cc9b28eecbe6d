"""The base class of all pools under EnvPool's name, for ``isinstance`` checks."""

from envpool.pools.pool import EnvPool as EnvPoolMixin

__all__ = ["EnvPoolMixin"]
