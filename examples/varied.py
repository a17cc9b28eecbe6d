"""Shared by the examples that vary parameters of the environments: PPO's loop on such a pool, and the evaluation."""

import numpy as np
import ppo
import torch

import envpool


class Varied:
    """A pool that gives environments new parameters whenever their episodes end.

    Parameters
    ----------
    pool : envpool.pool.EnvPool
        A sync pool with ``autoreset_mode="next_step"``: the step after the last one of an episode starts the next
        episode, with the parameters that were set in between.
    choose : callable
        ``choose(ids, terminated)`` returns the parameters of the next episodes of environments ``ids`` (n,), each
        (n,) by name. `terminated` (n,) says which of the last episodes ended other than by the time limit; it is None
        before the first episodes.
    """

    def __init__(self, pool, choose):
        self.pool, self.choose = pool, choose
        self.single_observation_space, self.single_action_space = pool.observation_space, pool.action_space

    def reset(self):
        """Start episodes in all environments."""
        self.pool.set_params(self.choose(np.arange(self.pool.num_envs), None))
        return self.pool.reset()

    def step(self, actions):
        """Step all environments."""
        batch = self.pool.step(actions)
        terminated, truncated = batch[2:4]
        ended = np.flatnonzero(terminated | truncated)
        if len(ended):
            self.pool.set_params(self.choose(ended, terminated[ended]), ended)
        return batch


def learn(args, env, agent, after_update=lambda step: None):
    """Train an agent with PPO for `args.total_timesteps` steps, and return the returns of all episodes."""
    returns = ppo.Returns(args.num_envs, args.gamma)
    optimizer = torch.optim.Adam(agent.parameters(), lr=args.learning_rate, eps=1e-5)
    obs, _ = env.reset()
    was_done = np.zeros(args.num_envs, bool)
    data = ppo.Rollout(args, agent, obs)
    per_update = args.num_envs * args.num_steps
    for step in range(0, args.total_timesteps, per_update):
        optimizer.param_groups[0]["lr"] = args.learning_rate * (1 - step / args.total_timesteps)
        obs, was_done = data.collect(args, env, agent, returns, obs, was_done, step)
        data.estimate_advantages(args.gamma, args.gae_lambda)
        ppo.update(args, agent, optimizer, data.transitions())
        after_update(step + per_update)
    return returns


@torch.no_grad()
def evaluate(agent, task, num_envs, seed, **params):
    """Return the returns (num_envs,) of the most likely actions in one episode of each environment of a new pool."""
    with envpool.make_gymnasium(task, num_envs=num_envs, seed=seed, autoreset_mode="disabled", **params) as pool:
        obs, _ = pool.reset()
        playing, total = np.arange(num_envs), np.zeros(num_envs)
        while len(playing):
            logits = agent(agent.prepare(obs))[0].logits
            obs, reward, terminated, truncated, _ = pool.step(logits.argmax(-1).numpy(), playing)
            total[playing] += reward
            going = ~(terminated | truncated)
            obs, playing = obs[going], playing[going]
    return total
