"""The gymnasium style: attributes, results of calls, send and recv, closing a pool."""

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

import envpool
from envpool.errors import ActionError, ConfigError, EnvIdError, PoolStateError
from tests.support import plugin
from tests.support.results import assert_owned, assert_same, forms, leaves

INFO = {
    "env_id": ("int32", (3,)),
    "players.env_id": ("int32", (3,)),
    "elapsed_step": ("int32", (3,)),
}
RESET_FORM = {"0": ("float32", (3, 4))} | {f"1.{k}": v for k, v in INFO.items()}
STEP_FORM = {
    "0": ("float32", (3, 4)),
    "1": ("float32", (3,)),
    "2": ("bool", (3,)),
    "3": ("bool", (3,)),
} | {f"4.{k}": v for k, v in INFO.items()}


@pytest.fixture
def pool():
    with envpool.make_gymnasium("CartPole-v1", num_envs=3, seed=7) as pool:
        yield pool


def test_type_and_names(pool):
    assert isinstance(pool, gymnasium.vector.VectorEnv)
    assert isinstance(pool, envpool.GymnasiumEnvPool)
    assert isinstance(pool, envpool.EnvPool)
    assert type(pool).__name__ == "CartPoleGymnasiumEnvPool"
    assert repr(pool) == str(pool)
    assert repr(pool).startswith("CartPole-v1: CartPoleGymnasiumEnvPool(num_envs=3")
    assert "max_episode_steps" not in repr(pool), "only what differs from the defaults of the task"
    with envpool.make_gymnasium("CartPole-v1", max_episode_steps=9) as other:
        assert repr(other) == "CartPole-v1: CartPoleGymnasiumEnvPool(max_episode_steps=9)"
    assert repr(other) == "CartPole-v1: CartPoleGymnasiumEnvPool(max_episode_steps=9), closed"


def test_attributes(pool):
    assert pool.all_env_ids.dtype == np.int32
    assert pool.all_env_ids.tolist() == [0, 1, 2]
    assert pool.is_async is False
    assert len(pool) == pool.num_envs == 3
    assert pool.is_vector_env is True
    assert pool.render_mode is None
    assert pool.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
    assert pool.unwrapped is pool
    assert pool.closed is False


def test_config_is_a_dict_of_its_own(pool):
    assert type(pool.config) is dict
    assert pool.config == pool.spec.config._asdict() | {"num_threads": pool.num_threads}
    assert pool.config["num_envs"] == pool.config["batch_size"] == 3
    assert pool.config["seed"] == 7
    assert pool.config["max_episode_steps"] == 500
    pool.config["num_envs"] = 5
    assert pool.config["num_envs"] == 3


def test_spaces_are_those_of_one_env(pool):
    env = gymnasium.make("CartPole-v1")
    assert pool.observation_space == pool.single_observation_space == env.observation_space
    assert pool.action_space == pool.single_action_space == gymnasium.spaces.Discrete(2)
    assert pool.observation_space == pool.spec.observation_space


def test_is_async():
    with envpool.make_gymnasium("CartPole-v1", num_envs=3, batch_size=2) as pool:
        assert pool.is_async is True
    with envpool.make_gymnasium("CartPole-v1", num_envs=3, batch_size=3) as pool:
        assert pool.is_async is False


def test_forms(pool):
    reset = pool.reset()
    step = pool.step(np.array([0, 1, 1]))
    assert (type(reset), len(reset)) == (tuple, 2)
    assert (type(step), len(step)) == (tuple, 5)
    assert forms(reset) == RESET_FORM
    assert forms(step) == STEP_FORM
    assert type(reset[1]) is type(step[4]) is type(step[4]["players"]) is dict


def test_values_of_info(pool):
    pool.reset()
    for k in range(1, 4):
        info = pool.step(np.array([0, 1, 1]))[4]
        assert info["elapsed_step"].tolist() == [k] * 3
        assert info["env_id"].tolist() == info["players"]["env_id"].tolist() == [0, 1, 2]


