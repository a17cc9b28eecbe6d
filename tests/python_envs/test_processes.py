"""Python environments in worker processes: the same results as inline, and nothing left behind, whatever happens."""

import gc
import os
import signal
import subprocess
import sys
import threading
import time
from functools import partial

import numpy as np
import pytest

import envpool
from envpool.errors import ConfigError, EnvCreateError, EnvStepError, PoolClosedError, PoolStateError, RenderError
from tests.support.process import PATIENCE
from tests.support.python import environment
from tests.support.python_envs import SPACES, FaultyEnv, SpaceEnv, children, interrupted_step, resources, same

METHODS = ["fork", "spawn", pytest.param("forkserver", marks=pytest.mark.slow)]


def pool_of(env, num_envs, **options):
    return envpool.make_python(env, num_envs, **{"workers": "process", "num_threads": 2} | options)


def pids_of(pool):
    return [worker.pid for worker in pool.envs.supervisor.workers]


def is_running(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(") ")[2][0] not in "ZX"
    except FileNotFoundError:
        return False


def await_end(pids):
    deadline = time.monotonic() + PATIENCE
    while any(map(is_running, pids)):
        assert time.monotonic() < deadline, "processes are still running"
        time.sleep(0.01)


@pytest.fixture(autouse=True)
def check_nothing_is_left():
    """Check that a test leaves no children, dead or alive, no open files, and no shared memory in this process."""
    (files, shared), others = resources(), children()
    yield
    files_left, shared_left = resources()
    assert children() <= others
    assert files_left <= files and shared_left <= shared


@pytest.mark.parametrize("mode", ["next_step", "same_step"])
@pytest.mark.parametrize("observation", ["box", "int16", "float16", "uint64", "tuple", "mixed", "graph"])
def test_equals_inline(observation, mode):
    make = partial(SpaceEnv, observation, "dict")
    options = {"seed": 5, "autoreset_mode": mode, "episode_statistics": True}
    with pool_of(make, 5, **options) as pool, envpool.make_python(make, 5, **options) as inline:
        same(pool.reset(), inline.reset())
        for k in range(25):
            actions = inline.sample_actions(k)
            mine, theirs = pool.step(actions), inline.step(actions)
            for out in (mine, theirs):
                out[-1].pop("episode", None)
            same(mine, theirs)
        same(pool.reset([3, 1], seed=[7, 8]), inline.reset([3, 1], seed=[7, 8]))


@pytest.mark.parametrize("method", METHODS)
def test_async(method):
    """Every environment sees its own actions, whatever the order of the batches."""
    refs = [FaultyEnv() for _ in range(5)]
    waiting = [env.reset(seed=42 + i)[0] for i, env in enumerate(refs)]
    over = [False] * 5
    with pool_of(FaultyEnv, 5, batch_size=2, start_method=method) as pool:
        pool.async_reset()
        for _ in range(60):
            obs, _, terminated, _, info = pool.recv()
            for row, i in enumerate(info["env_id"]):
                assert np.array_equal(obs[row], waiting[i]) and terminated[row] == over[i]
                if over[i]:
                    waiting[i], over[i] = refs[i].reset()[0], False
                else:
                    waiting[i], _, over[i], _, _ = refs[i].step(0)
            pool.send(np.zeros(2, int), info["env_id"])


def test_partial_recv():
    with pool_of(FaultyEnv, 4) as pool:
        pool.async_reset()
        _, info = pool.recv(reset=True, env_id=[3, 1])
        assert info["env_id"].tolist() == [3, 1]
        assert len(pool.recv(min_ready=2)[0]) == 2


def test_large_batches():
    """More environments than fit into one call of the definition."""
    with pool_of(FaultyEnv, 700) as pool:
        pool.reset()
        for k in range(1, 4):
            assert (pool.step(np.zeros(700, int))[0][:, 0] == k).all()


@pytest.mark.parametrize("method", METHODS)
def test_exception_in_step(method):
    with pool_of(FaultyEnv, 3, seed=0, start_method=method) as pool:
        pool.reset()
        with pytest.raises(EnvStepError, match="broken on purpose") as caught:
            pool.step(np.array([0, 1, 0]))
        assert list(caught.value.failures) == [1] and "python_envs.py" in caught.value.failures[1]
        assert pool.recv()[3].tolist() == [False, True, False]
        assert pool.step(np.zeros(3, int))[0][:, 0].tolist() == [2, 0, 2]
        with pytest.raises(EnvStepError, match="KeyboardInterrupt"):
            pool.step(np.array([2, 0, 0]))
        pool.recv()


def test_exception_while_making():
    class Env(FaultyEnv):
        parent = os.getpid()

        def __init__(self):
            if os.getpid() != self.parent:
                raise OSError("no display here")
            super().__init__()

    with pytest.raises(EnvCreateError, match=r"no display here$") as caught:
        pool_of(Env, 3)
    assert isinstance(caught.value.__cause__, OSError)

    class Dying(FaultyEnv):
        parent = os.getpid()

        def __init__(self):
            if os.getpid() != self.parent:
                os._exit(3)

    with pytest.raises(EnvCreateError, match="ended while it started") as caught:
        pool_of(Dying, 3)
    assert isinstance(caught.value.__cause__, PoolStateError)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("restarts", [False, True])
def test_killed_worker(method, restarts):
    options = {"on_error": "restart"} if restarts else {}
    with pool_of(FaultyEnv, 4, seed=0, start_method=method, **options) as pool:
        pool.reset()
        pool.step(np.zeros(4, int))
        os.kill(pids_of(pool)[1], signal.SIGKILL)
        if restarts:
            obs, _, _, truncated, info = pool.step(np.zeros(4, int))
            assert info["_error"].tolist() == truncated.tolist() == [False, True, False, True]
            assert "has died" in info["error"][1] and "signal 9" in info["error"][1]
        else:
            with pytest.raises(EnvStepError, match="has died") as caught:
                pool.step(np.zeros(4, int))
            assert list(caught.value.failures) == [1, 3]
            obs = pool.recv()[0]
        assert obs[:, 0].tolist() == [2, 0, 2, 0]
        obs, *_ = pool.step(np.zeros(4, int))
        assert obs[:, 0].tolist() == [3, 0, 3, 0]
        seeds = pool.get_attr("last_seed")
        assert seeds[::2] == (0, 2) and seeds[1] not in (None, 1) and seeds[3] not in (None, 3, seeds[1])


def test_hang():
    class Env(FaultyEnv):
        def step(self, action):
            if action == 3:
                time.sleep(1000)
            return super().step(action)

    with pool_of(Env, 4, step_timeout=1, on_error="restart") as pool:
        pool.reset()
        *_, info = pool.step(np.array([0, 0, 3, 0]))
        assert info["_error"].tolist() == [False, False, True, False]
        assert "step_timeout=1 " in info["error"][2] and "test_processes.py" in info["error"][2]
        *_, info = pool.step(np.zeros(4, int))
        assert info["_error"].tolist() == [True, False, False, False]  # it was in the same process
        os.kill(pids_of(pool)[1], signal.SIGSTOP)
        *_, info = pool.step(np.zeros(4, int))
        assert info["_error"].tolist() == [False, True, False, True]
        pool.step(np.zeros(4, int))


def test_other_threads_run_while_the_pool_waits(tmp_path):
    class Env(FaultyEnv):
        def step(self, action):
            while action == 4 and not (tmp_path / "go").exists():
                time.sleep(0.01)
            return super().step(action)

    with pool_of(Env, 1, step_timeout=PATIENCE) as pool:
        pool.reset()
        for _ in range(1000):  # the pool learns that steps are quick, so that it keeps the GIL
            pool.step(np.zeros(1, int))
        thread = threading.Timer(0.2, (tmp_path / "go").touch)
        thread.start()
        pool.step(np.full(1, 4))
        thread.join()


def test_close_does_not_wait_for_a_hang():
    class Env(FaultyEnv):
        def step(self, action):
            time.sleep(1000)

    pool = pool_of(Env, 2, batch_size=1, step_timeout=0.5)
    pool.async_reset()
    pool.recv(), pool.recv()
    pool.send(np.zeros(2, int), [0, 1])
    pids = pids_of(pool)
    began = time.monotonic()
    pool.close()
    assert time.monotonic() - began < PATIENCE
    assert not any(map(is_running, pids))


@pytest.mark.parametrize("on_error", ["raise", "restart"])
def test_close_during_a_step(on_error):
    class Env(FaultyEnv):
        def step(self, action):
            time.sleep(1000)

    pool = pool_of(Env, 2, step_timeout=0.5, on_error=on_error)
    pool.reset()
    thread = threading.Timer(0.2, pool.close)
    thread.start()
    with pytest.raises(PoolClosedError, match=r"the pool was closed during step\(\): make a new one"):
        pool.step(np.zeros(2, int))
    thread.join()


def test_grandchildren_end():
    class Env(FaultyEnv):
        child = None

        def step(self, action):
            self.child = subprocess.Popen(["sleep", "1234"]).pid
            return super().step(action)

    with pool_of(Env, 2) as pool:
        pool.reset()
        pool.step(np.zeros(2, int))
        children = pool.get_attr("child")
        assert all(map(is_running, children))
    await_end(children)


def test_interrupt():
    """Ctrl-C ends a wait at once; the workers do not see it."""
    code = interrupted_step("FaultyEnv", 3)
    code += """
    print(pool.recv()[0][:, 0])
    print(pool.step(np.zeros(2, int))[0][:, 0])
"""
    out = subprocess.run(
        [sys.executable, "-c", code], env=environment(), capture_output=True, text=True, timeout=PATIENCE
    )
    lines = out.stdout.splitlines()
    assert lines[0] == "interrupted" and "Ctrl-C" in lines[1], out
    assert lines[2:] == ["[0. 1.]", "[0. 2.]"], out


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("ending", ["os._exit(0)", "os.kill(os.getpid(), 9)", "sys.exit(0)"])
def test_parent_ends(method, ending):
    code = f"""
import os, sys
import envpool
from tests.support.python_envs import FaultyEnv
pool = envpool.make_python(FaultyEnv, 2, workers="process", num_threads=2, start_method={method!r})
pool.reset()
print(*[w.pid for w in pool.envs.supervisor.workers], flush=True)
{ending}
"""
    out = subprocess.run(
        [sys.executable, "-c", code], env=environment(), capture_output=True, text=True, timeout=PATIENCE
    )
    pids = [int(pid) for pid in out.stdout.split()]
    assert len(pids) == 2, out
    await_end(pids)


def test_pool_is_collected():
    pool = pool_of(FaultyEnv, 2)
    pids = pids_of(pool)
    del pool
    gc.collect()
    await_end(pids)


def test_call_and_attributes():
    with pool_of(FaultyEnv, 3) as pool:
        pool.reset()
        assert pool.call("square", 3) == (9, 9, 9)
        pool.set_attr("resets_fail", [False, True, False])
        assert pool.get_attr("resets_fail") == (False, True, False)
        with pytest.raises(AttributeError) as caught:
            pool.get_attr("nothing", [0])
        assert "access.py" in str(caught.value.__cause__)
        assert pool.call("square", 2, env_id=[2]) == (4,)
        with pytest.raises(EnvStepError, match="reset is broken"):
            pool.reset()
        pool.recv()


def test_render():
    options = {"render_mode": "rgb_array", "env_kwargs": {"render_mode": "rgb_array"}}
    with pool_of(FaultyEnv, 3, **options) as pool:
        pool.reset()
        pool.step(np.zeros(3, int))
        assert (pool.render([2, 0]) == 1).all()
        pool.set_attr("render", 3)
        with pytest.raises(RenderError, match="not callable"):
            pool.render([0])


def test_infos_that_are_too_large():
    class Env(FaultyEnv):
        def step(self, action):
            return *super().step(action)[:4], {"large": np.zeros(1 << 20)}

    with pool_of(Env, 1) as pool:
        pool.reset()
        with pytest.raises(EnvStepError, match="do not fit"):
            pool.step(np.zeros(1, int))


def test_what_cannot_be_pickled():
    class Env(FaultyEnv):
        def step(self, action):
            return *super().step(action)[:4], {"local": lambda: 1}

        def local(self):
            return lambda: 1

    with pool_of(Env, 1) as pool:
        pool.reset()
        with pytest.raises(EnvStepError, match=r"the info must be picklable .* got \{'local': .*workers='inline'"):
            pool.step(np.zeros(1, int))
        pool.recv()
        with pytest.raises(TypeError, match=r"the result of call\('local'\) must be picklable .*workers='inline'"):
            pool.call("local")
        with pytest.raises(ConfigError, match=r"the arguments of a call take .*: pass less, or use workers='inline'"):
            pool.set_attr("large", bytes(2 << 20))
        with pytest.raises(ConfigError, match="the arguments of a call must be picklable"):
            pool.set_attr("generator", (x for x in ()))
        assert pool.call("square", 2) == (4,)


class TwoArguments(Exception):
    """An exception whose pickle cannot be loaded."""

    def __init__(self, text, number):
        super().__init__(text)


def test_infos_that_cannot_be_unpickled():
    class Env(FaultyEnv):
        def step(self, action):
            return *super().step(action)[:4], {"problem": TwoArguments("no", 3) if action == 3 else "none"}

    with pool_of(Env, 2) as pool:
        pool.reset()
        with pytest.warns(RuntimeWarning, match="the info of environment 1 was dropped.*TwoArguments"):
            obs, *_, info = pool.step(np.array([0, 3]))
        assert obs[:, 0].tolist() == [1, 1] and info["_problem"].tolist() == [True, False]


def test_spaces_of_every_kind():
    for observation in SPACES:
        with pool_of(partial(SpaceEnv, observation), 1, num_threads=1) as pool:
            pool.reset()
            pool.step(np.full(1, 3))
