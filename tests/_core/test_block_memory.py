"""The memory of batches: freed when not needed, zero where the pool writes nothing, and checked against limits."""

import sys

import numpy as np
import pytest

from tests.support import plugin
from tests.support.checked_pool import TERMINATE, CheckedPool
from tests.support.python import output_of

#: Rows that make the blocks of flat synthetic envs large enough for a mapping of their own.
MANY = 1020


# ---- freeing ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("batch_size", [0, 16])
def test_memory_of_batches_that_were_let_go_returns_to_the_system(batch_size):
    code = f"""
import gc
import numpy as np
from tests.support import plugin
from tests.support.process import resident

MB = 2**20
plugin.load()
with plugin.make(num_envs=2, num_threads=2) as pool:     # what the first pool needs in any case
    pool.reset()
start = resident()
pool = plugin.make(num_envs=32, batch_size={batch_size}, num_threads=2, items=28 * MB // 8 // ({batch_size} or 32))
pool.async_reset()

def step():
    batch = pool.recv()
    ids = batch[-1]["env_id"]
    pool.send(np.zeros(len(ids), np.int32), ids)
    return batch

for _ in range(10):
    step()
base = resident()
held = [step() for _ in range(30)]
assert resident() - base > 600 * MB
del held
for _ in range(200):
    step()
print("let go", (resident() - base) // (60 * MB))       # at most about two batches more
pool.close()
del pool
gc.collect()
print("closed", max(resident() - start, 0) // (30 * MB))
"""
    plugin.load()
    assert output_of(code) == "let go 0\nclosed 0\n"


def test_a_closed_pool_keeps_only_what_is_held():
    code = """
import numpy as np
from tests.support import plugin
from tests.support.process import resident

MB = 2**20
pool = plugin.make(num_envs=32, num_threads=2, items=28 * MB // 8 // 32)
pool.reset()
for _ in range(10):
    held = pool.step(np.zeros(32, np.int32))
before = resident()
pool.close()
print(len(held), before - resident() > 25 * MB, pool._blocks_allocated > 1)
"""
    plugin.load()
    assert output_of(code) == "5 True True\n"


def test_rollouts_that_are_let_go_at_once_are_recycled():
    """Steps of a rollout are often held until its end: each rollout reuses the memory of the last one."""
    with plugin.make(num_envs=4, num_threads=2) as pool:
        action = np.zeros(4, np.int32)
        pool.reset()
        settled = None
        for k in range(12):
            rollout = [pool.step(action) for _ in range(128)]
            assert len({id(b[0]) for b in rollout}) == 128
            del rollout
            if k == 3:
                settled = pool._blocks_allocated
        assert pool._blocks_allocated == settled


def test_blocks_that_were_needed_once_are_not_kept():
    """After a peak and a long quiet time, the next peak allocates again, since the memory was freed."""
    with plugin.make(num_envs=4, num_threads=2) as pool:
        action = np.zeros(4, np.int32)
        pool.reset()
        made = []
        for _ in range(2):
            before = pool._blocks_allocated
            held = [pool.step(action) for _ in range(50)]
            made.append(pool._blocks_allocated - before)
            del held
            quiet = pool._blocks_allocated
            for _ in range(500):
                pool.step(action)
            assert pool._blocks_allocated == quiet
        assert min(made) > 40


# ---- many blocks -----------------------------------------------------------------------------------------------------


def test_blocks_in_flight_cost_no_python_objects():
    def objects_of(num_envs):
        before = sys.getallocatedblocks()
        pool = plugin.make(num_envs=num_envs, batch_size=1, num_threads=1)
        found = sys.getallocatedblocks() - before
        pool.close()
        return found

    objects_of(10)
    assert objects_of(20_000) - objects_of(10) < 2_000


@pytest.mark.parametrize("mode", ["next_step", "same_step"])
def test_many_small_batches(mode):
    c = CheckedPool(num_envs=300, batch_size=1, num_threads=2, autoreset_mode=mode, episode_length=3)
    c.sent_reset()
    c.pool.async_reset()
    held = []
    for k in range(1500):
        batch = c.recv()
        c.send(batch[-1]["env_id"], [k % 90])
        if k % 5 == 0:
            held.append((batch[0], batch[0].copy()))
        if k == 700:
            held.clear()
    c.recv_some(min_ready=7)  # Rows that are on their way to 300 blocks arrive one by one.
    c.recv_batches()
    for seen, copy in held:
        np.testing.assert_array_equal(seen, copy)
    c.close()


