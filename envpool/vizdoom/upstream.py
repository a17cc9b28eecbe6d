"""The same scenarios played by the library of the vizdoom package, for ``envpool verify`` and the tests."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from envpool.tasks.registry import registry
from envpool.verify.oracle import Oracle
from envpool.vizdoom.config_file import read_scenario
from envpool.vizdoom.game import INFOS
from envpool.vizdoom.wheel import package_folder

#: Variables that the engine does not reset between episodes.
COUNTERS = ("HITCOUNT", "DAMAGECOUNT", "DEATHCOUNT")


@dataclass(frozen=True, kw_only=True)
class ViZDoomOracle(Oracle):
    """``vizdoom.DoomGame`` with the configuration file of a scenario, without its time limit.

    Attributes
    ----------
    scenario : str
        Name of the scenario.
    game_args : str
        Further arguments of the engine.
    buffers : tuple of str
        Further buffers in the observation: "depth", "labels", "automap".
    limit : int
        Time limit in steps.
    """

    scenario: str
    game_args: str = ""
    buffers: tuple[str, ...] = ()
    limit: int = 525
    packages: tuple[str, ...] = ("vizdoom",)

    @property
    def title(self) -> str:
        """Name of the upstream environment."""
        return f"vizdoom.DoomGame ({self.scenario}.cfg)"

    def start(self, seed: int) -> ViZDoomPlayer:
        """Return a game with a seed."""
        return ViZDoomPlayer(self, seed)

    def choose_actions(self, space: Any, mode: str, records: int, num_envs: int, seed: int) -> Any:
        """Return random buttons, and random numbers for delta buttons."""
        rng = np.random.default_rng(seed)
        return rng.integers(0, 2, (records, num_envs, *space.shape)).astype(np.float64)


class ViZDoomPlayer:
    """One game that is played episode after episode.

    Parameters
    ----------
    oracle : ViZDoomOracle
        The task to play.
    seed : int
        Seed of the game, 0 to 2**32 - 1.
    frame_skip : int
        Tics per step.
    variables : tuple of str
        Game variables in the info.
    """

    def __init__(self, oracle: ViZDoomOracle, seed: int, frame_skip: int = 4, variables: tuple[str, ...] = INFOS):
        self.library: Any = import_module("vizdoom")
        self.oracle, self.frame_skip, self.variables = oracle, frame_skip, variables
        # A game reads the settings that an earlier game has written: it needs a folder of its own.
        self.folder = tempfile.mkdtemp(prefix="envpool-doom-game-")
        self.game = game = self.library.DoomGame()
        game.load_config(str(package_folder() / "scenarios" / f"{oracle.scenario}.cfg"))
        game.set_doom_config_path(f"{self.folder}/settings.ini")
        game.set_window_visible(False)
        game.set_audio_buffer_enabled(False)
        game.set_mode(self.library.Mode.PLAYER)
        game.set_doom_map("map01")
        game.set_episode_timeout(0)
        for name in ("depth", "labels", "automap"):
            getattr(game, f"set_{name}_buffer_enabled")(name in oracle.buffers)
        game.add_game_args(oracle.game_args)
        game.set_seed(seed)
        game.init()
        self.episodes = self.elapsed = 0
        self.is_done = True
        self.frames: dict[str, Any] = {}
        self.base: dict[str, float] = {}

    def raw(self, name: str) -> float:
        """Return the value of a game variable."""
        return float(self.game.get_game_variable(getattr(self.library.GameVariable, name)))

    def record(self, action: Any) -> dict[str, Any]:
        """Return the next record, with planar frames; the reward is 0 in a reset."""
        reward, terminated = 0.0, False
        if self.is_done:
            if self.episodes > 0:
                self.game.new_episode()
            self.episodes, self.elapsed = self.episodes + 1, 0
            self.base = {name: self.raw(name) for name in COUNTERS}
        else:
            reward = self.game.make_action([float(a) for a in action], self.frame_skip)
            self.elapsed += 1
            terminated = self.game.is_episode_finished()
        if not terminated:
            self.frames = self.observe()
        truncated = self.elapsed >= self.oracle.limit
        self.is_done = terminated or truncated
        return {
            **self.frames,
            "reward": np.float32(reward),
            "terminated": np.bool_(terminated),
            "truncated": np.bool_(truncated),
            "elapsed_step": np.int32(self.elapsed),
            **{f"info:{name}": self.raw(name) - self.base.get(name, 0.0) for name in self.variables},
        }

    def observe(self) -> dict[str, Any]:
        """Return the buffers of the current state as planes, by name of the array."""
        state = self.game.get_state()
        screen = planar(state.screen_buffer)
        if not self.oracle.buffers:
            return {"obs": screen}
        return {"obs:screen": screen} | {
            f"obs:{name}": planar(getattr(state, f"{name}_buffer")) for name in self.oracle.buffers
        }

    def close(self) -> None:
        """End the game."""
        self.game.close()
        shutil.rmtree(self.folder, ignore_errors=True)
        written = Path("_vizdoom")  # the engine makes this folder where it is started
        if written.is_dir() and not any(written.iterdir()):
            written.rmdir()


def planar(buffer: Any) -> Any:
    """Return a copy of a buffer, uint8 (planes, height, width)."""
    return np.array(buffer if buffer.ndim == 3 else buffer[None])


def options_of(scenario: str) -> dict[str, Any]:
    """Return the options of a pool whose frames are the screens, and whose rewards are those of the scenario."""
    width, height = read_scenario(package_folder() / "scenarios" / f"{scenario}.cfg").screen_size
    return {"stack_num": 1, "img_height": height, "img_width": width, "scenario_reward": True}


def upstream_of(task_id: str) -> ViZDoomOracle | None:
    """Return the upstream environment of a task; None if its scenario is not in the vizdoom package."""
    entry = registry.find(task_id)
    scenario = entry.config["task"]
    if not (package_folder() / "scenarios" / f"{scenario}.cfg").is_file():
        return None
    return ViZDoomOracle(scenario=scenario, game_args=entry.config["game_args"], options=options_of(scenario))
