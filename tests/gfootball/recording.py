"""What upstream's environment is recorded as: cases, their actions, and digests of their results.

This file needs nothing but NumPy: upstream.py imports it in an environment of its own.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

PATH = Path(__file__).with_name("digests.json")
VERSION = "2.10.2"
#: Records that share a digest, and its length in bytes.
BLOCK, LENGTH = 50, 4

#: Players that agents may control, by scenario.
CONTROLLABLE = {
    "11_vs_11_competition": (11, 11),
    "11_vs_11_easy_stochastic": (11, 11),
    "11_vs_11_hard_stochastic": (11, 11),
    "11_vs_11_kaggle": (11, 11),
    "11_vs_11_stochastic": (11, 11),
    "1_vs_1_easy": (1, 1),
    "5_vs_5": (4, 4),
    "academy_3_vs_1_with_keeper": (4, 2),
    "academy_corner": (11, 11),
    "academy_counterattack_easy": (11, 11),
    "academy_counterattack_hard": (11, 11),
    "academy_empty_goal": (2, 1),
    "academy_empty_goal_close": (2, 1),
    "academy_pass_and_shoot_with_keeper": (3, 2),
    "academy_run_pass_and_shoot_with_keeper": (3, 2),
    "academy_run_to_score": (2, 6),
    "academy_run_to_score_with_keeper": (2, 6),
    "academy_single_goal_versus_lazy": (11, 11),
}
#: Number of actions, by action set.
ACTIONS = {"default": 19, "v2": 20, "full": 33}
#: Records of a case with whole episodes, where they are not 410: at least one of the longest episode and its reset.
WHOLE = {"1_vs_1_easy": 510, "academy_single_goal_versus_lazy": 3010} | {
    name: 3010 for name in CONTROLLABLE if name.startswith(("11_", "5_"))
}
#: Arrays of a raw observation and their dtypes, in the order in which they are digested.
RAW = {
    "ball": np.float32,
    "ball_direction": np.float32,
    "ball_rotation": np.float32,
    "ball_owned_team": np.int32,
    "ball_owned_player": np.int32,
    **{
        f"{team}{part}": dtype
        for team in ("left_team", "right_team")
        for part, dtype in {
            "": np.float32,
            "_direction": np.float32,
            "_tired_factor": np.float32,
            "_yellow_card": np.bool_,
            "_active": np.bool_,
            "_roles": np.int32,
        }.items()
    },
    "score": np.int32,
    "steps_left": np.int32,
    "game_mode": np.int32,
    "sticky_actions": np.uint8,
    "active": np.int32,
    "designated": np.int32,
}
REPRESENTATIONS = ("raw", "extracted", "simple115", "simple115v2")


@dataclass(frozen=True)
class Case:
    """One recorded environment.

    Attributes
    ----------
    scenario : str
        Name of the scenario.
    left, right : int
        Controlled players.
    seed : int
        Seed of Python's generator before the environment is made.
    steps : int
        Records after the first reset, resets included.
    engine_seed : int or None
        The option ``game_engine_random_seed``.
    action_set : str
        The option ``action_set``.
    """

    scenario: str
    left: int
    right: int
    seed: int
    steps: int
    engine_seed: int | None = None
    action_set: str = "default"

    def __str__(self) -> str:
        name = f"{self.scenario}-{self.left}v{self.right}-{self.seed}-{self.steps}"
        name += "" if self.action_set == "default" else f"-{self.action_set}"
        return name if self.engine_seed is None else f"{name}-engine{self.engine_seed}"

    @property
    def actions(self) -> Any:
        """The actions of all records, int32 (steps, agents); those of resets have no effect."""
        rng = np.random.default_rng([self.seed, self.left, self.right])
        return rng.integers(0, ACTIONS[self.action_set], (self.steps, self.left + self.right), dtype=np.int32)


def cases() -> Iterator[Case]:
    """Yield all cases: two seeds for 1, 3 and as many agents as possible, and longer ones of one agent."""
    for scenario, (left, right) in CONTROLLABLE.items():
        for seed in (0, 11):
            for counts in dict.fromkeys([(1, 0), (min(3, left), 0), (min(3, left), min(3, right)), (left, right)]):
                yield Case(scenario, *counts, seed, 100)
        yield Case(scenario, 0, 1, 5, 100, engine_seed=77)
        yield Case(scenario, 1, 0, 3, 3010 if scenario == "11_vs_11_stochastic" else 510)
    for action_set in ("v2", "full"):
        yield Case("academy_3_vs_1_with_keeper", 3, 1, 4, 300, action_set=action_set)
        yield Case("5_vs_5", 4, 4, 4, 300, action_set=action_set)


def whole_episodes() -> Iterator[Case]:
    """Yield a case of whole episodes for each scenario, two seeds, and 1, 3 and as many agents as possible a side."""
    for scenario, (left, right) in CONTROLLABLE.items():
        for seed in (21, 22):
            for counts in dict.fromkeys([(1, 1), (min(3, left), min(3, right)), (left, right)]):
                yield Case(scenario, *counts, seed, WHOLE.get(scenario, 410))


class Digests:
    """Digests of the records of one environment, by representation."""

    def __init__(self) -> None:
        self.hashes: dict[str, list[Any]] = {name: [] for name in REPRESENTATIONS}
        self.records = 0

    def add(self, observations: Mapping[str, Any], rewards: Any, done: bool) -> None:
        """Add a record.

        Parameters
        ----------
        observations : mapping
            By representation; a raw one is a list of one mapping per agent, the others are arrays (agents, ...).
        rewards : array_like
            One per agent.
        done : bool
            Whether the episode has ended.
        """
        ends = np.asarray(rewards, np.float32).tobytes() + bytes([done])
        for name, observation in observations.items():
            if self.records % BLOCK == 0:
                self.hashes[name].append(hashlib.blake2b(digest_size=LENGTH))
            self.hashes[name][-1].update(bytes_of(name, observation) + ends)
        self.records += 1

    def texts(self) -> dict[str, str]:
        """Return the digests of each representation, one after the other."""
        return {name: "".join(h.hexdigest() for h in hashes) for name, hashes in self.hashes.items() if hashes}


def bytes_of(representation: str, observation: Any) -> bytes:
    """Return the bytes of an observation of all agents."""
    if representation != "raw":
        return np.ascontiguousarray(observation).tobytes()
    parts = [np.asarray(agent[name], dtype).tobytes() for agent in observation for name, dtype in RAW.items()]
    return b"".join(parts)


def recorded() -> dict[str, dict[str, str]]:
    """Return the digests of all cases, by the name of the case and the representation."""
    data = json.loads(PATH.read_text())
    assert data["gfootball"] == VERSION
    return dict(data["cases"])
