"""PPO on an async pool: the policy acts in whichever environments are ready, and none of them waits for the slowest.

    python examples/async_ppo.py --task CartPole-v1 --target 475 --plot async_ppo.png
    python examples/async_ppo.py --task Pendulum-v1 --gamma 0.9 --target -200

The algorithm is that of ppo.py, for observations that are one array and discrete or continuous actions. An async pool
differs in the following points:

- With ``batch_size < num_envs``, the policy acts in the first ``batch_size`` environments that have finished, whose ids
  are ``info["env_id"]``. The other environments continue to simulate while the networks compute.
- ``envpool.Rollout`` puts each row into the time slot of its environment. The environments have different numbers of
  steps in a rollout, ``data.lengths``.
- When an update is due, every environment has been sent an action, and is simulated during the update. The results
  belong to the next rollout, together with the log probability under the policy that chose the action, as PPO's ratio
  requires.
"""

from dataclasses import dataclass

import numpy as np
import torch
from gymnasium.spaces import Box, Discrete
from torch import nn
from torch.distributions import Categorical, Independent, Normal

import envpool
from envpool.rollout import Progress, Sampler, gae, shuffled
from envpool.training.curves import Returns
from envpool.training.options import (
    RunArgs,
    natural,
    natural_number,
    option,
    parse_args,
    positive,
    positive_number,
    share,
)
from envpool.training.runs import run_seeds, start


@dataclass(frozen=True)
class Args(RunArgs):
    """Options of the command line."""

    batch_size: int = option(0, "environments that the policy acts in at a time; 0 for half of num_envs", natural)
    num_steps: int = option(64, "steps of each environment between two updates, on average", positive)
    learning_rate: float = option(
        2e-3, "Adam's step size at the start; falls to 0 over total_timesteps", positive_number
    )
    gamma: float = option(0.99, "discount", share)
    gae_lambda: float = option(0.95, "decay of the advantage estimate", share)
    epochs: int = option(4, "passes over the data of an update", positive)
    minibatches: int = option(8, "gradient steps in a pass", positive)
    clip: float = option(0.2, "clipping range of the probability ratio and of the value", positive_number)
    entropy_coef: float = option(0.005, "weight of the entropy bonus", natural_number)
    value_coef: float = option(0.5, "weight of the value loss", natural_number)
    max_grad_norm: float = option(0.5, "gradient clipping", positive_number)
    hidden: int = option(64, "units in each of the two hidden layers", positive)


class Agent(nn.Module):
    """A policy and a value network."""

    def __init__(self, pool, hidden):
        super().__init__()
        obs_space, space = pool.single_observation_space, pool.single_action_space
        if not isinstance(obs_space, Box) or not isinstance(space, (Box, Discrete)):
            raise SystemExit(
                f"this example needs an array of observations, and Box or Discrete actions; got {obs_space}, {space}"
            )
        self.is_discrete, self.shape = isinstance(space, Discrete), space.shape
        self.first_action = int(space.start) if self.is_discrete else 0
        inputs, outputs = int(np.prod(obs_space.shape)), int(space.n if self.is_discrete else np.prod(space.shape))
        self.actor, self.critic = mlp(inputs, hidden, outputs, 0.01), mlp(inputs, hidden, 1, 1.0)
        self.log_std = nn.Parameter(torch.zeros(outputs), requires_grad=not self.is_discrete)

    def forward(self, inputs):
        """Return the distribution over actions, and the expected discounted returns (n,)."""
        outputs, value = self.actor(inputs), self.critic(inputs).squeeze(-1)
        if self.is_discrete:
            return Categorical(logits=outputs, validate_args=False), value
        return Independent(Normal(outputs, self.log_std.exp(), validate_args=False), 1, validate_args=False), value

    def sample(self, inputs, sampler):
        """Return actions, an `envpool.rollout.Sample`; it is faster than the distributions of torch."""
        outputs = self.actor(inputs).numpy()
        return sampler.categorical(outputs) if self.is_discrete else sampler.gaussian(outputs, self.log_std.numpy())

    def to_pool(self, actions):
        """Return sampled actions as those of the pool, which scales continuous ones from [-1, 1] to their bounds."""
        return actions + self.first_action if self.is_discrete else actions.reshape(-1, *self.shape)

    def from_pool(self, actions):
        """Return actions (steps, num_envs, ...) of a rollout as they were sampled; it keeps what was sent."""
        if self.is_discrete:
            return actions.astype(np.int64) - self.first_action
        return actions.reshape(*actions.shape[:2], -1).astype(np.float32)


def mlp(inputs, hidden, outputs, gain):
    """Return a network with two hidden tanh layers and orthogonal weights; `gain` scales the last layer."""
    layers = []
    for size, units, scale in ((inputs, hidden, 2**0.5), (hidden, hidden, 2**0.5), (hidden, outputs, gain)):
        layer = nn.Linear(size, units)
        nn.init.orthogonal_(layer.weight, scale)
        nn.init.zeros_(layer.bias)
        layers += [layer, nn.Tanh()]
    return nn.Sequential(*layers[:-1])


