"""dm_control's suite as the oracle: the pool must return the same bits.

Env i of a pool with ``env_seed=seeds`` is ``suite.load(domain, task, task_kwargs={"random": seeds[i]})``, episode after
episode.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import envpool
from envpool.mujoco.dmc import upstream
from envpool.mujoco.dmc.upstream import load
from tests.support.oracles import gymnasium_oracle
from tests.support.oracles.frames import Size
from tests.support.oracles.oracle import CaseOracle
from tests.support.oracles.trajectory import Trajectory


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
        float64 (records - 1, num_envs, nu), see `envpool.sampling.sequences.make_actions`.
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
        With all info keys of `info`.
    """
    oracle = upstream.SuiteOracle(task_id, max_episode_steps, frame_skip, info or {})
    return gymnasium_oracle.reference(oracle, actions, seeds)


@dataclass(frozen=True)
class SuiteOracle(CaseOracle):
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
        oracle = upstream.upstream_of(case.task_id)
        actions = oracle.choose_actions(space, case.actions, case.steps, case.num_envs, case.seed)
        seeds = case.seeds
        limit = options["max_episode_steps"]
        expected = reference(case.task_id, actions, seeds, limit, options.get("frame_skip"), self.info)
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
