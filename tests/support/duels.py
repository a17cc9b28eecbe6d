"""A small environment in the form of PettingZoo, and pools of it."""

import numpy as np
from gymnasium import spaces

import envpool

WORKERS = ["inline", "thread", "process"]


class Duel:
    """A parallel environment in the form of PettingZoo: agent "b_0" leaves after two steps, "a_0" after four."""

    possible_agents = ("a_0", "b_0")

    def __init__(self, sizes=(3, 3)):
        self.sizes = dict(zip(self.possible_agents, sizes, strict=True))

    def observation_space(self, agent):
        return spaces.Box(-9, 9, (self.sizes[agent],), np.float32)

    def action_space(self, agent):
        return spaces.Discrete(5)

    def _obs(self):
        return {a: np.full(self.sizes[a], self.count, np.float32) for a in self.agents}

    def _infos(self):
        return {a: {} for a in self.agents}

    def reset(self, seed=None, options=None):
        self.agents, self.count = ["a_0", "b_0"], 0
        return self._obs(), self._infos()

    def step(self, actions):
        assert sorted(actions) == self.agents
        self.count += 1
        obs, rewards = self._obs(), {a: float(actions[a]) for a in self.agents}
        ended = {a: self.count == {"a_0": 4, "b_0": 2}[a] for a in self.agents}
        out = obs, rewards, dict(ended), dict.fromkeys(self.agents, False), self._infos()
        self.agents = [a for a in self.agents if not ended[a]]
        return out


def duels(num_envs=2, cls=Duel, **options):
    return envpool.make_python(cls, num_envs, **{"players": "grid", "num_threads": 2, **options})
