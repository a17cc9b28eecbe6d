"""Vectorized reinforcement-learning environments on a native thread pool.

Importing the package loads neither a simulator nor NumPy; the first pool or spec does.
"""

from importlib import import_module
from pathlib import Path
from typing import Any

from envpool import machine as _machine  # noqa: F401  # It records the CPUs of this thread before OpenMP can bind it.
from envpool.gymnasium_ids import install as _install_gymnasium_ids
from envpool.registration import list_all_envs, make, make_dm, make_gym, make_gymnasium, make_spec, register

__version__ = "0.1.0"
__all__ = [
    "DMEnvPool",
    "EnvPool",
    "EnvSpec",
    "GymnasiumEnvPool",
    "Rollout",
    "get_include",
    "list_all_envs",
    "make",
    "make_dm",
    "make_gym",
    "make_gymnasium",
    "make_python",
    "make_spec",
    "register",
]

#: Modules of the classes and functions that are imported on first use, since they import NumPy.
_LAZY = {
    "EnvSpec": "envpool.spec",
    "EnvPool": "envpool.pool",
    "GymnasiumEnvPool": "envpool.api.gymnasium",
    "DMEnvPool": "envpool.api.dm",
    "Rollout": "envpool.rollout.rollout",
    "make_python": "envpool.python.make",
}


def get_include() -> str:
    """Return the include directory for the build of a native environment; it contains ``envpool/env.h``."""
    root = Path(__file__).resolve().parent
    installed = root / "include"
    return str(installed if installed.is_dir() else root.parent / "include")


def __getattr__(name: str) -> Any:
    if name == "rollout":  # so that `import envpool` is enough to use it
        return import_module("envpool.rollout")
    if name in _LAZY:
        return getattr(import_module(_LAZY[name]), name)
    raise AttributeError(f"module 'envpool' has no attribute {name!r}")


_install_gymnasium_ids()
