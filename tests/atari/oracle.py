"""Atari environments in plain Python: ale_py's emulator and OpenCV's resizing under the rules of the options."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import ale_py
import cv2
import numpy as np
from ale_py import roms

import envpool
from tests.support.oracles.oracle import CaseOracle

NOOP, FIRE = ale_py.Action.NOOP, ale_py.Action.FIRE


class Game:
    """One environment.

    Parameters
    ----------
    options : mapping
        All options of the task, e.g. ``envpool.make_spec(...).config._asdict()``.
    seed : int
        Seed of the environment.
    """

    def __init__(self, options: Mapping[str, Any], seed: int):
        self.o = options
        self.size = (options["img_width"], options["img_height"])
        self.seed = seed
        self.is_fresh = True
        self.load()
        has_all = self.o["full_action_space"] or self.o["continuous"]
        self.actions = list(self.ale.getLegalActionSet() if has_all else self.ale.getMinimalActionSet())
        self.presses_fire = self.o["use_fire_reset"] and FIRE in self.actions

    def load(self) -> None:
        """Build the console and seed it as ale_py.AtariEnv does."""
        words = np.random.SeedSequence(self.seed).generate_state(2)
        self.rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence(int(words[0]))))
        ale_py.ALEInterface.setLoggerMode(ale_py.LoggerMode.Error)
        self.ale = ale_py.ALEInterface()
        self.ale.setFloat("repeat_action_probability", self.o["repeat_action_probability"])
        self.ale.setInt("random_seed", words[1].astype(np.int32))
        self.ale.loadROM(roms.get_rom_path(self.o["task"]))
        if self.o["mode"] >= 0:
            self.ale.setMode(self.o["mode"])
        if self.o["difficulty"] >= 0:
            self.ale.setDifficulty(self.o["difficulty"])

    def screen(self) -> np.ndarray:
        return self.ale.getScreenGrayscale() if self.o["gray_scale"] else self.ale.getScreenRGB()

    def start(self) -> None:
        """Start a game."""
        self.ale.reset_game()
        self.steps = 0
        self.has_lost_life = False
        self.frames: list[np.ndarray] = []

    def press(self, action: ale_py.Action) -> None:
        """Emulate one frame of the start of an episode."""
        self.ale.act(action)
        if self.ale.game_over():
            if self.is_fresh:
                self.load()
            self.start()

    def reset(self) -> None:
        if (
            self.is_fresh
            or not self.o["episodic_life"]
            or self.ale.game_over()
            or self.steps >= self.o["max_episode_steps"]
            or not self.has_lost_life
        ):
            self.start()
        self.has_lost_life = False
        noops = self.rng.integers(1, self.o["noop_max"] + 1) if self.o["noop_max"] else 0
        for _ in range(noops - self.presses_fire):
            self.press(NOOP)
        if self.presses_fire:
            self.press(FIRE)
        self.is_fresh = False
        self.lives = self.ale.lives()
        self.life_loss = False
        self.newer, self.older = self.screen(), None
        self.reward, self.discount, self.terminated, self.truncated = 0.0, 1.0, False, False
        self.game_reward = 0.0
        self.push()

    def press_of(self, action: Any) -> tuple[ale_py.Action, float]:
        """Return the action of the emulator, and the strength with which a paddle turns."""
        if not self.o["continuous"]:
            return self.actions[action], 1.0
        radius, angle, button = action
        threshold = self.o["continuous_action_threshold"]
        x, y = radius * np.cos(angle), radius * np.sin(angle)
        name = ("UP" if y > threshold else "DOWN" if y < -threshold else "") + (
            "RIGHT" if x > threshold else "LEFT" if x < -threshold else ""
        )
        name += "FIRE" if button > threshold else ""
        return getattr(ale_py.Action, name or "NOOP"), radius

    def step(self, action: Any) -> None:
        self.game_reward = 0.0
        skip = self.o["frame_skip"]
        ended, is_life_lost, before = False, False, self.lives
        press, strength = self.press_of(action)
        for t in range(skip):
            self.game_reward += self.ale.act(press, strength)
            lives = self.ale.lives()
            is_life_lost |= lives < self.lives
            ended = self.ale.game_over() or (self.o["episodic_life"] and 0 < lives < self.lives)
            self.lives = lives
            if ended:
                break
            if t == skip - 2 and self.o["maxpool"]:
                self.older = self.screen()
            elif t == skip - 1:
                self.newer = self.screen()
        self.steps += 1
        self.has_lost_life = is_life_lost and lives > 0
        self.life_loss = 0 < lives < before
        self.reward = np.sign(self.game_reward) if self.o["reward_clip"] else self.game_reward
        self.terminated = ended
        self.truncated = self.steps >= self.o["max_episode_steps"]
        is_cut = self.terminated or self.truncated or (is_life_lost and self.o["zero_discount_on_life_loss"])
        self.discount = 0.0 if is_cut else 1.0
        self.push()

    def push(self) -> None:
        """Add a frame to the stack."""
        if self.older is not None and self.o["frame_skip"] > 1:
            self.newer = np.maximum(self.newer, self.older)
        method = cv2.INTER_AREA if self.o["use_inter_area_resize"] else cv2.INTER_LINEAR
        frame = cv2.resize(self.newer, self.size, interpolation=method)
        self.frames.append(frame[None] if self.o["gray_scale"] else frame.transpose(2, 0, 1))
        self.frames = self.frames[-self.o["stack_num"] :]

    def values(self) -> dict[str, Any]:
        """Return everything that the pool returns for this environment."""
        missing = self.o["stack_num"] - len(self.frames)
        padding = self.frames[0] if self.o["padding_type"] == "reset" else np.zeros_like(self.frames[0])
        values = {
            "obs": np.concatenate([padding] * missing + self.frames),
            "reward": np.float32(self.reward),
            "terminated": np.bool_(self.terminated),
            "truncated": np.bool_(self.truncated),
            "info:lives": np.int32(self.lives),
            "info:reward": np.float32(self.game_reward),
            "info:terminated": np.int32(self.ale.game_over()),
            "info:ram": self.ale.getRAM(),
        }
        if self.o["life_loss_info"]:
            values["info:life_loss"] = np.bool_(self.life_loss)
        if self.o["frame_number_info"]:
            values["info:frame_number"] = np.int32(self.ale.getFrameNumber())
            values["info:episode_frame_number"] = np.int32(self.ale.getEpisodeFrameNumber())
        return values


class GameOracle(CaseOracle):
    """Compares pools with games record by record: whole trajectories of screens would take too much memory.

    Environment i has the seed ``case.seed + i``. Each action is held for 8 steps on average, so that games advance.
    """

    HOLD = 8

    def check(self, case: Any) -> None:
        """Raise AssertionError when a pool of the case returns a bit that a game does not."""
        for run in case.runs:
            ended = self.compare_run(case, {**case.options, **run})
            assert ended >= case.min_episodes, f"{ended} episodes ended, {case.min_episodes} are needed"

    def compare_run(self, case: Any, options: dict[str, Any]) -> int:
        """Compare one pool with games, and return how many episodes ended."""
        rng = np.random.default_rng(case.seed)
        num_envs = case.num_envs
        with envpool.make_gymnasium(case.task_id, num_envs=num_envs, seed=case.seed, **options) as pool:
            games = [Game(pool.spec.config._asdict(), case.seed + i) for i in range(num_envs)]
            space, episodes = pool.action_space, 0
            obs, info = pool.reset()
            got = (obs, *np.zeros((3, num_envs)), info)
            done = np.ones(num_envs, bool)
            actions = np.zeros((num_envs, *space.shape), space.dtype)
            for record in range(case.steps):
                for i, game in enumerate(games):
                    game.reset() if done[i] else game.step(actions[i])
                    where = f"{case.task_id} {options}, seed {case.seed}, env {i}, record {record}"
                    compare(game.values(), got, i, where)
                done = (got[2] != 0) | (got[3] != 0)
                episodes += int(done.sum())
                change = rng.integers(0, self.HOLD, num_envs) == 0
                if space.shape:
                    drawn: Any = rng.uniform(space.low, space.high, actions.shape)
                    change = change[:, None]
                else:
                    drawn = rng.integers(0, space.n, num_envs)
                actions = np.where(change, drawn, actions).astype(space.dtype)
                got = pool.step(actions)
        return episodes


def compare(expected: dict[str, Any], got: tuple[Any, ...], i: int, where: str) -> None:
    """Raise AssertionError unless row i of a pool's result has these bits."""
    obs, reward, terminated, truncated, info = got
    rows = {"obs": obs[i], "reward": reward[i], "terminated": terminated[i], "truncated": truncated[i]}
    for name, value in expected.items():
        if name.startswith("info:"):
            rows[name] = info[name.removeprefix("info:")][i]
        differing = np.flatnonzero(np.asarray(rows[name]) != value)
        assert not len(differing), (
            f"{where}: {name} differs in {len(differing)} elements: expected {value!r}, got {rows[name]!r}"
        )
