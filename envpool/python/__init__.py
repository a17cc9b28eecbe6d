"""Modules under EnvPool's paths, for code that imports its names from ``envpool.python``."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from envpool._support.packages import submodules_of

if TYPE_CHECKING:
    from envpool.python import envpool as envpool
    from envpool.python.protocol import DMEnvPool, EnvPool, EnvSpec, GymnasiumEnvPool

__all__ = ["DMEnvPool", "EnvPool", "EnvSpec", "GymnasiumEnvPool"]

#: Modules that EnvPool shows and that are not here, with what takes their place.
ABSENT = {
    "glfw_context": "rendering makes its OpenGL contexts itself, and MUJOCO_GL selects the library",
    "lax": "use the methods of a pool, see pool.xla()",
    "utils": "EnvPool's classes check their own keys with it",
    "xla_template": "use the functions of pool.xla()",
}

_module = submodules_of(__name__, "api", "data", "dm_envpool", "env_spec", "envpool", "gymnasium_envpool", "protocol")


def __getattr__(name: str) -> Any:
    if name in __all__:  # They import NumPy.
        return getattr(import_module("envpool.python.protocol"), name)
    if name in ABSENT:
        raise AttributeError(f"envpool.python.{name} is a part of EnvPool's implementation, not here: {ABSENT[name]}")
    return _module(name)
