"""Vectorized reinforcement-learning environments on a native thread pool.

Importing the package loads neither a simulator nor NumPy; creating the first pool or spec does.
"""

from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from envpool._support import machine as _machine  # noqa: F401  # It records the CPUs of this thread before OpenMP can bind it.
from envpool._support import packages as _distribution
from envpool.gymnasium_api.ids import install as _install_gymnasium_ids
from envpool.registration import (
    list_all_envs,
    make,
    make_dm,
    make_gym,
    make_gymnasium,
    make_spec,
    make_vec,
    register,
)

if _TYPE_CHECKING:
    from envpool import entry as entry
    from envpool import errors, rollout
    from envpool import python as python
    from envpool.config.params import Param
    from envpool.evaluation.evaluate import evaluate
    from envpool.evaluation.record import Recording, record
    from envpool.evaluation.result import Evaluation
    from envpool.pools.env_pool import EnvPool
    from envpool.pools.states import EnvStates
    from envpool.pools.statistics import PoolStats
    from envpool.pools.styles.dm import DMEnvPool
    from envpool.pools.styles.gym_pool import GymPool
    from envpool.pools.styles.gymnasium import GymnasiumEnvPool
    from envpool.pools.styles.texts import Texts
    from envpool.rollout.data import RolloutData
    from envpool.rollout.replay import ReplayBuffer
    from envpool.rollout.rollout import Rollout
    from envpool.tasks.spec import EnvSpec
    from envpool.training.curriculum import Curriculum

__version__ = "0.1.0"
__all__ = [
    "Curriculum",
    "DMEnvPool",
    "EnvPool",
    "EnvSpec",
    "EnvStates",
    "Evaluation",
    "GymPool",
    "GymnasiumEnvPool",
    "Param",
    "PoolStats",
    "Recording",
    "ReplayBuffer",
    "Rollout",
    "RolloutData",
    "Texts",
    "errors",
    "evaluate",
    "get_include",
    "list_all_envs",
    "make",
    "make_dm",
    "make_gym",
    "make_gymnasium",
    "make_mujoco",
    "make_python",
    "make_spec",
    "make_vec",
    "record",
    "register",
    "rollout",
]

#: Modules of the classes and functions that are imported on first use, since they import NumPy.
_LAZY = {
    "EnvSpec": "envpool.tasks.spec",
    "EnvPool": "envpool.pools.env_pool",
    "EnvStates": "envpool.pools.states",
    "Param": "envpool.config.params",
    "PoolStats": "envpool.pools.statistics",
    "Texts": "envpool.pools.styles.texts",
    "GymPool": "envpool.pools.styles.gym_pool",
    "GymnasiumEnvPool": "envpool.pools.styles.gymnasium",
    "DMEnvPool": "envpool.pools.styles.dm",
    "ReplayBuffer": "envpool.rollout.replay",
    "Rollout": "envpool.rollout.rollout",
    "RolloutData": "envpool.rollout.data",
    "Evaluation": "envpool.evaluation.result",
    "Recording": "envpool.evaluation.record",
    "Curriculum": "envpool.training.curriculum",
    "evaluate": "envpool.evaluation.evaluate",
    "record": "envpool.evaluation.record",
    "make_mujoco": "envpool.mujoco.declared.make",
    "make_python": "envpool.python_envs.make",
}

#: Modules that are imported when they are looked up, besides the families.
_MODULES = ("entry", "errors", "python", "rollout")


def _has_tasks(name: str) -> bool:
    """Return whether a folder of this package is a family, or contains families."""
    from pathlib import Path

    return name.isidentifier() and any(Path(__file__).parent.joinpath(name).rglob("registration.py"))


def get_include() -> str:
    """Return the include directory for the build of a native environment; it contains ``envpool/env.h``."""
    from envpool._support.shipped import shipped

    return str(shipped("include"))


def __getattr__(name: str) -> _Any:
    from importlib import import_module

    if name in _LAZY:
        return getattr(import_module(_LAZY[name]), name)
    if name in _MODULES or _has_tasks(name):  # `import envpool` is enough to use them
        return import_module(f"envpool.{name}")
    raise AttributeError(f"module 'envpool' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted((*__all__, "__version__"))


_distribution.warn_of_others()
_install_gymnasium_ids()
