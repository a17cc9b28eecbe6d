"""The env definition of all Atari tasks: their options, and the checks before the emulator sees them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import ModuleType
from typing import Any, ClassVar

from envpool._support.packages import load_compiled
from envpool._support.text import shown
from envpool.atari.presets import PRESETS
from envpool.atari.registration import GAMES
from envpool.atari.roms import read_rom
from envpool.config.checks import check_choice
from envpool.errors import ConfigError
from envpool.native import EnvDefinition, GameFields, Param, param_fields

#: Smallest and largest value of each option.
RANGES = {
    "stack_num": (1, 1024),
    "noop_max": (0, 10_000),
    "img_height": (1, 4096),
    "img_width": (1, 4096),
    "continuous_action_threshold": (0, 1),
}


class Atari(EnvDefinition):
    """A game on the Atari 2600, emulated by the Arcade Learning Environment (ALE).

    The dynamics are those of ALE 0.12.1. Preprocessing follows ``gymnasium.wrappers.AtariPreprocessing`` and
    ``FrameStackObservation``: with ``use_fire_reset=False`` and otherwise default options, the results equal theirs bit
    for bit (on ``gymnasium.make("ALE/Pong-v5", frameskip=1, repeat_action_probability=0,
    max_num_frames_per_episode=0)``).

    The observation is uint8 (stack_num, img_height, img_width), with the newest frame last. With gray_scale=False it is
    (stack_num * 3, img_height, img_width): the red, green and blue planes of the oldest frame come first. The action is
    int32, an index into the actions that have an effect in the game. Info contains ``lives`` (int32), ``reward``
    (float32, before reward_clip), ``terminated`` (int32, 1 if the game is over) and ``ram`` (uint8 (128,)).

    With continuous=True, the action is float32 (3,), as in the Continuous Arcade Learning Environment (CALE): the
    radius, 0 to 1, and the angle, -pi to pi, of a stick in polar coordinates, and the button, 0 to 1. A paddle turns
    with a speed in proportion to the radius.

    A step holds the action for frame_skip emulated frames or until the episode ends. A frame of an observation is the
    resized maximum of the last two emulated frames; a step that ends early repeats the previous frame.

    The parameters are in force from an environment's next reset on. With episodic_life, a reset that continues the game
    leaves its mode unchanged, as ALE does.

    Options
    -------
    task : str
        Name of the game, e.g. ``"ms_pacman"``.
    stack_num : int
        Number of frames in an observation, 1 to 1024.
    noop_max : int
        An episode starts with a random number of frames without action, 1 to `noop_max`; one frame less if FIRE is
        pressed as well. If 0, there are no such frames.
    zero_discount_on_life_loss : bool
        If True, the discount (dm style) is 0 in a step that loses a life.
    episodic_life : bool
        If True, losing a life that is not the last one ends the episode, and the next episode continues the same game.
        The time limit then applies to the game. A reset in the middle of an episode begins a new game.
    reward_clip : bool
        If True, the reward is the sign of the game's reward; a number or a pair clips it, as in other tasks.
    use_fire_reset : bool
        If True, FIRE is pressed at the start of an episode in games that have this action.
    img_height, img_width : int
        Size of a frame in pixels, 1 to 4096. With 210 and 160, the size of most games' screens, nothing is resized.
    full_action_space : bool
        If True, the action is an index into all 18 actions.
    use_inter_area_resize : bool
        If True, resizing is by area, as ``cv2.INTER_AREA``; if False, it is linear, as ``cv2.INTER_LINEAR``.
    gray_scale : bool
        If True, frames are greyscale; if False, they are RGB.
    continuous : bool
        If True, actions are continuous: radius and angle of a stick, and the button. `full_action_space` has no effect.
    continuous_action_threshold : float
        With continuous actions: a coordinate of the stick, or the button, counts as pressed if it is greater, 0 to 1.
    maxpool : bool
        If True, a frame is the maximum of the last two screens; if False, it is the last screen.
    padding_type : str
        Frames that precede the first one of a game: ``"reset"``, copies of the first frame; ``"zero"``, zeros.
    life_loss_info : bool
        If True, info has ``life_loss`` (bool): the step lost a life that is not the last one. The episode continues.
    frame_number_info : bool
        If True, info has ``frame_number`` and ``episode_frame_number`` (int32): ALE's counts of emulated frames, since
        the environment was seeded and since the game began.
    """

    options: ClassVar[dict[str, Any]] = {
        "stack_num": 4,
        "noop_max": 30,
        "zero_discount_on_life_loss": False,
        "episodic_life": False,
        "reward_clip": False,
        "use_fire_reset": True,
        "img_height": 84,
        "img_width": 84,
        "task": "pong",
        "full_action_space": False,
        "use_inter_area_resize": True,
        "gray_scale": True,
        "continuous": False,
        "continuous_action_threshold": 0.5,
        "maxpool": True,
        "padding_type": "reset",
        "life_loss_info": False,
        "frame_number_info": False,
    }
    presets: ClassVar[dict[str, dict[str, Any]]] = PRESETS
    params: ClassVar[dict[str, Param]] = {
        "frame_skip": Param(4, 1, 10_000, "", "emulated frames per step"),
        "mode": Param(-1, -1, text="mode of the game, numbered as in ALE; -1 is the game's default"),
        "difficulty": Param(-1, -1, text="difficulty of the game, numbered as in ALE; -1 is the game's default"),
        "repeat_action_probability": Param(
            0.0, 0, 1, text="chance that an emulated frame repeats the action of the previous one"
        ),
    }

    @classmethod
    def resolve_params(cls, config: Any) -> Mapping[str, Param]:
        """Return the parameters with the modes and the difficulties of the game."""
        game = find(config.task)
        allowed = {"mode": (-1, *game["modes"]), "difficulty": (-1, *game["difficulties"])}
        known = {name: replace(cls.params[name], high=max(c), choices=c) for name, c in allowed.items()}
        return {**cls.params, **known}

    @staticmethod
    def build(config: Any) -> Any:
        """Return the capsule of a game under a configuration."""
        return build(config)

    @staticmethod
    def build_for_rendering(config: Any, height: int, width: int) -> Any:
        """Return the capsule of a pool that renders, which also draws emulated frames that no observation shows."""
        return build(config, (height, width))

    @staticmethod
    def game_fields(config: Any) -> GameFields:
        """Return the arrays from which whole games are counted, before reward_clip and across episodic_life."""
        return GameFields("info:reward", "info:terminated", "info:lives", config.episodic_life)

    @staticmethod
    def render_fps(config: Any) -> int:
        """Return the frame rate that ale_py's metadata name, whatever the frame_skip."""
        return 30


