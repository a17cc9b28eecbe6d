"""The VecEnv over pools of Python environments: all calls reach the environments, and nothing is made up."""

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from stable_baselines3 import HerReplayBuffer
from stable_baselines3.common.evaluation import evaluate_policy
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import DummyVecEnv, VecFrameStack
from stable_baselines3.dqn import DQN

import envpool
from envpool.adapters.sb3 import VecEnv

N = 3


class Level(gymnasium.Env):
    """Ends after `difficulty` steps; its infos differ from step to step."""

    observation_space = spaces.Box(0, 100, (1,), np.float32)
    action_space = spaces.Discrete(3)
    difficulty = 2

    def __init__(self, render_mode=None):
        self.render_mode, self.count, self.unpicklable = render_mode, 0, lambda: None

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.count, self.drawn = 0, int(self.np_random.integers(1000))
        return np.zeros(1, np.float32), {"drawn": self.drawn, "first": True}

    def step(self, action):
        self.count += 1
        is_over = self.count >= self.difficulty
        info = {"count": self.count, "deep": {"odd": self.count % 2 == 1}} if action else {}
        return np.full(1, self.count, np.float32), float(action), is_over, False, info

    def action_masks(self, start=0):
        return np.arange(3) >= start + self.difficulty

    def render(self):
        return np.full((4, 4, 3), self.count, np.uint8)


class Reach(gymnasium.Env):
    """A goal environment: the state moves to one of four cells."""

    observation_space = spaces.Dict(
        {name: spaces.Box(0, 3, (1,), np.float32) for name in ("observation", "achieved_goal", "desired_goal")}
    )
    action_space = spaces.Discrete(4)

    def observation(self):
        cell = np.array([self.cell], np.float32)
        return {"observation": cell, "achieved_goal": cell, "desired_goal": np.array([self.goal], np.float32)}

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.cell, self.goal, self.count = 0, int(self.np_random.integers(4)), 0
        return self.observation(), {}

    def step(self, action):
        self.cell, self.count = int(action), self.count + 1
        obs = self.observation()
        reward = float(self.compute_reward(obs["achieved_goal"], obs["desired_goal"], {}))
        return obs, reward, reward == 0, self.count == 5, {}

    def compute_reward(self, achieved, desired, info):
        return -(achieved != desired).any(axis=-1).astype(np.float32)


@pytest.fixture(params=["inline", "process"])
def make(request):
    made = []

    def make_one(fn=Level, **options):
        options = {"num_threads": 2} | options if request.param == "process" else options
        pool = envpool.make_python(fn, N, workers=request.param, **options)
        made.append(VecEnv(pool))
        return made[-1]

    yield make_one
    for env in made:
        env.close()


def wrapped(difficulty=2):
    env = Monitor(gymnasium.wrappers.TimeLimit(Level(), 50))
    env.unwrapped.difficulty = difficulty
    return env


def test_attributes_and_methods(make):
    env = VecFrameStack(make(wrapped), 2)
    assert env.get_attr("difficulty") == [2] * N
    env.set_attr("difficulty", [3], indices=[0, -1])  # a list is a value like any other
    env.set_attr("difficulty", 1, indices=1)
    assert env.get_attr("difficulty") == [[3], 1, [3]]
    env.set_attr("difficulty", 2)
    assert [masks.tolist() for masks in env.env_method("action_masks")] == [[False, False, True]] * N
    assert env.env_method("action_masks", start=-1, indices=[2, 2])[1].tolist() == [False, True, True]
    assert env.env_method("action_masks", indices=[]) == []
    assert env.has_attr("action_masks") and env.has_attr("unpicklable") and not env.has_attr("no_such")
    for call in (env.get_attr, env.env_method):
        with pytest.raises(AttributeError, match="no_such"):
            call("no_such")
    assert env.env_is_wrapped(Monitor) == [True] * N
    assert env.env_is_wrapped(gymnasium.wrappers.ClipAction, indices=0) == [False]


