"""The gymnasium style: attributes, return forms, ids, actions, seeds."""

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

import envpool
from envpool.errors import ActionError, ConfigError, EnvIdError, PoolStateError
from tests.native import plugin
from tests.results import assert_owned, assert_same, forms, leaves

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


def ids(result):
    return result[-1]["env_id"].tolist()


def upstream(seed, task="CartPole-v1"):
    return gymnasium.make(task).reset(seed=seed)[0]


def test_type_and_names(pool):
    assert isinstance(pool, gymnasium.vector.VectorEnv)
    assert isinstance(pool, envpool.GymnasiumEnvPool)
    assert isinstance(pool, envpool.EnvPool)
    assert type(pool).__name__ == "CartPoleGymnasiumEnvPool"
    assert repr(pool) == str(pool)
    assert repr(pool).startswith("CartPoleGymnasiumEnvPool(num_envs=3, batch_size=3, ")
    assert "max_episode_steps=500" in repr(pool)


def test_attributes(pool):
    assert pool.all_env_ids.dtype == np.int32
    assert pool.all_env_ids.tolist() == [0, 1, 2]
    assert pool.is_async is False
    assert len(pool) == pool.num_envs == 3
    assert pool.is_vector_env is True
    assert pool.render_mode is None
    assert pool.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
    assert pool.metadata["render_modes"] == []
    assert pool.unwrapped is pool
    assert pool.closed is False


def test_config_is_a_dict_of_its_own(pool):
    assert type(pool.config) is dict
    assert pool.config == pool.spec.config._asdict()
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


def test_first_step_acts_as_reset(pool):
    obs, reward, terminated, truncated, info = pool.step(np.array([1, 1, 1]))
    for i in range(3):
        assert obs[i].tobytes() == upstream(7 + i).tobytes()
    assert reward.tolist() == [0, 0, 0]
    assert not terminated.any() and not truncated.any()
    assert info["elapsed_step"].tolist() == [0, 0, 0]


# ---- ids -------------------------------------------------------------------------------------------------------------


def test_partial_step_returns_rows_in_the_order_asked_for(pool):
    pool.reset()
    first = pool.step(np.array([0, 1]), np.array([2, 0]))
    assert ids(first) == first[4]["players"]["env_id"].tolist() == [2, 0]
    assert first[4]["elapsed_step"].tolist() == [1, 1]
    second = pool.step(np.array([0, 1, 1]), np.array([1, 2, 0]))
    assert ids(second) == [1, 2, 0]
    assert second[4]["elapsed_step"].tolist() == [1, 2, 2]


def test_rows_do_not_depend_on_the_order(pool):
    with envpool.make_gymnasium("CartPole-v1", num_envs=3, seed=7) as other:
        pool.reset()
        other.reset()
        order = np.array([2, 0, 1])
        action = np.array([0, 1, 1])
        for _ in range(60):
            straight, mixed = pool.step(action), other.step(action[order], order)
            for a, b in zip(straight[:4], mixed[:4], strict=True):
                assert a[order].tobytes() == b.tobytes()


def test_partial_reset_returns_only_those_rows(pool):
    pool.reset()
    pool.step(np.array([0, 1, 1]))
    result = pool.reset(np.array([2, 0]))
    assert ids(result) == [2, 0]
    assert result[0].shape == (2, 4)
    assert pool.step(np.array([0, 1, 1]))[4]["elapsed_step"].tolist() == [1, 2, 1]


@pytest.mark.parametrize("env_id", [np.array([1, 2]), [1, 2], (1, 2), np.array([1, 2], np.uint8), np.arange(4)[1:3]])
def test_ids_may_be_any_integers(pool, env_id):
    assert ids(pool.reset(env_id)) == [1, 2]
    assert ids(pool.step(np.array([0, 1]), env_id)) == [1, 2]


def test_one_id_as_a_scalar(pool):
    assert ids(pool.reset(1)) == [1]
    assert ids(pool.step(np.array([0]), np.int64(1))) == [1]


def test_nothing_to_do_returns_at_once(pool):
    none = np.zeros(0, np.int64)
    reset, step = pool.reset(none), pool.step(np.zeros(0, np.int64), none)
    assert forms(reset) == {k: (d, (0, *s[1:])) for k, (d, s) in RESET_FORM.items()}
    assert forms(step) == {k: (d, (0, *s[1:])) for k, (d, s) in STEP_FORM.items()}


