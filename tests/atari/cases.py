"""Cases of Atari for the conformance tests: exactness, frames and saved states.

Every game, and every option, returns what plain Python makes of ale_py and OpenCV. Without a fire reset, and with
defaults otherwise, the family also equals gymnasium's own wrappers on ale_py's environment.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import envpool
from envpool.atari.registration import GAMES
from envpool.atari.upstream import oracle_of
from tests.atari.oracle import Game, GameOracle
from tests.conformance.cases import ExactnessCase, FrameCase, StateCase, UndisturbedCase, describe
from tests.support.oracles.frames import Size, resized
from tests.support.oracles.gymnasium_oracle import Upstream
from tests.support.oracles.trajectory import Trajectory


def id_of(game: str) -> str:
    """Return the id of the task of a game."""
    return "".join(part.capitalize() for part in game.split("_")) + "-v5"


IDS = [id_of(game) for game in GAMES]
FIVE = ["Pong-v5", "Breakout-v5", "MsPacman-v5", "Seaquest-v5", "MontezumaRevenge-v5"]

# ---- exactness -------------------------------------------------------------------------------------------------------

OPTIONS: list[dict[str, Any]] = [
    {"episodic_life": True},
    {"episodic_life": True, "use_fire_reset": False, "noop_max": 0, "max_episode_steps": 200},
    {"gray_scale": False},
    {"repeat_action_probability": 0.25},
    {"full_action_space": True, "reward_clip": True},
    {"img_height": 100, "img_width": 77},
    {"img_height": 105, "img_width": 80, "gray_scale": False},
    {"img_height": 300, "img_width": 100, "stack_num": 2},
    {"img_height": 84, "img_width": 84, "use_inter_area_resize": False, "gray_scale": False},
    {"img_height": 210, "img_width": 160, "stack_num": 1, "gray_scale": False},
    {"frame_skip": 1, "stack_num": 3},
    {"frame_skip": 2, "noop_max": 1},
    {"frame_skip": 7, "max_episode_steps": 30, "noop_max": 100},
    {"continuous": True, "continuous_action_threshold": 0.3, "repeat_action_probability": 0.25, "maxpool": False},
    {"episodic_life": True, "life_loss_info": True, "frame_number_info": True, "padding_type": "zero"},
]
#: These rows combine the options above, for the long runs.
COMBINED: list[dict[str, Any]] = [
    {"episodic_life": True, "repeat_action_probability": 0.25, "full_action_space": True, "reward_clip": True},
    {"gray_scale": False, "img_height": 100, "img_width": 90, "use_fire_reset": False, "frame_skip": 3},
    {"continuous": True, "life_loss_info": True, "frame_number_info": True, "padding_type": "zero"},
]
TWO_THREADS = [{"num_threads": 2}]


def plain_rules() -> Iterator[ExactnessCase]:
    """Yield the comparisons with plain Python."""

    def case(task_id: str, label: str, steps: int, **more: Any) -> ExactnessCase:
        return ExactnessCase(
            task_id, GameOracle(), label, actions="held", steps=steps, **{"num_envs": 1, "min_episodes": 0, **more}
        )

    for task_id in IDS:
        yield case(task_id, "", 30)
        yield case(task_id, "long", 500, seed=1, is_slow=True)
    for options in OPTIONS:
        text = describe(options)
        yield case("Breakout-v5", text, 200, num_envs=2, runs=TWO_THREADS, options=options)
        yield case("MsPacman-v5", text, 100, seed=5, options=options)
    # Some games end in the middle of a step, others with a step.
    yield case("Breakout-v5", "whole games", 700, num_envs=2, seed=3, min_episodes=3)
    for task_id in FIVE:
        for options in [{}, *COMBINED]:
            label = f"{describe(options)}-very long"
            yield case(task_id, label, 5_000, num_envs=2, seed=2, runs=TWO_THREADS, options=options, is_slow=True)


RUNS: list[dict[str, Any]] = [*TWO_THREADS, {"num_threads": 2, "batch_size": 1}, {"autoreset_mode": "same_step"}]


def assert_no_episode_ended(expected: Trajectory) -> None:
    """Assert that no life was lost."""
    assert expected.num_episodes == 0


def gymnasiums_wrappers() -> Iterator[ExactnessCase]:
    """Yield the comparisons with gymnasium's wrappers."""

    def case(game: str, label: str, steps: int, **more: Any) -> ExactnessCase:
        life = {"terminal_on_life_loss": True} if "episodic_life" in more.get("options", {}) else {}
        upstream = Upstream.of(oracle_of(game, **life))
        options = upstream.options | more.pop("options", {})
        return ExactnessCase(id_of(game), upstream, f"gymnasium's wrappers{label}", options, steps=steps, **more)

    for game in ("pong", "breakout", "ms_pacman", "seaquest", "air_raid"):
        yield case(game, "", 150, num_envs=2, runs=RUNS[:2], min_episodes=0, seed=1)
    # Breakout ends soon when FIRE is not pressed first.
    yield case("breakout", "-auto-reset modes", 250, num_envs=3, runs=RUNS, seed=2)
    # Until a life is lost: gymnasium then starts a new game, and this family continues the game.
    first_life: dict[str, Any] = {"episodic_life": True, "autoreset_mode": "disabled"}
    yield case(
        "breakout",
        "-first life",
        24,
        num_envs=2,
        options=first_life,
        seed=3,
        min_episodes=0,
        verify=assert_no_episode_ended,
    )
    for game in GAMES:
        yield case(game, "-long", 120, num_envs=1, runs=RUNS[:1], min_episodes=0, seed=4, is_slow=True)


