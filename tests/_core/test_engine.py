"""Worker threads: their number, names and CPUs, that they end, and that they work while the caller is away."""

import gc
import os
import time

import numpy as np
import pytest

from envpool._support.machine import cpu_limit
from envpool.errors import PoolStateError
from tests.support import plugin
from tests.support.checked_pool import WAIT, CheckedPool
from tests.support.gate import Gate
from tests.support.process import is_asleep, listed, open_files, resident, wait_until, worker_ids, workers
from tests.support.python import output_of

CPUS = sorted(os.sched_getaffinity(0))


@pytest.fixture(autouse=True)
def no_thread_is_left():
    gc.collect()  # pools of other tests that are in cycles have threads until then
    wait_until(lambda: not workers())
    yield
    wait_until(lambda: not workers())


def use_all_threads(pool):
    """Keep the caller busy between send and recv, so that the last worker must replace it.

    The pool measures how long: time itself is what makes it start that worker.
    """
    pool.async_reset()
    for _ in range(6):
        time.sleep(0.002)
        ids = pool.recv()[-1]["env_id"]
        pool.send(np.zeros(len(ids), np.int32), ids)


@pytest.mark.parametrize("num_envs", [8, 2])
@pytest.mark.parametrize("num_threads", [1, 2, 3, 8])
def test_number_and_names(num_threads, num_envs):
    with plugin.make(num_envs=num_envs, num_threads=num_threads, cost_ns=50e3) as pool:
        use_all_threads(pool)
        assert sorted(workers()) == [f"envpool-{i}" for i in range(min(num_threads, num_envs))]


@pytest.mark.parametrize("batch_size", [1, 4, 0])
def test_default_number_is_the_batch_or_the_cpus(batch_size):
    with plugin.make(num_envs=64, batch_size=batch_size, cost_ns=50e3) as pool:
        use_all_threads(pool)
        assert len(workers()) == min(batch_size or 64, cpu_limit())


def test_default_number_under_a_restricted_affinity():
    code = (
        "import os\n"
        "os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})\n"
        "from tests._core.test_engine import plugin, use_all_threads, workers\n"
        "with plugin.make(num_envs=16, cost_ns=50e3) as pool:\n"
        "    use_all_threads(pool)\n"
        "    print(len(workers()))\n"
    )
    plugin.load()
    assert output_of(code) == "1\n"


@pytest.mark.linux
@pytest.mark.parametrize("offset", [0, 1, 5])
def test_affinity(offset):
    with plugin.make(num_envs=8, num_threads=3, thread_affinity_offset=offset, cost_ns=50e3) as pool:
        use_all_threads(pool)
        pinned = {name: listed(cpus) for name, cpus in workers().items()}
    assert pinned == {f"envpool-{i}": {CPUS[(offset + i) % len(CPUS)]} for i in range(3)}


