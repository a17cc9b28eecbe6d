"""What an environment does to its own pool, on whatever thread: nothing hangs, and nothing is freed under a thread."""

import contextlib
import functools
import gc
import signal
import subprocess
import sys
import threading
import time
import traceback

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

import envpool
from envpool._core import engine
from envpool.errors import EnvIdError, EnvStepError, PoolStateError, RenderError, StateError
from envpool.pools.states import EnvStates
from tests.support.background_call import BackgroundCall
from tests.support.process import PATIENCE, is_asleep, wait_until, workers
from tests.support.python import environment, output_of

WORKERS = ["inline", "thread"]


class Script:
    """What environments do: a function for an action of 3, one for a reset, and one for a frame."""

    def __init__(self):
        self.step = self.reset = self.render = lambda: None
        self.closed = 0
        self.results = []

    def note(self, call):
        """Make a call, and note what it returned or raised."""
        try:
            self.results.append(call())
        except Exception as error:
            self.results.append(error)


class ActingEnv(gymnasium.Env):
    observation_space = spaces.Box(-1, 1, (2,), np.float32)
    action_space = spaces.Discrete(4)

    def __init__(self, script):
        self.script = script

    def reset(self, *, seed=None, options=None):
        self.script.reset()
        return np.zeros(2, np.float32), {}

    def step(self, action):
        if action == 3:
            self.script.step()
        return np.ones(2, np.float32), 1.0, False, False, {}

    def render(self):
        self.script.render()
        return np.zeros((4, 4, 3), np.uint8)

    def close(self):
        self.script.closed += 1


@pytest.fixture(autouse=True)
def nothing_is_left():
    """Wait for the threads of a test, which the main thread must do in Python: then it frees what they have used."""
    yield
    wait_until(lambda: engine.count_orphans() == 0 and not workers())


def make(script, workers, num_envs=4, batch_size=2, **options):
    """Return a pool of acting environments after a reset; async by default."""
    pool = envpool.make_python(
        functools.partial(ActingEnv, script), num_envs, batch_size, workers=workers, num_threads=3, **options
    )
    pool.reset(range(num_envs))
    script.closed = 0
    return pool


# ---- the end of a pool -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("workers", WORKERS)
@pytest.mark.parametrize("is_cycle", [True, False], ids=["cycle", "last reference"])
def test_the_pool_dies_in_an_environment(workers, is_cycle):
    script, begins, dies = Script(), threading.Event(), threading.Event()
    kept = [make(script, workers, step_timeout=600)]  # the caller executes no environment

    def die():
        begins.set()
        assert dies.wait(PATIENCE)
        kept.clear()
        gc.collect()

    script.step = die
    if is_cycle:
        kept[0].itself = kept[0]
    kept[0].send([3], [0])
    assert begins.wait(PATIENCE)
    if is_cycle:
        kept.clear()
    dies.set()
    wait_until(lambda: script.closed == 4)


@pytest.mark.parametrize("workers", WORKERS)
@pytest.mark.parametrize("timeout", [None, 600])
@pytest.mark.parametrize("is_async", [True, False], ids=["async", "sync"])
def test_environments_close_their_pool(workers, is_async, timeout):
    script = Script()
    pool = make(script, workers, batch_size=2 if is_async else 4, step_timeout=timeout)
    script.step = lambda: script.note(pool.close)
    with contextlib.suppress(PoolStateError):  # unless the batch was complete
        BackgroundCall(functools.partial(pool.step, np.full(4, 3), np.arange(4))).finish()
    wait_until(lambda: script.closed == 4)
    assert pool.is_closed and pool.closed and script.results and not any(script.results)
    pool.close()


@pytest.mark.parametrize("workers", WORKERS)
def test_close_does_not_wait_for_environments_that_wait_for_each_other(workers):
    """The thread that closes the pool holds a lock, which another environment waits for."""
    script, lock, begins = Script(), threading.Lock(), threading.Event()
    pool = make(script, workers, batch_size=1, step_timeout=600)

    def close():
        if lock.acquire(blocking=False):
            if workers == "thread":
                assert begins.wait(PATIENCE)
            script.note(pool.close)
            lock.release()
        else:
            begins.set()
            with lock:
                pass

    script.step = close
    pool.send([3, 3], [0, 1])
    wait_until(lambda: script.closed == 4)
    assert script.results[0] is None


