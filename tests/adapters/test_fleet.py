"""`Fleet`: what its adapters rely on."""

from contextlib import closing

import gymnasium
import numpy as np
import pytest

from envpool.adapters.fleet import Fleet


class Recorder(gymnasium.Env):
    """Notes the actions of its steps."""

    observation_space = gymnasium.spaces.Box(0, 1, (1,), np.float32)
    action_space = gymnasium.spaces.Discrete(3)

    def reset(self, *, seed=None, options=None):
        self.actions = []
        return np.zeros(1, np.float32), {}

    def step(self, action):
        self.actions.append(action)
        return np.zeros(1, np.float32), 0.0, False, False, {}


def test_refused_actions_are_not_left_for_a_later_step():
    with closing(Fleet([Recorder] * 2)) as fleet:
        fleet.reset([0, 1], {})
        with pytest.raises(ValueError, match="each of the 2 environments, got 1"):
            fleet.step([0, 1], [0.5])  # no action of an array, so it is handed over on its own
        fleet.step([0, 1], [1, 2])
        assert [env.actions for env in fleet.envs] == [[1], [2]]
