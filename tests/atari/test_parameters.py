"""Parameters of Atari's environments: each environment equals ALE with its own settings."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

import envpool
from envpool.errors import ConfigError, EnvStepError, StateError
from tests.atari.cases import IDS
from tests.atari.oracle import Game, compare
from tests.support.saved import CORE, body_of, core_at, play, sealed


class ChangingGame(Game):
    """A game whose parameters change before a reset."""

    def change(self, values: Mapping[str, Any]) -> None:
        """Let the game continue in a console with other settings."""
        saved, rng = self.ale.cloneState(include_rng=True), self.rng
        self.o = {**self.o, **values, "mode": -1, "difficulty": -1}
        self.load()
        self.ale.restoreState(saved)
        self.rng = rng
        self.ale.setMode(values["mode"])
        self.ale.setDifficulty(values["difficulty"])
        self.o = {**self.o, **values}


class Compared:
    """A pool and one game for each of its environments, which get the same actions."""

    def __init__(self, task_id: str, values: Mapping[str, Any], **options: Any):
        n = len(next(iter(values.values())))
        self.pool = envpool.make_gymnasium(task_id, num_envs=n, seed=5, **values, **options)
        config = self.pool.spec.config._asdict()
        self.games = [ChangingGame({**config, **{k: v[i] for k, v in values.items()}}, 5 + i) for i in range(n)]
        self.rng = np.random.default_rng(1)
        self.changes: dict[int, Mapping[str, Any]] = {}
        self.episodes = 0
        obs, info = self.pool.reset()
        self.got: Any = (obs, *np.zeros((3, n)), info)
        self.done = np.ones(n, bool)
        self.actions = np.zeros(n, np.int32)

    def play(self, steps: int) -> None:
        """Compare the last result, step, and so on."""
        for t in range(steps):
            for i, game in enumerate(self.games):
                if self.done[i] and i in self.changes:
                    game.change(self.changes.pop(i))
                game.reset() if self.done[i] else game.step(self.actions[i])
                compare(game.values(), self.got, i, f"env {i}, record {t}")
            self.done = (self.got[2] != 0) | (self.got[3] != 0)
            self.episodes += int(self.done.sum())
            held = self.rng.integers(0, 8, len(self.games)) > 0
            drawn = self.rng.integers(0, self.pool.action_space.n, len(self.games))
            self.actions = np.where(held, self.actions, drawn).astype(np.int32)
            self.got = self.pool.step(self.actions)


OWN = {
    "frame_skip": [4, 1, 7, 2],
    "mode": [-1, 3, 8, 12],
    "difficulty": [-1, 0, 1, 1],
    "repeat_action_probability": [0.0, 0.25, 0.1, 1.0],
}
BREAKOUT = OWN | {"mode": [-1, 8, 24, 44]}


def test_every_env_has_its_own() -> None:
    compared = Compared("SpaceInvaders-v5", OWN, max_episode_steps=60)
    with compared.pool:
        compared.play(130)
        assert compared.episodes >= 8


def test_lives_that_are_episodes() -> None:
    compared = Compared("Breakout-v5", BREAKOUT, episodic_life=True)
    with compared.pool:
        compared.play(250)
        assert compared.episodes >= 4


@pytest.mark.parametrize("episodic_life", [False, True])
def test_changes_apply_at_the_next_reset(episodic_life: bool) -> None:
    compared = Compared("Breakout-v5", BREAKOUT, max_episode_steps=70, episodic_life=episodic_life)
    with compared.pool as pool:
        compared.play(20)
        changed = {"frame_skip": 3, "mode": 28, "difficulty": 1, "repeat_action_probability": 0.5}
        pool.set_params(changed, [0, 1])
        compared.changes = {0: changed, 1: changed}
        pool.set_params(
            {k: v[::-1] for k, v in zip(changed, ([5, 6], [40, 4], [1, 0], [0.9, 0.3]), strict=True)}, [2, 3]
        )
        compared.changes[2] = {"frame_skip": 6, "mode": 4, "difficulty": 0, "repeat_action_probability": 0.3}
        compared.changes[3] = {"frame_skip": 5, "mode": 40, "difficulty": 1, "repeat_action_probability": 0.9}
        assert pool.get_params(in_force=True)["mode"].tolist() == BREAKOUT["mode"]
        compared.play(300)
        assert not compared.changes and compared.episodes >= 8
        assert pool.get_params(in_force=True)["mode"].tolist() == [28, 28, 4, 40]


def test_the_default_mode_returns() -> None:
    """-1 stands for the game's default, also after another mode."""
    with envpool.make_gymnasium("SpaceInvaders-v5", num_envs=2, seed=[3, 3], mode=[5, -1], difficulty=[1, -1]) as pool:
        pool.reset()
        pool.set_params({"mode": -1, "difficulty": -1})
        _, info = pool.reset()
        for _ in range(10):
            *_, info = pool.step(np.zeros(2, np.int32))
        assert np.count_nonzero(info["ram"][0] != info["ram"][1]) < 10  # what a reset leaves to chance differs
        assert pool.get_params(in_force=True)["mode"].tolist() == [-1, -1]