def test_another_thread_closes_the_pool_meanwhile():
    script, begins = Script(), threading.Event()
    pool = make(script, "thread")

    def close():
        begins.set()
        wait_until(lambda: pool.is_closed)
        script.note(pool.close)

    script.step = close
    pool.send([3], [0])
    assert begins.wait(PATIENCE)
    BackgroundCall(pool.close).finish()
    assert script.results == [None] and script.closed == 4


def test_a_pool_that_is_deleted_while_an_environment_waits_for_a_lock_of_this_thread():
    """The destructor gives up waiting after a while, and the thread frees the rest when it has got the lock."""
    script, lock, begins = Script(), threading.Lock(), threading.Event()
    pool = make(script, "thread")

    def wait():
        begins.set()
        with lock:
            pass

    script.step = wait
    with lock:
        pool.send([3], [0])
        assert begins.wait(PATIENCE)
        del pool
        assert engine.count_orphans() == 1 and script.closed == 0
    wait_until(lambda: script.closed == 4)


# ---- calls -----------------------------------------------------------------------------------------------------------

#: Calls that would wait for the environment that makes them.
WAITING = {
    "step": lambda pool: pool.step([0], [1]),
    "step of all": lambda pool: pool.step(np.zeros(4, int)),
    "recv": lambda pool: pool.recv(),
    "recv of some": lambda pool: pool.recv(min_ready=1, timeout=0),
    "reset": lambda pool: pool.reset(),
    "reset of some": lambda pool: pool.reset([1]),
    "async_reset": lambda pool: pool.async_reset(),
    "render": lambda pool: pool.render([1]),
    "render itself": lambda pool: pool.render([0]),
}
#: Calls that do not wait: they work, or the environment that they concern is in flight.
OTHERS = {
    "send": lambda pool: pool.send(np.zeros(0, int), []),
    "get_state": lambda pool: pool.get_state([1]),
    "set_state": lambda pool: pool.set_state(EnvStates([b""]), [1]),
    "copy_state": lambda pool: pool.copy_state([1], [2]),
    "set_params": lambda pool: pool.set_params({}, [0]),
    "get_params": lambda pool: pool.get_params([0]),
    "call": lambda pool: pool.call("get_wrapper_attr", "script", env_id=[0]),
    "get_attr": lambda pool: pool.get_attr("script", [0]),
    "set_attr": lambda pool: pool.set_attr("x", 1, [0]),
    "stats": lambda pool: pool.stats(),
    "sample_actions": lambda pool: pool.sample_actions(),
}


def check(results, is_waiting):
    """Check what the calls of environments returned or raised."""
    for result in results:
        if is_waiting:
            assert isinstance(result, PoolStateError) and "was called by an environment of this pool" in str(result)
        elif isinstance(result, Exception):
            assert isinstance(result, (EnvIdError, StateError)), result


@pytest.mark.parametrize("workers", WORKERS)
@pytest.mark.parametrize("where", ["step", "reset", "render"])
@pytest.mark.parametrize("is_async", [True, False], ids=["async", "sync"])
def test_calls_of_an_environment(workers, where, is_async):
    """On threads of the pool, and on threads that wait for a batch or render."""
    script = Script()
    pool = make(script, workers, batch_size=2 if is_async else 4, render_mode="rgb_array")
    results = {True: [], False: []}
    lock = threading.Lock()

    def act():
        with lock:
            for is_waiting, calls in [(True, WAITING), (False, OTHERS)]:
                for call in calls.values():
                    script.note(lambda call=call: call(pool))
                    results[is_waiting].append(script.results.pop())

    setattr(script, where, act)

    def use():
        for _ in range(2):
            if where == "render":
                pool.render(range(4))
            elif where == "reset":
                pool.reset(range(4))
            else:
                pool.send(np.full(4, 3), np.arange(4))
                pool.recv()
                if is_async:
                    pool.recv()

    BackgroundCall(use).finish()
    assert len(results[True]) == 8 * len(WAITING)
    check(results[True], True)
    check(results[False], False)
    script.step = script.reset = script.render = lambda: None
    pool.reset(range(4))
    pool.close()


@pytest.mark.parametrize("workers", WORKERS)
def test_an_environment_that_is_drawn_closes_its_pool(workers):
    script = Script()
    pool = make(script, workers, render_mode="rgb_array")
    script.render = lambda: script.note(pool.close)
    with pytest.raises(PoolStateError, match=r"the pool was closed during render\(\)"):
        BackgroundCall(functools.partial(pool.render, range(4))).finish()
    wait_until(lambda: script.closed == 4)  # by the last thread that leaves
    assert script.results[0] is None


