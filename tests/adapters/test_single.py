"""`SingleEnvironment`: the contract of dm_env, as its own mixin for implementations checks it."""

import numpy as np
import pytest
from absl.testing import absltest
from dm_env import test_utils

from envpool.adapters.single import SingleEnvironment
from envpool.errors import ActionError, EnvIdError


class OneEnvironment(test_utils.EnvironmentTestMixin, absltest.TestCase):
    """The suite of dm_env on a native task, whose episodes end within its sequence of 20 actions.

    Adaptations: none. The mixin builds an action from the action spec and repeats it.
    """

    def make_object_under_test(self):
        return SingleEnvironment("CartPole-v1", max_episode_steps=8)


class OneContinuousEnvironment(test_utils.EnvironmentTestMixin, absltest.TestCase):
    """The same with a task of dm_control."""

    def make_object_under_test(self):
        return SingleEnvironment("CheetahRun-v1", max_episode_steps=8)


def test_mistakes_are_named_in_the_terms_of_one_environment():
    env = SingleEnvironment("CartPole-v1", max_episode_steps=1, autoreset_mode="disabled")
    with pytest.raises(EnvIdError, match=r"^no episode is running: call reset\(\)$"):
        env.step(1)
    env.reset()
    with pytest.raises(ActionError, match=r"^action must have the shape \(\), got \(1,\)$"):
        env.step(np.ones(1, int))
    env.step(1)
    with pytest.raises(EnvIdError, match=r"^no episode is running: call reset\(\)$"):
        env.step(1)
    env.close()
