"""Batches in memory that worker processes share: rows are written in place, and arrays never change afterwards."""

import os
import platform

import numpy as np
import pytest

import envpool
import envpool.python_envs.proxy as proxy
from tests.support.python import output_of
from tests.support.python_envs import FaultyEnv, LargeEnv, interrupted_step, resources, same

ACTIONS = np.zeros(4, int)
METHODS = ["fork", *(pytest.param(method, marks=pytest.mark.slow) for method in ("spawn", "forkserver"))]


def pool_of(env=LargeEnv, num_envs=4, **options):
    return envpool.make_python(env, num_envs, **{"workers": "process", "num_threads": 2} | options)


def mapping_of(array):
    """Return the line of /proc/self/maps with the memory of an array."""
    with open("/proc/self/maps") as maps:
        for line in maps:
            first, last = (int(x, 16) for x in line.split()[0].split("-"))
            if first <= array.ctypes.data < last:
                return line
    raise AssertionError(f"nothing is mapped at {array.ctypes.data:x}")


def is_shared(array):
    """Return whether an array lies in the memory that a pool shares with its workers."""
    line = mapping_of(array)
    return "memfd:envpool" in line and line.split()[1].endswith("s")


def pages(pool):
    """Return the bytes of memory behind the file of a pool."""
    return 512 * os.fstat(pool.envs.arena.fd).st_blocks


@pytest.fixture(autouse=True)
def check_nothing_is_left():
    before = resources()
    yield
    assert resources() == before


def test_large_rows_are_written_into_the_batch():
    with pool_of() as pool, pool_of(FaultyEnv) as small, pool_of(batch_size=2) as is_async:
        assert is_shared(pool.reset()[0]) and is_shared(pool.step(ACTIONS)[0])
        assert not is_shared(small.reset()[0])
        is_async.async_reset()
        assert not is_shared(is_async.recv()[0])
    with envpool.make_python(LargeEnv, 4) as inline:
        assert not is_shared(inline.reset()[0])


def test_blocks_begin_where_every_kernel_for_this_processor_can_map_them():
    page = {"x86_64": 4 << 10}.get(platform.machine(), 64 << 10)  # the largest that kernels have
    with pool_of() as pool:
        first, second = pool.reset()[0], pool.step(ACTIONS)[0]
        assert int(mapping_of(first).split()[2], 16) % page == 0  # where in the file the blocks begin
        assert (second.ctypes.data - first.ctypes.data) % page == 0


@pytest.mark.parametrize("options", [{}, {"autoreset_mode": "same_step"}, {"normalize_obs": True}, {"clip_obs": 0.5}])
@pytest.mark.parametrize("method", METHODS)
def test_equals_inline(method, options):
    with pool_of(start_method=method, **options) as pool, envpool.make_python(LargeEnv, 4, **options) as inline:
        same(pool.reset(), inline.reset())
        for k in range(45):
            same(pool.step(ACTIONS), inline.step(ACTIONS))
            if k % 10 == 3:  # other rows, in another order
                same(pool.step(ACTIONS[:2], [3, 1]), inline.step(ACTIONS[:2], [3, 1]))
                same(pool.step(ACTIONS, [3, 1, 0, 2]), inline.step(ACTIONS, [3, 1, 0, 2]))
        same(pool.reset([3, 1], seed=[7, 8]), inline.reset([3, 1], seed=[7, 8]))


def test_partial_batches_between_whole_ones():
    with pool_of() as pool:
        pool.reset()
        pool.send(ACTIONS)
        first = pool.recv(env_id=[2])[0]
        rest = pool.recv(min_ready=3)[0]
        assert (first[:, 0] == 1).all() and (rest[:, 0] == 1).all()
        whole = pool.step(ACTIONS)[0]
        assert is_shared(whole) and (whole[:, 0] == 2).all() and (first[:, 0] == 1).all() and (rest[:, 0] == 1).all()


def test_arrays_that_are_kept_do_not_change():
    with pool_of() as pool:
        kept = [pool.reset()[0]] + [pool.step(ACTIONS)[0] for _ in range(30)]
        assert all(map(is_shared, kept))
        assert [obs[1, 0] for obs in kept] == [k % 21 for k in range(31)]


@pytest.mark.linux
def test_the_memory_of_arrays_that_were_kept_is_given_back():
    with pool_of() as pool:
        kept = [pool.reset()[0]] + [pool.step(ACTIONS)[0] for _ in range(30)]
        most = pages(pool)
        del kept
        for _ in range(300):
            pool.step(ACTIONS)
        assert pages(pool) < most / 2


def test_arrays_outlive_the_pool():
    pool = pool_of()
    obs = pool.reset()[0]
    expected = obs.copy()
    pool.close()
    del pool
    assert np.array_equal(obs, expected)
    obs += 1
    assert np.array_equal(obs, expected + 1)


@pytest.mark.parametrize("blocks", [0, 3])
def test_a_region_that_is_full(monkeypatch, blocks):
    """Without room in the region, batches have ordinary memory."""
    monkeypatch.setattr(proxy, "memory_limit", lambda: (blocks * 53248, ""))
    with pool_of() as pool:
        kept = [pool.reset()[0]] + [pool.step(ACTIONS)[0] for _ in range(9)]
        assert sum(map(is_shared, kept)) == blocks
        assert [obs[1, 0] for obs in kept] == list(range(10))


