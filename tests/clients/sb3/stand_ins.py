"""Stable-Baselines3's DummyVecEnv and SubprocVecEnv on pools: a plug-in of pytest, which its own tests then import."""

import stable_baselines3.common.vec_env

import envpool
from envpool.adapters.sb3 import VecEnv


class DummyVecEnv(VecEnv):
    """Environments in the thread that calls."""

    def __init__(self, env_fns):
        super().__init__(envpool.make_python(list(env_fns)))


class SubprocVecEnv(VecEnv):
    """Environments in processes of their own."""

    def __init__(self, env_fns, start_method="fork"):
        fns = list(env_fns)
        super().__init__(
            envpool.make_python(fns, workers="process", num_threads=len(fns), start_method=start_method or "fork")
        )


def pytest_configure(config):
    """Put the classes in the place of those of the library, before its tests import them."""
    stable_baselines3.common.vec_env.DummyVecEnv = DummyVecEnv
    stable_baselines3.common.vec_env.SubprocVecEnv = SubprocVecEnv
