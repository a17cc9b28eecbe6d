"""The upstream environments of this family, for ``envpool verify`` and the tests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from pettingzoo.classic.connect_four.connect_four import raw_env

from envpool.verify.oracle import Oracle

#: Records of the last game of a sequence: random games have any of these lengths so often that one is soon found.
LAST_GAME = range(14, 31)
LONGEST_GAME = 43  # with the record of the reset


@dataclass(frozen=True, kw_only=True)
class ConnectFourOracle(Oracle):
    """PettingZoo's connect four, in which all moves are legal."""

    @property
    def title(self) -> str:
        """Name of the upstream environment."""
        return "PettingZoo's connect_four_v3"

    def start(self, seed: int) -> ConnectFourPlayer:
        """Return a game; nothing is random in it."""
        return ConnectFourPlayer()

    def choose_actions(self, space: Any, mode: str, records: int, num_envs: int, seed: int) -> Any:
        """Return legal moves; see `Oracle.choose_actions`. A game begins with the first move, and the last game ends.

        Sequences of fewer records than the shortest last game may end within a game.
        """
        rngs = [np.random.default_rng([seed, i]) for i in range(num_envs)]
        return np.stack([moves_of_games(records, rng) for rng in rngs], axis=1)


class ConnectFourPlayer:
    """One game after the other."""

    def __init__(self) -> None:
        self.env = raw_env()
        self.is_done = True
        self.elapsed = 0

    def record(self, action: Any) -> dict[str, Any]:
        """Return the next record; the masks of upstream's last observation are those of no move."""
        env = self.env
        if self.is_done:
            env.reset()
            self.elapsed = 0
        else:
            env.step(int(action))
            self.elapsed += 1
        agents = env.possible_agents
        self.is_done = self.elapsed > 0 and all(env.terminations.values())
        mask = env.observe(env.agent_selection)["action_mask"].astype(np.bool_)
        return {
            "obs": np.stack([env.observe(agent)["observation"] for agent in agents]),
            "reward": np.array([env.rewards[agent] if self.elapsed else 0 for agent in agents], np.float32),
            "terminated": np.bool_(self.is_done),
            "truncated": np.bool_(False),
            "elapsed_step": np.int32(self.elapsed),
            "info:current_player": np.int32(-1 if self.is_done else agents.index(env.agent_selection)),
            "info:legal_action_mask": mask & (not self.is_done),
        }

    def close(self) -> None:
        """Free the environment."""
        self.env.close()


def moves_of_games(records: int, rng: np.random.Generator) -> npt.NDArray[np.int32]:
    """Return the moves of random games, (records,), with a zero for the record that resets after each game."""
    moves: list[int] = []
    while (left := records - len(moves)) > 0:
        game = random_game(rng)
        rest = left - len(game)
        if rest == 0 or rest > LONGEST_GAME or rest in LAST_GAME or left < LAST_GAME[0]:
            moves += game
    return np.array(moves[:records], np.int32)


def random_game(rng: np.random.Generator) -> list[int]:
    """Return the legal moves of a random game, and a zero."""
    env, moves = raw_env(), []
    env.reset()
    while not any(env.terminations.values()):
        moves.append(int(rng.choice(np.flatnonzero(env.observe(env.agent_selection)["action_mask"]))))
        env.step(moves[-1])
    return [*moves, 0]


def upstream_of(task_id: str) -> ConnectFourOracle:
    """Return the upstream environment of a task."""
    return ConnectFourOracle(options={"players": "grid"}, packages=("pettingzoo",))