class Learner:
    """The rollout and the networks."""

    def __init__(self, args, pool):
        self.args, self.sampler = args, Sampler(args.seed)
        self.returns, self.step = Returns(), 0
        self.agent = Agent(pool, args.hidden)
        self.optimizer = torch.optim.Adam(self.agent.parameters(), lr=args.learning_rate, eps=1e-5)
        self.rollout = envpool.Rollout(pool, args.num_steps, {"log_prob": np.float32})
        self.result = self.rollout.reset()

    def inputs(self, obs, dims):
        """Return observations, which have `dims` dimensions before their own, as inputs of the networks."""
        return torch.from_numpy(obs).float().flatten(dims)

    @torch.no_grad()
    def act(self, result):
        """Return actions for the observations of a result, and what is recorded with them."""
        obs, *outcome, info = result
        self.step += len(outcome[0]) if outcome else 0  # reset() has no outcome
        self.returns.add(info, self.step)
        sample = self.agent.sample(self.inputs(obs, 1), self.sampler)
        return self.agent.to_pool(sample.actions), {"log_prob": sample.log_probs}

    def collect(self):
        """Act until the rollout is full, and return its data."""
        data, self.result = self.rollout.collect(self.act, self.result)
        return data

    @torch.no_grad()
    def estimate(self, data):
        """Return values, advantages (GAE) and returns, arrays (steps, num_envs)."""
        values = self.agent.critic(self.inputs(data.obs, 2)).squeeze(-1).numpy()
        last = self.agent.critic(self.inputs(data.last_obs, 1)).squeeze(-1).numpy()
        arrays = data.reward, values, last, data.terminated, data.truncated
        factors = {"gamma": self.args.gamma, "lam": self.args.gae_lambda}
        return values, *gae(*arrays, mask=data.valid, lengths=data.lengths, **factors)

    def learn(self, data):
        """Improve the networks on a rollout."""
        args = self.args
        arrays = self.agent.from_pool(data.action), data.log_prob, *self.estimate(data)
        columns = self.inputs(data.obs, 2).flatten(0, 1), *(torch.from_numpy(x).flatten(0, 1) for x in arrays)
        size = max(-(-int(data.valid.sum()) // args.minibatches), 1)
        for _ in range(args.epochs):
            for rows in map(torch.from_numpy, shuffled(data.valid, size, self.sampler)):
                self.descend(*(x[rows] for x in columns))

    def descend(self, inputs, action, log_prob, old_value, advantage, target):
        """Take a gradient step on a minibatch."""
        args = self.args
        policy, value = self.agent(inputs)
        ratio = (policy.log_prob(action) - log_prob).exp()
        gain = (advantage - advantage.mean()) / (advantage.std(correction=0) + 1e-8)
        policy_loss = torch.max(-gain * ratio, -gain * ratio.clamp(1 - args.clip, 1 + args.clip)).mean()
        clipped = old_value + (value - old_value).clamp(-args.clip, args.clip)
        value_loss = torch.max((value - target) ** 2, (clipped - target) ** 2).mean() / 2
        loss = policy_loss + args.value_coef * value_loss - args.entropy_coef * policy.entropy().mean()
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.agent.parameters(), args.max_grad_norm)
        self.optimizer.step()


def make_pool(args, batch_size):
    """Return an async pool that prepares observations, rewards and continuous actions for the networks."""
    options = {"batch_size": batch_size, "episode_statistics": True, "finished_episodes": True}
    options |= {"normalize_obs": True, "clip_obs": 10.0, "normalize_reward": {"gamma": args.gamma}}
    with start(args) as plain:
        space = plain.single_action_space
    if isinstance(space, Box) and np.isfinite([space.low, space.high]).all():
        options |= {"clip_action": True, "rescale_action": True}
    return start(args, **options)


def train(args):
    """Train until the target or the last step is reached, or until Ctrl-C, and return the Returns."""
    pool = make_pool(args, args.batch_size or max(args.num_envs // 2, 1))
    with pool, Progress(args.total_timesteps) as progress:
        learner = Learner(args, pool)
        try:
            learn(args, learner, progress)
        except KeyboardInterrupt:
            learner.returns.is_interrupted = True
    return learner.returns


def learn(args, learner, progress):
    """Train a Learner."""
    while learner.step < args.total_timesteps:
        learner.optimizer.param_groups[0]["lr"] = args.learning_rate * (1 - learner.step / args.total_timesteps)
        before = learner.step
        learner.learn(learner.collect())
        progress.update(learner.step - before, f"mean return {learner.returns.mean:.1f}")
        if args.target is not None and learner.returns.has_reached(args.target):
            break


def main(argv=None):
    """Train with each seed and report; exit with an error if a target was set and not reached."""
    run_seeds(parse_args(argv, Args), train, "Async PPO")


if __name__ == "__main__":
    main()
