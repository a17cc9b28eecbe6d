"""A failing env is reported by id and text; its batch still arrives, it starts a new episode, others are unaffected."""

import numpy as np
import pytest

from envpool.errors import EnvStepError
from tests.support import plugin
from tests.support.checked_pool import FAIL, CheckedPool

MODES = ["next_step", "same_step", "disabled"]
ON_ERROR = ["raise", "restart"]


@pytest.fixture(params=[(0, False), (0, True), (3, False)], ids=["sync", "sync fused", "async"])
def make(request):
    """Make a checked pool of six envs on several threads, and reset it."""
    made = []

    def make_one(**options):
        batch, fused = request.param
        made.append(CheckedPool(6, batch, fused=fused, num_threads=2, **options))
        return made[-1]

    yield make_one
    for c in made:
        c.close()


@pytest.mark.parametrize("on_error", ON_ERROR)
@pytest.mark.parametrize("mode", MODES)
def test_failed_steps(make, mode, on_error):
    c = make(autoreset_mode=mode, episode_length=0, on_error=on_error)
    c.start()
    for k in range(30):
        ids = c.steppable()
        c.send(ids, [FAIL if (i + k) % 4 == 0 else k for i in ids])
        c.recv_batches()  # compares the failures that are reported with those of the batch that follows
        c.reset_ended()
    c.assert_works()


@pytest.mark.parametrize("on_error", ON_ERROR)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("episode", [0, 1])
def test_failed_resets(make, mode, episode, on_error):
    """The first attempt to start one episode fails in every env."""
    c = make(autoreset_mode=mode, episode_length=2, fail_reset=episode, on_error=on_error)
    c.start()
    for k in range(12):
        c.reset_ended()
        c.send(c.steppable(), [k] * len(c.steppable()))
        c.recv_batches()
    assert all(e.has_failed_reset for e in c.envs)


def test_a_failure_of_which_only_the_error_codes_tell(make):
    """The status of the call was 0."""
    c = make(report="errors")
    c.start()
    for k in range(10):
        ids = c.steppable()
        c.send(ids, [FAIL if (i + k) % 4 == 0 else k for i in ids])
        c.recv_batches()
    c.assert_works()


def test_a_failure_of_which_only_the_status_tells(make):
    """The env does not say which env of the call failed, so all of them have."""
    c = make(report="status", episode_length=0)
    c.start()
    ids = c.idle()
    c.pool.send(np.full(len(ids), FAIL, np.int32), ids)
    with pytest.raises(EnvStepError, match="was asked to fail"):
        c.pool.recv()
    batch = c.pool.recv()
    assert not batch[0].any()
    assert not batch[1].any()
    assert batch[3].all()


def test_what_the_exception_says(make):
    c = make()
    c.start()
    c.send([4, 1, 3], [FAIL, 0, FAIL])
    with pytest.raises(EnvStepError) as caught:
        c.pool.recv()
    assert isinstance(caught.value, RuntimeError)
    assert caught.value.failures == {
        4: "was asked to fail at step 1 of episode 1 (env 4)",
        3: "was asked to fail at step 1 of episode 1 (env 3)",
    }
    text = str(caught.value)
    assert "2 env(s) failed: env " in text
    assert "env 3: was asked to fail" in text
    assert "recv() still returns the batch" in text
    obs, reward, terminated, truncated, info = c.received(c.pool.recv())
    failed = np.isin(info["env_id"], [3, 4])
    assert not obs[failed].any()
    assert not info["draws"][failed].any()
    assert not reward[failed].any()
    assert not terminated.any()
    assert truncated.tolist() == failed.tolist()


def test_a_failure_is_reported_once_and_with_its_own_batch():
    c = CheckedPool(6, 2, num_threads=1)
    c.start()
    c.send([0, 1], [0, 0])
    c.send([2, 3], [FAIL, 0])
    c.send([4, 5], [0, 0])
    reports = 0
    while c.in_flight:
        try:
            c.received(c.pool.recv())
        except EnvStepError as error:
            reports += 1
            assert set(error.failures) == {2}
            assert 2 in c.received(c.pool.recv())[-1]["env_id"]
    assert reports == 1
    c.assert_works()
    c.close()


def test_reset_drops_a_failure_that_nobody_has_received(make):
    c = make()
    c.start()
    c.send([0, 1, 2, 3, 4, 5], [FAIL] * 6)
    c.sent_reset()
    c.received(c.pool.reset())
    c.recv_batches()
    c.assert_works()


def test_step_and_reset_raise_too():
    c = CheckedPool(2, fail_reset=0)
    with pytest.raises(EnvStepError, match="failed to start an episode"):
        c.pool.reset()
    c.sent_reset()
    c.received(c.pool.recv(reset=True))
    c.sent_reset()
    c.received(c.pool.reset())
    with pytest.raises(EnvStepError, match="env 1: was asked to fail"):
        c.pool.step(np.array([0, FAIL]))
    c.sent([0, 1], [0, FAIL])
    c.received(c.pool.recv())
    c.assert_works()
    c.close()


def test_many_failures_are_shortened():
    with plugin.make(num_envs=50) as pool:
        pool.reset()
        with pytest.raises(EnvStepError, match=r"50 env\(s\) failed: env 0: .*; and 42 more\.") as caught:
            pool.step(np.full(50, FAIL))
        assert len(caught.value.failures) == 50
