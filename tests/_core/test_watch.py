"""step_timeout: a wait raises and names the envs that hang, loses nothing, and goes on without them where it can.

Events decide: an env hangs until the test opens the gate. No test fails because something took long, apart from the
watchdog of `BackgroundCall`, in which every call is made that would hang if nobody noticed.
"""

import numpy as np
import pytest

from envpool.errors import EnvIdError, EnvStepError, EnvTimeoutError, PoolStateError
from tests.support import plugin
from tests.support.background_call import BackgroundCall
from tests.support.checked_pool import FAIL, TERMINATE, WAIT, CheckedPool
from tests.support.gate import Gate, eventually, reset_some
from tests.support.process import wait_until, workers
from tests.support.snapshots import Snapshots, pool_with

TIMEOUT = 0.05


@pytest.fixture
def gate():
    """Close the gate for a test, and open it afterwards."""
    gate = Gate()
    gate.close()
    yield gate
    gate.open()


def make(num_envs=6, batch_size=0, **options):
    """Return a pool whose envs are reset and idle."""
    pool = plugin.make(
        num_envs=num_envs,
        batch_size=batch_size,
        **{"num_threads": 2, "step_timeout": TIMEOUT, "episode_length": 0, "render_mode": "rgb_array"} | options,
    )
    reset_some(pool, range(num_envs))
    return pool


def timed_out(call):
    """Return the EnvTimeoutError of a call."""
    with pytest.raises(EnvTimeoutError) as caught:
        BackgroundCall(call).finish()
    assert all(seconds > TIMEOUT for seconds in caught.value.running.values())
    return caught.value


def zeros(n):
    return np.zeros(n, np.int32)


# ---- sync ------------------------------------------------------------------------------------------------------------


def test_a_sync_step_raises_may_be_repeated_and_resumes(gate):
    with make() as pool, make() as other:
        action = zeros(6)
        action[4] = WAIT
        error = timed_out(lambda: pool.step(action))
        assert 4 in error.running
        assert isinstance(error, TimeoutError) and isinstance(error, PoolStateError) and isinstance(error, RuntimeError)
        assert not isinstance(error, EnvStepError)
        assert "env 4: for 0." in str(error) or len(error.running) > 1
        assert f"longer than step_timeout={TIMEOUT:g} seconds" in str(error)
        assert pool.num_outstanding == 6
        assert 4 in timed_out(pool.recv).running
        gate.open()
        batch, expected = eventually(pool.recv), eventually(lambda: other.step(action), other.recv)
        for k in range(4):
            assert batch[k].tobytes() == expected[k].tobytes()
        eventually(lambda: pool.step(zeros(6)), pool.recv)


def test_what_the_error_says(gate):
    with make() as pool:
        gate.hang(pool, 4)
        error = timed_out(pool.recv)
        assert list(error.running) == [4]
        assert str(error) == (
            "1 env(s) have been running for longer than step_timeout=0.05 seconds: env 4: for "
            f"{error.running[4]:.3g} s. recv() waits for them again, and close() does not wait for them"
        )


def test_two_envs_and_no_thread_left(gate):
    with make() as pool:
        gate.hang(pool, 4, 1)
        pool.send(zeros(1), [0])
        wait_until(lambda: timed_out(pool.recv).running.keys() == {1, 4})
        assert "no thread of the pool is left for the other envs" in str(timed_out(pool.recv))


def test_one_thread_is_enough_to_notice(gate):
    """The consumer does not run envs in place of the worker."""
    with make(num_threads=1) as pool:
        error = timed_out(lambda: pool.step(np.full(6, WAIT)))
        assert set(error.running) <= set(range(6))
        gate.open()
        assert eventually(pool.recv)[-1]["env_id"].tolist() == list(range(6))


def test_every_thread_is_started():
    with make(num_threads=3):
        assert len(workers()) == 3
    wait_until(lambda: not workers())
    with make(num_threads=3, step_timeout=None):
        assert len(workers()) == 2
    wait_until(lambda: not workers())


