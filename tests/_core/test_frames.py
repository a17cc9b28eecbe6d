"""Rendering frames: which envs, in which state, of which size, and errors for mistakes."""

import numpy as np
import pytest

from envpool.errors import ConfigError, EnvIdError, EnvStepError, PoolStateError, RenderError
from tests.support import plugin
from tests.support.checked_pool import CODE, FAIL, TERMINATE, CheckedPool, codes, same

NO_FRAME = 94
POOLS = {
    "sync": {"num_envs": 6, "num_threads": 2},
    "sync, the caller alone": {"num_envs": 6, "num_threads": 1},
    "async": {"num_envs": 6, "batch_size": 2, "num_threads": 2},
    "async, one thread": {"num_envs": 6, "batch_size": 2, "num_threads": 1},
}


@pytest.fixture(params=POOLS)
def checked(request):
    c = CheckedPool(**POOLS[request.param])
    yield c
    c.close()


def rendering_pool(**options):
    return plugin.make(render_mode="rgb_array", **options)


# ---- what is drawn ---------------------------------------------------------------------------------------------------


def test_frames_show_the_state(checked):
    checked.reset() if checked.is_sync else checked.reset(range(6))
    checked.render(range(6))
    checked.render([4, 0])
    checked.assert_works()
    checked.render([5, 1, 1, 5, 0, 3])
    checked.render([])


def test_frames_that_somebody_holds_are_never_overwritten():
    with rendering_pool(num_envs=4) as pool:
        pool.reset()
        held, copies = [], []
        for k in range(30):
            frames = pool.render(env_id=range(4))
            if k % 3:  # Some frames are dropped, and only a part of others is held.
                held.append(frames[1:, ::2] if k % 3 == 2 else frames)
                copies.append(held[-1].copy())
            pool.step(np.full(4, k % 5, np.int32))
        assert len({c.tobytes() for c in copies}) > 10
        for k, (frames, copy) in enumerate(zip(held, copies, strict=True)):
            np.testing.assert_array_equal(frames, copy, str(k))
    np.testing.assert_array_equal(held[-1], copies[-1])


def test_memory_of_dropped_frames_is_reused():
    with rendering_pool(num_envs=4) as pool:
        pool.reset()
        places = set()
        for _ in range(50):
            frames = pool.render(env_id=range(4))
            places.add(frames.ctypes.data)
        assert len(places) == 2


def test_shape_size_camera_and_assets():
    with rendering_pool(num_envs=3, render_width=7, render_height=11, render_env_id=2, render_camera_id=4) as pool:
        pool.reset()
        frame = pool.render()
        assert frame.shape == (1, 11, 7, 3) and frame.dtype == np.uint8
        words = frame.reshape(-1)[:64].view(np.int64)
        assert words[0] == 2 and words[CODE] == 4, "the env and the camera of the options"
        assert words[CODE + 1] == 11 + (7 << 16), "what render_assets returned"
        assert pool.render(camera_id=1).reshape(-1)[:64].view(np.int64)[CODE] == 1
        assert pool.render(camera_id="track").reshape(-1)[:64].view(np.int64)[CODE] == -1, "no camera follows anything"
        assert pool.render(np.int64(1)).shape == (1, 11, 7, 3)
        assert pool.render([]).shape == (0, 11, 7, 3)


def test_each_env_once_in_any_order_and_number():
    with rendering_pool(num_envs=300) as pool:
        pool.reset()
        ids = np.random.default_rng(0).integers(0, 300, 1000)
        same(codes(pool.render(ids))[:, 0], ids, np.int64)
        ids = np.random.default_rng(1).permutation(300).astype(np.uint16)
        same(codes(pool.render(ids))[:, 0], ids, np.int64)


def test_results_are_fresh():
    with rendering_pool(num_envs=2) as pool:
        pool.reset()
        first = pool.render([0, 1])
        kept = first.copy()
        pool.step(np.array([1, 2]))
        second = pool.render([0, 1])
        np.testing.assert_array_equal(first, kept)
        assert not np.array_equal(first, second) and first.flags.writeable


def test_rendering_changes_nothing():
    with rendering_pool(num_envs=4) as drawn, plugin.make(num_envs=4) as plain:
        drawn.reset(), plain.reset()
        for k in range(20):
            drawn.render(range(4))
            for a, b in zip(drawn.step(np.full(4, k)), plain.step(np.full(4, k)), strict=True):
                if isinstance(a, dict):
                    a, b = a["draws"], b["draws"]
                np.testing.assert_array_equal(a, b)