def test_nothing_to_do_in_async_mode():
    with envpool.make_gymnasium("CartPole-v1", num_envs=3, batch_size=2) as pool:
        assert forms(pool.reset(np.zeros(0, np.int64)))["0"] == ("float32", (0, 4))


def test_reset_mask(pool):
    pool.reset()
    result = pool.reset(options={"reset_mask": np.array([True, False, True])})
    assert ids(result) == [0, 2]


@pytest.mark.parametrize(
    "options",
    [
        {"reset_mask": np.array([False] * 3)},
        {"reset_mask": np.array([True] * 2)},
        {"reset_mask": np.array([1, 0, 1])},
        {"mask": np.array([True] * 3)},
    ],
)
def test_bad_reset_options(pool, options):
    with pytest.raises(ConfigError, match=next(iter(options))):
        pool.reset(options=options)


def test_mask_and_ids_exclude_each_other(pool):
    with pytest.raises(ConfigError, match="not both"):
        pool.reset(np.array([0]), options={"reset_mask": np.array([True] * 3)})


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


# ---- actions ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "action",
    [
        np.array([0, 1, 1], np.int64),
        np.array([0, 1, 1], np.int32),
        np.array([0, 1, 1], np.uint8),
        np.array([0.0, 1.0, 1.0]),
        np.array([False, True, True]),
        np.array([0, 9, 1, 9, 1, 9])[::2],
        [0, 1, 1],
    ],
)
def test_arrays_are_cast(pool, action):
    with envpool.make_gymnasium("CartPole-v1", num_envs=3, seed=7) as other:
        pool.reset()
        other.reset()
        assert_same(pool.step(action), other.step(np.array([0, 1, 1])))


def test_dict_actions(pool):
    action = np.array([0, 1], np.int32)
    chosen = np.array([2, 0], np.int32)
    pool.reset()
    for given in (
        {"action": action, "env_id": chosen},
        {"action": action, "env_id": chosen, "players.env_id": chosen},
        {"action": action, "env_id": chosen, "players": {"env_id": chosen}},
    ):
        copy = {k: dict(v) if isinstance(v, dict) else v for k, v in given.items()}
        assert ids(pool.step(given)) == [2, 0]
        assert given.keys() == copy.keys()
    assert ids(pool.step({"action": action}, chosen)) == [2, 0]
    assert ids(pool.step({"action": np.array([0, 1, 1], np.int32)})) == [0, 1, 2]


@pytest.mark.parametrize(
    ("action", "env_id", "error", "text"),
    [
        ({"action": np.array([0, 1, 1])}, None, ActionError, "int64, expected exactly int32"),
        ({"push": np.array([0, 1, 1], np.int32)}, None, ActionError, "missing are .*action.*unknown are .*push"),
        (np.array([0, 1]), None, ActionError, r"shape \(2,\), expected \(3,\)"),
        (np.array([[0], [1], [1]]), None, ActionError, r"shape \(3, 1\), expected \(3,\)"),
        (np.array([0, 2, 1]), None, ActionError, "env 1 .* is 2, allowed are integers from 0 to 1"),
        (np.array([0, -1, 1]), None, ActionError, "is -1"),
        (np.array([0, 0.5, 1]), None, ActionError, "must hold integers"),
        (np.array(["a", "b", "c"]), None, ActionError, "dtype"),
        (np.array([0, 1]), np.array([0, 3]), EnvIdError, r"env_id\[1\] is 3, allowed are 0 to 2"),
        (np.array([0, 1]), np.array([-1, 0]), EnvIdError, r"env_id\[0\] is -1"),
        (np.array([0, 1]), np.array([1, 1]), EnvIdError, "appears twice"),
        (np.array([0, 1]), np.array([0.0, 1.0]), EnvIdError, "1-D array of integers"),
        (np.array([0, 1]), np.array([[0, 1]]), EnvIdError, "1-D array of integers"),
        (
            {"action": np.array([0, 1], np.int32), "players.env_id": np.array([0, 1], np.int32)},
            np.array([1, 2]),
            EnvIdError,
            "players.env_id must equal env_id",
        ),
    ],
)
def test_bad_actions_and_ids_change_nothing(pool, action, env_id, error, text):
    with envpool.make_gymnasium("CartPole-v1", num_envs=3, seed=7) as other:
        pool.reset()
        other.reset()
        with pytest.raises(error, match=text):
            pool.step(action, env_id)
        assert_same(pool.step(np.array([0, 1, 1])), other.step(np.array([0, 1, 1])))


