"""ApplePicker in plain Python: the rules that docs/grid_worlds.md states."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import gymnasium
import numpy as np

from envpool.rlib.maps import ORCHARD
from tests.support.oracles.gymnasium_oracle import Upstream

MOVES = ((-1, 0), (1, 0), (0, -1), (0, 1))


class PlainApplePicker(gymnasium.Env[np.ndarray, int]):
    """An agent walks over the free tiles of a map and picks the apples that lie there."""

    def __init__(
        self, grid: Any = ORCHARD, num_objects: int = 20, default_reward: float = 0.0, is_deterministic: bool = False
    ):
        self.tiles = {(y, x): tile for y, row in enumerate(grid) for x, tile in enumerate(row)}
        self.shape = len(grid), len(grid[0]), 3
        self.num_objects, self.default_reward = num_objects, default_reward
        self.is_deterministic = is_deterministic

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        super().reset(seed=seed)
        if seed is not None or not self.is_deterministic:
            self.beginning = self.drawn_beginning()
        self.agent, apples = self.beginning
        self.apples = set(apples)
        return self.image(), {}

    def drawn_beginning(self) -> tuple[tuple[int, int], frozenset[tuple[int, int]]]:
        """Return the tile of the agent and those of the apples: a random subset of the other free tiles."""
        free = [place for place, tile in self.tiles.items() if tile == "."]
        agent = free.pop(int(self.np_random.integers(len(free))))
        apples: set[tuple[int, int]] = set()
        for last in range(len(free) - self.num_objects, len(free)):
            place = free[int(self.np_random.integers(last + 1))]
            apples.add(free[last] if place in apples else place)
        return agent, frozenset(apples)

    def step(self, action: int) -> Any:
        dy, dx = MOVES[action]
        place = self.agent[0] + dy, self.agent[1] + dx
        if self.tiles.get(place) == ".":
            self.agent = place
        reward = 1.0 if self.agent in self.apples else self.default_reward
        self.apples.discard(self.agent)
        return self.image(), reward, not self.apples, False, {}

    def image(self) -> np.ndarray:
        """Return the map with the agent in red, the apples in green and blocked tiles in blue."""
        image = np.zeros(self.shape, np.uint8)
        for place, tile in self.tiles.items():
            image[place] = 255 * (place == self.agent), 255 * (place in self.apples), 255 * (tile == "#")
        return image


@dataclass(frozen=True)
class ApplePickerRules(Upstream):
    """Makes PlainApplePicker instead of an env of gymnasium."""

    def make(self) -> gymnasium.Env[Any, Any]:
        kwargs = dict(self.kwargs)
        limit = kwargs.pop("max_episode_steps", None)
        env = PlainApplePicker(**kwargs, is_deterministic="Deterministic" in self.id)
        return gymnasium.wrappers.TimeLimit(env, limit) if limit else env
