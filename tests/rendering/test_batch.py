"""Pictures as one native batch: which envs, in what state, on which threads, beside everything else a pool does."""

import gc
import os
import signal
import threading

import numpy as np
import pytest

from envpool.errors import ConfigError, EnvIdError, EnvStepError, PoolStateError, RenderError
from tests._core.stress import Caller
from tests.native import plugin
from tests.native.model import CODE, FAIL, TERMINATE, WAIT, CheckedPool, codes, same
from tests.native.process import open_files, resident, wait_until, workers

NO_PICTURE = 94
KINDS = {
    "sync": {"num_envs": 6, "num_threads": 2},
    "sync, the caller alone": {"num_envs": 6, "num_threads": 1},
    "async": {"num_envs": 6, "batch_size": 2, "num_threads": 2},
    "async, one thread": {"num_envs": 6, "batch_size": 2, "num_threads": 1},
}


@pytest.fixture(params=KINDS)
def checked(request):
    c = CheckedPool(**KINDS[request.param])
    yield c
    c.close()


@pytest.fixture
def native():
    """The plug-in with its gate closed; it is opened in the end, and no env was used by two threads at once."""
    native = plugin.load().native
    before = native.num_violations()
    native.close_gate()
    yield native
    native.open_gate()
    assert native.num_violations() == before


def pictures(**options):
    return plugin.make(render_mode="rgb_array", **options)


# ---- what is drawn ---------------------------------------------------------------------------------------------------


def test_pictures_tell_the_state(checked):
    checked.reset() if checked.is_sync else checked.reset(range(6))
    checked.render(range(6))
    checked.render([4, 0])
    checked.assert_works()
    checked.render([5, 1, 1, 5, 0, 3])
    checked.render([])


def test_pictures_that_somebody_holds_are_never_drawn_over():
    with pictures(num_envs=4) as pool:
        pool.reset()
        held, copies = [], []
        for k in range(30):
            frames = pool.render(env_ids=range(4))
            if k % 3:  # some are dropped, and of some only a part is held
                held.append(frames[1:, ::2] if k % 3 == 2 else frames)
                copies.append(held[-1].copy())
            pool.step(np.full(4, k % 5, np.int32))
        assert len({c.tobytes() for c in copies}) > 10
        for k, (frames, copy) in enumerate(zip(held, copies, strict=True)):
            np.testing.assert_array_equal(frames, copy, str(k))
    np.testing.assert_array_equal(held[-1], copies[-1])


def test_memory_of_dropped_pictures_is_used_again():
    with pictures(num_envs=4) as pool:
        pool.reset()
        places = set()
        for _ in range(50):
            frames = pool.render(env_ids=range(4))
            places.add(frames.ctypes.data)
        assert len(places) == 2


def test_shape_size_camera_and_assets():
    with pictures(num_envs=3, render_width=7, render_height=11, render_env_id=2, render_camera_id=4) as pool:
        pool.reset()
        frame = pool.render()
        assert frame.shape == (1, 11, 7, 3) and frame.dtype == np.uint8
        words = frame.reshape(-1)[:64].view(np.int64)
        assert words[0] == 2 and words[CODE] == 4, "the env and the camera of the options"
        assert words[CODE + 1] == 11 + (7 << 16), "what render_assets returned"
        assert pool.render(camera_id=1).reshape(-1)[:64].view(np.int64)[CODE] == 1
        assert pool.render(np.int64(1)).shape == (1, 11, 7, 3)
        assert pool.render([]).shape == (0, 11, 7, 3)


def test_each_env_once_in_any_order_and_number():
    with pictures(num_envs=300) as pool:
        pool.reset()
        ids = np.random.default_rng(0).integers(0, 300, 1000)
        same(codes(pool.render(ids))[:, 0], ids, np.int64)
        ids = np.random.default_rng(1).permutation(300).astype(np.uint16)
        same(codes(pool.render(ids))[:, 0], ids, np.int64)


