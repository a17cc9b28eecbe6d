"""If upstream raises a PhysicsError, the pool raises an error that names the env, and stays usable."""

import numpy as np
import pytest
from dm_control.rl.control import PhysicsError

import envpool
from envpool.errors import EnvStepError
from envpool.mujoco.dmc.upstream import load
from tests.mujoco.dmc.upstream import reference
from tests.support.oracles.pool_runner import assert_pools_equal

TEXT = r"Physics state is invalid\. Warning\(s\) raised: mjWARN_BADCTRL"


@pytest.mark.parametrize(
    ("task_id", "value"),
    [
        ("CartpoleSwingup-v1", np.nan),  # MuJoCo uses another integrator for this task
        ("CheetahRun-v1", np.nan),
        ("ReacherEasy-v1", np.nan),
        ("LqrLqr21-v1", np.nan),
        ("LqrLqr21-v1", np.inf),
        ("LqrLqr21-v1", -np.inf),
    ],
)
def test_controls_that_are_not_finite(task_id, value, tmp_path, monkeypatch, capfd):
    """Upstream raises, too; the next episode has upstream's bits, and the other envs are unaffected."""
    monkeypatch.chdir(tmp_path)
    seeds = [4, 5, 6]
    upstream = [load(task_id, seed, 1000) for seed in seeds]
    expected = [env.reset() for env in upstream]
    capfd.readouterr()
    with envpool.make_gymnasium(task_id, num_envs=3, env_seed=seeds, num_threads=2) as pool:
        check(pool.reset()[0], expected)
        bad = np.zeros((3, *pool.action_space.shape))
        bad[1, :1] = value
        with pytest.raises(EnvStepError, match=rf"1 env\(s\) failed: env 1: PhysicsError: {TEXT}"):
            pool.step(bad)
        obs, reward, terminated, truncated, _ = pool.recv()
        assert not any(array[1].any() for array in obs.values())
        assert (reward[1], terminated.tolist(), truncated.tolist()) == (0, [False] * 3, [False, True, False])
        assert capfd.readouterr() == ("", "")
        assert not list(tmp_path.iterdir())
        with pytest.raises(PhysicsError, match=TEXT):
            upstream[1].step(bad[1])
        expected = [upstream[0].step(bad[0]), upstream[1].reset(), upstream[2].step(bad[2])]
        good = np.full_like(bad, 0.5)
        expected = [upstream[0].step(good[0]), expected[1], upstream[2].step(good[2])]
        check(pool.step(good)[0], expected)
        for _ in range(20):
            expected = [env.step(good[0]) for env in upstream]
            check(pool.step(good)[0], expected)


def check(obs, expected):
    """Assert equal bits of a batch and of upstream's time steps."""
    for i, step in enumerate(expected):
        for name, value in step.observation.items():
            assert obs[name][i].tobytes() == np.asarray(value, np.float64).tobytes()


def test_errors_arrive_from_an_async_pool_too():
    with envpool.make_gymnasium("CheetahRun-v1", num_envs=4, batch_size=2, num_threads=2) as pool:
        pool.async_reset()
        failures = 0
        while failures < 3:
            try:
                batch = pool.recv()
            except EnvStepError as error:
                assert list(error.failures) == [3]
                failures += 1
                batch = pool.recv()
            ids = batch[-1]["env_id"]
            action = np.zeros((2, 6))
            action[ids == 3] = np.nan
            pool.send(action, ids)


@pytest.mark.parametrize("task_id", ["HumanoidWalk-v1", "CartpoleBalance-v1"])
def test_infinite_controls_are_clipped_where_there_are_limits(task_id):
    space = envpool.make_spec(task_id).action_space
    actions = np.random.default_rng(1).choice([np.inf, -np.inf, 0.5], (30, 1, *space.shape))
    with np.errstate(over="ignore", invalid="ignore"):
        expected = reference(task_id, actions, [9])
    assert_pools_equal(expected, task_id, actions, [9])
