"""Calls that do not fit the state of a pool: nothing to receive, closed, forked, or used by several threads at once."""

import gc
import os
import queue
import random
import signal
import threading
import weakref

import numpy as np
import pytest

from envpool.errors import EnvIdError, PoolStateError
from tests.support import plugin
from tests.support.background_call import BackgroundCall
from tests.support.callbacks import CallsBack
from tests.support.checked_pool import WAIT, CheckedPool
from tests.support.process import PATIENCE, wait_until, workers
from tests.support.python import run_python


@pytest.fixture(params=["sync", "async"])
def checked(request):
    """Yield a checked pool of four envs, expensive enough that recv() releases the GIL to step them."""
    c = CheckedPool(4, 0 if request.param == "sync" else 2, num_threads=2, cost_ns=20e3)
    yield c
    plugin.load().native.open_gate()
    c.close()


# ---- nothing to receive ----------------------------------------------------------------------------------------------


def test_recv_with_nothing_in_flight(checked):
    for _ in range(2):
        with pytest.raises(
            PoolStateError, match=r"nothing is in flight: call send\(\), async_reset\(\) or step\(\) first"
        ):
            checked.pool.recv()
        checked.start()


def test_recv_with_too_few_in_flight():
    c = CheckedPool(6, 3).start()
    c.send([5, 0], [1, 1])
    with pytest.raises(PoolStateError, match=r"2 envs are in flight and a batch needs 3: send to 1 more envs first"):
        c.pool.recv()
    c.send([2], [1])
    c.recv()
    c.assert_works()
    c.close()


def test_step_of_too_few_envs_sends_nothing():
    c = CheckedPool(6, 3).start()
    c.send([5], [1])
    with pytest.raises(PoolStateError, match=r"with 1 envs and 1 in flight cannot return a batch of 3"):
        c.pool.step(np.zeros(1, np.int32), [0])
    assert c.pool.num_outstanding == 1
    c.send([0, 2], [1, 1])
    c.recv()
    c.assert_works()
    c.close()


def test_empty_calls(checked):
    checked.start()
    nothing = np.zeros(0, np.int32)
    checked.pool.send(nothing, nothing)
    assert checked.pool.step(nothing, nothing)[1].shape == (0,)
    assert checked.pool.reset(nothing)[0].shape == (0, 6)
    assert checked.pool.num_outstanding == 0
    checked.assert_works()


# ---- closed ----------------------------------------------------------------------------------------------------------

ACTION = np.zeros(4, np.int32)
CALLS = {
    "send": lambda p: p.send(ACTION),
    "send to ids": lambda p: p.send(ACTION, np.arange(4)),
    "send a dict": lambda p: p.send({"action": ACTION, "env_id": np.arange(4)}),
    "send a dict with players": lambda p: p.send({"action": ACTION, "players": {"env_id": np.arange(4)}}),
    "recv": lambda p: p.recv(),
    "recv reset": lambda p: p.recv(reset=True),
    "recv some": lambda p: p.recv(min_ready=1),
    "recv ids": lambda p: p.recv(env_id=[1]),
    "recv in time": lambda p: p.recv(timeout=0),
    "step": lambda p: p.step(ACTION),
    "step ids": lambda p: p.step(ACTION, np.arange(4)),
    "reset": lambda p: p.reset(),
    "reset ids": lambda p: p.reset([1]),
    "reset with a seed": lambda p: p.reset(seed=1),
    "async_reset": lambda p: p.async_reset(),
}


@pytest.mark.parametrize("call", CALLS)
def test_use_after_close(checked, call):
    checked.start()
    checked.close()
    with pytest.raises(PoolStateError, match="the pool is closed: make a new one"):
        CALLS[call](checked.pool)


def test_what_still_works_after_close(checked):
    pool = checked.start().pool
    pool.close()
    pool.close()
    assert pool.is_closed
    assert pool.num_outstanding == 0
    assert pool._blocks_allocated > 0
    assert pool.config["num_envs"] == len(pool) == 4
    assert "SyntheticGymnasiumEnvPool" in repr(pool)
    assert pool.all_env_ids.tolist() == [0, 1, 2, 3]


def test_close_with_envs_in_flight(checked):
    checked.pool.async_reset()
    checked.close()


def test_a_pool_is_a_context_manager():
    with plugin.make(num_envs=2) as pool:
        pool.reset()
    assert pool.is_closed


