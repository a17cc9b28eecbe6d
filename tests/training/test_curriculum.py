"""The level of a curriculum, and which environments draw from its distributions."""

import numpy as np
import pytest

import envpool
from envpool.errors import ConfigError, EnvIdError


def ranges(level):
    return {"length": ("uniform", 1, 1 + level)}


@pytest.fixture
def pool():
    with envpool.make_gymnasium("CartPole-v1", num_envs=3, randomize={"masspole": ("uniform", 1, 2)}) as pool:
        yield pool


def test_the_level_follows_the_scores(pool):
    course = envpool.Curriculum(pool, ranges, step=0.25, harder_at=0.75, easier_at=0.25, window=4)
    assert pool.get_randomize() == [ranges(0)] * 3
    assert course.update([1, 1, 1]) == 0
    assert course.update([False]) == 0.25  # three of four
    assert course.update([1, 1, 1]) == 0.25  # counted anew
    assert course.update([1, 1, 1, 1, 1, 0, 0, 0, 0]) == 0.5
    assert pool.get_randomize() == [ranges(course.level)] * 3
    assert course.update(np.zeros(3)) == 0.5  # what followed the change in one call was not counted
    assert course.update(np.zeros(1)) == 0.25
    assert pool.get_randomize() == [ranges(0.25)] * 3


def test_a_call_changes_the_level_once(pool):
    """All episodes of a call were played at the level before."""
    course = envpool.Curriculum(pool, ranges, step=0.25, easier_at=0.25, window=4)
    assert [course.update(np.ones(40)) for _ in range(5)] == [0.25, 0.5, 0.75, 1, 1]
    assert [course.update(np.zeros(400)) for _ in range(5)] == [0.75, 0.5, 0.25, 0, 0]


def test_without_a_lower_threshold_the_level_never_falls(pool):
    course = envpool.Curriculum(pool, ranges, level=0.5, window=2)
    assert course.update(np.zeros(100)) == 0.5


def test_a_schedule(pool):
    course = envpool.Curriculum(pool, ranges)
    for level in (0.5, 1, 0.25):
        course.level = level
        assert pool.get_randomize() == [ranges(level)] * 3
    pool.reset()
    lengths = pool.get_params(in_force=True)["length"]
    assert ((lengths >= 1) & (lengths <= 1.25)).all()
    assert pool.get_params()["masspole"].tolist() == [0.1] * 3  # the option of make does not hold any more


def test_distributions_are_set_only_if_they_change(pool):
    calls = []
    course = envpool.Curriculum(pool, lambda level: calls.append(level) or ranges(level), window=2)
    course.update([1])
    course.update()
    course.level = 0
    assert calls == [0]
    course.update([1])
    assert calls == [0, 0.1]


def test_async_pools_change_what_was_received():
    with envpool.make_gymnasium("CartPole-v1", num_envs=3, batch_size=1) as pool:
        course = envpool.Curriculum(pool, ranges, window=1)
        pool.async_reset()
        ids = pool.recv()[4]["env_id"]
        with pytest.raises(EnvIdError, match="in flight"):
            course.update([1])
        assert course.level == 0  # nothing was counted
        assert course.update([1], ids) == 0.1
        expected = [ranges(0.1) if i in ids else ranges(0) for i in range(3)]
        assert pool.get_randomize() == expected
        while pool.num_outstanding:
            ids = pool.recv()[4]["env_id"]
            course.update(env_id=ids)
        assert pool.get_randomize() == [ranges(0.1)] * 3
        with pytest.raises(EnvIdError, match="must be between 0 and 2, got 3"):
            course.update(env_id=[3])


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"randomize": {}}, TypeError, "randomize must be a function of the level, got"),
        ({"level": 1.5}, ConfigError, "level must be a number between 0 and 1, got 1.5"),
        ({"level": "1"}, ConfigError, "level must be a number between 0 and 1, got '1'"),
        ({"step": 0}, ConfigError, "step must be greater than 0, got 0"),
        ({"level": True}, ConfigError, "level must be a number between 0 and 1, got True"),
        ({"step": "x"}, ConfigError, "step must be a finite number, got 'x'"),
        ({"harder_at": float("nan")}, ConfigError, "harder_at must be a finite number, got nan"),
        ({"easier_at": "x"}, ConfigError, "easier_at must be a finite number, got 'x'"),
        ({"window": 0}, ConfigError, "window must be an integer between 1 and 2.*, got 0"),
        ({"window": 2.5}, ConfigError, "window must be an integer between 1 and 2.*, got 2.5"),
        ({"window": 10**30}, ConfigError, "window must be an integer between 1 and"),
        ({"easier_at": 0.8}, ConfigError, "easier_at must be less than harder_at, which is 0.8, got 0.8"),
        ({"randomize": lambda level: {"x": 1}}, ConfigError, "randomize"),
    ],
)
def test_arguments_that_are_refused(pool, options, error, text):
    with pytest.raises(error, match=text):
        envpool.Curriculum(pool, **{"randomize": ranges} | options)


@pytest.mark.parametrize("ids", [[True, False, False], [0.5], ["a"], [[0, 1]], [None], [7], [-1]])
def test_ids_that_are_refused(pool, ids):
    course = envpool.Curriculum(pool, ranges, window=1)
    text = "must be between 0 and 2, got" if ids in ([7], [-1]) else "env_id must be a 1-D array of integers"
    with pytest.raises(EnvIdError, match=text):
        course.update([1], ids)
    assert course.level == 0  # nothing was counted
    assert course.update([1], []) == 0.1 and pool.get_randomize() == [ranges(0)] * 3


def test_what_is_no_pool_is_refused():
    vector_env = envpool.make_vec("CartPole-v1", 2)
    with vector_env.pool, pytest.raises(TypeError, match=r"pool must be a pool of envpool\.make.*vec\.pool"):
        envpool.Curriculum(vector_env, ranges)


def test_a_level_whose_distributions_are_refused_is_not_set(pool):
    course = envpool.Curriculum(pool, lambda level: {"length": ("uniform", 1, 2 if level < 0.5 else -1)})
    with pytest.raises(ConfigError):
        course.level = 0.5
    course = envpool.Curriculum(pool, course.randomize, step=0.5, window=2)
    course.update([1])
    for _ in range(2):
        with pytest.raises(ConfigError):
            course.update([1])
    assert course.level == 0 == course.update([0])


def test_ten_steps_of_a_tenth_end_at_one(pool):
    course = envpool.Curriculum(pool, ranges, window=1)
    for _ in range(10):
        course.update([1])
    assert course.level == 1


@pytest.mark.parametrize("scores", [[float("nan")], ["1"], 1, [[1]], [[1], [2, 3]]])
def test_scores_that_are_refused(pool, scores):
    course = envpool.Curriculum(pool, ranges, window=1)
    with pytest.raises(ConfigError, match="scores must be a sequence of finite numbers"):
        course.update(scores)
    with pytest.raises(ConfigError, match="level must be a number between 0 and 1, got nan"):
        course.level = float("nan")
    assert course.level == 0
