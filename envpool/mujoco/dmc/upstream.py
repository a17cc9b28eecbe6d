"""The upstream environments of this family, for ``envpool verify`` and the tests: dm_control's suite."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from envpool.mujoco.base.opengl import load as load_gl
from envpool.mujoco.dmc import suite
from envpool.mujoco.dmc.registration import MAX_EPISODE_STEPS, camel_case
from envpool.sampling.sequences import make_actions
from envpool.verify.oracle import Oracle

#: Bound of controls without limits. The simulation does not survive such a control; up to 1 is drawn instead.
UNLIMITED = 1e10


@cache
def load_suite() -> Any:
    """Import dm_control's suite and return it.

    Some of its tasks need an OpenGL context. If nothing else is asked for, dm_control chooses GLFW, even without a
    display, so EGL is chosen here if there is no display and EGL works.
    """
    if "MUJOCO_GL" in os.environ or os.environ.get("DISPLAY") or load_gl("egl") is not None:
        return suite.load("dm_control.suite")
    os.environ["MUJOCO_GL"] = "egl"
    try:
        return suite.load("dm_control.suite")
    finally:
        del os.environ["MUJOCO_GL"]


def suite_tasks() -> dict[str, tuple[str, str]]:
    """Return domain and task of every task of the suite by id."""
    tasks = load_suite().ALL_TASKS
    return {f"{camel_case(domain)}{camel_case(task)}-v1": (domain, task) for domain, task in tasks}


def load(task_id: str, seed: int, max_episode_steps: int, frame_skip: int | None = None) -> Any:
    """Return dm_control's environment, with a time limit in steps as the pool has it."""
    domain, task = suite_tasks()[task_id]
    env = load_suite().load(domain, task, task_kwargs={"random": seed})
    env._step_limit = max_episode_steps
    if frame_skip is not None:
        env._n_sub_steps = frame_skip
    return env


@dataclass(frozen=True)
class SuiteOracle(Oracle):
    """A task of dm_control's suite.

    Attributes
    ----------
    task_id : str
        The pool's task.
    max_episode_steps, frame_skip : int
        The pool's options.
    info : mapping
        Keys of the pool's info that are set at the reset and kept in the episode -> a function of the environment that
        gives the value right after its reset.
    """

    task_id: str
    max_episode_steps: int = MAX_EPISODE_STEPS
    frame_skip: int | None = None
    info: Mapping[str, Callable[[Any], Any]] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """Name of the upstream environment."""
        domain, task = suite_tasks()[self.task_id]
        return f"dm_control's suite, {domain} {task}"

    def start(self, seed: int) -> SuitePlayer:
        """Return an environment with a seed."""
        return SuitePlayer(self, seed)

    def choose_actions(self, space: Any, mode: str, records: int, num_envs: int, seed: int) -> Any:
        """Return actions that upstream accepts: at most 1 where controls have no limits."""
        actions = make_actions(space, mode, records, num_envs, seed)
        return np.where(space.high == UNLIMITED, actions / UNLIMITED, actions)


class SuitePlayer:
    """One environment of dm_control, episode after episode."""

    def __init__(self, oracle: SuiteOracle, seed: int):
        self.oracle = oracle
        self.env = load(oracle.task_id, seed, oracle.max_episode_steps, oracle.frame_skip)
        self.is_done = True
        self.elapsed = 0
        self.started: dict[str, Any] = {}

    def record(self, action: Any) -> dict[str, Any]:
        """Return the next record."""
        if self.is_done:
            step, self.elapsed = self.env.reset(), 0
            self.started = {f"info:{key}": np.array(get(self.env)) for key, get in self.oracle.info.items()}
        else:
            step, self.elapsed = self.env.step(action), self.elapsed + 1
        self.is_done = bool(step.last())
        values = {
            "reward": np.float32(step.reward or 0),
            "terminated": np.bool_(self.is_done and step.discount == 0),
            "truncated": np.bool_(self.is_done and step.discount == 1),
            "elapsed_step": np.int32(self.elapsed),
        }
        return {f"obs:{name}": np.array(value) for name, value in step.observation.items()} | values | self.started

    def close(self) -> None:
        """Free the memory of the environment."""
        self.env.physics.free()


def upstream_of(task_id: str) -> SuiteOracle:
    """Return the upstream environment of a task."""
    load_suite()
    return SuiteOracle(task_id, packages=("dm_control", "mujoco"))