def test_an_environment_may_use_another_pool():
    inner_script, script = Script(), Script()
    inner = make(inner_script, "inline", batch_size=4)
    pool = make(script, "inline", batch_size=4)
    inner_script.step = lambda: script.note(lambda: pool.render([0]))
    script.step = lambda: script.note(lambda: inner.step(np.full(4, 3))[1])
    pool.step(np.array([3, 0, 0, 0]))
    assert all(isinstance(error, PoolStateError) for error in script.results[:4])
    np.testing.assert_array_equal(script.results[4], np.ones(4))
    pool.close(), inner.close()


# ---- Ctrl-C ----------------------------------------------------------------------------------------------------------

HANGS = """
import functools, sys, threading
import numpy as np
import envpool
from tests.python_envs.test_own_thread import Script, make
script = Script()
pools = [make(script, 'thread', batch_size=1) for _ in range(2)]
hangs = threading.Semaphore(0)
def hang():
    hangs.release()
    {hang}
script.step = hang
for pool in pools:
    pool.send([3], [0])
    hangs.acquire()
{code}
"""
#: A call that Ctrl-C interrupts before the program ends, and waits again.
WAIT = """
import atexit
atexit.register(print, 'exiting', flush=True)
print('waiting', flush=True)
pool.{call}()
"""