def test_results_are_the_callers(pool):
    kept = [pool.reset()] + [pool.step(np.array([0, 1, 1])) for _ in range(20)]
    copies = [{path: a.copy() for path, a in leaves(r)} for r in kept]
    for _ in range(40):
        pool.step(np.array([1, 0, 0]))
    for i, result in enumerate(kept):
        assert_owned(result, *kept[:i])
        for path, a in leaves(result):
            assert a.tobytes() == copies[i][path].tobytes()


def test_writing_into_results_changes_nothing_else(pool):
    with envpool.make_gymnasium("CartPole-v1", num_envs=3, seed=7) as other:
        assert_same(pool.reset(), other.reset())
        for k in range(30):
            action = np.array([k % 2, 1, 0])
            mine, theirs = pool.step(action), other.step(action)
            assert_same(mine, theirs)
            for path, a in leaves(mine):
                if not path.endswith("env_id"):
                    a[:] = 1
            mine[4].clear()


def test_outlives_the_pool():
    pool = envpool.make_gymnasium("CartPole-v1", num_envs=3, seed=7)
    obs = pool.reset()[0]
    copy = obs.copy()
    pool.close()
    del pool
    assert obs.tobytes() == copy.tobytes()
    obs[:] = 0


def test_render_needs_a_mode():
    with pytest.raises(ConfigError, match="render_mode"):
        envpool.make_gymnasium("CartPole-v1", render_mode="ansi")


def test_more_players_are_refused():
    with pytest.raises(ConfigError, match="max_num_players must be 1, since CartPole has one player, got 3"):
        envpool.make_gymnasium("CartPole-v1", num_envs=3, max_num_players=3)
    with envpool.make_gymnasium("CartPole-v1", num_envs=3, max_num_players=1) as pool:
        assert pool.config["max_num_players"] == 1


# ---- send and recv ---------------------------------------------------------------------------------------------------


def test_step_is_send_and_recv(pool):
    with envpool.make_gymnasium("CartPole-v1", num_envs=3, seed=7) as other:
        pool.reset()
        other.async_reset()
        assert forms(other.recv(reset=True)) == RESET_FORM
        for k in range(60):
            action = np.array([k % 2, 1, 0])
            assert other.send(action) is None
            assert_same(pool.step(action), other.recv())


def test_nothing_to_do_returns_at_once(pool):
    none = np.zeros(0, np.int64)
    reset, step = pool.reset(none), pool.step(np.zeros(0, np.int64), none)
    assert forms(reset) == {k: (d, (0, *s[1:])) for k, (d, s) in RESET_FORM.items()}
    assert forms(step) == {k: (d, (0, *s[1:])) for k, (d, s) in STEP_FORM.items()}


def test_wrong_calls(pool):
    with pytest.raises(PoolStateError, match="nothing is in flight"):
        pool.recv()
    pool.send(np.array([0, 1, 1]))
    with pytest.raises(EnvIdError, match="still in flight"):
        pool.send(np.array([0, 1, 1]))
    pool.recv()


def test_recv_takes_envpools_arguments(pool):
    pool.send(np.array([0, 1, 1]))
    assert forms(pool.recv(True, False)) == RESET_FORM
    pool.send(np.array([0, 1, 1]))
    assert forms(pool.recv(reset=False, return_info=True)) == STEP_FORM


def test_async_serves_every_env():
    with envpool.make_gymnasium("CartPole-v1", num_envs=8, batch_size=3, num_threads=2) as pool:
        pool.async_reset()
        steps = np.zeros(8, int)
        for _ in range(400):
            obs, _, _, _, info = pool.recv()
            assert obs.shape == (3, 4)
            assert len(set(info["env_id"].tolist())) == 3
            steps[info["env_id"]] += 1
            pool.send(np.zeros(3, np.int64), info["env_id"])
        assert steps.sum() == 1200
        assert steps.min() > 0


def test_async_reset_and_step():
    with envpool.make_gymnasium("CartPole-v1", num_envs=6, batch_size=2, num_threads=2) as pool:
        obs, info = pool.reset()
        assert obs.shape == (2, 4)
        assert info["elapsed_step"].tolist() == [0, 0]
        for _ in range(50):
            obs, _, _, _, info = pool.step(np.zeros(2, np.int64), info["env_id"])
            assert obs.shape == (2, 4)
        assert pool.num_outstanding == 4


