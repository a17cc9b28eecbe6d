"""The vector environments of Tianshou 2, for Python environments and for pools; Tianshou itself is not needed."""

from envpool.adapters.tianshou.agents import MultiAgentVectorEnv
from envpool.adapters.tianshou.base import BaseVectorEnv
from envpool.adapters.tianshou.pools import VectorEnv
from envpool.adapters.tianshou.ray_worker import RayEnvWorker
from envpool.adapters.tianshou.venvs import DummyVectorEnv, RayVectorEnv, ShmemVectorEnv, SubprocVectorEnv
from envpool.adapters.tianshou.workers import DummyEnvWorker, EnvWorker, SubprocEnvWorker

__all__ = [
    "BaseVectorEnv",
    "DummyEnvWorker",
    "DummyVectorEnv",
    "EnvWorker",
    "MultiAgentVectorEnv",
    "RayEnvWorker",
    "RayVectorEnv",
    "ShmemVectorEnv",
    "SubprocEnvWorker",
    "SubprocVectorEnv",
    "VectorEnv",
]