@pytest.mark.linux
def test_numa_nodes_divide_the_workers(monkeypatch):
    """The CPUs of this machine stand for the nodes; 20 workers make four groups, two for each node."""
    nodes = [[CPUS[0]], [CPUS[-1]]]
    monkeypatch.setattr("envpool.pools.env_pool.numa_nodes", lambda: nodes)
    c = CheckedPool(40, num_threads=20, numa=True, cost_ns=50e3)
    use_all_threads(c.pool)
    bound = {name: listed(cpus) for name, cpus in workers().items()}
    c.close()
    assert bound == {f"envpool-{i}": set(nodes[i // 10]) for i in range(20)}


@pytest.mark.parametrize("num_threads", [1, 2, 9, 20, 40])
@pytest.mark.parametrize("batch_size", [0, 7])
@pytest.mark.parametrize("mode", ["next_step", "same_step"])
def test_many_queues(num_threads, batch_size, mode, monkeypatch):
    """Every env is stepped once per send, in pools with up to eight queues, whole and partial batches mixed."""
    monkeypatch.setattr("envpool.pools.env_pool.numa_nodes", lambda: [CPUS, CPUS, CPUS])
    c = CheckedPool(40, batch_size, num_threads=num_threads, numa=True, autoreset_mode=mode, cost_ns=1e3)
    c.start()
    for k in range(30):
        ids = c.idle()[:: 1 + k % 3]
        c.send(ids, [k] * len(ids))
        if k % 4 == 3:
            c.recv_some(min_ready=len(ids) // 2)
        c.recv_batches()
    c.close()


def test_a_small_send_wakes_more_workers_than_the_large_one_before():
    """The first worker of a group wakes those of both sends, which need all workers of the group, one of three."""
    gate = Gate()
    with plugin.make(num_envs=20, num_threads=20, step_timeout=600, episode_length=0, cost_ns=50e3) as pool:
        pool.reset()
        wait_until(lambda: len(workers()) == 20 and all(map(is_asleep, worker_ids())))
        with gate:
            pool.send(np.full(6, WAIT), range(6))
            pool.send([WAIT], [6])
            wait_until(lambda: gate.native.num_at_gate() == 7)
        pool.recv()


def test_only_workers_that_slept_count_as_woken():
    """Each of the two workers hangs in the first env that it claims, and may have found no env once before."""
    gate = Gate()
    with plugin.make(num_envs=40, num_threads=2, step_timeout=600, episode_length=0, cost_ns=50e3) as pool:
        pool.reset()
        wait_until(lambda: len(workers()) == 2 and all(map(is_asleep, worker_ids())))
        before = pool.stats().wakes
        with gate:
            for i in range(40):
                pool.send([WAIT], [i])
            wait_until(lambda: gate.native.num_at_gate() == 2)
            assert pool.stats().wakes - before <= 4
        pool.recv()


def test_without_affinity():
    with plugin.make(num_envs=8, num_threads=3, cost_ns=50e3) as pool:
        use_all_threads(pool)
        assert [listed(cpus) for cpus in workers().values()] == [set(CPUS)] * 3


def test_work_is_done_while_the_caller_is_away():
    """With one thread, a worker steps the envs while the caller is busy between send and recv."""
    native = plugin.load().native
    with plugin.make(num_envs=4, num_threads=1, cost_ns=50e3, counted=True) as pool:
        use_all_threads(pool)
        pool.recv()
        before = native.num_steps()
        pool.send(np.zeros(4, np.int32))
        wait_until(lambda: native.num_steps() == before + 4)
        assert pool.recv()[0][:, 3].tolist() == [0] * 4


@pytest.mark.parametrize("batch_size", [0, 3])
def test_the_first_send_is_work_for_a_worker(batch_size):
    """The cost of a step is still unknown, and the caller may be away for long."""
    native = plugin.load().native
    with plugin.make(num_envs=6, batch_size=batch_size, num_threads=3, cost_ns=1e6, sleeps=True, counted=True) as pool:
        wait_until(lambda: workers() and all(is_asleep(task) for task in worker_ids()))
        before = native.num_steps()
        pool.async_reset()
        wait_until(lambda: native.num_steps() > before)


def test_a_caller_that_comes_back_at_once_helps():
    """A pool of one thread needs no worker if its caller returns at once."""
    c = CheckedPool(4, num_threads=1)
    c.sent_reset()
    c.deliver(c.pool.reset)
    for _ in range(200):
        c.sent(range(4), [1] * 4)
        c.deliver(lambda: c.pool.step(np.ones(4, np.int32)))
    assert workers() == {}
    c.close()


def test_a_thousand_pools_leave_nothing_behind():
    def make_and_close(count):
        for k in range(count):
            with plugin.make(num_envs=400, batch_size=(0, 100)[k % 2], num_threads=2, items=50) as pool:
                pool.async_reset()
                if k % 3:
                    pool.recv()

    make_and_close(100)
    wait_until(lambda: not workers())
    files, memory = open_files(), resident()
    make_and_close(1000)
    wait_until(lambda: not workers())
    assert open_files() == files
    # One pool has 30 kB of slots and more than 160 kB of batches: a leak would show as 30 MB at least.
    assert resident() - memory < 15e6


def test_pools_side_by_side():
    pools = [CheckedPool(6, b, num_threads=2, seed=7 * b, cost_ns=1e3) for b in (0, 1, 2, 3, 0)]
    for c in pools:
        c.sent_reset()
        c.pool.async_reset()
    for _ in range(60):
        for c in pools:
            ids = c.recv()[-1]["env_id"]
            c.send(ids, [3] * len(ids))
    for c in pools:
        c.close()
        with pytest.raises(PoolStateError):
            c.pool.recv()
