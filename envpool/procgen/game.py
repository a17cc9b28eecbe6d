"""The env definition of all Procgen tasks: their options, and the checks before the library sees them."""

from __future__ import annotations

from types import ModuleType
from typing import Any, ClassVar

from envpool._support.packages import load_compiled
from envpool._support.text import shown
from envpool.config.checks import check_choice
from envpool.errors import ConfigError
from envpool.native import EnvDefinition
from envpool.procgen.files import load_library
from envpool.procgen.games import GAMES, MODES

INT32_MAX = 2**31 - 1


class Procgen(EnvDefinition):
    """A game of Procgen, simulated and drawn by the library of procgen-mirror 0.10.7.

    The results equal those of ``ProcgenGym3Env(num=1, rand_seed=seed + i)`` under ``gym3.ToGymEnv``, bit for bit.

    The observation is uint8 (3, 64, 64), or (64, 64, 3) with channel_first=False. The action is int32, 0 to 14: 0 to 8
    are the directions (left and down, left, left and up, down, none, up, right and down, right, right and up), 9 to 14
    are further keys (D, A, W, S, Q, E). Info contains ``level_seed`` (int32, the level of the next step),
    ``prev_level_seed`` (int32, the level of the last step) and ``prev_level_complete`` (int32, 1 if the last step has
    solved its level).

    The row that ends an episode shows the observation before its last step, as upstream's environment does, and the
    info of the next level: the library draws no terminal frame.

    Options
    -------
    env_name : str
        Name of the game in the library, e.g. ``"coinrun"``.
    distribution_mode : int
        0 easy, 1 hard, 2 extreme, 10 memory, 20 exploration; not every game has every mode.
    channel_first : bool
        If True, observations are (3, 64, 64).
    num_levels : int
        Number of levels; 0 for all of them. Must be 0 in the mode exploration, which has one level.
    start_level : int
        Seed of the first of num_levels levels.
    use_sequential_levels : bool
        If True, the episode continues with another level when a level is solved.
    center_agent : bool
        If True, the observation is centred on the agent in games that can do so; else it shows the whole level.
    use_backgrounds : bool
        If True, games have images as their background; else it is black.
    use_monochrome_assets : bool
        If True, objects are rectangles of one colour.
    restrict_themes : bool
        If True, games that draw their objects in several styles use a single style.
    use_generated_assets : bool
        If True, objects are drawn with images that are generated at random. The library cannot save states with such
        images.
    paint_vel_info : bool
        If True, the velocity of the agent is painted into the upper left corner in games where it matters.
    use_easy_jump : bool
        This option has no effect, as in EnvPool: the games of this version do not use it.
    seed_rows : bool
        If True, environment i has the levels of row i of ``ProcgenGym3Env(num=num_envs, rand_seed=seed)``, as in
        EnvPool.
    """

    options: ClassVar[dict[str, Any]] = {
        "env_name": "bigfish",
        "channel_first": True,
        "num_levels": 0,
        "start_level": 0,
        "use_sequential_levels": False,
        "center_agent": True,
        "use_backgrounds": True,
        "use_monochrome_assets": False,
        "restrict_themes": False,
        "use_generated_assets": False,
        "paint_vel_info": False,
        "use_easy_jump": False,
        "distribution_mode": MODES["Hard"],
        "seed_rows": False,
    }

    @staticmethod
    def build(config: Any) -> Any:
        """Return the capsule of a game under a configuration."""
        return build(config, renders=False)

    @staticmethod
    def build_for_rendering(config: Any, height: int, width: int) -> Any:
        """Return the capsule of a pool whose handles can draw frames."""
        return build(config, renders=True)

    @staticmethod
    def max_seed(config: Any) -> int:
        """Return the largest seed: the library takes seeds of 32 bits."""
        return 2**32 - 1

    @staticmethod
    def check_requirements(config: Any) -> None:
        """Load the library, or raise an ImportError that says what to install."""
        load_library()

    @staticmethod
    def render_fps(config: Any) -> int:
        """Return the frame rate of upstream's window: 15 frames per second."""
        return 15


def compiled() -> ModuleType:
    """Import the module with the env definition."""
    return load_compiled("envpool.procgen.env")


def build(config: Any, renders: bool) -> Any:
    """Check the options of a task, since the library would end the process, and return its capsule."""
    check_choice("env_name", config.env_name, GAMES)
    game = GAMES[config.env_name]
    modes = {MODES[name]: name.lower() for name in game.modes}
    if config.distribution_mode not in modes:
        allowed = ", ".join(f"{number} ({name})" for number, name in modes.items())
        raise ConfigError(
            f"distribution_mode of {config.env_name} must be one of {allowed}, got {shown(config.distribution_mode)}"
        )
    for name in ("num_levels", "start_level"):
        if not 0 <= getattr(config, name) <= INT32_MAX:
            raise ConfigError(f"{name} must be between 0 and 2**31 - 1, got {shown(getattr(config, name))}")
    if config.num_levels + config.start_level > INT32_MAX and config.num_levels > 0:
        raise ConfigError(
            "num_levels + start_level must be at most 2**31 - 1, since seeds of levels are int32, got "
            f"{config.num_levels} + {config.start_level}"
        )
    if config.seed_rows and config.use_generated_assets:
        raise ConfigError(
            f"seed_rows must be False with use_generated_assets=True, got {shown(config.seed_rows)}: the levels of a "
            "row come from a saved state, and the library cannot save states with generated images"
        )
    if config.distribution_mode != MODES["Exploration"]:
        return compiled().build(config, config.num_levels, config.start_level, config.distribution_mode, renders)
    for name in ("num_levels", "start_level"):
        if getattr(config, name) != 0:
            raise ConfigError(
                f"{name} must be 0 with distribution_mode=20 (exploration), which plays one fixed level of the game, "
                f"got {shown(getattr(config, name))}"
            )
    return compiled().build(config, 1, game.exploration_level, MODES["Hard"], renders)