EXACTNESS = [*plain_rules(), *gymnasiums_wrappers()]

# ---- frames ----------------------------------------------------------------------------------------------------------


class ScreenOfGame:
    """A `Game` with gymnasium's methods, whose frames are the emulator's screen."""

    def __init__(self, task_id: str, options: dict[str, Any]):
        self.options = envpool.make_spec(task_id, **options).config._asdict()

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


def screen(task_id: str, **options: Any) -> Callable[[Size | None], ScreenOfGame]:
    """Return a factory of the emulator's screen."""
    return lambda size: ScreenOfGame(task_id, options)


SIZES: list[Size] = [(105, 80), (84, 84), (420, 320), (100, 333), (1, 1), (210, 161)]
#: Frames of every step show steps that end in emulator frames which no observation shows, and ends of episodes.
SHOWN: list[dict[str, Any]] = [
    {"frame_skip": 1},
    {"frame_skip": 2, "noop_max": 0, "use_fire_reset": False},
    {"frame_skip": 7, "max_episode_steps": 50},
    {"episodic_life": True},
    {"repeat_action_probability": 0.25, "full_action_space": True},
    {"gray_scale": False, "img_height": 210, "img_width": 160},
]


def frames() -> Iterator[FrameCase]:
    """Yield every comparison with the emulator's screen."""
    for task_id in FIVE:
        yield FrameCase(task_id, screen(task_id))
    few = {"steps": (0, 3, 30)}
    for size in SIZES:
        for task_id in ("Pong-v5", "Breakout-v5"):
            yield FrameCase(task_id, resized(screen(task_id)), "", size, few)
    for options in SHOWN:
        how = {"options": options, "steps": range(250), "seeds": (3,)}
        yield FrameCase("Breakout-v5", screen("Breakout-v5", **options), describe(options), None, how)
    for task_id in IDS:
        yield FrameCase(task_id, screen(task_id), "every game", None, {"seeds": (42,)}, is_slow=True)
        resized_screen = resized(screen(task_id))
        yield FrameCase(task_id, resized_screen, "every game", (84, 126), {**few, "seeds": (43,)}, is_slow=True)


FRAMES = list(frames())
UNDISTURBED = [
    UndisturbedCase(
        "Breakout-v5",
        {"episodic_life": True, "repeat_action_probability": 0.1, "max_episode_steps": 27000},
        steps=300,
    )
]

# ---- saved states ----------------------------------------------------------------------------------------------------

STICKY = {"repeat_action_probability": 0.25}
#: One game for each kind of cartridge and for each peculiarity of consoles, with options and an auto-reset mode.
QUIRKS: list[tuple[str, str, dict[str, Any], str]] = [
    ("Breakout-v5", "2 KB, paddles", {"episodic_life": True, **STICKY}, "next_step"),
    ("TicTacToe3d-v5", "frames drawn in parts", STICKY, "same_step"),
    ("MiniatureGolf-v5", "members that ALE saves as flags", {"frame_skip": 7}, "disabled"),
    ("ChopperCommand-v5", "a member that ALE does not save", {"use_fire_reset": False}, "next_step"),
    ("Adventure-v5", "4 KB, PAL", {"gray_scale": False, "img_height": 100, "img_width": 77}, "same_step"),
    ("MsPacman-v5", "F8", {"frame_skip": 1, **STICKY}, "disabled"),
    ("ElevatorAction-v5", "F8SC", {"stack_num": 1}, "next_step"),
    ("Kaboom-v5", "paddles with a strength", {"continuous": True, "padding_type": "zero", **STICKY}, "same_step"),
    ("Solaris-v5", "F6", STICKY, "same_step"),
    ("Klax-v5", "F6SC, PAL", {"full_action_space": True}, "disabled"),
    ("MontezumaRevenge-v5", "E0", {"frame_skip": 2, "noop_max": 0, **STICKY}, "next_step"),
    ("Robotank-v5", "FE", STICKY, "same_step"),
    ("Pitfall2-v5", "DPC", {"reward_clip": True, **STICKY}, "disabled"),
]
MODES = ("next_step", "same_step", "disabled")
SHORT: dict[str, Any] = {"limit": 12, "after": 50}
STATES = [
    *(StateCase(task_id, options, label=label, modes=(mode,), **SHORT) for task_id, label, options, mode in QUIRKS),
    *(
        StateCase(task_id, STICKY, label="every game", modes=(MODES[i % 3],), is_slow=True)
        for i, task_id in enumerate(IDS)
    ),
]
