"""Stacked observations whose frames are stored once equal the stacks that the pool returned."""

import re

import numpy as np
import pytest

import envpool
from envpool.errors import ConfigError
from tests.support import plugin

N, T = 3, 11
MODES = ("next_step", "same_step", "disabled")


def collected(pool, moves, **options):
    """Return what three rollouts record: for each the stacks, and whatever else has observations."""
    rollout, found = envpool.Rollout(pool, T, **options), []
    rollout.reset()
    rng = np.random.default_rng(3)
    with pool:
        for _ in range(3):
            for _ in range(T):
                done = np.logical_or(*rollout.step(rng.choice(moves, pool.num_envs))[2:4])
                if pool.config["autoreset_mode"] == "disabled" and done.any():
                    rollout.reset(options={"reset_mask": done})
            data = rollout.finish()
            found.append((data, data.obs.copy(), data.next_obs.copy(), data.last_obs.copy(), data.last_of_episodes()))
    return found


def assert_same(pools, moves, **options):
    """Compare a rollout that stores frames once with one that stores stacks; return the former's data."""
    for (a, *with_frames), (b, *with_stacks) in zip(
        collected(pools[0], moves, **options), collected(pools[1], moves), strict=True
    ):
        for got, expected in zip(with_frames[:3], with_stacks[:3], strict=True):
            assert got.dtype == expected.dtype
            np.testing.assert_array_equal(got, expected)
        for got, expected in zip(with_frames[3], with_stacks[3], strict=True):
            np.testing.assert_array_equal(got, expected)
        for name in ("reward", "done", "valid", "first", "action"):
            np.testing.assert_array_equal(getattr(a, name), getattr(b, name), err_msg=name)
        ids = np.random.default_rng(0).integers(0, T * b.obs.shape[1], 50)
        rows = b.obs.reshape(-1, *b.obs.shape[2:])[ids]
        np.testing.assert_array_equal(a.minibatch(ids), rows)
        np.testing.assert_array_equal(b.minibatch(ids), rows)
    return a


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("options", [{}, {"gray_scale": False}], ids=["gray", "colour"])
def test_atari(mode, options):
    options = {"num_envs": N, "seed": 4, "autoreset_mode": mode, "max_episode_steps": 9, "num_threads": 2} | options
    pools = [envpool.make_gymnasium("Pong-v5", **options) for _ in range(2)]
    data = assert_same(pools, [0, 2, 3], frames_once=True)
    assert data.done.any()
    ids = np.arange(0, T * N, 2)
    scaled = data.minibatch(ids, scale=1 / 255)
    assert scaled.dtype == np.float32
    rows = data.obs.reshape(T * N, *data.obs.shape[2:])[ids]
    np.testing.assert_array_equal(scaled, rows.astype(np.float32) * np.float32(1 / 255))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("depth", [1, 2, 3, 6])
def test_any_array_is_stored_exactly(mode, depth):
    """The observations of these environments are no stacks: no two frames are equal, except by chance."""
    pools = [plugin.make(num_envs=N, autoreset_mode=mode, episode_length=4) for _ in range(2)]
    assert_same(pools, [1, 2, 95, 96], frames_once=depth)


def test_async():
    pool = envpool.make_gymnasium("Pong-v5", num_envs=4, batch_size=2, num_threads=2, max_episode_steps=5)
    rollout = envpool.Rollout(pool, 6, frames_once=True)
    seen = {i: [] for i in range(4)}
    result = rollout.reset()
    for _ in range(3):
        while True:
            if result is not None:
                ids = result[-1]["env_id"].copy()
                for i, obs in zip(ids, result[0], strict=True):
                    seen[int(i)].append(obs.copy())
                rollout.send(np.zeros(len(ids), int), ids)
            if rollout.is_full:
                break
            result = rollout.recv()
        data, result = rollout.finish(), None
        for i in range(4):
            if not seen[i]:  # the env was never received
                assert data.lengths[i] == 0
                continue
            stacks = np.stack([*data.obs[: data.lengths[i], i], data.last_obs[i]])
            np.testing.assert_array_equal(stacks, seen[i])
            seen[i] = seen[i][-1:]


