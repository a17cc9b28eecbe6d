"""A policy that draws actions from its own generator."""

import numpy as np
from tianshou.algorithm.algorithm_base import Policy
from tianshou.data import Batch


class RandomPolicy(Policy):
    """Discrete or continuous actions that depend on the seed, on how many were drawn before, and on nothing else.

    It has a state and something to store beside the action, which AsyncCollector cannot do without.
    """

    def __init__(self, action_space, seed=0):
        super().__init__(action_space=action_space)
        self.rng = np.random.default_rng(seed)

    def forward(self, batch, state=None, **kwargs):
        count = len(batch.obs)
        if hasattr(self.action_space, "n"):
            act = self.rng.integers(self.action_space.n, size=count)
        else:
            act = self.rng.uniform(-1, 1, (count, *self.action_space.shape)).astype(np.float32)
        return Batch(act=act, state=Batch(none=np.zeros(count)), policy=Batch(first=np.full(count, act.flat[0])))
