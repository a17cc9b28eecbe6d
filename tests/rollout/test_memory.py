"""The memory of rollouts: what is held is never overwritten, and what nobody holds is used again."""

import gc
import weakref

import numpy as np
import pytest

import envpool
from envpool.errors import ConfigError
from tests._core.test_blocks import VIEWS
from tests.support import plugin

N, T = 6, 5


def make(**options):
    pool = plugin.make(num_envs=N, num_threads=2, **options)
    return pool, envpool.Rollout(pool, T, {"value": np.float32})


def fill(rollout, rng):
    """Fill a rollout and return its arrays."""
    for _ in range(T):
        rollout.step(rng.integers(0, 97, N, dtype=np.int32), value=rng.normal(size=N))
    return rollout.finish()


@pytest.mark.parametrize("view", VIEWS)
def test_what_is_held_is_never_overwritten(view):
    _, rollout = make(autoreset_mode="same_step")
    rng, held = np.random.default_rng(0), []
    rollout.reset()
    for k in range(60):
        data = fill(rollout, rng)
        if k % 3 == 0:
            array = data.obs.reshape(T * N, -1) if k % 2 else data.obs[k % T]
            seen = VIEWS[view](array)
            del array
            held.append((seen, np.asarray(seen).copy()))
        del data
        if k % 9 == 0:
            del held[k % len(held)]
    for seen, copy in held:
        np.testing.assert_array_equal(np.asarray(seen), copy)


@pytest.mark.parametrize("held", ["a step's array", "a rollout's array", "the data"])
def test_any_reference_keeps_the_rollout(held):
    _, rollout = make()
    rng = np.random.default_rng(1)
    rollout.reset()
    obs = rollout.step(np.zeros(N), value=np.zeros(N))[0]
    for _ in range(T - 1):
        rollout.step(np.zeros(N), value=np.zeros(N))
    data = rollout.finish()
    kept = {"a step's array": obs[1:], "a rollout's array": data.reward, "the data": data}[held]
    copies = [np.array(a) for a in (data.obs, data.reward, data.valid)]
    address = data.obs.ctypes.data
    del obs, data
    for _ in range(4):
        following = fill(rollout, rng)
        assert following.obs.ctypes.data != address
    if held == "the data":
        for array, copy in zip((kept.obs, kept.reward, kept.valid), copies, strict=True):
            np.testing.assert_array_equal(array, copy)
        del array
    del kept, following
    held_now = [fill(rollout, rng) for _ in range(3)]
    assert address in [data.obs.ctypes.data for data in held_now]


def test_two_memories_alternate_while_the_last_rollout_is_held():
    _, rollout = make()
    rng, addresses = np.random.default_rng(1), []
    rollout.reset()
    for _ in range(8):
        data = fill(rollout, rng)
        addresses.append(data.obs.ctypes.data)
    assert len(set(addresses)) == 2
    assert addresses[:2] * 4 == addresses
    del data
    again = {fill(rollout, rng).obs.ctypes.data for _ in range(4)}  # nobody holds any: one is enough
    assert len(again) == 1


def test_memory_that_is_not_needed_is_freed():
    _, rollout = make()
    rng = np.random.default_rng(1)
    rollout.reset()
    held = [fill(rollout, rng) for _ in range(20)]
    assert len({data.obs.ctypes.data for data in held}) == 20
    freed = [weakref.ref(data) for data in held]
    first = held[0].obs.copy()
    np.testing.assert_array_equal(held[0].obs, first)
    del held
    gc.collect()
    assert not any(ref() for ref in freed)
    assert len({fill(rollout, rng).obs.ctypes.data for _ in range(6)}) <= 2


def test_arrays_outlive_the_rollout_and_the_pool():
    pool, rollout = make()
    rollout.reset()
    data = fill(rollout, np.random.default_rng(1))
    copy, obs = data.obs.copy(), data.obs
    pool.close()
    del pool, rollout, data
    gc.collect()
    np.testing.assert_array_equal(obs, copy)


def test_a_reset_does_not_touch_what_is_held():
    _, rollout = make()
    rollout.reset()
    obs = rollout.step(np.ones(N), value=np.zeros(N))[0]
    copy = obs.copy()
    rollout.reset(seed=5)
    data = fill(rollout, np.random.default_rng(1))
    np.testing.assert_array_equal(obs, copy)
    assert data.first[0].all()


