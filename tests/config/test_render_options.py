"""The rendering options of ``make``, and the rendering attributes of pools of each style."""

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

import envpool
from envpool.errors import ConfigError, PoolStateError
from envpool.registration import registry
from tests.support import plugin
from tests.support.checked_pool import codes, same
from tests.support.definitions import CEnv, Definition
from tests.support.extras import output_with

STYLES = {"dm": {}, "gymnasium": {}, "gym": {"gym_api": "legacy"}}


class Undrawn:
    """An env definition built against a header without rendering."""

    options = {}
    definition = None

    @staticmethod
    def build(config):
        return Undrawn.definition.capsule()


@pytest.fixture
def undrawn():
    Undrawn.definition = Definition()
    Undrawn.definition.env.struct_size = CEnv.render_many.offset
    envpool.register("Undrawn-v0", __name__, env="Undrawn")
    yield "Undrawn-v0"
    del registry.tasks["Undrawn-v0"]


def make(style="gymnasium", task="Synthetic-v0", **options):
    plugin.load()
    return envpool.make(task, style, **STYLES[style], **options)


@pytest.mark.parametrize("style", STYLES)
def test_every_style_renders(style):
    with make(style, num_envs=2, render_mode="rgb_array", render_env_id=1) as pool:
        pool.reset()
        assert pool.render_mode == "rgb_array"
        assert pool.metadata["render_modes"] == ["rgb_array", "human"]
        assert pool.metadata["render_fps"] == 25
        same(codes(pool.render())[:, 0], [1], np.int64)
        same(codes(pool.render([1, 0]))[:, 0], [1, 0], np.int64)


@pytest.mark.parametrize("style", STYLES)
def test_without_a_mode(style):
    with make(style, render_width=5) as pool:
        pool.reset()
        assert pool.render_mode is None
        assert pool.metadata["render_modes"] == ["rgb_array", "human"]
        with pytest.raises(PoolStateError, match="make the pool with render_mode='rgb_array'"):
            pool.render()


@pytest.mark.parametrize("style", STYLES)
def test_a_task_that_draws_nothing(style, undrawn):
    with pytest.raises(
        ConfigError, match="render_mode must be None, since Undrawn-v0 has no renderer, got 'rgb_array'"
    ):
        make(style, undrawn, render_mode="rgb_array")
    with make(style, undrawn) as pool:
        assert pool.metadata["render_modes"] == []
        pool.reset()
        with pytest.raises(PoolStateError, match="needs a render mode"):
            pool.render()
        with pytest.raises(ConfigError, match="env StaticSynthetic has no renderer"):
            pool._render_frames([0], 8, 8, -1)


def test_old_gym_has_its_own_names():
    with make("gym") as pool:
        assert pool.metadata["render.modes"] == ["rgb_array", "human"]
        assert pool.metadata["video.frames_per_second"] == 25


def test_default_size_and_speed():
    with make(task="StaticSynthetic-v0", render_mode="rgb_array") as pool:
        pool.reset()
        assert pool.render().shape == (1, 8, 12, 3)
        assert pool.metadata["render_fps"] == 30
    with make(render_mode="rgb_array", render_width=0, render_height=9) as pool:
        pool.reset()
        assert pool.render().shape == (1, 9, 12, 3)