@contextlib.contextmanager
def hanging(hang, code):
    """Run a program whose environments hang in a statement, and which continues with some code."""
    with subprocess.Popen(
        [sys.executable, "-c", HANGS.format(hang=hang, code=code)],
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as program:
        try:
            yield program
        finally:
            program.kill()


@pytest.mark.parametrize("call", ["recv", "close"])
def test_the_second_ctrl_c_ends_a_program_whose_environments_hang(call):
    """The first one ends the call, the second one the wait for the threads of all pools."""
    with hanging("threading.Event().wait()", WAIT.format(call=call)) as program:
        for line in ["waiting", "exiting"]:
            assert program.stdout.readline() == line + "\n", program.stderr.read()
            wait_until(lambda: is_asleep(program.pid))
            program.send_signal(signal.SIGINT)
        assert program.wait(PATIENCE) == -signal.SIGINT
        assert "KeyboardInterrupt" in program.stderr.read()


def test_ctrl_c_ends_a_program_whose_environments_are_busy():
    """Environments that hold Python's lock most of the time, so that nobody knows what Ctrl-C interrupts."""
    with hanging("while True: pass", WAIT.format(call="close")) as program:
        assert program.stdout.readline() == "waiting\n"
        deadline = time.monotonic() + PATIENCE
        while program.poll() is None and time.monotonic() < deadline:
            program.send_signal(signal.SIGINT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                program.wait(0.2)
        assert program.returncode is not None and "KeyboardInterrupt" in program.stderr.read()


@pytest.mark.parametrize("workers", WORKERS)
def test_ctrl_c_in_an_environment_that_is_being_closed(workers, monkeypatch):
    """The call raises it when all environments have been closed."""

    def close(self):
        self.script.closed += 1
        raise KeyboardInterrupt

    monkeypatch.setattr(ActingEnv, "close", close)
    script = Script()
    pool = make(script, workers)
    with pytest.raises(KeyboardInterrupt):
        pool.close()
    assert pool.is_closed and script.closed == 4


def test_ctrl_c_during_close_leaves_the_thread_behind():
    script, begins, goes_on = Script(), threading.Event(), threading.Event()
    pool = make(script, "thread")

    def wait():
        begins.set()
        assert goes_on.wait(PATIENCE)

    script.step = wait
    pool.send([3], [0])
    assert begins.wait(PATIENCE)

    def interrupt(*_):
        script.note(pool.close)  # returns at once: this thread is inside close() already
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.01)
        with pytest.raises(KeyboardInterrupt):
            pool.close()
    finally:
        signal.signal(signal.SIGALRM, before)
    assert pool.is_closed and pool.closed and script.results == [None]
    assert engine.count_orphans() == 1 and script.closed == 0
    goes_on.set()
    wait_until(lambda: script.closed == 4)


DRAWS = """
import signal, threading, time, traceback
from tests.python_envs.test_own_thread import Script, make
script = Script()
pool = make(script, "thread", num_envs=6, batch_size=6, render_mode="rgb_array")
is_first, hangs = threading.Semaphore(), threading.Event()
def draw():
    if threading.current_thread() is not threading.main_thread():
        signal.setitimer(signal.ITIMER_REAL, 0.01, 0.1)
        hangs.set()
        threading.Event().wait()
    elif is_first.acquire(blocking=False):
        time.sleep(0.001)       # so that another thread pays off
    else:
        hangs.wait()            # else this thread could draw all frames before another one begins
def interrupt(number, frame):
    if not any(entry.name == "frame_of" for entry in traceback.extract_stack(frame)):   # else that frame fails
        signal.setitimer(signal.ITIMER_REAL, 0)             # a second interrupt could come anywhere
        raise KeyboardInterrupt
script.render = draw
signal.signal(signal.SIGALRM, interrupt)
for _ in range(2):
    try:
        pool.render(range(6))
    except BaseException as error:
        print(type(error).__name__)
pool.close()
print(pool.is_closed)
"""


def test_ctrl_c_while_a_thread_that_draws_hangs():
    """The pool can only be closed then, and what the thread uses stays."""
    assert output_of(DRAWS).split() == ["KeyboardInterrupt", "PoolStateError", "True"]


def test_ctrl_c_while_other_threads_draw():
    """They finish their frames, and the pool can be used as before."""
    script = Script()
    pool = make(script, "thread", num_envs=6, batch_size=6, render_mode="rgb_array")
    is_first, arms, begins, goes_on = threading.Semaphore(), threading.Semaphore(), threading.Event(), threading.Event()

    def draw():
        if threading.current_thread() is not threading.main_thread():
            begins.set()
            if arms.acquire(blocking=False):
                signal.setitimer(signal.ITIMER_REAL, 0.01, 0.1)
            assert goes_on.wait(PATIENCE)
        elif is_first.acquire(blocking=False):
            time.sleep(0.001)  # so that another thread pays off
        else:
            assert begins.wait(PATIENCE)

    def interrupt(number, frame):
        if not any(entry.name == "frame_of" for entry in traceback.extract_stack(frame)):  # else that frame fails
            signal.setitimer(signal.ITIMER_REAL, 0)
            goes_on.set()
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        script.render = draw
        with pytest.raises(KeyboardInterrupt):
            pool.render(range(6))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert pool.render(range(6)).shape == (6, 4, 4, 3)
    assert pool.step(np.zeros(6, int))[1].tolist() == [1] * 6
    pool.close()


# ---- the exception behind a failure ----------------------------------------------------------------------------------


def frames_of(error):
    """Return the names of the functions that an exception has passed, the innermost one last."""
    found, traceback = [], error.__traceback__
    while traceback:
        found.append(traceback.tb_frame.f_code.co_name)
        traceback = traceback.tb_next
    return found


class Marked:
    """An object whose end is noted."""

    count = 0

    def __init__(self):
        Marked.count += 1

    def __del__(self):
        Marked.count -= 1


def fail():
    marked = Marked()
    raise ValueError("on purpose", len([marked]))


@pytest.mark.parametrize("workers", WORKERS)
@pytest.mark.parametrize("mode", ["next_step", "same_step", "disabled"])
def test_the_cause_is_the_exception_of_the_environment(workers, mode):
    script = Script()
    pool = make(script, workers, batch_size=4, autoreset_mode=mode)
    script.step = fail
    with pytest.raises(EnvStepError) as caught:
        pool.step(np.array([0, 3, 0, 3]))
    cause = caught.value.__cause__
    assert isinstance(cause, ValueError) and frames_of(cause)[-2:] == ["step", "fail"]
    assert cause.__traceback__.tb_next is not None
    assert list(caught.value.failures) == [1, 3]
    del cause, caught
    assert Marked.count == 0
    pool.recv()
    pool.close()


@pytest.mark.parametrize("workers", WORKERS)
def test_causes_of_resets_and_frames(workers):
    script = Script()
    pool = make(script, workers, batch_size=4, render_mode="rgb_array")
    script.reset = script.render = fail
    with pytest.raises(EnvStepError) as failed_reset:
        pool.reset([2])
    assert frames_of(failed_reset.value.__cause__)[-2:] == ["reset", "fail"]
    with pytest.raises(RenderError) as failed_render:
        pool.render([0])
    assert frames_of(failed_render.value.__cause__)[-2:] == ["render", "fail"]
    del failed_reset, failed_render
    assert Marked.count == 0
    pool.close()


@pytest.mark.parametrize("on_error", ["raise", "restart"])
def test_exceptions_that_nobody_asks_about_are_dropped(on_error):
    script = Script()
    pool = make(script, "inline", batch_size=4, on_error=on_error)
    script.step = fail
    pool.send(np.array([0, 3, 0, 3]))
    pool.reset()
    pool.step(np.zeros(4, int))
    assert Marked.count == 0
    pool.close()
