"""Rendering of MuJoCo tasks, whatever they draw: contexts, threads, OpenGL libraries."""

from __future__ import annotations

import ctypes
import gc
import os
import pickle
import threading

import gymnasium
import numpy as np
import pytest

import envpool
from envpool.errors import ConfigError
from envpool.mujoco import declared as d
from tests.support.process import open_files, resident, wait_until
from tests.support.python import run_python

SIZE = {"render_height": 48, "render_width": 64}
TINY = {"render_height": 16, "render_width": 16}
NEEDS = "import envpool; envpool.make_gymnasium('Ant-v5').reset(); print('made'); envpool.make_gymnasium('Ant-v5', "


def make(task_id="Ant-v5", **options):
    return envpool.make_gymnasium(task_id, **({"render_mode": "rgb_array", "seed": 3} | SIZE | options))


def test_default_size():
    assert envpool.make_spec("Reacher-v5").frame_size == (480, 480)


@pytest.mark.parametrize(
    ("task_id", "camera"),
    [
        ("HalfCheetah-v5", 0),
        ("AntMaze_UMaze-v5", 0),
        ("FishSwim-v1", 0),
        ("Reacher-v5", -1),
        ("CartpoleSwingup-v1", -1),
    ],
)
def test_tracking_camera(task_id, camera):
    """Of dm_control's models, it is the first one that follows a center of mass, whatever its name."""
    assert envpool.make_spec(task_id, clip_obs=1.0).tracking_camera == camera


@pytest.mark.parametrize(("second", "camera"), [("track", 2), ("other", 1)])
def test_tracking_camera_of_an_own_model(second, camera):
    """A camera named "track" takes precedence over the first one that follows a center of mass."""
    xml = f"""<mujoco><worldbody><camera/><body><camera mode="trackcom"/><camera mode="track" name="{second}"/>
    <joint name="j"/><geom size="1"/></body></worldbody><actuator><motor joint="j"/></actuator></mujoco>"""
    with envpool.make_mujoco(xml, [d.Qpos()]) as pool:
        assert pool.spec.tracking_camera == camera


def test_frames_from_the_tracking_camera():
    with make("HalfCheetah-v5", render_camera_id="track") as pool, make("HalfCheetah-v5") as default:
        for p in (pool, default):
            p.reset()
        np.testing.assert_array_equal(pool.render(), default.render(camera_id=0))
        np.testing.assert_array_equal(pool.render(camera_id=-1), default.render())
        np.testing.assert_array_equal(default.render(camera_id="track"), pool.render())
        assert (pool.render() != default.render()).any()
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(pool)).render(), pool.render())


def test_observed_frames_need_the_number_of_a_camera():
    with pytest.raises(ConfigError, match="render_camera_id must be a number with from_pixels=True, got 'track'"):
        envpool.make_spec("Ant-v5", from_pixels=True, render_camera_id="track")


def test_threads_draw_the_same():
    frames = []
    for num_threads in (1, 3):
        with make("Reacher-v5", num_envs=6, num_threads=num_threads) as pool:
            pool.reset()
            pool.step(np.full((6, 2), 0.5))
            frames += [pool.render(range(6)), pool.render(range(6))]
    for other in frames[1:]:
        np.testing.assert_array_equal(other, frames[0])
    assert len({p.tobytes() for p in frames[0]}) == 6