@pytest.mark.parametrize("first", [None, np.arange(N) % 2 == 0])
def test_begin_shows_nothing_of_what_the_memory_held(first):
    pool = plugin.make_task("Turns-v0", num_envs=N, players="grid", max_episode_steps=T - 1)
    rollout = envpool.Rollout(pool, T)
    for _ in range(2):  # two memories take turns
        rollout.reset()
        for _ in range(T):
            rollout.step(np.zeros(N, np.int32))
        assert rollout.finish().last_first.all()
        obs, *_ = rollout.step(np.zeros(N, np.int32))  # the next rollout begins with the first observations of episodes
    rollout.begin(obs, first)
    for _ in range(T):
        rollout.step(np.zeros(N, np.int32))
    data = rollout.finish()
    np.testing.assert_array_equal(data.first[0], np.zeros(N) if first is None else first)
    for name in ("elapsed_step", "env_id", *(name for name in data.names if name.startswith("info"))):
        assert not data.array(name)[0].any(), name


def test_in_place_changes_of_an_array_do_not_reach_the_next_rollout():
    pool, rollout = make()
    rollout.reset()
    for _ in range(3):
        for _ in range(T):
            obs = rollout.step(np.ones(N), value=np.zeros(N))[0]
            assert obs.shape == (N, 6)
            assert obs.flags.writeable
            obs.shape = (-1,)
            obs.flags.writeable = False
        del obs
        rollout.finish()
    assert pool.step(np.ones(N))[0].shape == (N, 6)


@pytest.mark.parametrize("mode", ["same_step", "disabled"])
@pytest.mark.parametrize("items", [6, 4000])
def test_final_arrays_of_used_memory_are_zero_where_no_episode_ended(mode, items):
    _, rollout = make(autoreset_mode=mode, episode_length=0, items=items)
    rollout.reset()
    for k in range(6):
        for t in range(T):
            ends = np.full(N, 96 if (k, t) == (0, 2) else 1)
            rollout.step(ends, value=np.zeros(N))
            if mode == "disabled" and ends[0] == 96:
                rollout.reset(np.arange(N))
        data = rollout.finish()
        final, mask = data.array("final:obs"), data.array("final:mask")
        assert mask.sum() == (N if k == 0 else 0)
        assert not final[~mask].any()
        final[:] = 7  # a careless user
        mask[:] = True
        del data, final, mask


def test_other_libraries_see_the_memory():
    torch = pytest.importorskip("torch")
    _, rollout = make()
    rollout.reset()
    data = fill(rollout, np.random.default_rng(1))
    for tensor in (torch.from_numpy(data.obs), torch.from_dlpack(data.obs), torch.as_tensor(data.obs)):
        assert tensor.data_ptr() == data.obs.ctypes.data
        assert tuple(tensor.shape) == data.obs.shape
    tensor[0, 0, 0] = -7
    assert data.obs[0, 0, 0] == -7
    assert torch.from_dlpack(data.valid).dtype == torch.bool
    assert np.from_dlpack(data.reward).ctypes.data == data.reward.ctypes.data


def test_jax_sees_the_memory():
    jax = pytest.importorskip("jax")
    _, rollout = make()
    rollout.reset()
    data = fill(rollout, np.random.default_rng(1))
    array = jax.dlpack.from_dlpack(data.reward)
    assert array.unsafe_buffer_pointer() == data.reward.ctypes.data
    np.testing.assert_array_equal(np.asarray(array), data.reward)


@pytest.mark.parametrize("name", ["obs", "reward", "rollout:numbers"])
@pytest.mark.parametrize("shift", [2, 5, -1, 2**31, 2**63 - 1, 2**63, 2**70, -(2**63)])
def test_slots_that_do_not_exist(name, shift):
    pool = envpool.make_gymnasium("Pong-v5", num_envs=1, img_height=4, img_width=4, stack_num=2)
    rollout = envpool.Rollout(pool, 2, frames_once=True)
    rollout.reset()
    for _ in range(2):
        rollout.step(np.zeros(1, np.int64))
    with pytest.raises(ConfigError, match=r"^slots of array '.*' must be between 0 and \d, got "):
        rollout.finish().array(name, shift)
