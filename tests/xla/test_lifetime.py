"""Closing pools, waiting threads, signals and forks while compiled code runs."""

import gc
import os
import signal
import subprocess
import sys
import threading
import time
import weakref
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.errors import JaxRuntimeError

import envpool
from envpool.errors import PoolStateError
from tests.support import plugin
from tests.support.checked_pool import WAIT
from tests.support.process import PATIENCE, wait_until
from tests.xla.pools import refuses

ROOT = Path(__file__).resolve().parents[2]


def scan_of(step, action=0, num_envs=2, steps=10_000):
    """Return a compiled function of the handle that makes so many steps, and leaves that to a thread of XLA: programs
    without a product of matrices of some size are run by the thread that calls them."""

    def run(handle, matrix):
        handle, product = jax.lax.fori_loop(0, steps, body, (handle, matrix @ matrix))
        return handle, product

    def body(_, state):
        handle, product = state
        return step(handle, jnp.full(num_envs, action))[0], product

    matrix = jnp.eye(64)
    compiled = jax.jit(run).lower(np.zeros(8, np.uint8), matrix).compile()
    return lambda handle: compiled(handle, matrix)[0]


# ---- the end of a pool -----------------------------------------------------------------------------------------------


def test_a_closed_pool():
    with plugin.make(num_envs=2) as pool:
        handle, recv, _, step = pool.xla()
        step = jax.jit(step)
        handle, _ = step(handle, np.zeros(2, int))
    for call in (lambda: step(handle, np.zeros(2, int)), lambda: recv(handle)):
        with refuses("PoolClosedError: the pool is closed: make a new one"):
            jax.block_until_ready(call())
    with pytest.raises(PoolStateError, match=r"the pool (is|was) closed"):
        pool.xla()


def test_the_functions_keep_the_pool():
    handle, _, _, step = plugin.make(num_envs=2).xla()
    gc.collect()
    _, batch = step(handle, np.zeros(2, int))
    assert batch[0].shape == (2, 6)


def test_compiled_code_that_outlives_its_pool():
    pool = plugin.make(num_envs=2)
    handle, _, _, step = pool.xla()
    compiled = jax.jit(step).lower(handle, np.zeros(2, np.int32)).compile()
    jax.block_until_ready(compiled(handle, np.zeros(2, np.int32)))
    gone = weakref.ref(pool)
    del pool, step
    jax.clear_caches()
    gc.collect()
    assert gone() is None, "something keeps the pool"
    others = [plugin.make(num_envs=2) for _ in range(3)]  # they get other handles
    with refuses("the handle does not belong to a pool of this process: .* its pool was deleted"):
        jax.block_until_ready(compiled(handle, np.zeros(2, np.int32)))
    for other in others:
        other.close()


def test_close_while_a_scan_runs():
    with plugin.make(num_envs=2, cost_ns=50e3, counted=True, episode_length=0) as pool:
        handle, _, _, step = pool.xla()
        before = plugin.load().native.num_steps()
        running = scan_of(step, steps=100_000)(handle)
        wait_until(lambda: plugin.load().native.num_steps() > before + 10)
        assert not running.is_ready()
        pool.close()
        with refuses("PoolClosedError: the pool (is closed|was closed during)"):
            running.block_until_ready()


def test_close_while_a_call_waits(gate):
    pool = plugin.make(num_envs=2, num_threads=2, cost_ns=20e3)  # cheaper ones are stepped with the GIL
    handle, _, _, step = pool.xla()
    reset_by_workers(pool)
    failed = []

    def wait():
        try:
            jax.block_until_ready(jax.jit(step)(handle, np.array([WAIT, WAIT])))
        except JaxRuntimeError as error:
            failed.append(str(error))

    thread = threading.Thread(target=wait)
    thread.start()
    wait_until(lambda: pool.num_outstanding == 2)
    opener = threading.Timer(0.2, gate.open_gate)  # close() lets running steps end
    opener.start()
    pool.close()
    thread.join(PATIENCE)
    assert not thread.is_alive()
    assert "PoolClosedError: the pool was closed during step()" in failed[0]


# ---- threads ---------------------------------------------------------------------------------------------------------


def test_other_threads_of_python_go_on(gate):
    """A call that waits for an env does not hold the GIL, whichever thread of XLA it runs on."""
    with plugin.make(num_envs=2, num_threads=2, cost_ns=20e3, episode_length=0) as pool:
        handle, _, _, step = pool.xla()
        pool.reset()
        pending = scan_of(step, WAIT, steps=3)(handle)
        wait_until(lambda: pool.num_outstanding == 2)
        assert not pending.is_ready()
        with pytest.raises(PoolStateError, match="another thread is waiting"):
            pool.recv()
        gate.open_gate()
        pending.block_until_ready()
        assert pool.step(np.zeros(2, int))[0][:, 2].tolist() == [4, 4]