def test_results_are_fresh():
    with pictures(num_envs=2) as pool:
        pool.reset()
        first = pool.render([0, 1])
        kept = first.copy()
        pool.step(np.array([1, 2]))
        second = pool.render([0, 1])
        np.testing.assert_array_equal(first, kept)
        assert not np.array_equal(first, second) and first.flags.writeable


def test_rendering_changes_nothing():
    with pictures(num_envs=4) as drawn, plugin.make(num_envs=4) as plain:
        drawn.reset(), plain.reset()
        for k in range(20):
            drawn.render(range(4))
            for a, b in zip(drawn.step(np.full(4, k)), plain.step(np.full(4, k)), strict=True):
                if isinstance(a, dict):
                    a, b = a["draws"], b["draws"]
                np.testing.assert_array_equal(a, b)


# ---- envs in flight --------------------------------------------------------------------------------------------------


def test_rows_in_flight_stay(checked):
    checked.sent_reset()
    checked.pool.async_reset()
    for k in range(6):
        checked.render([k])
    while checked.can_receive():
        checked.recv()
        checked.render([0, 5, 2])
    checked.assert_works()


def test_rows_on_the_shelf_stay(checked):
    checked.sent_reset()
    checked.pool.async_reset()
    checked.recv_some(env_ids=[3])
    checked.render(range(6))
    checked.send([3], [7])
    checked.render([3, 4])
    checked.recv_some(min_ready=2)
    checked.render(range(6))
    checked.recv_some(env_ids=list(checked.in_flight))
    checked.assert_works()


@pytest.mark.parametrize("shelved", [False, True])
@pytest.mark.parametrize("kind", ["sync", "async"])
def test_a_busy_env_is_waited_for(native, kind, shelved):
    with pictures(**KINDS[kind]) as pool:
        pool.reset(range(6))
        if shelved:
            pool.send(np.zeros(2, int), [0, 1])
            pool.recv(env_ids=[0])
        pool.send(np.array([WAIT, 1]), [2, 3])
        assert codes(pool.render([5]))[0, 0] == 5, "an idle env is drawn while others are in flight"
        frames = []
        rendering = Caller(lambda: frames.append(pool.render([2, 3])))
        wait_until(lambda: native.num_at_gate() == 1)  # the caller steps it where no worker does
        assert not frames
        native.open_gate()
        rendering.finish()
        same(codes(frames[0])[:, :4], [[2, 1, 1, WAIT], [3, 1, 1, 1]], np.int64)
        assert sorted(pool.recv(env_ids=[2, 3])[-1]["env_id"]) == [2, 3]


def test_the_first_render_waits_for_the_first_reset():
    with pictures(num_envs=5, num_threads=1) as pool:
        pool.async_reset()
        same(codes(pool.render(range(5)))[:, 0], range(5), np.int64)
        pool.recv()


# ---- several threads of the user's -----------------------------------------------------------------------------------


def test_an_env_that_is_drawn_cannot_be_sent_to(native):
    with pictures(num_envs=3, frames_wait=True) as pool:
        pool.reset()
        rendering = Caller(lambda: pool.render([1]))
        wait_until(lambda: native.num_at_gate() == 1)
        for call in (
            lambda: pool.send(np.zeros(2, int), [0, 1]),
            lambda: pool.send(np.zeros(3, int)),
            lambda: pool.step(np.zeros(1, int), [1]),
            lambda: pool.reset([2, 1]),
            pool.reset,
            pool.async_reset,
        ):
            with pytest.raises(EnvIdError, match="which another thread is rendering at this moment"):
                call()
        assert pool.num_outstanding == 0
        with pytest.raises(PoolStateError, match="another thread is rendering this pool"):
            pool.render([0])
        pool.step(np.zeros(2, int), [0, 2])
        native.open_gate()
        rendering.finish()
        pool.step(np.zeros(3, int))
        same(codes(pool.render(range(3)))[:, 2], [2, 1, 2], np.int64)