# ---- final arrays ----------------------------------------------------------------------------------------------------


def spoil(info):
    """Write into all final arrays, as their receiver may."""
    info["final_obs"][:] = -1
    info["_final_obs"][:] = True
    info["final_info"]["draws"][:] = -1
    info["final_info"]["elapsed_step"][:] = -1


@pytest.mark.parametrize("num_envs", [6, MANY])
@pytest.mark.parametrize("parts", [1, 2])
@pytest.mark.parametrize("ending", ["none", "some", "all", "in turns"])
def test_final_arrays_are_zero_where_no_episode_ended(num_envs, parts, ending):
    """Whatever their last receiver wrote there, and whatever rows the last use of the memory has."""
    c = CheckedPool(num_envs=num_envs, batch_size=num_envs // parts, num_threads=2, autoreset_mode="same_step",
                    episode_length=0)  # fmt: skip
    c.sent_reset()
    c.pool.async_reset()
    for k in range(30):
        batch = c.recv()
        ids = batch[-1]["env_id"].copy()
        actions = np.full(len(ids), k % 90)
        if ending == "some" or (ending == "in turns" and k % 5 == 0):
            actions[k % len(ids)] = TERMINATE
        elif ending == "all" or (ending == "in turns" and k % 5 == 2):
            actions[:] = TERMINATE
        if k % 3 != 1:
            spoil(batch[-1])
        del batch
        c.send(ids, actions)
    c.close()


@pytest.mark.parametrize("num_envs", [6, MANY])
@pytest.mark.parametrize("parts", [1, 2])
def test_final_rows_that_were_dropped_do_not_come_back(num_envs, parts):
    c = CheckedPool(num_envs=num_envs, batch_size=num_envs // parts, num_threads=2,
                    autoreset_mode="same_step", episode_length=0)  # fmt: skip
    c.start()
    for k in range(6):
        ids = c.idle()
        c.send(ids, [TERMINATE] * len(ids))
        c.sent_reset()
        c.pool.async_reset()  # It drops rows that are in flight.
        c.recv_batches()
        c.send(c.idle(), [k] * len(c.idle()))
        c.recv_some(min_ready=2)
        c.recv_some(min_ready=0)
        c.recv_batches()
    c.close()


@pytest.mark.parametrize("batch_size", [0, 200])
@pytest.mark.parametrize("ending", [0, 1, 20, 150])
@pytest.mark.parametrize("items", [200, 4000])
def test_large_final_arrays(items, ending, batch_size):
    """Their pages are given back, unless many rows were written; those of 400 rows of 32 kB are huge pages."""
    with plugin.make(num_envs=400, batch_size=batch_size, num_threads=2, items=items, episode_length=0,
                     autoreset_mode="same_step") as pool:  # fmt: skip
        pool.async_reset()
        sent = np.zeros(400, np.int64)
        for k in range(25):
            obs, _, terminated, truncated, info = pool.recv()
            ids, ended = info["env_id"].copy(), terminated | truncated
            assert ended.sum() == (ending if k >= 400 // len(ids) else 0) or batch_size
            np.testing.assert_array_equal(info["_final_obs"], ended)
            np.testing.assert_array_equal(info["final_info"]["elapsed_step"] > 0, ended)
            assert not info["final_obs"][~ended].any()
            np.testing.assert_array_equal(info["final_obs"][ended][:, 0], ids[ended])
            np.testing.assert_array_equal(info["final_obs"][ended][:, 3], sent[ids[ended]])
            np.testing.assert_array_equal(obs[:, 0], ids)
            if k % 3 != 1:
                spoil(info)
            del obs, terminated, truncated, info
            actions = np.where(np.arange(len(ids)) < ending, TERMINATE, k)
            sent[ids] = actions
            pool.send(actions, ids)


# ---- limits ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("batch_size", [1, 0])
def test_a_pool_that_exceeds_the_limit_names_it(batch_size, monkeypatch):
    monkeypatch.setattr("envpool._support.machine.memory_limit", lambda: (2**30, "the limit of its control group, /x"))
    with pytest.raises(MemoryError, match=r"num_envs=40000 .* has 1\.0 GiB \(the limit of its control group, /x\)"):
        plugin.make(num_envs=40_000, batch_size=batch_size, items=10_000)
    plugin.make(num_envs=4, batch_size=batch_size, items=10_000).close()


def test_sizes_beyond_64_bits_do_not_fit():
    with pytest.raises(MemoryError, match="ask for fewer envs"):
        plugin.make(num_envs=2**31 - 1, items=2**40)
