"""What two scripts that no package holds do with a pool: pqn_atari_envpool.py, and that for continuous actions.

The same ``make``, attributes, assertions, wrappers and reads of info, under gym 0.23.1; the policy draws at random.
"""

import gym
import numpy as np
import torch

import envpool


class EpisodeStatistics(gym.Wrapper):
    """Returns and lengths of episodes in info; a script for Atari takes them from its unclipped rewards."""

    def __init__(self, env, is_atari):
        super().__init__(env)
        self.num_envs = getattr(env, "num_envs", 1)
        self.is_atari = is_atari

    def reset(self, **kwargs):
        self.returns, self.lengths = np.zeros(self.num_envs, np.float32), np.zeros(self.num_envs, np.int32)
        return super().reset(**kwargs)

    def step(self, action):
        obs, reward, done, info = super().step(action)
        self.returns += info["reward"] if self.is_atari else reward
        self.lengths += 1
        info["r"], info["l"] = self.returns.copy(), self.lengths.copy()
        over = info["terminated"] if self.is_atari else done
        self.returns *= 1 - over
        self.lengths *= 1 - over
        return obs, reward, done, info


def make(task, count, is_atari, **options):
    """A pool with the attributes that the scripts set."""
    envs = envpool.make(task, env_type="gym", num_envs=count, **options)
    envs.num_envs = count
    envs.single_action_space = envs.action_space
    envs.single_observation_space = envs.observation_space
    envs.is_vector_env = True
    return EpisodeStatistics(envs, is_atari)


def test_pqn_atari():
    count, steps = 4, 150
    envs = make("Breakout-v5", count, True, episodic_life=True, reward_clip=True, seed=1)
    assert isinstance(envs.action_space, gym.spaces.Discrete)
    observations = torch.zeros((steps, count, *envs.single_observation_space.shape))
    actions = torch.zeros((steps, count, *envs.single_action_space.shape))
    obs = torch.Tensor(envs.reset())
    games = []
    for step in range(steps):
        observations[step] = obs
        actions[step] = torch.randint(0, envs.single_action_space.n, (count,))
        obs, reward, done, info = envs.step(actions[step].long().numpy())
        assert set(np.unique(reward)) <= {-1, 0, 1}
        obs, done = torch.Tensor(obs), torch.Tensor(done)
        games += [info["r"][i] for i, d in enumerate(done) if d and info["lives"][i] == 0]
        assert info["terminated"].tolist() == [
            bool(d) and lives == 0 for d, lives in zip(done, info["lives"], strict=True)
        ]
    assert observations[1:].any() and obs.shape == (count, 4, 84, 84)
    envs.close()


def test_continuous_actions():
    count, steps = 8, 60
    envs = make("HalfCheetah-v4", count, False, max_episode_steps=25)
    envs = gym.wrappers.ClipAction(envs)
    envs = gym.wrappers.NormalizeObservation(envs)
    envs = gym.wrappers.TransformObservation(envs, lambda obs: np.clip(obs, -10, 10))
    envs = gym.wrappers.NormalizeReward(envs)
    envs = gym.wrappers.TransformReward(envs, lambda reward: np.clip(reward, -10, 10))
    assert isinstance(envs.single_action_space, gym.spaces.Box)
    assert envs.is_vector_env
    policy = torch.nn.Linear(
        int(np.prod(envs.single_observation_space.shape)), int(np.prod(envs.single_action_space.shape))
    )
    obs = torch.Tensor(envs.reset())
    lengths = []
    for _ in range(steps):
        with torch.no_grad():
            action = torch.distributions.Normal(policy(obs), 3.0).sample()  # ClipAction has work to do
        obs, reward, done, info = envs.step(action.numpy())
        obs, reward = torch.Tensor(obs), torch.tensor(reward)
        assert obs.shape == (count, 17) and reward.shape == (count,)
        assert np.isfinite(obs).all() and obs.abs().max() <= 10
        lengths += info["l"][done].tolist()
    assert lengths == [25] * count + [26] * count  # the scripts count the row of a reset, too
    envs.close()