def test_rows_of_envs_that_are_drawn_can_be_received(native):
    with pictures(num_envs=3, frames_wait=True) as pool:
        pool.async_reset()
        rendering = Caller(lambda: pool.render([1]))
        wait_until(lambda: native.num_at_gate() == 1)
        pool.recv()
        with pytest.raises(EnvIdError, match=r"env_id\[1\] is 1, which another thread is rendering"):
            pool.send(np.zeros(3, int))
        native.open_gate()
        rendering.finish()
        pool.step(np.zeros(3, int))


def test_work_is_spread_over_the_threads(native):
    with pictures(num_envs=8, num_threads=3, frames_wait=True, frame_ns=1_000_000) as pool:
        pool.reset()
        native.open_gate()
        pool.render([0])  # now it is known what a picture costs
        native.close_gate()
        rendering = Caller(lambda: pool.render(range(8)))
        wait_until(lambda: native.num_at_gate() == 3)
        native.open_gate()
        rendering.finish()
        wait_until(lambda: set(workers()) <= {"envpool-0", "envpool-1"})  # those of the pool


def test_cheap_pictures_start_no_thread(native):
    with pictures(num_envs=2, num_threads=2, frames_wait=True) as pool:
        pool.reset()
        native.open_gate()
        for _ in range(20):
            pool.render([0, 1])
        native.close_gate()
        rendering = Caller(lambda: pool.render([0, 1]))
        wait_until(lambda: native.num_at_gate() == 1)
        assert "envpool-2" not in workers()
        native.open_gate()
        rendering.finish()


# ---- the end ---------------------------------------------------------------------------------------------------------


def test_close_waits_for_pictures(native):
    pool = pictures(num_envs=4, num_threads=2, frames_wait=True, frame_ns=300_000)
    pool.reset()
    rendering = Caller(lambda: pool.render(range(4)))
    wait_until(lambda: native.num_at_gate() >= 1)
    closing = Caller(pool.close)
    wait_until(lambda: pool.is_closed)
    assert closing.is_alive()
    native.open_gate()
    closing.finish()
    with pytest.raises(PoolStateError, match="the pool is closed"):
        rendering.finish()
    wait_until(lambda: not workers())


def test_close_ends_a_wait_for_a_busy_env(native):
    pool = pictures(num_envs=2, num_threads=2)
    pool.reset()
    pool.send(np.array([WAIT, 1]))
    rendering = Caller(lambda: pool.render([0]))
    wait_until(lambda: native.num_at_gate() == 1)
    closing = Caller(pool.close)
    wait_until(lambda: pool.is_closed)
    native.open_gate()
    closing.finish()
    with pytest.raises(PoolStateError, match="the pool is closed"):
        rendering.finish()


@pytest.mark.parametrize("num_threads", [1, 2])
@pytest.mark.parametrize("act", ["raise", "close", "render", "send"])
def test_a_signal_while_drawing(act, num_threads):
    """The pictures take 50 s; the handler ends that, or fails, or the test would."""
    pool = pictures(num_envs=500, num_threads=num_threads, frame_ns=100_000_000)
    pool.reset()
    pool.render([0])

    def handler(*_):
        if act == "raise":
            raise KeyboardInterrupt
        {"close": pool.close, "render": lambda: pool.render([1]), "send": lambda: pool.send(np.zeros(500))}[act]()

    before = signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    expected = {"raise": KeyboardInterrupt, "send": EnvIdError}.get(act, PoolStateError)
    try:
        with pytest.raises(expected):
            pool.render(range(500))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    if act != "close":
        pool.step(np.zeros(500))
        assert pool.render([3]).shape[0] == 1
    pool.close()
    wait_until(lambda: not workers())


def test_a_closed_pool_and_one_from_before_a_fork():
    pool = pictures()
    pool.reset()
    child = os.fork()
    if child == 0:
        try:
            pool.render()
        except PoolStateError as error:
            os._exit(7 if "forked" in str(error) else 1)
        os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    pool.close()
    with pytest.raises(PoolStateError, match="the pool is closed"):
        pool.render()


def cycle(count):
    for k in range(count):
        pool = pictures(num_envs=4, num_threads=2, frame_ns=250_000)
        pool.reset()
        pool.render([0])
        pool.render(range(4))
        if k % 2:
            pool.close()
    del pool
    gc.collect()
    wait_until(lambda: not workers())


