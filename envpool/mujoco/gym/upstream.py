"""The upstream environments of this family, for ``envpool verify`` and the tests.

v4 and v5 are gymnasium's own. Of the others the code is gone with mujoco-py, or refused (Pusher-v4, with MuJoCo 3):

- v2 and v3 are compared with gymnasium's v4 without ``mj_rnePostConstraint``, so that contact forces are zero: from
  version 2.0 on mujoco-py did not compute them. Ant-v3 is v4 with ``use_contact_forces``; its info has the cost
  of control where v4's has that of contacts.
- Pusher-v4 is compared with gymnasium's class, whose check of MuJoCo's version is passed by.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module
from typing import Any
from unittest import mock

import gymnasium
import numpy as np
from gymnasium.envs.registration import EnvSpec

from envpool.mujoco.base.model import import_with_bindings
from envpool.verify.gymnasium_oracle import GymnasiumOracle

mujoco: Any = import_with_bindings("mujoco")


def make_pusher_v4(**kwargs: Any) -> gymnasium.Env[Any, Any]:
    """Make gymnasium's Pusher-v4 under a MuJoCo that it refuses."""
    make: Any = import_module("gymnasium.envs.mujoco.pusher_v4").PusherEnv
    with mock.patch.object(mujoco, "__version__", "2.3.7"):
        env: gymnasium.Env[Any, Any] = make(**kwargs)
    return env


PUSHER_V4 = EnvSpec("Pusher-v4", entry_point=make_pusher_v4, max_episode_steps=100)


def without_contact_forces(env: gymnasium.Env[Any, Any]) -> None:
    """Let an env step as mujoco-py 2 did."""

    def step(ctrl: Any, n_frames: int) -> None:
        unwrapped.data.ctrl[:] = ctrl
        mujoco.mj_step(unwrapped.model, unwrapped.data, nstep=n_frames)

    unwrapped: Any = env.unwrapped
    unwrapped._step_mujoco_simulation = step


def upstream_of(task_id: str, kwargs: Mapping[str, Any] | None = None) -> GymnasiumOracle:
    """Return the upstream environment of a task, with all keys of its info.

    Parameters
    ----------
    task_id : str
        The task.
    kwargs : mapping, optional
        Arguments for ``gymnasium.make``.
    """
    name, _, version = task_id.partition("-v")
    is_old = int(version) < 4
    options = dict(kwargs or {})
    if is_old and name == "Ant":
        options = {"use_contact_forces": True} | options
    upstream_id = f"{name}-v{max(int(version), 4)}"
    oracle = GymnasiumOracle(
        PUSHER_V4 if upstream_id == "Pusher-v4" else upstream_id,
        options,
        without_contact_forces if is_old else None,
        packages=("gymnasium", "mujoco"),
        note="without contact forces" if is_old else "",
    )
    return replace(oracle, info=info_of(task_id, oracle))


def info_of(task_id: str, oracle: GymnasiumOracle) -> dict[str, Any]:
    """Return the info entries that are compared: all entries of upstream."""
    env = oracle.make()
    _, first = env.reset(seed=0)
    _, _, _, _, info = env.step(env.action_space.sample())
    env.close()
    found: dict[str, Any] = {key: key for key in {**first, **info}}
    if task_id == "Ant-v3":
        found["reward_ctrl"] = ant_v3_ctrl
    if task_id == "InvertedPendulum-v5":
        found["reward_survive"] = lambda env, info: np.float64(info.get("reward_survive", 0))  # an int upstream
    return found


def ant_v3_ctrl(env: Any, info: dict[str, Any]) -> np.float64:
    """Return the cost of control from the rest: reward_ctrl is overwritten upstream."""
    if "reward_forward" not in info:
        return np.float64(0)
    return np.float64(-env.unwrapped.control_cost(env.unwrapped.data.ctrl))