def test_a_frame_is_stored_once():
    pool = envpool.make_gymnasium("Pong-v5", num_envs=4)
    rollout = envpool.Rollout(pool, 32, frames_once=True)
    rollout.reset()
    for _ in range(2):
        for _ in range(32):
            rollout.step(np.zeros(4))
        data = rollout.finish()
        assert data.array("rollout:numbers").max() + 1 <= 4 * (32 + 4)


def test_begin():
    options = {"num_envs": N, "seed": 4}
    pool = envpool.make_gymnasium("Pong-v5", **options)
    rollout = envpool.Rollout(pool, 2, frames_once=True)
    obs, _ = pool.reset()
    for _ in range(5):
        obs = pool.step(np.full(N, 2))[0]
    rollout.begin(obs)
    rollout.step(np.full(N, 3))
    rollout.step(np.full(N, 3))
    np.testing.assert_array_equal(rollout.finish().obs[0], obs)


def test_what_is_held_is_never_overwritten():
    pool = plugin.make(num_envs=N)
    rollout = envpool.Rollout(pool, 3, frames_once=2)
    rollout.reset()
    held = []
    for k in range(12):
        for _ in range(3):
            rollout.step(np.full(N, k))
        data = rollout.finish()
        held.append((data, data.obs.copy(), data.reward.copy()))
    for data, obs, reward in held:
        np.testing.assert_array_equal(data.obs, obs)
        np.testing.assert_array_equal(data.reward, reward)


@pytest.fixture(scope="module")
def data():
    pool = envpool.make_gymnasium("Pong-v5", num_envs=N)
    rollout = envpool.Rollout(pool, 4, frames_once=True)
    rollout.reset()
    for _ in range(4):
        rollout.step(np.zeros(N))
    return rollout.finish()


@pytest.mark.parametrize("num_threads", [0, 1, 3, 100])
def test_out_and_threads(data, num_threads):
    torch = pytest.importorskip("torch")
    ids = np.array([11, 0, 0, 5, 7], np.int32)
    rows = data.obs.reshape(12, 4, 84, 84)[ids]
    out = torch.empty(5, 4, 84, 84)
    assert data.minibatch(ids, out.numpy(), 1 / 255, num_threads) is not None
    np.testing.assert_array_equal(out.numpy(), rows.astype(np.float32) * np.float32(1 / 255))
    data.minibatch(ids, out.numpy())
    np.testing.assert_array_equal(out.numpy(), rows)
    same = np.empty(rows.shape, np.uint8)
    assert data.minibatch(ids, same) is same
    np.testing.assert_array_equal(same, rows)
    assert data.minibatch(ids[:0]).shape == data.minibatch([]).shape == (0, 4, 84, 84)


@pytest.mark.parametrize("frames_once", [True, False])
@pytest.mark.parametrize("shared", [np.asarray, lambda array: pytest.importorskip("torch").from_numpy(array).numpy()])
def test_out_must_not_be_memory_that_is_read(frames_once, shared):
    """Also if the rollout does not know the array: an info, an extra, or a view of another library."""
    pool = envpool.make_gymnasium("Pong-v5", num_envs=2, img_height=4, img_width=8, stack_num=2)
    rollout = envpool.Rollout(pool, 4, {"image": (np.float32, (2, 4, 8))}, frames_once=frames_once)
    rollout.reset()
    for _ in range(4):
        rollout.step(np.zeros(2), image=np.zeros((2, 2, 4, 8), np.float32))
    data = rollout.finish()
    before = data.obs.copy()
    outs = [data.image.reshape(8, 2, 4, 8)[1:3], data.info["ram"].reshape(-1)[100:228].reshape(2, 2, 4, 8)]
    if not frames_once:
        outs.append(data.obs.reshape(8, 2, 4, 8)[6:])
    for out in outs:
        with pytest.raises(ConfigError, match=r"^out must not overlap the memory of the rollout: pass"):
            data.minibatch([0, 1], shared(out))
    np.testing.assert_array_equal(data.obs, before)


def test_out_must_not_overlap_ids():
    pool = envpool.make_gymnasium("FrozenLake-v1", num_envs=2)
    rollout = envpool.Rollout(pool, 1)
    rollout.reset()
    rollout.step(np.zeros(2))
    ids = np.array([1, 0], np.int64)
    with pytest.raises(ConfigError, match=r"^out must not overlap ids: pass memory of its own$"):
        rollout.finish().minibatch(ids, ids.view(np.int32)[:2])