def test_values_that_the_game_does_not_have() -> None:
    assert envpool.make_spec("Pong-v5").param_spec["mode"].choices == (-1, 0, 1)
    with pytest.raises(ConfigError, match=r"mode.*1.* must be one of the integers -1, 0, 1.*, got 7"):
        envpool.make_gymnasium("Pong-v5", num_envs=2, mode=[0, 7])
    with pytest.raises(TypeError, match="frame_skip must be an integer"):
        envpool.make_gymnasium("Pong-v5", frame_skip=2.5)
    with (
        envpool.make_gymnasium("Pong-v5", num_envs=2, frame_skip=[4, 2]) as pool,
        pytest.raises(ConfigError, match=r"difficulty must be .*, got 5"),
    ):
        pool.set_params({"difficulty": 5})


# ---- saved states ----------------------------------------------------------------------------------------------------


def test_states_contain_parameters() -> None:
    with envpool.make_gymnasium("SpaceInvaders-v5", num_envs=4, seed=1, max_episode_steps=40, **OWN) as pool:
        pool.reset()
        play(pool, 15)
        pool.set_params({"mode": [2, 3]}, [0, 2])
        states = pool.get_state()
        expected = play(pool, 60)
        with envpool.make_gymnasium("SpaceInvaders-v5", num_envs=4, seed=8, max_episode_steps=40) as other:
            other.set_state(states)
            assert play(other, 60) == expected
            assert other.get_params()["mode"].tolist() == [2, 3, 3, 12]
            other.set_state(states[[1, 2]], [0, 2])
            other.copy_state([0, 2], [3, 1])
            for name, values in OWN.items():
                assert other.get_params(in_force=True)[name].tolist() == [values[k] for k in (1, 2, 2, 1)]


@pytest.mark.parametrize(("task_id", "mode"), [("VideoCheckers-v5", 11), ("DemonAttack-v5", 3), ("VideoCube-v5", 100)])
def test_states_of_other_modes(task_id: str, mode: int) -> None:
    """What ALE's class of a game keeps about the mode belongs to a state."""
    options: dict[str, Any] = {"seed": [1, 1], "noop_max": 0, "use_fire_reset": False}
    if mode not in envpool.make_spec(task_id).param_spec["mode"].choices:
        mode = envpool.make_spec(task_id).param_spec["mode"].choices[-1]
    with envpool.make_gymnasium(task_id, num_envs=2, mode=[-1, mode], **options) as pool:
        pool.reset()
        pool.set_state(pool.get_state(1), 0)
        for _ in range(5):
            obs, reward, terminated, _, info = pool.step(np.zeros(2, np.int32))
            assert np.array_equal(obs[0], obs[1]) and np.array_equal(info["ram"][0], info["ram"][1])
            assert reward[0] == reward[1] and terminated[0] == terminated[1]
        # A bit of the class may show only when a game ends, so the states are compared, too.
        first, second = (body_of(pool.get_state(i))[core_at(pool.get_state(i)) + CORE.size :] for i in (0, 1))
        assert first == second


@pytest.mark.parametrize(
    ("offset", "value"),
    [
        (0, struct.pack("<i", 0)),
        (0, struct.pack("<i", 10_001)),
        (4, struct.pack("<i", 7)),
        (4, struct.pack("<i", -2)),
        (8, struct.pack("<i", 99)),
        (12, struct.pack("<i", 1)),
        (16, struct.pack("<d", 1.5)),
        (16, struct.pack("<d", float("nan"))),
    ],
)
def test_forged_values(offset: int, value: bytes) -> None:
    with envpool.make_gymnasium("Pong-v5", seed=3) as pool:
        pool.reset()
        before = pool.get_state()
        body = body_of(before)
        at = body.index(struct.pack("<iiiid", 4, -1, -1, 0, 0.0)) + offset
        body[at : at + len(value)] = value
        with pytest.raises(StateError, match="it has values that get_state"):
            pool.set_state(sealed(body), 0)
        assert pool.get_state() == before


def test_a_forged_mode_that_is_pending_fails_at_the_reset() -> None:
    with envpool.make_gymnasium("Breakout-v5", seed=3) as pool:
        body = body_of(pool.get_state())
        pending = struct.pack("<qqqd", 4, -1, -1, 0.0)
        at = body.index(pending)
        body[at : at + len(pending)] = struct.pack("<qqqd", 4, 3, -1, 0.0)
        pool.set_state(sealed(body))
        with pytest.raises(EnvStepError, match="the game has no such mode"):
            pool.reset()
        pool.recv()
        pool.set_params({"mode": 4})
        pool.reset()
        play(pool, 3)


@pytest.mark.sweep
@pytest.mark.parametrize("task_id", [task_id for task_id in IDS if task_id != "DemonAttack-v5"])
def test_every_mode_and_difficulty(task_id: str) -> None:
    """All of them can be reached from each other. ALE calls some games of DemonAttack over when they begin."""
    spec = envpool.make_spec(task_id).param_spec
    pairs = [(mode, difficulty) for mode in spec["mode"].choices for difficulty in spec["difficulty"].choices]
    values = dict(zip(("mode", "difficulty"), map(list, zip(*pairs, strict=True)), strict=True))
    compared = Compared(task_id, values, max_episode_steps=3, noop_max=0, use_fire_reset=False)
    with compared.pool as pool:
        compared.play(3)
        pool.set_params({name: column[::-1] for name, column in values.items()})
        pool.set_params({"frame_skip": 9})
        for _ in range(4):
            pool.step(np.zeros(len(pairs), np.int32))
