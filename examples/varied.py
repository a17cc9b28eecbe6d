"""Shared by the examples that vary parameters of the environments: PPO's loop on such a pool."""

import numpy as np
import ppo
import torch


class Varied:
    """Steps that give environments new parameters whenever their episodes end.

    Parameters
    ----------
    steps : envpool.Rollout or envpool.pools.pool.EnvPool
        What steps the environments.
    pool : envpool.pools.pool.EnvPool
        The pool: a sync one with ``autoreset_mode="next_step"``. The step after the last one of an episode starts the
        next episode, with the parameters that were set in between.
    choose : callable
        ``choose(ids, terminated)`` returns the parameters of the next episodes of environments ``ids`` (n,), each
        (n,) by name. `terminated` (n,) says which of the last episodes ended other than by the time limit; it is None
        before the first episodes.
    """

    def __init__(self, steps, pool, choose):
        self.steps, self.pool, self.choose = steps, pool, choose

    def reset(self):
        """Start the first episodes."""
        self.pool.set_params(self.choose(np.arange(self.pool.num_envs), None))
        return self.steps.reset()

    def step(self, actions, **extras):
        """Step all environments."""
        batch = self.steps.step(actions, **extras)
        terminated, truncated = batch[2:4]
        ended = np.flatnonzero(terminated | truncated)
        if len(ended):
            self.pool.set_params(self.choose(ended, terminated[ended]), ended)
        return batch

    def finish(self, **extras):
        """Return the steps of a rollout."""
        return self.steps.finish(**extras)


def learn(args, pool, choose, agent, after_update=lambda step: None):
    """Train an agent with PPO for `args.total_timesteps` steps, and return the returns of all episodes."""
    returns = ppo.Returns()
    optimizer = torch.optim.Adam(agent.parameters(), lr=args.learning_rate, eps=1e-5)
    data = ppo.Rollout(args, pool, agent)
    data.steps = Varied(data.steps, pool, choose)
    obs, _ = data.steps.reset()
    per_update = args.num_envs * args.num_steps
    for step in range(0, args.total_timesteps, per_update):
        optimizer.param_groups[0]["lr"] = args.learning_rate * (1 - step / args.total_timesteps)
        obs = data.collect(args, returns, obs, step)
        data.estimate_advantages(args.gamma, args.gae_lambda)
        ppo.update(args, agent, optimizer, data.transitions())
        after_update(step + per_update)
    return returns
