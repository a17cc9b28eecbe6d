"""The upstream environments of this family, for ``envpool verify`` and the tests.

They are ale_py's environments under gymnasium's wrappers ``AtariPreprocessing`` and ``FrameStackObservation``, as most
of the literature uses them. The wrappers never press FIRE, so the pool does not either.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import ale_py
import gymnasium
from gymnasium.envs.registration import EnvSpec
from gymnasium.wrappers import AtariPreprocessing, FrameStackObservation

from envpool.registration import make_spec
from envpool.verify.gymnasium_oracle import GymnasiumOracle

#: Neither sticky actions nor a limit of frames; the wrapper skips frames.
RAW: dict[str, Any] = {"frameskip": 1, "repeat_action_probability": 0.0, "max_num_frames_per_episode": 0}
#: Games without the action no-op: gymnasium's wrapper refuses to draw a number of no-ops for them.
WITHOUT_NOOP = ("backgammon", "video_checkers")
#: Only one of the two may be installed, so neither is part of an extra.
INSTALL_OPENCV = "pip install opencv-python (or opencv-python-headless, which has no windows)"
PACKAGES = ("gymnasium", "ale-py", "opencv-python", "opencv-python-headless")


def make_preprocessed(game: str, terminal_on_life_loss: bool = False, noop_max: int = 30) -> gymnasium.Env[Any, Any]:
    """Return an environment of ale_py under gymnasium's wrappers."""
    if find_spec("cv2") is None:
        raise ImportError(f"gymnasium's AtariPreprocessing needs OpenCV, which is not installed: {INSTALL_OPENCV}")
    ale_py.ALEInterface.setLoggerMode(ale_py.LoggerMode.Error)
    gymnasium.register_envs(ale_py)
    env = gymnasium.make("ALE/Pong-v5", game=game, disable_env_checker=True, **RAW)
    env = AtariPreprocessing(env, noop_max=noop_max, terminal_on_life_loss=terminal_on_life_loss)
    return FrameStackObservation(env, 4)


def ram(env: Any, info: dict[str, Any]) -> Any:
    """Return the memory of the console, which the info of the pool contains."""
    return env.unwrapped.ale.getRAM()


def oracle_of(game: str, **kwargs: Any) -> GymnasiumOracle:
    """Return the upstream environment of a game, with arguments of `make_preprocessed`."""
    options: dict[str, Any] = {"use_fire_reset": False}
    if game in WITHOUT_NOOP:
        kwargs["noop_max"] = options["noop_max"] = 0
    name = "".join(part.capitalize() for part in game.split("_"))
    make: Any = make_preprocessed
    return GymnasiumOracle(
        EnvSpec(f"ALE/{name}-v5", entry_point=make, max_episode_steps=27000),
        {"game": game, **kwargs},
        info={"lives": "lives", "ram": ram},
        options=options,
        packages=PACKAGES,
        note="under AtariPreprocessing",
    )


def upstream_of(task_id: str) -> GymnasiumOracle:
    """Return the upstream environment of a task."""
    return oracle_of(make_spec(task_id).config.task)
