"""The kind of env behind all Atari tasks: its options, and what is checked before the emulator sees them."""

from __future__ import annotations

from typing import Any, ClassVar

from envpool.atari.registration import GAMES
from envpool.atari.roms import read_rom
from envpool.errors import ConfigError
from envpool.extensions import load_compiled

#: Option -> smallest and largest value.
RANGES = {
    "stack_num": (1, 1024),
    "frame_skip": (1, 10_000),
    "noop_max": (0, 10_000),
    "img_height": (1, 4096),
    "img_width": (1, 4096),
}


class Atari:
    """A game on the Atari 2600, as the Arcade Learning Environment emulates it.

    Source of the dynamics: ALE 0.12.1 itself; of everything around it, ``gymnasium.wrappers.AtariPreprocessing`` and
    ``FrameStackObservation``, whose bits this env returns with ``use_fire_reset=False`` and otherwise default options
    (on ``gymnasium.make("ALE/Pong-v5", frameskip=1, repeat_action_probability=0, max_num_frames_per_episode=0)``).

    Observation uint8 (stack_num, img_height, img_width), the newest frame last; (stack_num * 3, img_height, img_width)
    with gray_scale=False: red, green and blue plane of the oldest frame first. Action int32: index into the actions
    that do something in the game. Info: ``lives`` int32; ``reward`` float32, before reward_clip;
    ``terminated`` int32, whether the game is over; ``ram`` uint8 (128,).

    A step holds the action for frame_skip frames or until the episode ends. A frame of an observation is the maximum of
    the last two emulated frames, resized; a step that ends early repeats the frame before.

    Options
    -------
    task : str
        Name of the game, e.g. ``"ms_pacman"``.
    stack_num : int
        Frames of an observation, 1 to 1024.
    frame_skip : int
        Emulated frames of a step, 1 to 10,000.
    noop_max : int
        An episode starts with 1 to `noop_max` frames without action, at random; one less where FIRE is pressed too. 0:
        none.
    zero_discount_on_life_loss : bool
        dm style: discount 0 for a step in which a life is lost.
    episodic_life : bool
        Losing a life, but not the last one, ends the episode; the next one goes on in the same game. The time limit is
        that of the game then.
    reward_clip : bool
        Reward is the sign of the game's.
    use_fire_reset : bool
        Press FIRE at the start of an episode, in games that have it.
    img_height, img_width : int
        Size of a frame, 1 to 4096. 210 and 160 are those of most consoles, and then nothing is resized.
    mode, difficulty : int
        Of the game, as ALE numbers them; -1 is the game's default.
    full_action_space : bool
        Action is an index into all 18 actions.
    repeat_action_probability : float
        Chance that a frame repeats the action of the frame before, 0 to 1.
    use_inter_area_resize : bool
        Resize by areas, as ``cv2.INTER_AREA``; else linearly, as ``cv2.INTER_LINEAR``.
    gray_scale : bool
        Grey instead of colours.
    """

    options: ClassVar[dict[str, Any]] = {
        "stack_num": 4,
        "frame_skip": 4,
        "noop_max": 30,
        "zero_discount_on_life_loss": False,
        "episodic_life": False,
        "reward_clip": False,
        "use_fire_reset": True,
        "img_height": 84,
        "img_width": 84,
        "task": "pong",
        "mode": -1,
        "difficulty": -1,
        "full_action_space": False,
        "repeat_action_probability": 0.0,
        "use_inter_area_resize": True,
        "gray_scale": True,
    }

    @staticmethod
    def build(config: Any) -> Any:
        """Return the capsule of this kind."""
        return build(config)

    @staticmethod
    def build_for_rendering(config: Any, height: int, width: int) -> Any:
        """Return the capsule of a pool that renders: it draws the frames, too, that no observation shows."""
        return build(config, (height, width))

    @staticmethod
    def render_fps(config: Any) -> int:
        """Return pictures a second: the console draws 60."""
        return max(round(60 / int(config.frame_skip)), 1)


def build(config: Any, picture_size: tuple[int, int] | None = None) -> Any:
    """Return the capsule; with the size of a picture, 0 for the screen's, that of a kind that draws."""
    native = load_compiled("envpool.atari.native", "ALE needs zlib's headers (apt-get install zlib1g-dev).")
    if config.task not in GAMES:
        raise ConfigError(f"task is {config.task!r}, allowed are {', '.join(GAMES)}")
    for name, (low, high) in RANGES.items():
        if not low <= getattr(config, name) <= high:
            raise ConfigError(f"{name} is {getattr(config, name)}, allowed are {low} to {high}")
    if not 0 <= config.repeat_action_probability <= 1:
        raise ConfigError(f"repeat_action_probability is {config.repeat_action_probability}, allowed are 0 to 1")
    game = native.find(config.task)
    for name, allowed in (("mode", game["modes"]), ("difficulty", game["difficulties"])):
        if getattr(config, name) not in (-1, *allowed):
            raise ConfigError(
                f"{name} is {getattr(config, name)}, allowed in {config.task} are -1 (default) and "
                f"{', '.join(map(str, allowed))}"
            )
    return native.build(config, game, read_rom(config.task, game["md5"]), picture_size)
