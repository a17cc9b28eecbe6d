"""Modules under EnvPool's paths, for code that imports its names from ``envpool.python``."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from envpool._support.packages import submodules_of

if TYPE_CHECKING:
    from envpool.python import envpool as envpool
    from envpool.python.protocol import DMEnvPool, EnvPool, EnvSpec, GymnasiumEnvPool

__all__ = ["DMEnvPool", "EnvPool", "EnvSpec", "GymnasiumEnvPool"]

_module = submodules_of(__name__, "api", "data", "dm_envpool", "env_spec", "envpool", "gymnasium_envpool", "protocol")


def __getattr__(name: str) -> Any:
    if name in __all__:  # They import NumPy.
        return getattr(import_module("envpool.python.protocol"), name)
    return _module(name)
