"""Access to Python environments from several threads, beside steps, and between a step and its receipt."""

import signal
import threading

import numpy as np
import pytest

import envpool
from envpool.errors import EnvIdError, PoolStateError
from tests.python_envs.test_processes import check_nothing_is_left, pool_of  # noqa: F401
from tests.support.background_call import BackgroundCall
from tests.support.process import PATIENCE, wait_until
from tests.support.python_envs import FaultyEnv

KINDS = ["inline", "thread", "process"]


class SlowEnv(FaultyEnv):
    """Its method `wait` returns when a file exists; it shows by another one that it was called."""

    def wait(self, folder):
        (folder / "called").touch()
        wait_until((folder / "go").exists)
        return "waited"


class TalkingEnv(FaultyEnv):
    """Has an info in each step."""

    def step(self, action):
        *rest, _ = super().step(action)
        return *rest, {"steps": self.steps, "text": "x" * 100}


def make(env, num_envs, kind, **options):
    return envpool.make_python(env, num_envs, workers=kind, num_threads=2, **options)


@pytest.mark.parametrize("kind", KINDS)
def test_the_environments_of_a_call_are_held(kind, tmp_path):
    with make(SlowEnv, 3, kind) as pool:
        pool.reset()
        call = BackgroundCall(lambda: pool.call("wait", tmp_path, env_id=[1]))
        wait_until((tmp_path / "called").exists)
        for other in (
            lambda: pool.call("square", 2),
            lambda: pool.get_attr("count", [1]),
            lambda: pool.set_attr("count", 3, [0, 1]),
        ):
            with pytest.raises(PoolStateError, match=r"is 1, which another call is using: wait until call\(\)"):
                other()
        for other in (lambda: pool.step(np.zeros(3, int)), lambda: pool.send(np.zeros(1, int), [1]), pool.reset):
            with pytest.raises(EnvIdError, match="another call is using"):
                other()
        if kind != "process":  # there, the same process is busy with the call
            assert pool.get_attr("count", [0, 2]) == (0, 0)
        (tmp_path / "go").touch()
        assert call.finish() == ("waited",)
        assert pool.call("square", 3) == (9, 9, 9)
        assert pool.step(np.zeros(3, int))[0][:, 0].tolist() == [1, 1, 1]


@pytest.mark.parametrize("kind", KINDS)
def test_many_threads(kind):
    """Every call gets its own results, or is refused."""
    failures, refused = [], []
    with make(FaultyEnv, 4, kind) as pool:
        pool.reset()

        def ask(number):
            for k in range(60):
                ids = [[0, 1, 2, 3], [number % 4], [0, 3]][k % 3]
                value = 1000 * number + k
                try:
                    got = pool.call("square", value, env_id=ids)
                except PoolStateError as error:
                    refused.append(error)
                    continue
                except BaseException as error:
                    got = error
                if got != (value * value,) * len(ids):
                    failures.append((value, ids, got))

        threads = [threading.Thread(target=ask, args=(k,)) for k in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE)
        assert not failures
        assert all("another call is using" in str(error) for error in refused)


def test_close_during_a_call(tmp_path):
    pool = make(SlowEnv, 2, "thread")
    pool.reset()
    call = BackgroundCall(lambda: pool.call("wait", tmp_path, env_id=[1]))
    wait_until((tmp_path / "called").exists)
    close = BackgroundCall(pool.close)
    wait_until(lambda: pool.is_closed)
    (tmp_path / "go").touch()
    assert call.finish() == ("waited",)
    close.finish()
    with pytest.raises(PoolStateError, match="closed"):
        pool.call("square", 1)


def test_close_during_a_call_to_a_process(tmp_path):
    pool = make(SlowEnv, 2, "process", step_timeout=60)
    pool.reset()
    call = BackgroundCall(lambda: pool.call("wait", tmp_path, env_id=[1]))
    wait_until((tmp_path / "called").exists)
    close = BackgroundCall(pool.close)
    with pytest.raises(PoolStateError, match="closed"):
        call.finish()
    (tmp_path / "go").touch()
    close.finish()


def test_a_method_may_call_the_pool():
    pools = []

    class Env(FaultyEnv):
        def others(self):
            return pools[0].call("square", 3, env_id=[1])

        def own(self):
            return pools[0].get_attr("count", [0])

        def close(self):
            pools.clear()

    with make(Env, 2, "inline") as pool:
        pools.append(pool)
        assert pool.call("others", env_id=[0]) == ((9,),)
        with pytest.raises(PoolStateError, match="another call is using"):
            pool.call("own", env_id=[0])


@pytest.mark.parametrize("access", ["render", "call"])
@pytest.mark.parametrize("kind", KINDS)
def test_infos_survive_what_comes_before_their_receipt(kind, access):
    """`render` draws environments whose results were not received yet; `call` follows a step that was interrupted."""
    with make(TalkingEnv, 4, kind, batch_size=2, render_mode="rgb_array") as pool:
        pool.async_reset()
        for _ in range(2):
            pool.recv()
        pool.send(np.zeros(4, int), np.arange(4))
        received = [pool.recv()] if access == "call" else []
        if access == "render":
            assert pool.render([0, 1, 2, 3]).shape == (4, 6, 5, 3)
        else:
            ids = received[0][-1]["env_id"]
            pool.call("square", 2, env_id=ids)
        received.append(pool.recv())
        if access == "render":
            received.append(pool.recv())
        for *_, info in received:
            assert info["steps"].tolist() == [1, 1]
            assert info["text"].tolist() == ["x" * 100] * 2
        pool.send(np.zeros(4, int), np.arange(4))
        assert pool.recv()[-1]["steps"].tolist() == [2, 2]
        pool.recv()


def test_last_infos_survive_a_frame():
    """With same_step, infos from before a reset are read when the reset is sent, after the frame."""

    class Env(TalkingEnv):
        def step(self, action):
            obs, reward, _, _, info = super().step(action)
            return obs, reward, self.count == 2, False, info

    with make(Env, 2, "process", autoreset_mode="same_step", render_mode="rgb_array") as pool:
        pool.reset()
        pool.send(np.zeros(2, int))
        pool.render([0, 1])
        assert pool.recv()[-1]["steps"].tolist() == [1, 1]
        pool.send(np.zeros(2, int))
        pool.render([0, 1])
        info = pool.recv()[-1]
        assert info["final_info"]["steps"].tolist() == [2, 2]


def test_a_call_after_one_that_was_interrupted(tmp_path):
    """The interrupted command is still in the ring, and its result is nobody's."""
    with pool_of(SlowEnv, 2) as pool:
        pool.reset()

        def interrupt():
            wait_until((tmp_path / "called").exists)
            signal.raise_signal(signal.SIGINT)

        helper = threading.Thread(target=interrupt)
        helper.start()
        with pytest.raises(KeyboardInterrupt):
            pool.call("wait", tmp_path)
        helper.join()
        answer = BackgroundCall(lambda: pool.call("square", 3))
        (tmp_path / "go").touch()
        assert answer.finish() == (9, 9)
        assert pool.step(np.zeros(2, int))[0][:, 0].tolist() == [1, 1]