def compiled() -> ModuleType:
    """Import the module that contains ALE."""
    return load_compiled("envpool.atari.env", "ALE needs zlib's headers (apt-get install zlib1g-dev).")


def find(task: str) -> dict[str, Any]:
    """Return what ALE knows about the game of a task, see ``envpool.atari.env.find``."""
    if task not in GAMES:
        raise ConfigError(f"task must be one of {', '.join(GAMES)}, got {shown(task)}")
    game: dict[str, Any] = compiled().find(task)
    return game


def build(config: Any, render_size: tuple[int, int] | None = None) -> Any:
    """Check the options of a task and return its capsule.

    Parameters
    ----------
    config : namedtuple
        Validated options of the task.
    render_size : tuple of int, optional
        Height and width of rendered frames in pixels, 0 for the size of the game's screen; None for a pool that does
        not render.
    """
    for name, (low, high) in RANGES.items():
        if not low <= getattr(config, name) <= high:
            raise ConfigError(f"{name} must be between {low} and {high}, got {shown(getattr(config, name))}")
    check_choice("padding_type", config.padding_type, ("reset", "zero"))
    game = find(config.task)
    params = param_fields(Atari.resolve_params(config))
    return compiled().build(config, game, read_rom(config.task, game["md5"]), params, render_size)