def test_a_pool_that_is_dropped_with_envs_in_flight():
    for _ in range(20):
        pool = plugin.make(num_envs=64, batch_size=16, num_threads=3, cost_ns=20e3)
        pool.async_reset()
        del pool
    wait_until(lambda: not workers())


def test_a_pool_in_a_cycle_is_collected_with_envs_in_flight():
    for _ in range(5):
        pool = plugin.make(num_envs=64, batch_size=16, num_threads=3, cost_ns=20e3, items=10_000)
        pool.itself = pool
        pool.async_reset()
        pool.recv()
        gone = weakref.ref(pool)
        del pool
        gc.collect()
        assert gone() is None


def test_the_collector_takes_no_memory_that_workers_write_to():
    """The collector visits the youngest objects first: the blocks in flight, which are unmapped when freed."""
    code = f"""
import gc, threading
from tests.support import plugin
from tests.support.process import wait_until
gate = plugin.load().native
gate.close_gate()
gc.disable()
pool = plugin.make(num_envs=2, batch_size=1, num_threads=2, cost_ns=20e3, items=5_000_000)
pool.itself = pool
gc.collect(0)
held = []
for _ in range(2):
    pool.async_reset()
    held += [pool.recv(), pool.recv()]
pool.send([{WAIT}, {WAIT}])
wait_until(lambda: gate.num_at_gate() == 2)
threading.Timer(0.1, gate.open_gate).start()
del pool
gc.collect()
"""
    done = run_python(code)
    assert (done.returncode, done.stderr) == (0, "")


# ---- threads ---------------------------------------------------------------------------------------------------------


def assert_received_or_closed(waiting):
    """A recv() that waits when the pool is closed returns its batch if the batch is ready first."""
    try:
        assert len(waiting.finish()[-1]["env_id"])
    except PoolStateError as error:
        assert "the pool was closed during recv()" in str(error)


def recv_at_gate(checked, gate):
    """Return a recv() of another thread that waits for envs at the gate."""
    checked.start()
    checked.send([0, 1, 2, 3], [WAIT] * 4)
    waiting = BackgroundCall(checked.pool.recv)
    waiting.wait_until_inside()
    wait_until(lambda: gate.num_at_gate() >= 1)
    return waiting


def test_close_while_another_thread_waits_in_recv(checked, gate):
    waiting = recv_at_gate(checked, gate)
    closing = BackgroundCall(checked.pool.close)
    wait_until(lambda: checked.pool.is_closed)
    with pytest.raises(PoolStateError, match="closed"):
        checked.pool.send(ACTION)
    gate.open_gate()
    assert closing.finish() is None
    assert_received_or_closed(waiting)


def test_close_in_two_threads_at_once(checked, gate):
    waiting = recv_at_gate(checked, gate)
    closing = [BackgroundCall(checked.pool.close) for _ in range(3)]
    wait_until(lambda: checked.pool.is_closed)
    gate.open_gate()
    assert [c.finish() for c in closing] == [None] * 3
    assert_received_or_closed(waiting)


@pytest.mark.parametrize("call", ["recv", "recv some", "step", "reset", "reset some", "async_reset"])
def test_only_one_thread_receives(checked, gate, call):
    """The second receiver is refused, and its call changes nothing."""
    checked.start()
    checked.send([0, 1], [WAIT] * 2)
    waiting = BackgroundCall(checked.pool.recv)
    waiting.wait_until_inside()
    with pytest.raises(PoolStateError, match=r"another thread is waiting in recv.*let one thread receive"):
        {
            "recv": checked.pool.recv,
            "recv some": lambda: checked.pool.recv(timeout=0),
            "step": lambda: checked.pool.step(np.zeros(2, np.int32), [2, 3]),
            "reset": checked.pool.reset,
            "reset some": lambda: checked.pool.reset([2, 3]),
            "async_reset": checked.pool.async_reset,
        }[call]()
    gate.open_gate()
    checked.received(waiting.finish())
    checked.assert_works()


def test_sending_while_another_thread_waits_in_recv(checked, gate):
    checked.start()
    checked.send([3, 1], [WAIT, WAIT])
    waiting = BackgroundCall(checked.pool.recv)
    waiting.wait_until_inside()
    checked.send([0], [7])
    with pytest.raises(EnvIdError, match="still in flight"):
        checked.pool.send(np.zeros(1, np.int32), [1])
    gate.open_gate()
    checked.received(waiting.finish())
    if checked.in_flight:
        checked.send([checked.idle()[0]], [0])
        checked.recv()
    checked.assert_works()