def test_a_main_thread_that_computes_meanwhile():
    """Python code keeps the GIL until it is asked to release it: calls still get it."""
    with plugin.make(num_envs=2, episode_length=0) as pool:
        handle, _, _, step = pool.xla()
        pending = scan_of(step, steps=50)(handle)
        while not pending.is_ready():
            pass
        assert pool.step(np.zeros(2, int))[0][:, 2].tolist() == [50, 50]


def test_pools_stepped_by_several_threads():
    pools = [plugin.make(num_envs=2, num_threads=1, episode_length=0, seed=s) for s in range(4)]
    results = {}

    def work(k):
        handle, _, _, step = pools[k].xla()
        handle = scan_of(step, steps=2000)(handle)
        results[k] = step(handle, np.zeros(2, int))[1][0].tolist()

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    for k in range(4):
        assert [row[2] for row in results[k]] == [2000, 2000]
        assert [row[5] for row in results[k]] == [k, k + 1]
        pools[k].close()


def test_envs_that_another_thread_adds_to_a_partial_batch_lose_no_row(gate):
    """The call fails, since its arrays have a fixed number of rows, and the rows stay in the pool."""
    with plugin.make(num_envs=4, num_threads=2, cost_ns=20e3, episode_length=0) as pool:
        handle, _, _, step = pool.xla()
        reset_by_workers(pool)
        pool.recv(min_ready=0)
        failed = []

        def wait():
            try:
                jax.block_until_ready(jax.jit(step)(handle, np.array([WAIT, WAIT]), np.array([0, 1])))
            except JaxRuntimeError as error:
                failed.append(str(error))

        thread = threading.Thread(target=wait)
        thread.start()
        wait_until(lambda: pool.num_outstanding == 2)
        pool.send(np.array([0]), [2])
        gate.open_gate()
        thread.join(PATIENCE)
        assert "another thread used the pool" in failed[0]
        assert pool.num_outstanding == 3
        assert pool.recv()[-1]["env_id"].tolist() == [0, 1, 2]


def test_two_computations_at_once():
    """Unordered calls of one pool from two threads are executed or refused, and the pool stays usable."""
    with plugin.make(num_envs=2, cost_ns=20e3, num_threads=2, episode_length=0) as pool:
        handle, _, _, step = pool.xla()
        pool.reset()
        outcomes = []

        def work():
            for _ in range(5):
                try:
                    scan_of(step, steps=200)(handle).block_until_ready()
                    outcomes.append("done")
                except JaxRuntimeError as error:
                    outcomes.append(str(error))

        threads = [threading.Thread(target=work) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE)
        assert len(outcomes) == 10
        assert all(o == "done" or "another thread" in o or "in flight" in o for o in outcomes), outcomes
        if pool.num_outstanding:
            pool.recv()
        pool.reset()
        assert pool.step(np.zeros(2, int))[0][:, 2].tolist() == [1, 1]


# ---- processes -------------------------------------------------------------------------------------------------------


def run_child(child):
    """Run a function of this module in a separate process; return its output."""
    plugin.load()
    code = f"from tests.xla.test_lifetime import *\n{child}()"
    process = subprocess.Popen(
        [sys.executable, "-X", "faulthandler", "-c", code],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    watchdog = threading.Timer(PATIENCE, process.kill)
    watchdog.start()
    try:
        output, errors = process.communicate()
        assert process.returncode == 0, errors
        return output
    finally:
        watchdog.cancel()
        process.kill()
        process.wait()


def interrupt_when(condition):
    """Send this process Ctrl-C as soon as a condition holds."""

    def wait():
        wait_until(condition)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=wait, daemon=True).start()


def reset_by_workers(pool):
    """Reset so that the pool expects its caller only to wait while workers step the envs."""
    pool.async_reset()
    time.sleep(0.05)
    pool.recv()


def waiting_child():
    """A call on the main thread that would wait forever is interrupted; the batch is not lost."""
    native = plugin.load().native
    pool = plugin.make(num_envs=2, num_threads=2, episode_length=0)
    handle, recv, _, step = pool.xla()
    step = jax.jit(step)
    reset_by_workers(pool)
    handle, _ = jax.block_until_ready(step(handle, np.zeros(2, int)))
    native.close_gate()
    is_interrupted = False
    try:
        interrupt_when(lambda: pool.num_outstanding == 2)
        try:
            jax.block_until_ready(step(handle, np.full(2, WAIT)))
        except JaxRuntimeError:
            time.sleep(PATIENCE)  # the interrupt follows XLA's error
    except KeyboardInterrupt:
        is_interrupted = True
    finally:
        native.open_gate()
    _, batch = recv(handle)
    print(is_interrupted, batch[0][:, 2].tolist(), flush=True)


def test_ctrl_c_while_a_call_waits():
    assert run_child("waiting_child") == "True [2, 2]\n"


