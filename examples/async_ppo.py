"""PPO on an async pool: the policy acts in whichever environments are ready, and none of them waits for the slowest.

    python examples/async_ppo.py --task CartPole-v1 --target 475 --plot async_ppo.png

The networks, the loss and the options are those of ppo.py in the same folder. An async pool differs in the following
points:

- With ``batch_size < num_envs``, ``env.recv()`` returns the first ``batch_size`` environments that have finished, and
  ``info["env_id"]`` contains their ids. ``env.send(actions, ids)`` passes actions to these environments and returns
  immediately, so that the other environments continue to simulate while the networks compute.
- Rows come in no fixed order. The result of an action is in the next row of the same environment. Each row therefore
  stores the index of that next row, and advantages follow these links.
- When an update is due, some environments are still in flight. Their last rows are incomplete and move to the next
  rollout, together with the log probability under the policy that chose the action, as PPO's ratio requires.
"""

import json
from dataclasses import dataclass

import numpy as np
import ppo
import torch
from tqdm import tqdm

import envpool


@dataclass(frozen=True)
class Args(ppo.CommonArgs):
    """Options of the command line."""

    batch_size: int = ppo.option(0, "environments that the policy acts in at a time; 0 for half of num_envs")


class Stream:
    """Rows in the order in which they were received, with room for a rollout and its incomplete rows."""

    def __init__(self, args, agent, env):
        self.size = args.num_envs * args.num_steps
        rows = self.size + 2 * args.num_envs
        inputs = agent.prepare(np.zeros((1, *env.observation_space.shape), env.observation_space.dtype))
        actions = agent(inputs)[0].sample()
        self.inputs = torch.zeros(rows, *inputs.shape[1:], dtype=inputs.dtype)
        self.actions = torch.zeros(rows, *actions.shape[1:], dtype=actions.dtype)
        self.log_probs, self.values, self.advantages = torch.zeros(rows), torch.zeros(rows), torch.zeros(rows)
        self.rewards = torch.zeros(rows)
        self.terminated, self.done, self.is_transition = (torch.zeros(rows, dtype=torch.bool) for _ in range(3))
        self.following = torch.zeros(rows, dtype=torch.int64)  # the next row of the same environment
        self.last = np.full(args.num_envs, -1)  # index of each environment's incomplete row, -1 before the first row
        self.starts = []  # index of the first row of each batch; an environment is at most once in a batch
        self.count = 0

    @torch.no_grad()
    def collect(self, args, env, agent, returns, step):
        """Receive and act until the rollout is full; `step` is the number of environment steps before it."""
        self.keep_incomplete()
        while self.count < self.size:
            obs, reward, terminated, truncated, info = env.recv()
            ids, done = info["env_id"], terminated | truncated
            step += len(ids)
            returns.add(reward, done, step, ids)
            rows = torch.arange(self.count, self.count + len(ids))
            self.complete(ids, rows, reward / returns.scale.std, terminated, done)
            self.inputs[rows] = agent.prepare(obs, learn=True)
            policy, self.values[rows] = agent(self.inputs[rows])
            self.actions[rows] = policy.sample()
            self.log_probs[rows] = policy.log_prob(self.actions[rows])
            self.is_transition[rows] = torch.from_numpy(~done)  # a step after `done` only starts an episode
            env.send(agent.to_env(self.actions[rows]), ids)
            self.starts.append(self.count)
            self.count += len(ids)
        return step

    def complete(self, ids, rows, reward, terminated, done):
        """Store the results of the last actions of these environments; `rows` are their new rows."""
        before = self.last[ids]
        self.last[ids] = rows.numpy()
        known = before >= 0
        before = torch.from_numpy(before[known])
        self.rewards[before] = torch.from_numpy(reward[known].astype(np.float32))
        self.terminated[before] = torch.from_numpy(terminated[known])
        self.done[before] = torch.from_numpy(done[known])
        self.following[before] = rows[torch.from_numpy(known)]

    def keep_incomplete(self):
        """Drop the complete rows of the last rollout; the incomplete rows become the first batch."""
        envs = np.flatnonzero(self.last >= 0)
        rows = torch.from_numpy(self.last[envs])
        for array in (self.inputs, self.actions, self.log_probs, self.values, self.is_transition):
            array[: len(rows)] = array[rows]
        self.last[envs] = np.arange(len(envs))
        self.starts, self.count = [0] if len(envs) else [], len(envs)

    def estimate_advantages(self, gamma, gae_lambda):
        """Estimate advantages (GAE) along the links; an incomplete row only contributes its value."""
        is_complete = torch.ones(self.count, dtype=torch.bool)
        is_complete[torch.from_numpy(self.last[self.last >= 0])] = False
        self.advantages[: self.count] = 0
        for start, end in reversed(list(zip(self.starts, [*self.starts[1:], self.count], strict=True))):
            rows = torch.arange(start, end)[is_complete[start:end]]
            following = self.following[rows]
            target = self.rewards[rows] + gamma * self.values[following] * ~self.terminated[rows]
            rest = gamma * gae_lambda * self.advantages[following] * ~self.done[rows]
            self.advantages[rows] = target - self.values[rows] + rest
        self.is_usable = self.is_transition[: self.count] & is_complete

    def transitions(self):
        """Return the arrays that `ppo.update` learns from, with one row per transition."""
        rows = self.inputs, self.actions, self.log_probs, self.advantages, self.values
        return [x[: self.count][self.is_usable] for x in rows]


def train(args):
    """Train until the target or the last step is reached, and return the Returns."""
    torch.manual_seed(args.seed)
    torch.set_num_threads(args.torch_threads)
    returns = ppo.Returns(args.num_envs, args.gamma)
    pool_options = {
        "num_envs": args.num_envs,
        "batch_size": args.batch_size or max(args.num_envs // 2, 1),
        "seed": args.seed,
        "num_threads": args.env_threads,
    }
    env = envpool.make_gymnasium(args.task, **pool_options, **json.loads(args.options))
    with env, tqdm(total=args.total_timesteps, unit="step", unit_scale=True, disable=None) as progress:
        agent = ppo.Agent(env, args.hidden)
        optimizer = torch.optim.Adam(agent.parameters(), lr=args.learning_rate, eps=1e-5)
        data = Stream(args, agent, env)
        env.async_reset()
        step = 0
        while step < args.total_timesteps:
            optimizer.param_groups[0]["lr"] = args.learning_rate * (1 - step / args.total_timesteps)
            before, step = step, data.collect(args, env, agent, returns, step)
            data.estimate_advantages(args.gamma, args.gae_lambda)
            ppo.update(args, agent, optimizer, data.transitions())
            progress.set_postfix_str(f"mean return {returns.mean:.1f}", refresh=False)
            progress.update(step - before)
            if args.target is not None and returns.mean >= args.target:
                break
    return returns


if __name__ == "__main__":
    ppo.main(train=train, args_class=Args, algorithm="Async PPO")