@pytest.mark.parametrize("where", ["reset", "seed", "write"])
@pytest.mark.parametrize("batch_size", [0, 2], ids=["sync", "async"])
def test_every_function_of_an_env_is_watched(gate, where, batch_size):
    """Env 0 hangs in a reset, in its seeding, or when its row is written."""
    with plugin.make(num_envs=3, batch_size=batch_size, waits_in=where, num_threads=2, step_timeout=TIMEOUT) as pool:
        assert 0 in timed_out(lambda: pool.reset([2, 1, 0])).running
        gate.open()
        batch = eventually(lambda: pool.recv(reset=True, env_id=[2, 1, 0]))
        assert batch[1]["env_id"].tolist() == [2, 1, 0]
        assert batch[0][:, 0].tolist() == [2, 1, 0]


@pytest.mark.parametrize("call", ["reset", "async_reset"])
@pytest.mark.parametrize("batch_size", [0, 2], ids=["sync", "async"])
def test_a_reset_of_all_envs(gate, call, batch_size):
    """It drops what is in flight, and so must wait for it; if it raises, it has dropped nothing."""
    with make(batch_size=batch_size) as pool:
        gate.hang(pool, 3)
        assert list(timed_out(getattr(pool, call)).running) == [3]
        assert pool.num_outstanding == 1
        gate.open()
        eventually(
            getattr(pool, call), lambda: pool.recv(reset=True) if pool.num_outstanding > 1 else getattr(pool, call)()
        )
        assert pool.num_outstanding == (6 if call == "async_reset" else 6 - (batch_size or 6))


# ---- async and partial batches ---------------------------------------------------------------------------------------


def test_a_slow_reset_in_the_same_step_delays_no_other_env(gate):
    """Neither the envs that were stepped with it nor those that share its block, in async pools."""
    gate.open()
    with make(4, 2, waits_in="reset", autoreset_mode="same_step", cost_ns=1e3) as pool:
        gate.close()
        pool.send(np.array([TERMINATE, 0, 0, 0], np.int32))
        for _ in range(3):
            ids = eventually(pool.recv, hanging=[0])[-1]["env_id"]
            assert 0 not in ids
            pool.send(zeros(2), ids)
        eventually(pool.recv, hanging=[0])
        assert set(timed_out(pool.recv).running) == {0}
        gate.open()
        *_, terminated, _, info = eventually(pool.recv)
        row = info["env_id"].tolist().index(0)
        assert terminated[row] and info["elapsed_step"][row] == 0
        assert info["final_info"]["elapsed_step"][row] == 1


def test_an_async_pool_goes_on_without_the_env(gate):
    with make(batch_size=2) as pool:
        gate.hang(pool, 3)
        pool.send(zeros(5), [0, 1, 2, 4, 5])
        for _ in range(50):
            ids = eventually(pool.recv, hanging=[3])[-1]["env_id"]
            assert 3 not in ids
            pool.send(zeros(2), ids)
        for _ in range(2):
            eventually(pool.recv, hanging=[3])
        assert pool.num_outstanding == 2
        assert 3 in timed_out(pool.recv).running
        gate.open()
        assert 3 in eventually(pool.recv)[-1]["env_id"]


def test_partial_batches(gate):
    with make() as pool:
        gate.hang(pool, 3)
        pool.send(zeros(5), [0, 1, 2, 4, 5])

        def received(**wish):
            return eventually(lambda: pool.recv(**wish), hanging=[3])[-1]["env_id"].tolist()

        assert received(env_id=[1]) == [1]
        assert 3 in timed_out(lambda: pool.recv(env_id=[3, 0])).running
        assert received(env_id=[3, 0], min_ready=1) == [0]
        assert received(env_id=[5, 4, 2]) == [5, 4, 2]
        assert reset_some(pool, [5, 0], hanging=[3])[1]["env_id"].tolist() == [5, 0]
        assert list(timed_out(pool.recv).running) == [3]
        assert list(timed_out(lambda: pool.recv(min_ready=1)).running) == [3]
        gate.open()
        assert received(env_id=[3]) == [3]