def test_a_curriculum(make):
    """A value that is set decides when the episodes end."""
    env = make(wrapped)
    env.reset()
    for difficulty in (1, 4):
        env.set_attr("difficulty", difficulty)
        env.reset()
        assert [env.step([1] * N)[2].all() for _ in range(4)] == [(t % difficulty) == 0 for t in range(1, 5)]


@pytest.mark.parametrize("mode", ["next_step", "same_step"])
def test_infos_are_those_of_the_environments(mode):
    """As in DummyVecEnv: no entry in the info of an environment that did not give it, no mask, no entry of a reset."""
    fns = [lambda: Level()] * N
    ours = VecEnv(envpool.make_python(fns, autoreset_mode=mode))
    dummy = DummyVecEnv(fns)
    assert ours.seed(4) == dummy.seed(4)
    ours.reset(), dummy.reset()
    for t in range(5):
        assert [plain(info) for info in ours.reset_infos] == dummy.reset_infos
        actions = [1, 0, t % 2]
        *_, infos = ours.step(actions)
        *_, expected = dummy.step(actions)
        assert [plain(info) for info in infos] == [plain(info) for info in expected]
    ours.close()


def plain(info):
    """Return an info without elapsed_step, which is the pool's, and with arrays as lists."""
    return {k: v.tolist() if hasattr(v, "tolist") else v for k, v in info.items() if k != "elapsed_step"}


def test_episodes_of_a_monitor_inside(make):
    env = make(wrapped)
    assert evaluate_policy(Constant(), env, n_eval_episodes=4, return_episode_rewards=True) == ([2.0] * 4, [2] * 4)


class Constant:
    """A policy."""

    def predict(self, obs, state=None, **kwargs):
        return np.ones(len(obs), int), state


def test_reset_and_step_of_single_environments(make):
    """The pool knows of them: the next step continues."""
    env = make()
    env.reset()
    (obs, reward, *ends, info), *_ = env.env_method("step", 1, indices=[0])
    assert (obs.tolist(), reward, ends) == ([1], 1.0, [False, False])
    assert plain(info) == {"count": 1, "deep": {"odd": True}}
    ((_, info),) = env.env_method("reset", seed=9, indices=[1])
    assert info["drawn"] == Level().reset(seed=9)[1]["drawn"]
    assert env.step([1] * N)[0].tolist() == [[0], [1], [1]]


def test_frames(make):
    env = make(lambda: Level("rgb_array"))  # the environments render, the pool has no render mode
    env.reset()
    env.step([0] * N)
    assert env.render_mode == "rgb_array"
    assert [image.max() for image in env.get_images()] == [1] * N and env.render().shape == (8, 8, 3)
    pool = make(render_mode="rgb_array")
    pool.reset()
    assert pool.render_mode == "rgb_array" and [image.max() for image in pool.get_images()] == [0] * N


def test_hindsight_experience_replay(make):
    """HER asks the environments for the rewards of other goals."""
    env = make(Reach)
    model = DQN(
        "MultiInputPolicy", env, replay_buffer_class=HerReplayBuffer, learning_starts=20, buffer_size=200, batch_size=8,
        train_freq=4, seed=0, policy_kwargs={"net_arch": [4]},
    )  # fmt: skip
    model.learn(60)
    assert model.replay_buffer.size() > 0


def test_options_reach_the_pool(make, monkeypatch):
    """Once, for the next reset."""
    env, given = make(), []
    reset = env.pool.reset
    monkeypatch.setattr(env.pool, "reset", lambda **kwargs: given.append(kwargs["options"]) or reset())
    for options in ({"level": 1}, [{}, {"level": 2}, {}], {}):
        env.set_options(options)
        env.reset()
        env.reset()
    assert given == [[{"level": 1}] * N, None, [{}, {"level": 2}, {}], None, None, None]
