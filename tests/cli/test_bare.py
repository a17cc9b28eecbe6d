"""The bare loop: the same rows as the pool, bit for bit, so that it is a limit of the same work."""

import numpy as np
import pytest

import envpool
from envpool._core.bare import BareLoop
from envpool.errors import ConfigError, PoolStateError

LIMIT = 30
ROUNDS = 5


def draw(num_envs):
    """Actions in use by turns."""
    return np.random.default_rng(3).integers(0, 2, (ROUNDS, num_envs)).astype(np.int32)


def make_loop(num_envs, changes=()):
    """A loop over CartPoles; `changes` replaces arguments."""
    spec = envpool.make_spec("CartPole-v1", num_envs=num_envs)
    arguments = {
        "capsule": spec.capsule,
        "num_envs": num_envs,
        "seeds": np.asarray(spec.seeds(), np.uint64),
        "max_episode_steps": LIMIT,
        "actions": {"action": draw(num_envs)},
    }
    return BareLoop(**(arguments | dict(changes)))


# 512 is the number of envs that the kernels get at once.
@pytest.mark.parametrize("num_envs", [1, 3, 512, 700])
def test_rows_equal_those_of_the_pool(num_envs):
    loop, actions, ended = make_loop(num_envs), draw(num_envs), np.zeros(2, int)
    with envpool.make_gymnasium("CartPole-v1", num_envs=num_envs, max_episode_steps=LIMIT) as pool:
        for step in range(4 * LIMIT):
            steps, _ = loop.run(0, 1)
            assert steps == num_envs
            obs, reward, terminated, truncated, _ = pool.step(actions[step % ROUNDS])
            ended += [terminated.sum(), truncated.sum()]
            expected = {"obs": obs, "reward": reward, "terminated": terminated, "truncated": truncated}
            assert set(loop.arrays) == set(expected)
            for name, array in expected.items():
                assert loop.arrays[name].dtype == array.dtype
                assert loop.arrays[name].tobytes() == array.tobytes(), (step, name)
    assert ended[0] > 0


def test_time_limit_is_reached():
    loop = make_loop(1, {"actions": {"action": np.array([[0], [1]], np.int32)}, "max_episode_steps": 3})
    ends = []
    for _ in range(8):
        loop.run(0, 1)
        ends.append(bool(loop.arrays["truncated"][0]))
    assert ends == [False, False, False, True, False, False, False, True]


def test_runs_go_on_where_the_last_one_ended():
    once, often = make_loop(40), make_loop(40)
    assert once.run(60.0, 77)[0] == 77 * 40
    assert sum(often.run(60.0, 7)[0] for _ in range(11)) == 77 * 40
    for name, array in once.arrays.items():
        assert array.tobytes() == often.arrays[name].tobytes()


def test_time_bounds_a_run_and_at_least_one_round_is_run():
    loop = make_loop(8)
    assert loop.run(0.0)[0] == 8
    steps, seconds = loop.run(0.02)
    assert steps % 8 == 0
    assert seconds >= 0.02


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"actions": {}}, "'action'"),
        ({"actions": {"action": np.zeros((2, 4), np.int64)}}, "int64"),
        ({"actions": {"action": np.zeros((2, 5), np.int32)}}, r"\(2, 5\)"),
        ({"actions": {"action": np.zeros((0, 4), np.int32)}}, r"\(0, 4\)"),
        ({"actions": {"action": np.zeros((4, 2), np.int32).T}}, "C-contiguous"),
        ({"seeds": np.zeros(3, np.uint64)}, "each of 4 envs, got 3"),
        ({"num_envs": 0}, "num_envs is 0"),
        ({"max_episode_steps": 0}, "max_episode_steps is 0"),
    ],
)
def test_what_does_not_fit_is_refused(changes, text):
    with pytest.raises(ConfigError, match=text):
        make_loop(4, changes)


def test_only_kinds_of_envs_are_taken():
    with pytest.raises(TypeError, match=r"envpool\.env"):
        make_loop(4, {"capsule": object()})


def test_closed_loop_refuses_to_run():
    loop = make_loop(4)
    loop.close()
    loop.close()
    with pytest.raises(PoolStateError, match="closed"):
        loop.run(0.01)
