"""The classes of specs and pools under EnvPool's path."""

from envpool.python.protocol import DMEnvPool, EnvPool, EnvSpec, GymnasiumEnvPool

__all__ = ["DMEnvPool", "EnvPool", "EnvSpec", "GymnasiumEnvPool"]
