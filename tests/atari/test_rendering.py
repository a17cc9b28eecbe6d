"""Pictures equal ale_py's screen, also of steps that end in frames that no observation shows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import envpool
from envpool.errors import ConfigError
from tests.atari.oracle import Game
from tests.atari.test_exact import FIVE, IDS, name_of
from tests.oracles.rendering import Size, assert_same_pictures, compare, resized


class Upstream:
    """A `Game` with gymnasium's methods, whose pictures are the emulator's screen."""

    def __init__(self, task: str, options: dict[str, Any]):
        self.options = envpool.make_spec(task, **options).config._asdict()

    def reset(self, seed: int | None = None) -> None:
        if seed is not None:
            self.game = Game(self.options, seed)
        self.game.reset()

    def step(self, action: int) -> tuple[Any, ...]:
        self.game.step(action)
        return (), 0.0, self.game.terminated, self.game.truncated, {}

    def render(self) -> np.ndarray:
        return self.game.ale.getScreenRGB()

    def close(self) -> None:
        pass


def upstream(task: str, **options: Any) -> Callable[[Size | None], Upstream]:
    return lambda size: Upstream(task, options)


@pytest.mark.parametrize("task", FIVE)
def test_screen(task: str) -> None:
    assert_same_pictures(task, upstream(task))


@pytest.mark.parametrize("size", [(105, 80), (84, 84), (420, 320), (100, 333), (1, 1), (210, 161)])
def test_other_sizes(size: Size) -> None:
    for task in ("Pong-v5", "Breakout-v5"):
        assert_same_pictures(task, resized(upstream(task)), size=size, steps=(0, 3, 30))


@pytest.mark.parametrize(
    "options",
    [
        {"frame_skip": 1},
        {"frame_skip": 2, "noop_max": 0, "use_fire_reset": False},
        {"frame_skip": 7, "max_episode_steps": 50},
        {"episodic_life": True},
        {"repeat_action_probability": 0.25, "full_action_space": True},
        {"gray_scale": False, "img_height": 210, "img_width": 160},
    ],
    ids=name_of,
)
def test_every_step_and_the_last_of_every_episode(options: dict[str, Any]) -> None:
    found = compare("Breakout-v5", upstream("Breakout-v5", **options), options=options, steps=range(250), seeds=(3,))
    assert not found


@pytest.mark.slow
@pytest.mark.parametrize("task", IDS)
def test_screen_of_every_game(task: str) -> None:
    assert_same_pictures(task, upstream(task), seeds=(42,))
    assert_same_pictures(task, resized(upstream(task)), size=(84, 126), seeds=(43,), steps=(0, 3, 30))


def test_rendering_changes_nothing() -> None:
    options = {"num_envs": 2, "seed": 3, "episodic_life": True, "repeat_action_probability": 0.1}
    drawn = envpool.make_gymnasium("Breakout-v5", render_mode="rgb_array", **options)
    plain = envpool.make_gymnasium("Breakout-v5", **options)
    rng = np.random.default_rng(0)
    with drawn, plain:
        np.testing.assert_array_equal(drawn.reset()[0], plain.reset()[0])
        for _ in range(300):
            actions = rng.integers(0, 4, 2)
            drawn.render([0, 1])
            for a, b in zip(drawn.step(actions)[:4], plain.step(actions)[:4], strict=True):
                np.testing.assert_array_equal(a, b)


def test_size_limit_and_speed() -> None:
    with pytest.raises(ConfigError, match="render_height must be between 1 and 4096 pixels, .* got 4097"):
        envpool.make_gymnasium("Pong-v5", render_mode="rgb_array", render_height=4097)
    with envpool.make_gymnasium("Pong-v5", frame_skip=3) as pool:
        assert pool.metadata["render_fps"] == 20