def test_options_are_no_configuration():
    spec = envpool.make_spec("CartPole-v1", num_envs=8, render_mode="rgb_array", render_width=30, render_env_id=7)
    assert not any(name.startswith("render") for name in spec.config._fields)


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"render_mode": "ansi"}, ConfigError, "render_mode must be one of None, 'rgb_array', 'human', got 'ansi'"),
        ({"render_mode": 1}, ConfigError, "render_mode must be one of"),
        ({"render_mode": ["human"]}, ConfigError, "render_mode must be one of"),
        (
            {"render_width": -1},
            ConfigError,
            r"render_width must be between 1 and 4096 pixels, or 0 for the default size of the task, got -1",
        ),
        ({"render_height": 4097}, ConfigError, "render_height must be between 1 and 4096 pixels, .* got 4097"),
        ({"render_height": 10.0}, TypeError, "render_height must be of type int, got 10.0"),
        ({"render_width": True}, TypeError, "render_width must be of type int, got True"),
        ({"render_camera_id": -2}, ConfigError, "render_camera_id must be -1, for the default camera, .* got -2"),
        ({"render_camera_id": "side"}, ConfigError, "'track', for the one that follows the robot, .* got 'side'"),
        ({"render_camera_id": 1.0}, TypeError, "render_camera_id must be of type int, got 1.0"),
        ({"render_env_id": 2}, ConfigError, "render_env_id must be between 0 and 1, got 2"),
        (
            {"render_mode": "rgb_array", "render_env_id": -1},
            ConfigError,
            "render_env_id must be between 0 and 1, got -1",
        ),
        (
            {"from_pixels": True},
            ConfigError,
            "from_pixels=True is only available for MuJoCo tasks; 'Synthetic-v0' is not one",
        ),
        ({"render_size": 3}, TypeError, "has no option 'render_size'"),
    ],
)
def test_bad_options(options, error, text):
    with pytest.raises(error, match=text):
        make(num_envs=2, **options)


# ---- make_vec --------------------------------------------------------------------------------------------------------


def make_vec(**options):
    plugin.load()
    return gymnasium.make_vec("envpool/Synthetic-v0", num_envs=3, **options)


def test_a_vector_env_gives_a_frame_of_each_env():
    with_mode = make_vec(render_mode="rgb_array", render_width=20)
    with_mode.reset()
    frames = with_mode.render()
    assert isinstance(frames, tuple) and [f.shape for f in frames] == [(8, 20, 3)] * 3
    same(codes(np.stack(frames))[:, 0], [0, 1, 2], np.int64)
    assert with_mode.render_mode == "rgb_array"
    assert with_mode.metadata == {
        "render_modes": ["rgb_array", "human"],
        "render_fps": 25,
        "autoreset_mode": AutoresetMode.NEXT_STEP,
    }
    with_mode.close()
    without = make_vec()
    without.reset()
    assert without.render_mode is None
    with pytest.raises(PoolStateError, match="needs a render mode"):
        without.render()
    without.close()


def test_a_video_of_a_vector_env(tmp_path):
    envs = gymnasium.wrappers.vector.RecordVideo(
        make_vec(render_mode="rgb_array", render_width=32, render_height=16), str(tmp_path), video_length=5
    )
    envs.reset()
    for _ in range(7):
        envs.step(envs.action_space.sample() % 90)
    envs.close()
    assert {p.suffix for p in tmp_path.iterdir()} == {".mp4"}


def test_the_extra_render_is_all_that_videos_of_gymnasium_need(tmp_path):
    """RecordVideo of a vector environment and of a single one, without the packages of gymnasium's own extras."""
    code = f"""
import gymnasium, envpool
envs = gymnasium.make_vec("envpool/CartPole-v1", num_envs=2, render_mode="rgb_array")
envs = gymnasium.wrappers.vector.RecordVideo(envs, {str(tmp_path / "several")!r}, video_length=3)
one = gymnasium.make("envpool/CartPole-v1", render_mode="rgb_array")
one = gymnasium.wrappers.RecordVideo(one, {str(tmp_path / "one")!r}, video_length=3)
for env in (envs, one):
    env.reset(seed=1)
    for _ in range(5):
        env.step(env.action_space.sample())
    env.close()
"""
    output_with(code, "render")
    for folder in ("several", "one"):
        assert [p.suffix for p in (tmp_path / folder).iterdir()] == [".mp4"]


def test_a_window_of_a_vector_env(monkeypatch):
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    envs = gymnasium.wrappers.vector.HumanRendering(make_vec(render_mode="rgb_array"))
    envs.reset()
    envs.step(np.zeros(3, np.int32))
    assert envs.window.get_size() == (12, 8)
    envs.close()
