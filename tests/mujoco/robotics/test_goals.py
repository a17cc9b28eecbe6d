"""Rewards of batches of goals, the rotations behind them, and the ids."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import gymnasium
import numpy as np
import pytest

import envpool
from envpool.adapters.sub_env import sub_envs
from envpool.mujoco.base.model import import_with_bindings
from envpool.mujoco.robotics import quaternions
from envpool.mujoco.robotics.goal_pools import compute_reward
from envpool.mujoco.robotics.registration import TASKS
from envpool.mujoco.robotics.upstream import load_robotics
from tests.mujoco.robotics.upstream import upstream_of
from tests.support.python import output_of

REWARDED = [
    "FetchReach-v4",
    "FetchSlideDense-v1",
    "HandReach-v3",
    "HandManipulateBlockRotateZ-v1",
    "HandManipulateEggDense-v1",
    "HandManipulatePen-v1",
    "HandManipulatePenDense-v1",
]


def near_goals(task_id: str, dtype: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return goals (6, 5, goal) of which some are reached and some are not."""
    rng = np.random.default_rng(3)
    size = envpool.make_spec(task_id).definition.goal_size
    desired = rng.normal(size=(6, 5, size))
    achieved = desired + rng.normal(size=desired.shape) * 10.0 ** rng.integers(-4, 0, (6, 5, 1))
    return achieved.astype(dtype), desired.astype(dtype)


def normalized(goals: np.ndarray) -> np.ndarray:
    if goals.shape[-1] == 7:
        goals[..., 3:] /= np.linalg.norm(goals[..., 3:], axis=-1, keepdims=True)
    return goals


@pytest.mark.parametrize("task_id", REWARDED)
def test_rewards_of_batches(task_id: str) -> None:
    """Each reward has the bits of upstream's for this pair of goals, and sparse ones occur in both kinds."""
    upstream: Any = upstream_of(task_id).make().unwrapped
    spec = envpool.make_spec(task_id)
    for dtype in (np.float64,) if "Manipulate" in task_id else (np.float64, np.float32):
        achieved, desired = map(normalized, near_goals(task_id, dtype))
        found = compute_reward(spec, achieved, desired, {"is_success": 1})
        expected = np.array(
            [
                [upstream.compute_reward(a, d, {}) for a, d in zip(*rows, strict=True)]
                for rows in zip(achieved, desired, strict=True)
            ]
        )
        assert found.shape == (6, 5)
        assert found.dtype == (np.float32 if "Dense" not in task_id else dtype)
        assert found.tobytes() == expected.astype(found.dtype).tobytes()
        assert "Dense" in task_id or set(found.ravel()) == {-1.0, 0.0}
        assert compute_reward(spec, achieved[0, 0], desired[0, 0]) == found[0, 0]


def test_rewards_of_steps_are_those_of_their_goals() -> None:
    with envpool.make_gymnasium("HandManipulatePenDense-v1", num_envs=2, seed=1) as pool:
        pool.reset()
        obs, reward, *_ = pool.step(np.ones((2, 20), np.float32))
        found = pool.compute_reward(obs["achieved_goal"], obs["desired_goal"])
        assert found.astype(np.float32).tobytes() == reward.tobytes()