@pytest.mark.memory_limit
@pytest.mark.parametrize("method", METHODS)
def test_a_limit_of_the_address_space_is_left_to_the_program(method):
    """Where RLIMIT_AS limits mappings, the pool does not take what the program and its forks need."""
    code = f"""
import resource
import numpy as np
import envpool
from envpool._support.machine import memory_limit
from tests.support.python_envs import LargeEnv

resource.setrlimit(resource.RLIMIT_AS, (int(1.3 * memory_limit()[0]), resource.RLIM_INFINITY))
with envpool.make_python(LargeEnv, 2, workers="process", num_threads=2, start_method={method!r}) as pool:
    pool.reset()
    print(pool.step(np.zeros(2, int))[0][:, 0], pool.envs.blocks)
"""
    assert output_of(code).splitlines() == ["[1. 1.] None"]


def test_memory_that_is_locked():
    """mlockall(MCL_FUTURE) does not take all pages of the region. Without the right to lock them, rows are copied."""
    code = """
import ctypes, os
import numpy as np
import envpool
import envpool.python_envs.proxy as proxy
from tests.support.python_envs import LargeEnv

proxy.memory_limit = lambda: (1 << 28, "")
ctypes.CDLL(None).mlockall(2)
with envpool.make_python(LargeEnv, 2, workers="process", num_threads=1) as pool:
    pool.reset()
    print(pool.step(np.zeros(2, int))[0][:, 0], 512 * os.fstat(pool.envs.arena.fd).st_blocks < 1 << 26)
"""
    assert output_of(code).splitlines() == ["[1. 1.] True"]


def test_rollout():
    with pool_of() as pool, envpool.make_python(LargeEnv, 4) as inline:
        rollouts = [envpool.Rollout(p, num_steps=7) for p in (pool, inline)]
        same(*[rollout.reset() for rollout in rollouts])
        for _ in range(4):
            for _ in range(7):
                same(*[rollout.step(ACTIONS) for rollout in rollouts])
            mine, theirs = [rollout.finish() for rollout in rollouts]
            assert np.array_equal(mine.obs, theirs.obs) and np.array_equal(mine.reward, theirs.reward)
            assert np.array_equal(mine.last_obs, theirs.last_obs)
        del rollouts, mine, theirs


@pytest.mark.parametrize("is_partial", [False, True])
def test_fork(is_partial):
    """A child has the arrays as they were, writes to its own copies, and later batches are shared again."""
    with pool_of() as pool:
        pool.reset()
        obs = pool.step(ACTIONS)[0]
        pool.send(ACTIONS)
        other = pool.recv(env_id=[0, 1, 2, 3])[0] if is_partial else pool.recv()[0]
        mine, theirs = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                os.read(mine, 1)
                was_right = (obs[:, 0] == 1).all() and (other[:, 0] == 2).all()
                obs[:] = other[:] = 99
                os._exit(0 if was_right else 1)
            finally:
                os._exit(2)
        del obs  # its memory is used again
        for k in range(3, 9):
            assert (pool.step(ACTIONS)[0][:, 0] == k).all()
        os.write(theirs, b"x")
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert (other[:, 0] == 2).all()
        later = pool.step(ACTIONS)[0]
        assert (later[:, 0] == 9).all() and is_shared(later) and not is_shared(other)
        os.close(mine)
        os.close(theirs)
        for _ in range(300):
            pool.step(ACTIONS)


def test_a_batch_that_is_received_during_a_fork():
    """A handler that was registered before those of envpool runs after them: its batch is not separated in time."""
    code = """
import os

during = []
os.register_at_fork(before=lambda: [call() for call in during])

import numpy as np
import envpool
from tests.support.python_envs import LargeEnv

with envpool.make_python(LargeEnv, 4, workers="process", num_threads=2) as pool:
    pool.reset()
    batches = []
    during.append(lambda: batches.append(pool.step(np.zeros(4, int))[0]))
    child = os.fork()
    if child == 0:
        was_right = (batches[0][:, 0] == 1).all()
        batches[0][:] = 99
        del batches[:], pool
        during.clear()
        grandchild = os.fork()
        if grandchild == 0:
            os._exit(0)
        os._exit(os.waitstatus_to_exitcode(os.waitpid(grandchild, 0)[1]) if was_right else 1)
    during.clear()
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), batches[0][:, 0])
"""
    assert output_of(code).split(maxsplit=1) == ["0", "[1. 1. 1. 1.]\n"]


def test_answers_after_an_interrupt_are_not_seen():
    """A worker that writes a row after Ctrl-C has ended the wait does not write to an array that was handed out."""
    code = interrupted_step("LargeEnv", 1)
    code += """
    first = pool.recv()[0]
    print(first[:, 0])
    time.sleep(1.5)  # the step ends
    kept = [pool.step(np.zeros(2, int))[0] for _ in range(3)]
    print(first[:, 0], not first[0].any(), *[obs[:, 0] for obs in kept])
"""
    lines = output_of(code).splitlines()
    assert lines[0] == "interrupted" and "Ctrl-C" in lines[1]
    assert lines[2:] == ["[0. 1.]", "[0. 1.] True [0. 2.] [1. 3.] [2. 4.]"]