@pytest.mark.parametrize("batch_size", [0, 5])
def test_one_thread_sends_and_another_receives(batch_size):
    c = CheckedPool(16, batch_size, num_threads=3, cost_ns=5e3).start()
    batches, stop, has_sent = queue.SimpleQueue(), threading.Event(), threading.Event()

    def receive():
        while True:
            has_sent.clear()
            if stop.is_set():
                return
            try:
                batches.put(c.pool.recv())
            except PoolStateError:  # not enough in flight at this moment
                has_sent.wait()

    receiver = BackgroundCall(receive)
    pick = random.Random(1)
    for k in range(1500):
        ids = pick.sample(c.idle(), min(len(c.idle()), pick.randint(1, 4)))
        c.send(ids, [k % 90] * len(ids))
        has_sent.set()
        while not batches.empty() or len(c.in_flight) > 12:
            c.received(batches.get(timeout=PATIENCE), may_be_part=True)
    stop.set()
    if not c.can_receive():  # The receiver may be in recv(): send it a batch.
        c.send(c.idle()[:5], [0] * 5)
    has_sent.set()
    assert receiver.finish() is None
    while not batches.empty():
        c.received(batches.get(), may_be_part=True)
    c.assert_works()
    c.close()


@pytest.mark.parametrize("where", ["action", "env_id", "dict"])
def test_an_argument_that_closes_the_pool(checked, where):
    checked.start()
    hook = CallsBack([0, 0], checked.pool.close)
    arguments = {
        "action": (hook, [0, 1]),
        "env_id": (np.zeros(2, np.int32), CallsBack([0, 1], checked.pool.close)),
        "dict": ({"action": CallsBack(np.zeros(2, np.int32), checked.pool.close), "env_id": [0, 1]},),
    }[where]
    with pytest.raises(PoolStateError, match=r"the pool (is|was) closed"):
        checked.pool.step(*arguments)


@pytest.mark.parametrize("where", ["action", "env_id", "dict"])
def test_an_argument_that_sends(checked, where):
    checked.start()

    def act():
        checked.send([3, 2], [5, 6])

    arguments = {
        "action": (CallsBack([0, 0], act), [0, 1]),
        "env_id": (np.zeros(2, np.int32), CallsBack([0, 1], act)),
        "dict": ({"action": CallsBack(np.zeros(2, np.int32), act), "env_id": [0, 1]},),
    }[where]
    checked.pool.send(*arguments)
    checked.sent([0, 1], [0, 0])
    checked.recv_batches()
    checked.assert_works()


# ---- fork ------------------------------------------------------------------------------------------------------------


def in_child(body):
    """Fork, run body() in the child, and return what it printed."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        try:
            text = body()
        except BaseException as error:
            text = f"{type(error).__name__}: {error}"
        os.write(writer, str(text).encode())
        os._exit(0)
    os.close(writer)
    alarm = threading.Timer(PATIENCE, os.kill, (child, signal.SIGKILL))
    alarm.start()
    with os.fdopen(reader, "rb") as stream:
        text = stream.read().decode()
    _, status = os.waitpid(child, 0)
    alarm.cancel()
    assert status == 0, f"the child hangs or crashed: {status}"
    return text


@pytest.mark.filterwarnings("ignore:This process.*is multi-threaded:DeprecationWarning")
@pytest.mark.parametrize("call", CALLS)
def test_use_after_fork(checked, call):
    checked.start()
    checked.send([2, 1], [1, 1])
    text = in_child(lambda: CALLS[call](checked.pool))
    assert text.startswith("PoolStateError: the pool was made before this process was forked")
    assert "make the pool in the child" in text
    checked.recv()
    checked.assert_works()


@pytest.mark.filterwarnings("ignore:This process.*is multi-threaded:DeprecationWarning")
def test_a_child_closes_its_copy_and_makes_a_pool(checked):
    checked.start()

    def body():
        checked.pool.close()
        assert checked.pool.is_closed
        c = CheckedPool(8, 4, num_threads=2, cost_ns=10e3).start()
        c.assert_works()
        c.close()
        return "fine"

    assert in_child(body) == "fine"
    checked.assert_works()


def test_exit_with_open_pools_and_envs_in_flight():
    code = (
        "from tests.support import plugin\n"
        "p = plugin.make(num_envs=64, batch_size=8, num_threads=2, cost_ns=1e5)\n"
        "p.async_reset()\n"
        "p.recv()\n"
        "print('made', flush=True)\n"
    )
    plugin.load()
    done = run_python(code)
    assert (done.returncode, done.stdout, done.stderr) == (0, "made\n", "")
