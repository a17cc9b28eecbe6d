"""PPO on an environment of your own, written in Python: the training loop is that of ppo.py.

    python examples/custom_env.py --target 0.9 --plot custom_env.png
    python examples/custom_env.py --options '{"workers": "process", "num_threads": 4}'

The environment is a subclass of ``gymnasium.Env`` that is registered with gymnasium, and ``envpool.make_python`` makes
a pool of its id; ``envpool.make_python(Lighthouse, num_envs=64)`` makes the same pool without a registration.
"""

import sys

import gymnasium
import numpy as np
import ppo
from gymnasium.spaces import Box, Discrete


class Lighthouse(gymnasium.Env):
    """A ship on a line looks for the harbour, which it sees only while the light is on, every third step.

    The observation, float32 (3,), is the distance to the harbour or 0 if it is dark, whether it is dark, and the speed.
    The actions brake, drift and accelerate to the right. The reward is 1 for stopping in the harbour.
    """

    observation_space = Box(-np.inf, np.inf, (3,), np.float32)
    action_space = Discrete(3)

    def reset(self, *, seed=None, options=None):
        """Start at a random place, at rest."""
        super().reset(seed=seed)
        self.place, self.speed, self.time = self.np_random.uniform(-1, 1), 0.0, 0
        return self._observe(), {}

    def step(self, action):
        """Take one step; the info of the last one says how far away the ship was."""
        self.time += 1
        self.speed = float(np.clip(self.speed + 0.05 * (int(action) - 1), -0.2, 0.2))
        self.place = float(np.clip(self.place + self.speed, -2, 2))
        has_arrived = abs(self.place) < 0.1 and abs(self.speed) < 0.1
        info = {"distance": abs(self.place)} if has_arrived else {}
        return self._observe(), float(has_arrived), has_arrived, False, info

    def _observe(self):
        is_dark = self.time % 3 != 0
        return np.array([0 if is_dark else self.place, is_dark, self.speed], np.float32)


gymnasium.register("Lighthouse-v0", Lighthouse, max_episode_steps=60)

#: Options of ppo.py that fit this environment; those of the command line come later and win.
DEFAULTS = ["--task", "Lighthouse-v0", "--num-envs", "32", "--total-timesteps", "200000"]


def main(argv=None):
    """Train and report; see ppo.py."""
    ppo.main([*DEFAULTS, *(sys.argv[1:] if argv is None else argv)])


if __name__ == "__main__":
    main()
