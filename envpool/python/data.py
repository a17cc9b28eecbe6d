"""The description of an array under EnvPool's path."""

from envpool.config.spaces import ArraySpec

__all__ = ["ArraySpec"]
