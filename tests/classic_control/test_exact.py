"""The family returns gymnasium's bits: every task, option and kind of action, in pools of every kind."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import gymnasium
import numpy as np
import pytest

from tests.support.oracles.gymnasium_oracle import Upstream, assert_exact, reference
from tests.support.oracles.pool_runner import assert_pools_equal

NUM_ENVS = 16
LENGTHS = [pytest.param(313, id="short"), pytest.param(6250, id="full", marks=pytest.mark.slow)]

DISCRETE = ("random", "boundary", "sticky")
CONTINUOUS = (*DISCRETE, "out_of_range", "non_finite")


def acrobot_state(env: Any, info: dict[str, Any]) -> np.ndarray:
    return np.asarray(env.unwrapped.state[:2], np.float32)


@dataclass(frozen=True)
class Case:
    """A task with options, in the pool's words and in upstream's."""

    task_id: str
    upstream_id: str | None = None
    options: dict[str, Any] = field(default_factory=dict)  # both sides know them
    attributes: dict[str, Any] = field(default_factory=dict)  # options here, attributes of the env upstream
    modes: tuple[str, ...] = DISCRETE

    @property
    def pool_options(self) -> dict[str, Any]:
        return self.options | self.attributes

    @property
    def upstream(self) -> Upstream:
        upstream_id = self.upstream_id or self.task_id
        info = {"state": acrobot_state} if upstream_id == "Acrobot-v1" else {}
        return Upstream(upstream_id, self.options, self.set_attributes, info=info)

    def set_attributes(self, env: gymnasium.Env[Any, Any]) -> None:
        for name, value in self.attributes.items():
            assert hasattr(env.unwrapped, name)
            setattr(env.unwrapped, name, value)

    def __str__(self) -> str:
        return "-".join([self.task_id, *(f"{k}={v}" for k, v in self.pool_options.items())])


PENDULUM, CAR, FORCE = "Pendulum-v1", "MountainCar-v0", "MountainCarContinuous-v0"
TASKS = [
    Case("CartPole-v0"),
    Case("CartPole-v1"),
    Case("phys2d/CartPole-v0", "CartPole-v0"),
    Case("phys2d/CartPole-v1", "CartPole-v1"),
    Case("Pendulum-v0", PENDULUM, modes=CONTINUOUS),
    Case("Pendulum-v1", modes=CONTINUOUS),
    Case("phys2d/Pendulum-v0", PENDULUM, modes=CONTINUOUS),
    Case("MountainCar-v0"),
    Case("MountainCarContinuous-v0", modes=CONTINUOUS),
    Case("Acrobot-v1"),
]
WITH_OPTIONS = [
    Case("CartPole-v1", options={"sutton_barto_reward": True}),
    Case(PENDULUM, options={"g": 9.81}, modes=CONTINUOUS),
    Case(PENDULUM, options={"g": -3.0}),
    Case(CAR, options={"goal_velocity": 0.03}),
    Case(FORCE, options={"goal_velocity": 0.03}),
    Case("Acrobot-v1", attributes={"book_or_nips": "nips"}),
    Case("Acrobot-v1", attributes={"torque_noise_max": 2.5}),
    Case("Acrobot-v1", attributes={"book_or_nips": "nips", "torque_noise_max": 1000.0}),
]
SYNC: list[dict[str, Any]] = [
    {"num_threads": n, "autoreset_mode": m} for n in (1, 2, 8) for m in ("next_step", "same_step", "disabled")
]
ASYNC: list[dict[str, Any]] = [{"num_threads": n, "batch_size": b} for n in (1, 2, 8) for b in (1, 5, 15)]
ASYNC += [{"num_threads": 2, "batch_size": 5, "autoreset_mode": "same_step"}]


def modes_of(cases: list[Case]) -> list[Any]:
    return [pytest.param(case, mode, id=f"{case}-{mode}") for case in cases for mode in case.modes]


@pytest.mark.parametrize("steps", LENGTHS)
@pytest.mark.parametrize(("case", "mode"), modes_of(TASKS))
def test_task(case: Case, mode: str, steps: int) -> None:
    runs = [{"num_threads": 2}, {"num_threads": 2, "batch_size": 5}]
    assert_exact(
        case.task_id, case.upstream, actions=mode, num_envs=NUM_ENVS, steps=steps, runs=runs, min_episodes=steps // 1000
    )


@pytest.mark.parametrize("steps", LENGTHS)
@pytest.mark.parametrize(("case", "mode"), modes_of(WITH_OPTIONS))
def test_option(case: Case, mode: str, steps: int) -> None:
    options = case.pool_options
    assert_exact(
        case.task_id, case.upstream, actions=mode, num_envs=NUM_ENVS, steps=steps, options=options, min_episodes=0
    )


@pytest.mark.parametrize("case", TASKS[1:2] + TASKS[5:6] + TASKS[7:], ids=str)
def test_threads_batches_and_autoreset_styles(case: Case) -> None:
    limit = {"max_episode_steps": 40}
    upstream = Upstream(case.upstream.id, limit, info=case.upstream.info)
    assert_exact(case.task_id, upstream, actions="sticky", num_envs=16, steps=130, options=limit, runs=SYNC + ASYNC)


@pytest.mark.parametrize("case", TASKS[1:2] + TASKS[5:6] + TASKS[7:], ids=str)
@pytest.mark.parametrize("num_envs", [1, 3, 37, 1100])
def test_numbers_of_envs(case: Case, num_envs: int) -> None:
    """Loops over spans of any length: shorter than a vector register, and longer than one call's worth of envs."""
    limit = {"max_episode_steps": 4}
    upstream = Upstream(case.upstream.id, limit, info=case.upstream.info)
    runs = [{"num_threads": 1}, {"num_threads": 3}]
    assert_exact(case.task_id, upstream, num_envs=num_envs, steps=12, options=limit, runs=runs)


# Of a clipped velocity, upstream's continuous car compares the Python float; of any other, the float32. The last goal
# rounds to the largest velocity in float32 and lies above it in float64.
@pytest.mark.parametrize(
    ("task_id", "goal_velocity", "is_reachable"),
    [
        (CAR, 0.0, True),
        (CAR, 0.03, True),
        (CAR, 0.07, True),
        (CAR, 0.0700000001, False),
        (FORCE, 0.0, True),
        (FORCE, 0.03, True),
        (FORCE, 0.07, True),
        (FORCE, 0.0700000001, False),
    ],
)
def test_goal(task_id: str, goal_velocity: float, is_reachable: bool) -> None:
    """Pushing along the velocity gets to the goal, and against the wall behind it; the other tests hardly ever do."""
    options = {"goal_velocity": goal_velocity}
    upstream = Upstream(task_id, options)
    left, right = (0, 2) if task_id == CAR else (np.array([-1], np.float32), np.array([1], np.float32))
    env = upstream.make()
    (_, velocity), _ = env.reset(seed=0)
    pushes, done = [], False
    while not done:
        pushes.append(right if velocity >= 0 else left)
        (_, velocity), _, terminated, truncated, _ = env.step(pushes[-1])
        done = terminated or truncated
    assert terminated == is_reachable
    actions = np.array(pushes)[:, None]
    assert_pools_equal(reference(upstream, actions, [0]), task_id, actions, [0], **options)


def test_terminated_and_truncated_in_one_step() -> None:
    limit = {"max_episode_steps": 10}
    expected = assert_exact("CartPole-v1", Upstream("CartPole-v1", limit), options=limit)
    assert (expected.arrays["terminated"] & expected.arrays["truncated"]).any()
