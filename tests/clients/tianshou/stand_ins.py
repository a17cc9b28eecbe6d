"""Tianshou's vector environments on pools: a plug-in of pytest, which its own tests then import."""

import tianshou.env

import envpool.adapters.tianshou


def pytest_configure(config):
    """Put the classes in the place of those of the library, before its tests import them."""
    for name in ("DummyVectorEnv", "RayVectorEnv", "ShmemVectorEnv", "SubprocVectorEnv"):
        setattr(tianshou.env, name, getattr(envpool.adapters.tianshou, name))
