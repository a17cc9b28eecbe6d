"""The kernel loop returns the rows of the pool, bit for bit, so that it bounds the speed of the same work."""

import numpy as np
import pytest

import envpool
from envpool.cli.bench.actions import draw_actions, rounds_of
from envpool.cli.bench.kernel_loop import KernelLoop
from envpool.errors import ConfigError, PoolStateError
from tests.support import plugin
from tests.support.checked_pool import FAIL, TERMINATE

LIMIT = 30


def make_loop(num_envs, changes=()):
    """Return a loop over CartPoles; `changes` replaces arguments."""
    spec = envpool.make_spec("CartPole-v1", num_envs=num_envs)
    arguments = {
        "capsule": spec.capsule,
        "num_envs": num_envs,
        "seeds": spec.seeds(),
        "max_episode_steps": LIMIT,
        "actions": draw_actions(spec),
    }
    return KernelLoop(**(arguments | dict(changes)))


def assert_same_rows(task, num_envs, actions, options):
    """Step loop and pool with the same actions; return how many episodes ended."""
    spec = envpool.make_spec(task, num_envs=num_envs, max_episode_steps=LIMIT, **options)
    loop = KernelLoop(spec.capsule, num_envs, spec.seeds(), LIMIT, actions)
    rounds, ended = rounds_of(actions, num_envs), 0
    with envpool.make_gymnasium(task, num_envs=num_envs, max_episode_steps=LIMIT, **options) as pool:
        for step in range(2 * LIMIT + 5):
            assert loop.run(0, 1)[0] == num_envs
            obs, reward, terminated, truncated, info = pool.step(rounds[step % len(rounds)])
            expected = {"reward": reward, "terminated": terminated, "truncated": truncated} | flat("obs", obs)
            expected |= {f"info:{k}": v for k, v in info.items() if f"info:{k}" in loop.arrays}
            assert set(loop.arrays) == set(expected)
            for name, array in expected.items():
                assert loop.arrays[name].dtype == array.dtype
                assert loop.arrays[name].tobytes() == array.tobytes(), (step, name)
            ended += terminated.sum() + truncated.sum()
    return ended


def flat(name, obs):
    """Return the arrays of an observation by field name: obs, obs:a, obs:b.c."""
    if not isinstance(obs, dict):
        return {name: obs}
    join = ":" if name == "obs" else "."
    return {k: v for key, value in obs.items() for k, v in flat(f"{name}{join}{key}", value).items()}


# 512 is the number of envs that the kernels get at once.
@pytest.mark.parametrize("num_envs", [1, 3, 512, 700])
@pytest.mark.parametrize("task", ["CartPole-v1", "Pendulum-v1", "FrozenLake-v1"])
def test_rows_equal_those_of_the_pool(task, num_envs):
    actions = draw_actions(envpool.make_spec(task, num_envs=num_envs))
    assert assert_same_rows(task, num_envs, actions, {}) > 0


@pytest.mark.parametrize("layout", ["flat", "rich"])
@pytest.mark.parametrize("fused", [False, True])
def test_rows_of_many_arrays_and_of_either_kind_of_kernel(layout, fused):
    plugin.load()
    options = {"layout": layout, "fused": fused}
    actions = draw_actions(envpool.make_spec("Synthetic-v0", num_envs=600, **options))
    move = actions["action" if layout == "flat" else "action.move"]
    np.clip(move, 0, TERMINATE, out=move)
    assert assert_same_rows("Synthetic-v0", 600, actions, options) > 0


def test_failing_env_closes_the_loop():
    plugin.load()
    spec = envpool.make_spec("Synthetic-v0", num_envs=6)
    actions = np.zeros((3, 6), np.int32)
    actions[2, 4] = FAIL
    loop = KernelLoop(spec.capsule, 6, np.zeros(6, np.uint64), LIMIT, {"action": actions})
    assert loop.run(60.0, 2)[0] == 12
    with pytest.raises(RuntimeError, match="env 4 failed in the kernel loop: "):
        loop.run(10.0)
    with pytest.raises(PoolStateError, match="closed"):
        loop.run(0)


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
        ({"num_envs": 0}, "num_envs must be at least 1, got 0"),
        ({"max_episode_steps": 0}, "max_episode_steps must be at least 1, got 0"),
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
