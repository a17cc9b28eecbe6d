"""What the adapters share: infos of failed envs, and pools in which an env may fail to start."""

import numpy as np
import pytest

import envpool
from envpool.adapters.pools import open_pool, open_same_step_pool
from envpool.adapters.sub_env import sub_envs
from envpool.errors import ConfigError, UnknownTaskError
from envpool.pools.infos import split_info
from tests.support import plugin
from tests.support.checked_pool import FAIL

OPTIONS = {"num_envs": 3, "num_threads": 1, "episode_length": 0}


def synthetic(**options):
    plugin.load()
    return open_pool("Synthetic-v0", OPTIONS | options)


def test_the_text_of_a_failed_env_is_in_its_own_info():
    with synthetic(on_error="restart") as pool:
        assert all("error" not in info for info in split_info(pool.reset()[1]))
        infos = split_info(pool.step(np.array([0, FAIL, 0]))[-1])
        assert infos[1]["error"] == "was asked to fail at step 1 of episode 1 (env 1)"
        assert all("error" not in infos[i] for i in (0, 2))
        assert all("_error" not in info for info in infos)
        assert infos[0].keys() == {"draws", "elapsed_step"}


@pytest.mark.parametrize(
    ("options", "mode"),
    [
        ({}, "disabled"),
        ({"on_error": "raise"}, "disabled"),
        ({"on_error": "restart"}, "next_step"),
        ({"on_error": "restart", "autoreset_mode": "disabled"}, "disabled"),
    ],
)
def test_the_auto_reset_mode(options, mode):
    with synthetic(**options) as pool:
        assert pool.config["autoreset_mode"] == mode


def test_a_reset_that_fails_again_and_again_does_not_end_the_run():
    """As the adapters for SB3, Tianshou and RLlib use a pool: they reset the envs whose episode has ended."""
    with synthetic(on_error="restart", fail_reset=0, fails_again=True) as pool:
        pool.reset()
        for _ in range(4):
            *_, truncated, info = pool.step(np.zeros(3, np.int32))
            assert truncated.all()
            assert all("failed to start" in one["error"] for one in split_info(info))
            assert all("failed to start" in one["error"] for one in split_info(pool.reset([0, 1, 2])[1]))


def test_single_envs():
    with synthetic(on_error="restart") as pool:
        first, second, _ = sub_envs(pool)
        assert "error" not in first.reset()[1]
        second.reset()
        obs, reward, terminated, truncated, info = second.step(FAIL)
        assert not obs.any() and (reward, terminated, truncated) == (0.0, False, True)
        assert "was asked to fail" in info["error"]
        assert "error" not in first.step(0)[-1]
        assert second.reset()[0].any()


def test_a_pool_that_resets_in_the_same_step_needs_an_adapter_that_knows_it():
    with envpool.make_gymnasium("CartPole-v1", autoreset_mode="same_step") as pool:
        with pytest.raises(ConfigError, match="'disabled'"):
            open_pool(pool, {})
        assert open_pool(pool, {}, knows_same_step=True) is pool


def test_same_step_pools():
    plugin.load()
    with open_same_step_pool("Synthetic-v0", 3, {"on_error": "restart", "episode_length": 0}, "a test") as pool:
        pool.reset()
        *_, info = pool.step(np.array([FAIL, 0, 0]))
        assert info["_error"].tolist() == info["_final_obs"].tolist() == [True, False, False]


@pytest.mark.parametrize("style", ["gymnasium", "arrays"])
def test_same_step_pools_refuse_batches_and_name_make_python(style):
    with pytest.raises(ConfigError, match="batch_size must be num_envs=3 for an adapter, got 2"):
        open_same_step_pool("CartPole-v1", 3, {"batch_size": 2}, "a test", style)
    open_same_step_pool("CartPole-v1", 3, {"batch_size": 3}, "a test", style).close()
    with pytest.raises(UnknownTaskError, match="make_python"):
        open_same_step_pool("GymV26Environment-v0", 3, {}, "a test", style)