def test_a_timeout_of_recv(gate):
    """Rows that are ready are returned; only a call that has none, and waits for nothing else, raises."""
    with make() as pool:
        gate.hang(pool, 3)
        pool.send(zeros(1), [0])
        assert 3 in timed_out(lambda: pool.recv(env_id=[3])).running
        assert pool.recv(timeout=600, min_ready=1)[-1]["env_id"].tolist() == [0]
        raised = []

        def raises():
            try:
                assert len(pool.recv(timeout=0)[0]) == 0
            except EnvTimeoutError as error:
                raised.append(error)
            return bool(raised)

        wait_until(raises)
        assert list(raised[0].running) == [3]
        assert pool.num_outstanding == 1


def test_failures_and_hanging_envs_together(gate):
    with make(on_error="restart") as pool:
        gate.hang(pool, 3)
        pool.send(np.array([FAIL, 0], np.int32), [1, 2])
        *_, info = eventually(lambda: pool.recv(env_id=[1, 2]), hanging=[3])
        assert info["_error"].tolist() == [True, False]
        assert list(timed_out(pool.recv).running) == [3]


# ---- other calls -----------------------------------------------------------------------------------------------------


def test_render(gate):
    with make() as pool:
        gate.hang(pool, 3)
        assert list(timed_out(lambda: pool.render([3])).running) == [3]
        assert pool.render([0]).shape == (1, 8, 12, 3)
        gate.open()
        assert eventually(lambda: pool.render([3])).shape == (1, 8, 12, 3)
        eventually(pool.recv)


def test_states_and_sends_are_refused_as_for_every_env_in_flight(gate):
    with pool_with(Snapshots(), num_envs=3, num_threads=2, step_timeout=TIMEOUT) as pool:
        eventually(pool.reset, lambda: pool.recv(reset=True))
        gate.hang(pool, 1)
        timed_out(pool.recv)
        states = pool.get_state([0])
        for call in (
            lambda: pool.get_state(1),
            lambda: pool.set_state(states, 1),
            lambda: pool.copy_state(0, 1),
            lambda: pool.send(zeros(1), [1]),
            lambda: pool.reset([1]),
        ):
            with pytest.raises(EnvIdError, match="still in flight"):
                call()
        pool.set_state(states, [2])
        gate.open()


def test_a_long_timeout_reports_nothing(gate):
    """The call waits until the env returns, although it looks for stuck envs many times."""
    with make(step_timeout=600) as pool:
        gate.hang(pool, 3)
        call = BackgroundCall(pool.recv)
        call.wait_until_inside()
        gate.open()
        assert call.finish()[-1]["env_id"].tolist() == [3]


@pytest.mark.parametrize("num_envs", [1, 6])
@pytest.mark.parametrize("options", [{}, {"fused": True}, {"batch_size": 1}, {"num_threads": 1}, {"num_threads": 20}])
@pytest.mark.parametrize("mode", ["next_step", "same_step", "disabled"])
def test_watched_pools_return_what_others_do(num_envs, options, mode):
    c = CheckedPool(
        num_envs, autoreset_mode=mode, step_timeout=600, **{"num_threads": 2, "episode_length": 3} | options
    )
    c.start()
    c.assert_works(20)
    c.send(c.steppable(), [1] * len(c.steppable()))
    c.recv_some(min_ready=0)
    c.recv_some(env_id=list(c.in_flight))
    c.reset()
    c.recv_batches()
    c.assert_works(5)
    c.close()


def test_a_tiny_timeout_hangs_no_call():
    """Steps take longer than the timeout all the time: whatever is raised, every row arrives."""
    with plugin.make(num_envs=8, num_threads=2, step_timeout=1e-9, cost_ns=2e6, sleeps=True, episode_length=0) as pool:
        assert eventually(pool.reset, lambda: pool.recv(reset=True))[-1]["env_id"].tolist() == list(range(8))
        for _ in range(20):
            assert eventually(lambda: pool.step(zeros(8)), pool.recv)[-1]["env_id"].tolist() == list(range(8))