def test_every_style_computes_rewards() -> None:
    goals = np.zeros((2, 3))
    for make in (envpool.make_dm, envpool.make_gymnasium):
        with make("FetchReach-v4", num_envs=1) as pool:
            assert pool.compute_reward(goals, goals + 1).tolist() == [-1.0, -1.0]
    with envpool.make_gymnasium("FetchReach-v4", num_envs=2) as pool:
        assert sub_envs(pool)[1].compute_reward(goals, goals + 1, [{}, {}]).tolist() == [-1.0, -1.0]
    with envpool.make_gymnasium("FetchReach-v4", from_pixels=True, render_height=16, render_width=16) as pool:
        assert pool.compute_reward(goals.tolist(), goals).tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    ("task_id", "options"),
    [
        ("FetchReach-v4", {}),
        ("HandReach-v3", {}),
        ("PointMaze_UMaze-v3", {}),
        ("PointMaze_UMaze-v3", {"continuing_task": False}),
    ],
)
def test_a_single_env_has_upstreams_methods(task_id: str, options: dict[str, Any]) -> None:
    upstream: Any = upstream_of(task_id, options).make()
    env: Any = gymnasium.make(f"envpool/{task_id}", **options)
    theirs, mine = upstream.unwrapped, env.unwrapped
    rng = np.random.default_rng(0)
    size = env.observation_space["desired_goal"].shape[0]
    achieved, desired = rng.normal(scale=0.3, size=(2, 50, size))
    achieved[::5] = desired[::5]
    rows = list(zip(achieved, desired, strict=True))
    for name in ("compute_reward", "compute_terminated", "compute_truncated"):
        expected = [getattr(theirs, name)(a, d, {}) for a, d in rows]
        found = [getattr(mine, name)(a, d, {}) for a, d in rows]
        assert found == expected
        if name != "compute_reward":
            assert {*map(type, found)} == {bool}
        batch = getattr(mine, name)(achieved, desired, [{}] * 50)
        assert batch.shape == (50,) and batch.tolist() == expected
        assert getattr(mine.pool, name)(achieved[None], desired[None]).shape == (1, 50)
        assert getattr(sub_envs(mine.pool)[0], name)(achieved[0], desired[0], {}) == expected[0]
        [called] = mine.pool.call(name, achieved[0], desired[0])
        assert called == expected[0]
        with pytest.raises(ValueError, match="must have equal shapes"):
            getattr(mine, name)(achieved[:, :1], desired, {})
    if options:
        assert mine.compute_terminated(desired[0], desired[0], {})
    assert not hasattr(gymnasium.make("envpool/CartPole-v1").unwrapped, "compute_reward")
    env.close()
    upstream.close()


@pytest.mark.parametrize(("first", "second"), [((4, 3), (3,)), ((4, 2), (4, 2)), ((), ())])
def test_bad_shapes(first: tuple[int, ...], second: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match=r"achieved_goal and desired_goal must have equal shapes \(\.\.\., 3\), got"):
        compute_reward(envpool.make_spec("FetchReach-v4"), np.zeros(first), np.zeros(second))


def test_goals_of_wrong_types() -> None:
    spec = envpool.make_spec("FetchReach-v4")
    with pytest.raises(ValueError, match="desired_goal must be an array of numbers"):
        compute_reward(spec, [0, 0, 0], ["a", "b", "c"])
    with pytest.raises(TypeError, match="spec must belong to a task with a desired_goal, got the spec of 'Ant-v5'"):
        compute_reward(envpool.make_spec("Ant-v5"), [0, 0, 0], [0, 0, 0])


def test_rotations_equal_upstream() -> None:
    load_robotics()
    rotations: Any = import_with_bindings("gymnasium_robotics.utils.rotations")
    quats = normalized(np.random.default_rng(0).normal(size=(300, 7)))[:, 3:]
    for ours, theirs in (
        (quaternions.quat2euler(quats), rotations.quat2euler(quats)),
        (quaternions.euler2quat(quats[:, :3]), rotations.euler2quat(quats[:, :3])),
        (quaternions.quat2mat(np.zeros((2, 4))), np.stack([np.eye(3)] * 2)),
        (quaternions.parallel_quats(), [rotations.euler2quat(r) for r in rotations.get_parallel_rotations()]),
    ):
        np.testing.assert_array_equal(ours, theirs)


def test_every_id_has_an_upstream_environment() -> None:
    import gymnasium

    load_robotics()
    for task in TASKS:
        spec = gymnasium.spec(task.upstream_id)
        assert spec.max_episode_steps == task.max_episode_steps
        kwargs = SimpleNamespace(**spec.kwargs)
        if "reward_type" in task.options and hasattr(kwargs, "reward_type"):
            assert kwargs.reward_type == task.options["reward_type"], task.id


def test_missing_package() -> None:
    code = """
import importlib.util
real = importlib.util.find_spec
importlib.util.find_spec = lambda name, *a: None if name == "gymnasium_robotics" else real(name, *a)
import envpool
try:
    envpool.make_spec("FetchReach-v4")
except ImportError as error:
    print(error)
"""
    assert "pip install 'envpool-cython[robotics]'" in output_of(code)


def test_tasks_can_be_made_first() -> None:
    code = "import envpool, sys; print(envpool.make_spec('HandReach-v3').task_id, 'gymnasium_robotics' in sys.modules)"
    assert output_of(code) == "HandReach-v3 False\n"