def test_async_trajectories_equal_the_sync_ones(pool):
    pool.reset()
    expected = [pool.step(np.zeros(3, np.int64)) for _ in range(40)]
    with envpool.make_gymnasium("CartPole-v1", num_envs=3, batch_size=1, num_threads=2, seed=7) as other:
        other.async_reset()
        step = np.zeros(3, int)
        while step.min() < 40:
            obs, reward, terminated, truncated, info = other.recv()
            i = info["env_id"][0]
            if 0 < step[i] <= 40:
                want = expected[step[i] - 1]
                got = (obs, reward, terminated, truncated, info["elapsed_step"])
                for a, b in zip(got, (*want[:4], want[4]["elapsed_step"]), strict=True):
                    assert a[0].tobytes() == b[i].tobytes()
            step[i] += 1
            other.send(np.zeros(1, np.int64), info["env_id"])


# ---- several arrays --------------------------------------------------------------------------------------------------


def test_nested_observations_and_actions():
    with plugin.make(num_envs=2, layout="rich") as pool:
        obs, info = pool.reset()
        assert forms(obs) == {
            "a": ("int64", (2, 6)),
            "b.c": ("float32", (2, 2, 3)),
            "b.d": ("uint8", (2, 6)),
            "b.e": ("bool", (2,)),
        }
        assert list(info) == ["env_id", "players", "calls", "draws", "push", "mode", "count", "elapsed_step"]
        assert info["mode"].shape == (2, 3)
        action = plugin.rich_action()
        stepped = pool.step(action)
        assert forms(stepped[0]) == forms(obs)
        assert stepped[4]["count"].tolist() == action["action"]["count"].tolist()
        flat = {f"action.{k}": v for k, v in action["action"].items()}
        assert pool.step(flat | {"env_id": np.array([1, 0])})[4]["env_id"].tolist() == [1, 0]
        assert_owned(stepped, (obs, info))


def test_several_actions_need_a_dict():
    with plugin.make(num_envs=2, layout="rich") as pool:
        pool.reset()
        with pytest.raises(ActionError, match="must be a dict"):
            pool.step(np.zeros(2))
        with pytest.raises(ActionError, match="must have the dtype float32, got float64"):
            pool.step(plugin.rich_action(push=np.zeros((2, 2))))


def test_nested_spaces():
    with plugin.make(num_envs=2, layout="rich") as pool:
        obs, _ = pool.reset()
        space = pool.single_observation_space
        assert isinstance(space, gymnasium.spaces.Dict)
        assert list(space["b"]) == ["c", "d", "e"]
        assert isinstance(space["b"]["e"], gymnasium.spaces.MultiBinary)
        for i in range(2):
            row = {
                "a": obs["a"][i],
                "b": {"c": obs["b"]["c"][i], "d": obs["b"]["d"][i], "e": np.asarray(obs["b"]["e"][i])},
            }
            assert space.contains(row)
        assert set(pool.single_action_space) == {"env_id", "players", "action"}


# ---- end of life -----------------------------------------------------------------------------------------------------


def test_context_manager_closes():
    with envpool.make_gymnasium("CartPole-v1", num_envs=2) as pool:
        pool.reset()
    assert pool.is_closed and pool.closed


def test_a_closed_pool_raises(pool):
    pool.close()
    pool.close()
    action = np.zeros(3)
    for call in (pool.reset, pool.async_reset, pool.recv, lambda: pool.step(action), lambda: pool.send(action)):
        with pytest.raises(PoolStateError, match="closed"):
            call()
    assert len(pool) == 3


def test_wrappers_of_single_environments_take_a_pool():
    class Negated(gymnasium.Wrapper):
        def step(self, action):
            obs, reward, *rest = self.env.step(action)
            return -obs, reward, *rest

    with envpool.make_gymnasium("CartPole-v1", num_envs=2) as pool:
        env = Negated(pool)
        assert isinstance(pool, gymnasium.Env) and isinstance(pool, gymnasium.vector.VectorEnv)
        assert env.unwrapped is pool and env.observation_space is pool.observation_space
        env.reset()
        assert env.step(np.zeros(2, np.int32))[0].shape == (2, 4)
