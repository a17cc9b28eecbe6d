"""dm_control's suite as the oracle: the pool must return the same bits.

Env i of a pool with ``env_seed=seeds`` is ``suite.load(domain, task, task_kwargs={"random": seeds[i]})``, episode after
episode.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

import envpool
from tests.support.oracles.actions import make_actions
from tests.support.oracles.frames import Size
from tests.support.oracles.oracle import Oracle
from tests.support.oracles.trajectory import Trajectory

#: Bound of controls without limits. The simulation does not survive such a control; the tests draw up to 1 instead.
UNLIMITED = 1e10


def camel_case(name: str) -> str:
    """Return a name of the suite as EnvPool spells it in an id."""
    return "".join(word[:1].upper() + word[1:] for word in name.split("_"))


@cache
def suite_tasks() -> dict[str, tuple[str, str]]:
    """Return domain and task of every task of the suite by id."""
    from dm_control import suite

    return {f"{camel_case(domain)}{camel_case(task)}-v1": (domain, task) for domain, task in suite.ALL_TASKS}


def load(task_id: str, seed: int, max_episode_steps: int, frame_skip: int | None = None) -> Any:
    """Return dm_control's environment, with a time limit in steps as the pool has it."""
    from dm_control import suite

    domain, task = suite_tasks()[task_id]
    env = suite.load(domain, task, task_kwargs={"random": seed})
    env._step_limit = max_episode_steps
    if frame_skip is not None:
        env._n_sub_steps = frame_skip
    return env


def reference(
    task_id: str,
    actions: np.ndarray,
    seeds: Sequence[int],
    max_episode_steps: int = 1000,
    frame_skip: int | None = None,
    info: Mapping[str, Callable[[Any], Any]] | None = None,
) -> Trajectory:
    """Step dm_control's environments.

    Parameters
    ----------
    task_id : str
        The pool's task.
    actions : numpy.ndarray
        float64 (records - 1, num_envs, nu), see `tests.support.oracles.actions.make_actions`.
    seeds : sequence of int
        One for each env.
    max_episode_steps, frame_skip : int
        The pool's options.
    info : mapping
        Keys of the pool's info that are set at the reset and kept in the episode -> a function of the environment that
        gives the value right after its reset.

    Returns
    -------
    Trajectory
        With "discount" (float32, 1 at a reset) besides the usual arrays.
    """
    out = Trajectory(actions.shape[0] + 1, len(seeds))
    for i, seed in enumerate(seeds):
        env = load(task_id, seed, max_episode_steps, frame_skip)
        done, elapsed = True, 0
        started: dict[str, Any] = {}
        for t in range(out.records):
            if done:
                step = env.reset()
                elapsed = 0
                started = {key: np.array(get(env)) for key, get in (info or {}).items()}
            else:
                step = env.step(actions[t - 1, i])
                elapsed += 1
            done = step.last()
            for name, value in step.observation.items():
                out.put(f"obs:{name}", (t, i), np.array(value))
            out.put("reward", (t, i), np.float32(step.reward or 0))
            out.put("discount", (t, i), np.float32(1 if step.discount is None else step.discount))
            out.put("terminated", (t, i), np.bool_(done and step.discount == 0))
            out.put("truncated", (t, i), np.bool_(done and step.discount == 1))
            out.put("elapsed_step", (t, i), np.int32(elapsed))
            for key, value in started.items():
                out.put(f"info:{key}", (t, i), value)
    return out


@dataclass(frozen=True)
class SuiteOracle(Oracle):
    """Plays dm_control's environments.

    Attributes
    ----------
    info : mapping
        See `reference`; needs the option ``debug_info=True``.
    """

    info: Mapping[str, Callable[[Any], Any]] = field(default_factory=dict)

    def play(self, case: Any) -> tuple[Any, list[int], Trajectory]:
        """Return the actions and seeds of a case, and what upstream returned."""
        options = case.options
        space = envpool.make_spec(case.task_id, **options).action_space
        actions = make_actions(space, case.actions, case.steps, case.num_envs, case.seed)
        actions = np.where(space.high == UNLIMITED, actions / UNLIMITED, actions)
        seeds = [1000 * case.seed + i for i in range(case.num_envs)]
        limit = options["max_episode_steps"]
        with np.errstate(all="ignore"):
            expected = reference(case.task_id, actions, seeds, limit, options.get("frame_skip"), self.info)
        del expected.arrays["discount"]
        return actions, seeds, expected

    def count_episodes(self, expected: Trajectory) -> int:
        """Return the smallest number of episodes that an environment ended."""
        return int((expected.arrays["terminated"] | expected.arrays["truncated"]).sum(axis=0).min())


class Suite:
    """A task of the suite with gymnasium's methods.

    Parameters
    ----------
    task_id : str
        The pool's id.
    size : (int, int) or None
        Height and width of frames; None stands for the default.
    camera_id : int
        Camera of frames.
    """

    def __init__(self, task_id: str, size: Size | None, camera_id: int = -1):
        self.task_id = task_id
        self.view = {"camera_id": camera_id} | ({"height": size[0], "width": size[1]} if size else {})
        self.env: Any = None

    def reset(self, seed: int | None = None) -> None:
        """Start an episode."""
        if seed is not None:
            self.env = load(self.task_id, seed, 1000)
        self.env.reset()

    def step(self, action: Any) -> tuple[None, None, bool, bool, None]:
        """Step; the result only says whether the episode has ended."""
        return None, None, self.env.step(action).last(), False, None

    def render(self) -> Any:
        """Return a frame."""
        return self.env.physics.render(**self.view)

    def close(self) -> None:
        """Free the memory of the environment."""
        self.env.physics.free()
