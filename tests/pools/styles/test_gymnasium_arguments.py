"""The gymnasium style: the arguments of its calls: ids, masks, actions, seeds."""

import gymnasium
import numpy as np
import pytest

import envpool
from envpool.errors import ActionError, ConfigError, EnvIdError
from tests.support.results import assert_same, forms


@pytest.fixture
def pool():
    with envpool.make_gymnasium("CartPole-v1", num_envs=3, seed=7) as pool:
        yield pool


def ids(result):
    return result[-1]["env_id"].tolist()


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
        ({"action": np.array([0, 1, 1])}, None, ActionError, "must have the dtype int32, got int64"),
        ({"push": np.array([0, 1, 1], np.int32)}, None, ActionError, "missing are .*action.*unknown are .*push"),
        (np.array([0, 1]), None, ActionError, r"shape \(3,\), .*, got \(2,\)"),
        (np.array([[0], [1], [1]]), None, ActionError, r"shape \(3,\), .*, got \(3, 1\)"),
        (np.array([0, 2, 1]), None, ActionError, "env 1 .* must have integers from 0 to 1, got 2"),
        (np.array([0, -1, 1]), None, ActionError, "must have integers from 0 to 1, got -1"),
        (np.array([0, 0.5, 1]), None, ActionError, "must hold integers"),
        (np.array(["a", "b", "c"]), None, ActionError, "dtype"),
        (np.array([0, 1]), np.array([0, 3]), EnvIdError, r"env_id\[1\] must be between 0 and 2, got 3"),
        (np.array([0, 1]), np.array([-1, 0]), EnvIdError, r"env_id\[0\] must be between 0 and 2, got -1"),
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


# ---- seeds -----------------------------------------------------------------------------------------------------------


def upstream(seed, task="CartPole-v1"):
    return gymnasium.make(task).reset(seed=seed)[0]


def test_first_step_acts_as_reset(pool):
    obs, reward, terminated, truncated, info = pool.step(np.array([1, 1, 1]))
    for i in range(3):
        assert obs[i].tobytes() == upstream(7 + i).tobytes()
    assert reward.tolist() == [0, 0, 0]
    assert not terminated.any() and not truncated.any()
    assert info["elapsed_step"].tolist() == [0, 0, 0]


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


BAD_SEEDS = [-1, 2**64, [1, 2], [1, 2, -3], "abc", 1.5, [[1], [2], [3]], np.zeros((3, 1), int), [1, 2, "c"]]


@pytest.mark.parametrize("seed", BAD_SEEDS)
def test_bad_reset_seeds(pool, seed):
    with pytest.raises((ConfigError, TypeError), match=r"^seed"):
        pool.reset(seed=seed)
    assert pool.reset()[0].shape == (3, 4)


def test_default_seed_is_42():
    with envpool.make_gymnasium("CartPole-v1") as pool:
        assert pool.reset()[0][0].tobytes() == upstream(42).tobytes()