# ---- mistakes --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ids", "error", "text"),
    [
        (3, EnvIdError, r"env_id\[0\] must be between 0 and 2, got 3"),
        ([0, -1], EnvIdError, r"env_id\[1\] must be between 0 and 2, got -1"),
        ([2**40], EnvIdError, rf"env_id\[0\] must be between 0 and 2, got {2**40}"),
        (np.array([2**63], np.uint64), EnvIdError, r"must be between 0 and 2"),
        ([0.5], EnvIdError, r"must be a 1-D array of integers"),
        ([[0, 1]], EnvIdError, r"must be a 1-D array of integers"),
        (True, EnvIdError, r"must be a 1-D array of integers"),
        ("rgb_array", EnvIdError, r"must be a 1-D array of integers"),
        ([[0], [1, 2]], EnvIdError, r"must be a 1-D array of integers"),
    ],
)
def test_bad_ids(ids, error, text):
    with rendering_pool(num_envs=3) as pool:
        pool.reset()
        with pytest.raises(error, match=text):
            pool.render(ids)
        assert pool.render().shape[0] == 1


@pytest.mark.parametrize(
    ("camera", "error"), [(-2, ConfigError), (2**31, ConfigError), (0.5, TypeError), (True, TypeError)]
)
def test_bad_cameras(camera, error):
    with rendering_pool(num_envs=3) as pool:
        pool.reset()
        with pytest.raises(error, match="camera_id"):
            pool.render(camera_id=camera)


@pytest.mark.parametrize("mode", ["next_step", "disabled"])
def test_an_env_without_an_episode(mode):
    with rendering_pool(num_envs=3, autoreset_mode=mode) as pool:
        with pytest.raises(PoolStateError, match=r"env 2 has not been reset yet: call reset\(\) before render\(\)"):
            pool.render(2)
        pool.reset([0])
        with pytest.raises(PoolStateError, match="env 1 has not been reset"):
            pool.render([0, 1])
        assert pool.render(0).shape[0] == 1
        pool.reset()
        pool.step(np.full(3, TERMINATE))
        same(codes(pool.render(range(3)))[:, 2], [1, 1, 1], np.int64)  # the last frame of an episode


def test_an_env_that_cannot_be_drawn():
    with rendering_pool(num_envs=20) as pool:
        pool.reset()
        actions = np.zeros(20, int)
        actions[[3, 7]] = NO_FRAME
        pool.step(actions)
        text = r"2 env\(s\) could not be rendered: env 3: has nothing to show at step 1 of episode 1 \(env 3\); env 7"
        with pytest.raises(RenderError, match=text) as caught:
            pool.render(range(20))
        assert sorted(caught.value.failures) == [3, 7]
        assert pool.render([0, 1]).shape[0] == 2
        pool.step(np.zeros(20, int))
        assert pool.render(range(20)).shape[0] == 20


@pytest.mark.parametrize("mode", ["next_step", "same_step"])
def test_a_failed_env_has_no_frame(mode):
    with rendering_pool(num_envs=2, autoreset_mode=mode, fail_reset=1) as pool:
        pool.reset()
        with pytest.raises(EnvStepError):
            pool.step(np.array([FAIL, 1]))
        if mode == "next_step":
            with pytest.raises(RenderError, match="env 0: its last step failed: reset it"):
                pool.render([1, 0])
            pool.recv()
            with pytest.raises(EnvStepError):  # The reset fails, too.
                pool.step(np.zeros(2, int))
        with pytest.raises(RenderError, match="env 0: its last step failed: reset it"):
            pool.render(0)
        pool.recv()
        pool.step(np.zeros(2, int))
        assert pool.render([0, 1]).shape[0] == 2


def test_ids_are_checked_in_a_copy(monkeypatch):
    """Another thread may write to the caller's array at any moment, for instance right after the check."""
    unique = np.unique

    def change(values, **options):
        ids[:] = 10**8
        return unique(values, **options)

    with rendering_pool(num_envs=4) as pool:
        pool.reset()
        expected = pool.render([2, 1, 2])
        ids = np.array([2, 1, 2])
        monkeypatch.setattr(np, "unique", change)
        np.testing.assert_array_equal(pool.render(ids), expected)
        assert ids[0] == 10**8