@pytest.mark.parametrize("count", [50, pytest.param(1000, marks=pytest.mark.slow)])
def test_nothing_is_left(count):
    cycle(20)
    threads, files, memory = threading.active_count(), open_files(), resident()
    cycle(count)
    assert (threading.active_count(), open_files()) == (threads, files)
    assert resident() - memory < 8 << 20


# ---- mistakes --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ids", "error", "text"),
    [
        (3, EnvIdError, r"env_ids\[0\] is 3, allowed are 0 to 2"),
        ([0, -1], EnvIdError, r"env_ids\[1\] is -1, allowed are 0 to 2"),
        ([2**40], EnvIdError, rf"env_ids\[0\] is {2**40}, allowed"),
        (np.array([2**63], np.uint64), EnvIdError, r"allowed are 0 to 2"),
        ([0.5], EnvIdError, r"must be a 1-D array of integers"),
        ([[0, 1]], EnvIdError, r"must be a 1-D array of integers"),
        (True, EnvIdError, r"must be a 1-D array of integers"),
        ("rgb_array", EnvIdError, r"must be a 1-D array of integers"),
        ([[0], [1, 2]], EnvIdError, r"must be a 1-D array of integers"),
    ],
)
def test_bad_ids(ids, error, text):
    with pictures(num_envs=3) as pool:
        pool.reset()
        with pytest.raises(error, match=text):
            pool.render(ids)
        assert pool.render().shape[0] == 1


@pytest.mark.parametrize(
    ("camera", "error"), [(-2, ConfigError), (2**31, ConfigError), (0.5, TypeError), (True, TypeError)]
)
def test_bad_cameras(camera, error):
    with pictures(num_envs=3) as pool:
        pool.reset()
        with pytest.raises(error, match="camera_id"):
            pool.render(camera_id=camera)


@pytest.mark.parametrize("mode", ["next_step", "disabled"])
def test_an_env_without_an_episode(mode):
    with pictures(num_envs=3, autoreset_mode=mode) as pool:
        with pytest.raises(PoolStateError, match=r"env 2 has not been reset yet: call reset\(\) before render\(\)"):
            pool.render(2)
        pool.reset([0])
        with pytest.raises(PoolStateError, match="env 1 has not been reset"):
            pool.render([0, 1])
        assert pool.render(0).shape[0] == 1
        pool.reset()
        pool.step(np.full(3, TERMINATE))
        same(codes(pool.render(range(3)))[:, 2], [1, 1, 1], np.int64)  # the last picture of an episode


def test_an_env_that_cannot_be_drawn():
    with pictures(num_envs=20) as pool:
        pool.reset()
        actions = np.zeros(20, int)
        actions[[3, 7]] = NO_PICTURE
        pool.step(actions)
        text = (
            r"2 env\(s\) could not be rendered: env 3: has nothing to show at step 1 of episode 1 \(env 3\); env 7: has"
        )
        with pytest.raises(RenderError, match=text) as caught:
            pool.render(range(20))
        assert sorted(caught.value.failures) == [3, 7]
        assert pool.render([0, 1]).shape[0] == 2
        pool.step(np.zeros(20, int))
        assert pool.render(range(20)).shape[0] == 20


@pytest.mark.parametrize("mode", ["next_step", "same_step"])
def test_a_failed_env_has_no_picture(mode):
    with pictures(num_envs=2, autoreset_mode=mode, fail_reset=1) as pool:
        pool.reset()
        with pytest.raises(EnvStepError):
            pool.step(np.array([FAIL, 1]))
        if mode == "next_step":
            with pytest.raises(RenderError, match="env 0: its last step failed: reset it"):
                pool.render([1, 0])
            pool.recv()
            with pytest.raises(EnvStepError):  # the reset fails, too
                pool.step(np.zeros(2, int))
        with pytest.raises(RenderError, match="env 0: its last step failed: reset it"):
            pool.render(0)
        pool.recv()
        pool.step(np.zeros(2, int))
        assert pool.render([0, 1]).shape[0] == 2