def test_wrong_calls(pool):
    with pytest.raises(PoolStateError, match="nothing is in flight"):
        pool.recv()
    pool.send(np.array([0, 1, 1]))
    with pytest.raises(EnvIdError, match="still in flight"):
        pool.send(np.array([0, 1, 1]))
    pool.recv()


def test_render_needs_a_mode():
    with pytest.raises(ConfigError, match="render_mode"):
        envpool.make_gymnasium("CartPole-v1", render_mode="ansi")


# ---- seeds -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [
        {"seed": 5},
        {"seed": [5, 6, 7]},
        {"seed": (5, 6, 7)},
        {"seed": np.array([5, 6, 7])},
        {"seed": np.array([5, 6, 7], np.int32)},
        {"env_seed": [5, 6, 7]},
    ],
)
def test_seeds_equal_gymnasiums(options):
    with envpool.make_gymnasium("CartPole-v1", num_envs=3, **options) as pool:
        obs = pool.reset()[0]
    for i in range(3):
        assert obs[i].tobytes() == upstream(5 + i).tobytes()


def test_reset_goes_on_with_the_stream(pool):
    env = gymnasium.make("CartPole-v1")
    env.reset(seed=7)
    pool.reset()
    assert pool.reset()[0][0].tobytes() == env.reset()[0].tobytes()


def test_reset_with_an_int_seed(pool):
    pool.reset()
    obs = pool.reset(seed=100)[0]
    for i in range(3):
        assert obs[i].tobytes() == upstream(100 + i).tobytes()


def test_reset_of_some_envs_with_an_int_seed(pool):
    pool.reset()
    obs = pool.reset(np.array([2, 0]), seed=100)[0]
    assert obs[0].tobytes() == upstream(102).tobytes()
    assert obs[1].tobytes() == upstream(100).tobytes()


def test_reset_with_a_seed_for_each(pool):
    env = gymnasium.make("CartPole-v1")
    env.reset(seed=8)
    pool.reset()
    obs = pool.reset(seed=[3, None, 9])[0]
    assert obs[0].tobytes() == upstream(3).tobytes()
    assert obs[1].tobytes() == env.reset()[0].tobytes()
    assert obs[2].tobytes() == upstream(9).tobytes()


BAD_SEEDS = [-1, 2**31, [1, 2], [1, 2, -3], "abc", 1.5, [[1], [2], [3]], np.zeros((3, 1), int), [1, 2, "c"]]


@pytest.mark.parametrize("seed", BAD_SEEDS)
def test_bad_reset_seeds(pool, seed):
    with pytest.raises((ConfigError, TypeError), match=r"^seed"):
        pool.reset(seed=seed)
    assert forms(pool.reset()) == RESET_FORM


def test_default_seed_is_42():
    with envpool.make_gymnasium("CartPole-v1") as pool:
        assert pool.reset()[0][0].tobytes() == upstream(42).tobytes()


def test_more_players_are_accepted():
    with envpool.make_gymnasium("CartPole-v1", num_envs=3, max_num_players=3) as pool:
        pool.reset()
        assert forms(pool.step(np.array([0, 1, 1]))) == STEP_FORM
        assert pool.config["max_num_players"] == 3


# ---- several arrays --------------------------------------------------------------------------------------------------


def rich_action(n):
    return {
        "action": {
            "move": np.arange(n, dtype=np.int32),
            "push": np.zeros((n, 2), np.float32),
            "mode": np.zeros((n, 3), np.int8),
            "count": np.arange(n, dtype=np.int64),
        }
    }


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
        action = rich_action(2)
        stepped = pool.step(action)
        assert forms(stepped[0]) == forms(obs)
        assert stepped[4]["count"].tolist() == [0, 1]
        flat = {f"action.{k}": v for k, v in action["action"].items()}
        assert pool.step(flat | {"env_id": np.array([1, 0])})[4]["env_id"].tolist() == [1, 0]
        assert_owned(stepped, (obs, info))


def test_several_actions_need_a_dict():
    with plugin.make(num_envs=2, layout="rich") as pool:
        pool.reset()
        with pytest.raises(ActionError, match="must be a dict"):
            pool.step(np.zeros(2))
        action = rich_action(2)
        action["action"]["push"] = action["action"]["push"].astype(np.float64)
        with pytest.raises(ActionError, match="float64, expected exactly float32"):
            pool.step(action)


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
