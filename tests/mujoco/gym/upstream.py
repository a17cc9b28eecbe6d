"""Gymnasium's envs as oracles for every id, those included that it no longer makes.

v4 and v5 are gymnasium's own. Of the others the code is gone with mujoco-py, or refused (Pusher-v4, with MuJoCo 3):

- v2 and v3 are compared with gymnasium's v4 without ``mj_rnePostConstraint``, so that contact forces are zero: from
  version 2.0 on mujoco-py did not compute them. Ant-v3 is v4 with ``use_contact_forces``; its info has the cost
  of control where v4's has that of contacts.
- Pusher-v4 is compared with gymnasium's class, whose check of MuJoCo's version is passed by.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from unittest import mock

import gymnasium
import mujoco
import numpy as np

from envpool.mujoco.gym.options import ASSETS
from tests.support.oracles.gymnasium_oracle import Upstream
from tests.support.oracles.oracle import Oracle
from tests.support.oracles.trajectory import Trajectory

FIRST_VERSION = {
    "Ant": 3,
    "HalfCheetah": 3,
    "Hopper": 3,
    "Humanoid": 3,
    "HumanoidStandup": 2,
    "InvertedDoublePendulum": 2,
    "InvertedPendulum": 2,
    "Pusher": 2,
    "Reacher": 2,
    "Swimmer": 3,
    "Walker2d": 3,
}
IDS = [f"{name}-v{version}" for name, first in FIRST_VERSION.items() for version in (first, 4, 5)]
PUSHER_V4 = "UncheckedPusher-v4"


def make_pusher_v4(**kwargs: Any) -> gymnasium.Env[Any, Any]:
    """Make gymnasium's Pusher-v4 under a MuJoCo that it refuses."""
    from gymnasium.envs.mujoco.pusher_v4 import PusherEnv

    with mock.patch.object(mujoco, "__version__", "2.3.7"):
        return PusherEnv(**kwargs)


gymnasium.register(PUSHER_V4, entry_point=make_pusher_v4, max_episode_steps=100)


def without_contact_forces(env: gymnasium.Env[Any, Any]) -> None:
    """Let an env step as mujoco-py 2 did."""

    def step(ctrl: Any, n_frames: int) -> None:
        unwrapped.data.ctrl[:] = ctrl
        mujoco.mj_step(unwrapped.model, unwrapped.data, nstep=n_frames)

    unwrapped: Any = env.unwrapped
    unwrapped._step_mujoco_simulation = step


def unstable_cheetah(folder: Path) -> str:
    """Write a HalfCheetah whose time step is so long that its simulation diverges; return the file."""
    text = (ASSETS / "half_cheetah.xml").read_text()
    assert 'timestep="0.01"' in text
    path = folder / "cheetah.xml"
    path.write_text(text.replace('timestep="0.01"', 'timestep="0.3"'))
    return str(path)


def upstream_of(task_id: str, kwargs: Mapping[str, Any] | None = None) -> Upstream:
    """Return the oracle of a task, with all keys of its info."""
    name, _, version = task_id.partition("-v")
    options = dict(kwargs or {})
    if int(version) < 4 and name == "Ant":
        options = {"use_contact_forces": True} | options
    upstream_id = f"{name}-v{max(int(version), 4)}"
    if upstream_id == "Pusher-v4":
        upstream_id = PUSHER_V4
    upstream = Upstream(upstream_id, options, without_contact_forces if int(version) < 4 else None)
    return Upstream(upstream.id, upstream.kwargs, upstream.prepare, info=info_of(task_id, upstream))


@dataclass(frozen=True)
class TaskOracle(Oracle):
    """Plays gymnasium's environments of a task; they are created when a case is played, not when it is listed.

    Attributes
    ----------
    task_id : str
        The pool's task.
    kwargs : mapping
        For ``gymnasium.make``.
    has_contact_forces : bool
        Whether upstream computes contact forces, as its versions from v4 on do.
    """

    task_id: str
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    has_contact_forces: bool = True

    def play(self, case: Any) -> tuple[Any, list[int], Trajectory]:
        """Return the actions and seeds of a case, and what upstream returned."""
        upstream = upstream_of(self.task_id, self.kwargs)
        if not self.has_contact_forces:
            upstream = replace(upstream, prepare=without_contact_forces)
        return upstream.play(case)


def info_of(task_id: str, upstream: Upstream) -> dict[str, Any]:
    """Return the info entries that are compared: all entries of upstream."""
    env = upstream.make()
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
