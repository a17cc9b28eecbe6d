"""The description of an array under EnvPool's path."""

from envpool.spaces import ArraySpec

__all__ = ["ArraySpec"]