def test_pools_on_threads_of_their_own():
    frames = [None] * 3

    def draw(i):
        with make("Reacher-v5") as pool:
            pool.reset()
            frames[i] = pool.render()

    threads = [threading.Thread(target=draw, args=(i,)) for i in range(3)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    np.testing.assert_array_equal(frames[1], frames[0])
    np.testing.assert_array_equal(frames[2], frames[0])


#: Draws on three threads at a time, in the contexts of several pools, one after the other.
DRAWS = """
import numpy as np
import envpool

size = {"render_height": 16, "render_width": 16}
for _ in range(4):
    with envpool.make_gymnasium("InvertedPendulum-v5", num_envs=12, num_threads=3, from_pixels=True, **size) as pool:
        pool.reset()
        for _ in range(40):
            pool.step(np.zeros((12, 1)))
print("done")
"""


def test_threads_that_draw_do_not_crash(monkeypatch):
    """Mesa's llvmpipe reads memory that another thread has freed; glibc overwrites it here, so that this has effect."""
    monkeypatch.setenv("MALLOC_PERTURB_", "165")
    done = run_python(DRAWS)
    assert (done.returncode, done.stdout) == (0, "done\n")


def test_context_of_others_stays_current():
    """Gymnasium makes its context current once, and later draws into whichever context is current."""
    env = gymnasium.make("Reacher-v5", render_mode="rgb_array", height=48, width=64)
    env.reset(seed=0)
    before = env.render()
    with make() as pool:
        pool.reset()
        pool.render()
        np.testing.assert_array_equal(env.render(), before)
    np.testing.assert_array_equal(env.render(), before)
    env.close()


def what_stays(rounds, **options):
    """Return by how many bytes a number of pools makes the process grow; assert that no thread or file stays."""

    def once():
        with make("InvertedPendulum-v5", **TINY, **options) as pool:
            pool.reset()
            pool.render(range(pool.num_envs))

    def memory():
        gc.collect()
        libc.malloc_trim(0)  # Otherwise free memory counts too.
        return resident()

    libc = ctypes.CDLL(None)
    for _ in range(1 + rounds // 20):
        once()
    threads, files, before = len(os.listdir("/proc/self/task")), open_files(), memory()
    for _ in range(rounds):
        once()
    assert open_files() == files
    wait_until(lambda: len(os.listdir("/proc/self/task")) == threads)
    return memory() - before


def test_nothing_stays():
    what_stays(5, num_envs=2, num_threads=2)


@pytest.mark.slow
def test_nothing_stays_of_many_pools():
    """Each context leaves up to 2 KB in the driver, as it does when libmujoco is used alone."""
    assert what_stays(300) < 3e6


@pytest.mark.parametrize("word", ["off", "disabled"])
def test_turned_off(word, monkeypatch):
    monkeypatch.setenv("MUJOCO_GL", word)
    done = run_python(NEEDS + "render_mode='rgb_array')")
    assert done.stdout == "made\n"
    assert f"ImportError: rendering of MuJoCo tasks is turned off: MUJOCO_GL is '{word}'" in done.stderr


def test_unknown_word(monkeypatch):
    monkeypatch.setenv("MUJOCO_GL", "vulkan")
    done = run_python(NEEDS + "render_mode='rgb_array')")
    assert "ImportError: MUJOCO_GL must be one of glfw, egl" in done.stderr


def test_none_is_the_default():
    none = dict.fromkeys(("render_mode", "render_env_id", "render_width", "render_height", "render_camera_id"))
    assert envpool.make_spec("HalfCheetah-v5", **none).config == envpool.make_spec("HalfCheetah-v5").config


@pytest.mark.parametrize("option", ["render_mode='rgb_array'", "from_pixels=True"])
def test_no_library(option, monkeypatch):
    monkeypatch.delenv("MUJOCO_GL")
    hide = (
        "import envpool.mujoco.base.opengl as gl\n"
        "gl.FILES = {kind: ('libnone.so',) for kind in gl.FILES}\n"
        "gl.load_glfw = lambda number: 'no display'\n"
    )
    done = run_python(hide + NEEDS + option + ")")
    assert done.stdout == "made\n"
    last = done.stderr.splitlines()[-1]
    assert last.startswith(
        "ImportError: rendering of MuJoCo tasks needs an OpenGL library, but none can be used (MUJOCO_GL "
    )
    assert "egl: libnone.so: cannot open shared object file" in last
    assert "apt-get install libegl1 libegl-mesa0 libgl1-mesa-dri" in last
    assert "libosmesa6" in last


def test_no_such_device(monkeypatch):
    monkeypatch.setenv("MUJOCO_GL", "egl")
    monkeypatch.setenv("MUJOCO_EGL_DEVICE_ID", "77")
    done = run_python(NEEDS + "render_mode='rgb_array')")
    assert "egl: MUJOCO_EGL_DEVICE_ID must be between 0 and " in done.stderr
