"""Gymnasium's MuJoCo tasks: info arrays, the names of classes, and gymnasium's options."""

from __future__ import annotations

import inspect
from importlib import import_module
from typing import Any

import gymnasium
import numpy as np
import pytest

import envpool
from tests.mujoco.gym.specs import INFO
from tests.mujoco.gym.upstream import FIRST_VERSION, IDS, upstream_of


@pytest.mark.parametrize("task_id", IDS)
def test_arrays(task_id: str) -> None:
    spec = envpool.make_spec(task_id)
    name = task_id.partition("-")[0]
    env: Any = upstream_of(task_id).make()
    assert spec.observation_space == env.observation_space
    assert spec.action_space.dtype == np.float64
    np.testing.assert_array_equal(spec.action_space.low, env.unwrapped.model.actuator_ctrlrange[:, 0])
    np.testing.assert_array_equal(spec.action_space.high, env.unwrapped.model.actuator_ctrlrange[:, 1])
    assert spec.action_array_spec["action"].shape == [-1, *env.action_space.shape]
    state = spec.state_array_spec
    for key in INFO[name]:
        assert (state[f"info:{key}"].dtype, state[f"info:{key}"].shape) == (np.float64, [-1])
    tendons = {k: v.shape for k, v in state.items() if k.startswith("info:tendon")}
    assert tendons == ({"info:tendon_length": [2], "info:tendon_velocity": [2]} if "Humanoid" in name else {})
    assert not any("qpos0" in k for k in state)


@pytest.mark.parametrize("task_id", [i for i in IDS if i.endswith(("v4", "v5"))])
def test_options_of_gymnasium_are_known(task_id: str) -> None:
    """All arguments of gymnasium's environments, except those of the camera, are options."""
    if task_id == "Pusher-v4":
        from gymnasium.envs.mujoco.pusher_v4 import PusherEnv as cls
    else:
        module, _, name = str(gymnasium.spec(task_id).entry_point).partition(":")
        cls = getattr(import_module(module), name)
    parameters = inspect.signature(cls.__init__).parameters.values()
    names = {p.name for p in parameters if p.kind is not p.VAR_KEYWORD} - {"self", "default_camera_config"}
    assert names <= set(envpool.make_spec(task_id).config._fields)
    defaults = {p.name: p.default for p in parameters if p.name in names}
    given = envpool.make_spec(task_id, **defaults)
    assert given.observation_space == envpool.make_spec(task_id).observation_space


@pytest.mark.parametrize("name", FIRST_VERSION)
def test_classes_have_envpools_names(name: str) -> None:
    import envpool.mujoco.gym

    spec_cls = getattr(envpool.mujoco.gym, f"Gym{name}EnvSpec")
    assert isinstance(envpool.make_spec(f"{name}-v5"), spec_cls)
    assert repr(envpool.make_spec(f"{name}-v5", num_envs=2)) == f"{name}-v5: Gym{name}EnvSpec(num_envs=2)"
    pool_cls = getattr(envpool.mujoco.gym, f"Gym{name}GymnasiumEnvPool")
    with envpool.make_gymnasium(f"{name}-v4") as pool:
        assert isinstance(pool, pool_cls)


def test_dm_style() -> None:
    with envpool.make_dm("Ant-v5", num_envs=2) as pool:
        first = pool.reset()
        assert first.observation.obs.shape == (2, 105)
        step = pool.step(np.zeros((2, 8)))
        assert step.observation.x_velocity.shape == (2,)
        assert step.discount.tolist() == [1.0, 1.0]