def test_ids_are_checked_in_a_copy(data, monkeypatch):
    """Another thread may write to the caller's array at any moment: native threads must not read it."""
    used = []
    monkeypatch.setattr(envpool.rollout.data, "gather", lambda *args: used.append(args[4]))
    for dtype in (np.int64, np.uint8):
        ids = np.array([3, 1, 0], dtype)
        data.minibatch(ids)
        assert used[-1].tolist() == [3, 1, 0] and not np.shares_memory(used[-1], ids)


def test_numbers_of_frames_are_a_copy(data):
    before = data.obs.copy()
    data.array("rollout:numbers")[:] = 10**9
    np.testing.assert_array_equal(data.obs, before)
    assert data.minibatch([0, 1]).shape[0] == 2


def test_rows_of_nested_observations():
    pool = plugin.make(num_envs=2, layout="rich")
    rollout = envpool.Rollout(pool, 2)
    rollout.reset()
    moves = plugin.rich_action()
    for _ in range(2):
        rollout.step(moves)
    found = rollout.finish()
    rows = found.minibatch([3, 0])
    np.testing.assert_array_equal(rows["b"]["c"], found.obs["b"]["c"].reshape(4, 2, 3)[[3, 0]])
    np.testing.assert_array_equal(rows["a"], found.obs["a"].reshape(4, -1)[[3, 0]])
    with pytest.raises(ConfigError, match="out is only available for tasks with one array"):
        found.minibatch([0], np.zeros(1))


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({"ids": [12]}, ConfigError, "ids[0] must be between 0 and 11, step * N + env, got 12"),
        ({"ids": [0, -1]}, ConfigError, "ids[1] must be between 0 and 11, step * N + env, got -1"),
        ({"ids": [0.5]}, TypeError, "ids must be a one-dimensional array of integers"),
        ({"ids": [[1]]}, TypeError, "ids must be a one-dimensional array of integers"),
        ({"ids": [1], "scale": np.nan}, ConfigError, "scale must be between -3.40282e+38 and 3.40282e+38, got nan"),
        ({"ids": [1], "scale": 1e39}, ConfigError, "scale must be between -3.40282e+38 and 3.40282e+38, got 1e+39"),
        ({"ids": [1], "scale": "2"}, TypeError, "scale must be a number, got str"),
        ({"ids": [1], "num_threads": -1}, ConfigError, "num_threads must be between 0 and 2147483647, got -1"),
        (
            {"ids": [1], "num_threads": 10**12},
            ConfigError,
            "num_threads must be between 0 and 2147483647, got 1000000000000",
        ),
        ({"ids": [1], "out": [0]}, TypeError, "out must be a numpy.ndarray, got list"),
        (
            {"ids": [1], "out": np.zeros((2, 4, 84, 84))},
            ConfigError,
            "out must have the dtype uint8 or float32, got float64",
        ),
        (
            {"ids": [1], "out": np.zeros((1, 4, 84, 84), np.uint8), "scale": 2.0},
            ConfigError,
            "out must have the dtype float32, got uint8",
        ),
        ({"ids": [1], "out": np.zeros((1, 4, 84, 168), np.uint8)[..., ::2]}, ConfigError, "out must be C-contiguous"),
    ],
)
def test_bad_minibatches(data, arguments, error, text):
    with pytest.raises(error, match=re.escape(text)):
        data.minibatch(**arguments)


def test_tasks_without_stacks():
    pool = envpool.make_gymnasium("CartPole-v1", num_envs=2)
    for value in (True, 3, 0, -1):
        with pytest.raises(ConfigError, match=r"frames_once=.* needs one array of observations"):
            envpool.Rollout(pool, 2, frames_once=value)
    with pytest.raises(TypeError, match="frames_once must be of type int"):
        envpool.Rollout(pool, 2, frames_once=2.5)
    with pytest.raises(ConfigError, match="frames_once=True needs one array"):
        envpool.Rollout(plugin.make(layout="rich"), 2, frames_once=True)