def scanning_child():
    """Ctrl-C during a computation of a second or two takes effect at its end; the pool stays usable."""
    pool = plugin.make(num_envs=2, cost_ns=50e3, episode_length=0, counted=True)
    handle, _, _, step = pool.xla()
    scan = scan_of(step, steps=5000)
    try:
        interrupt_when(lambda: plugin.load().native.num_steps() > 10)
        jax.block_until_ready(scan(handle))
        time.sleep(PATIENCE)
    except KeyboardInterrupt:
        print("interrupted", flush=True)
    jax.block_until_ready(step(handle, np.zeros(2, int)))


def test_ctrl_c_during_a_scan():
    assert run_child("scanning_child") == "interrupted\n"


def leaving_child():
    """Python ends while a thread of XLA is in the middle of a long computation."""
    pool = plugin.make(num_envs=2, cost_ns=20e3, episode_length=0, counted=True)
    handle, _, _, step = pool.xla()
    running = scan_of(step, steps=100_000)(handle)
    wait_until(lambda: plugin.load().native.num_steps() > 10)
    assert not running.is_ready()
    print("leaving", flush=True)


def test_python_ends_while_a_scan_runs():
    assert run_child("leaving_child") == "leaving\n"


def forking_child():
    """A fork has no worker threads: the pool refuses calls there, and continues to work in the parent."""
    pool = plugin.make(num_envs=2, episode_length=0)
    handle, _, _, step = pool.xla()
    step = jax.jit(step)
    handle, _ = jax.block_until_ready(step(handle, np.zeros(2, int)))
    pid = os.fork()
    if pid == 0:
        try:
            jax.block_until_ready(step(handle, np.zeros(2, int)))
        except JaxRuntimeError as error:
            os._exit(0 if "made before this process was forked" in str(error) else 1)
        os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    handle, batch = step(handle, np.zeros(2, int))
    print(batch[0][:, 2].tolist(), flush=True)


def test_fork():
    assert run_child("forking_child") == "[1, 1]\n"


def forking_inside_child():
    """A fork while a call is inside: the call stays in the parent, and the child must not wait for it when it exits."""
    native = plugin.load().native
    pool = plugin.make(num_envs=2, num_threads=2, cost_ns=20e3, episode_length=0)
    handle, _, _, step = pool.xla()
    reset_by_workers(pool)
    native.close_gate()
    step = jax.jit(step).lower(handle, np.array([WAIT, WAIT])).compile()
    thread = threading.Thread(target=lambda: jax.block_until_ready(step(handle, np.array([WAIT, WAIT]))))
    thread.start()
    wait_until(lambda: pool.num_outstanding == 2)
    pid = os.fork()
    if pid == 0:
        signal.alarm(20)  # ends a child that hangs
        try:
            pool.recv()
        except PoolStateError as error:
            is_refused = "made before this process was forked" in str(error)
        sys.exit(7 if is_refused else 8)  # runs what was registered with atexit
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
    native.open_gate()
    thread.join(PATIENCE)
    assert not thread.is_alive()


def test_fork_while_a_call_is_inside():
    assert run_child("forking_inside_child") == "7\n"


def handle_child():
    """A handle from another process is invalid here, whatever its number."""
    foreign = np.load(os.environ["HANDLE"])
    with plugin.make(num_envs=2) as pool:
        handle, _, _, step = pool.xla()
        assert (handle != foreign).any()
        try:
            jax.block_until_ready(step(foreign, np.zeros(2, int)))
        except JaxRuntimeError as error:
            print("does not belong to a pool of this process" in str(error), flush=True)


def test_a_handle_of_another_process(tmp_path, monkeypatch):
    with plugin.make(num_envs=2) as pool:
        np.save(tmp_path / "handle.npy", pool.xla()[0])
        monkeypatch.setenv("HANDLE", str(tmp_path / "handle.npy"))
        assert run_child("handle_child") == "True\n"


# ---- what is missing -------------------------------------------------------------------------------------------------


def without(module, monkeypatch):
    """Make a module impossible to import, and forget the modules that imported it."""
    monkeypatch.delitem(sys.modules, "envpool.xla.functions", raising=False)
    monkeypatch.delitem(sys.modules, module, raising=False)

    class Missing:
        def find_spec(self, name, *_):
            if name == module:
                raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    monkeypatch.setattr(sys, "meta_path", [Missing(), *sys.meta_path])


@pytest.mark.parametrize(
    ("module", "way_out"),
    [
        ("jax.ffi", r"xla\(\) needs jax: pip install 'envpool-cython\[jax\]'"),
        (
            "envpool.xla.bridge",
            r"envpool.xla.bridge is not in this build .* `pip install jax==0.10.2` .* --no-binary envpool-cython",
        ),
    ],
)
def test_the_way_out(module, way_out, monkeypatch):
    without(module, monkeypatch)
    with envpool.make_gymnasium("CartPole-v1") as pool:
        with pytest.raises(ImportError, match=way_out):
            pool.xla()
        pool.reset()
