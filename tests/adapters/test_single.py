"""`SingleEnvironment`: the contract of dm_env, as its own mixin for implementations checks it."""

from absl.testing import absltest
from dm_env import test_utils

from envpool.adapters.single import SingleEnvironment


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
