"""SAC (Haarnoja et al., 2018) on a pool of environments, with a replay buffer that the pool fills.

    python examples/sac.py --total-timesteps 40000 --target -200 --plot sac.png
    python examples/sac.py --task HalfCheetah-v5 --total-timesteps 1000000 --capacity 1000000 --random-steps 10000 \
        --hidden 256 --learning-rate 3e-4 --updates-per-step 1

The entropy coefficient is learned (the second version of the paper). Points to note about the pool:

- ``envpool.ReplayBuffer`` steps the pool and keeps its steps; actions are recorded as the environments got them, so the
  learner scales them back to [-1, 1].
- A minibatch has ``discount``, which is 0 where the episode terminated. Truncated episodes (time limits) are
  bootstrapped from their true last observation.
- ``send`` starts a step of all environments, and ``recv`` waits for it: the networks learn while the environments are
  simulated.

`examples/sac_her.py` is SAC with hindsight, for tasks with goals.
"""

import json
import math
from copy import deepcopy
from dataclasses import dataclass

import numpy as np
import torch
from gymnasium.spaces import Box
from torch import nn
from torch.distributions import Normal
from torch.nn.functional import softplus

import envpool
from envpool.rollout import Progress
from envpool.training.curves import Curve, Measure
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
from envpool.training.runs import run_seeds


@dataclass(frozen=True)
class Args(RunArgs):
    """Options of the command line."""

    task: str = option("Pendulum-v1", "id of a task with Box actions, see envpool.list_all_envs()")
    num_envs: int = option(4, "environments in the pool", positive)
    total_timesteps: int = option(25_000, "largest number of environment steps", natural)
    capacity: int = option(100_000, "steps that the replay buffer keeps", positive)
    random_steps: int = option(1000, "environment steps with random actions at the start", natural)
    updates_per_step: float = option(0.25, "gradient steps for each environment step", natural_number)
    batch_size: int = option(256, "transitions in a minibatch", positive)
    learning_rate: float = option(1e-3, "Adam's step size", positive_number)
    gamma: float = option(0.99, "discount", share)
    n_step: int = option(1, "rewards in a target", positive)
    tau: float = option(0.01, "step of the target critics towards the critics after each gradient step", share)
    entropy_coef: float = option(0.2, "weight of the entropy at the start; it is learned", positive_number)
    hidden: int = option(64, "units in each of the two hidden layers", positive)
    device: str = option("cpu", "device of the networks, e.g. cuda")


class Agent(nn.Module):
    """A policy, a normal distribution that is squashed by tanh, and two critics with their targets."""

    def __init__(self, pool, hidden):
        super().__init__()
        obs_space, space = pool.single_observation_space, pool.single_action_space
        if (
            not isinstance(obs_space, Box)
            or not isinstance(space, Box)
            or not np.isfinite([space.low, space.high]).all()
        ):
            raise SystemExit(
                f"this example needs an array of observations and bounded Box actions; got {obs_space}, {space}"
            )
        inputs, actions = int(np.prod(obs_space.shape)), int(np.prod(space.shape))
        self.num_actions, self.shape = actions, space.shape
        self.register_buffer("low", torch.tensor(space.low.ravel(), dtype=torch.float32))
        self.register_buffer("high", torch.tensor(space.high.ravel(), dtype=torch.float32))
        self.actor = mlp(inputs, hidden, 2 * actions)
        self.critics = nn.ModuleList(mlp(inputs + actions, hidden, 1) for _ in range(2))
        self.targets = deepcopy(self.critics).requires_grad_(False)

    def forward(self, inputs):
        """Return sampled actions (n, actions) in [-1, 1], and their log probabilities (n,)."""
        mean, log_std = self.actor(inputs).chunk(2, dim=1)
        normal = Normal(mean, log_std.clamp(-20, 2).exp(), validate_args=False)
        sample = normal.rsample()
        log_slope = 2 * (math.log(2) - sample - softplus(-2 * sample))  # of tanh; its square could round to 1
        return sample.tanh(), (normal.log_prob(sample) - log_slope).sum(dim=1)

    def to_pool(self, actions):
        """Return actions for the pool, scaled from [-1, 1] to the bounds."""
        scaled = self.low + (actions + 1) / 2 * (self.high - self.low)
        return scaled.clamp(self.low, self.high).cpu().numpy().reshape(-1, *self.shape)

    def from_pool(self, actions):
        """Return actions (n, actions) of the pool, scaled to [-1, 1]."""
        return 2 * (actions.flatten(1) - self.low) / (self.high - self.low) - 1


def mlp(inputs, hidden, outputs):
    """Return a network with two hidden layers."""
    first, second = nn.Linear(inputs, hidden), nn.Linear(hidden, hidden)
    return nn.Sequential(first, nn.ReLU(), second, nn.ReLU(), nn.Linear(hidden, outputs))


def values(critics, inputs, actions):
    """Return the expected discounted returns that the critics estimate, (2, n)."""
    pairs = torch.cat([inputs, actions], dim=1)
    return torch.stack([critic(pairs).squeeze(1) for critic in critics])


class Learner:
    """The replay buffer and the networks.

    Parameters
    ----------
    args : Args
        The options.
    pool : EnvPool
        A pool that returns the episodes that have ended.
    """

    def __init__(self, args, pool):
        self.args, self.curve, self.step = args, Curve(), 0
        self.agent = Agent(pool, args.hidden).to(args.device)
        self.log_coef = torch.tensor(math.log(args.entropy_coef), requires_grad=True, device=args.device)
        self.target_entropy = -float(self.agent.num_actions)
        self.actor_optimizer, self.critic_optimizer, self.coef_optimizer = (
            torch.optim.Adam(list(x), lr=args.learning_rate)
            for x in (self.agent.actor.parameters(), self.agent.critics.parameters(), [self.log_coef])
        )
        self.buffer = envpool.ReplayBuffer(pool, args.capacity, args.n_step, gamma=args.gamma, seed=args.seed)
        self.obs, _ = self.buffer.reset()

    @torch.no_grad()
    def act(self):
        """Return random actions at the start and samples of the policy afterwards, for the pool."""
        if self.step < self.args.random_steps:
            return self.agent.to_pool(
                2 * torch.rand(len(self.obs), self.agent.num_actions, device=self.args.device) - 1
            )
        return self.agent.to_pool(self.agent(self.inputs(self.obs))[0])

    def inputs(self, obs):
        """Return observations as inputs of the networks, float32 (n, inputs)."""
        return torch.from_dlpack(obs).to(self.args.device, torch.float32).flatten(1)

    def collect(self, count):
        """Step each environment once, and do `count` updates meanwhile."""
        self.buffer.send(self.act())
        for _ in range(count):
            self.update()
        self.obs, *_, info = self.buffer.recv()
        self.step += len(self.obs)
        if "finished" in info:
            for episode in zip(info["finished"]["r"], info["finished"]["l"], strict=True):
                self.curve.add(*episode)

    def update(self):
        """Improve the networks on a minibatch."""
        agent, batch = self.agent, self.buffer.sample(self.args.batch_size)
        inputs, next_inputs = self.inputs(batch.obs), self.inputs(batch.next_obs)
        actions = agent.from_pool(torch.from_dlpack(batch.action).to(self.args.device, torch.float32))
        reward, discount = (torch.from_dlpack(x).to(self.args.device) for x in (batch.reward, batch.discount))
        with torch.no_grad():
            next_actions, log_probs = agent(next_inputs)
            soft_values = values(agent.targets, next_inputs, next_actions).amin(dim=0) - self.log_coef.exp() * log_probs
            targets = reward + discount * soft_values
        descend(self.critic_optimizer, ((values(agent.critics, inputs, actions) - targets) ** 2).mean())
        agent.critics.requires_grad_(False)
        actions, log_probs = agent(inputs)
        coef = self.log_coef.exp().detach()
        descend(self.actor_optimizer, (coef * log_probs - values(agent.critics, inputs, actions).amin(dim=0)).mean())
        agent.critics.requires_grad_(True)
        descend(self.coef_optimizer, -self.log_coef * (log_probs.detach().mean() + self.target_entropy))
        with torch.no_grad():
            torch._foreach_lerp_([*agent.targets.parameters()], [*agent.critics.parameters()], self.args.tau)


def descend(optimizer, loss):
    """Take a gradient step."""
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def train(args):
    """Train until the target or the last step is reached, or until Ctrl-C, and return the Curve of returns."""
    torch.manual_seed(args.seed)
    torch.set_num_threads(args.torch_threads)
    # Environment i has the seed of the pool plus i: runs with the seeds 1, 2, ... have no environments in common.
    options = {"num_envs": args.num_envs, "seed": args.seed * args.num_envs, "num_threads": args.env_threads}
    options |= {"episode_statistics": True, "finished_episodes": True} | json.loads(args.options)
    with envpool.make_gymnasium(args.task, **options) as pool, Progress(args.total_timesteps) as progress:
        learner = Learner(args, pool)
        try:
            learn(args, learner, progress)
        except KeyboardInterrupt:
            learner.curve.is_interrupted = True
    return learner.curve


def learn(args, learner, progress):
    """Train a Learner."""
    due = 0.0  # updates
    while learner.step < args.total_timesteps:
        if learner.step >= args.random_steps and len(learner.buffer):
            due += args.updates_per_step * args.num_envs
        learner.collect(int(due))
        due -= int(due)
        progress.update(args.num_envs, f"mean return {learner.curve.mean:.1f}")
        if args.target is not None and learner.curve.has_reached(args.target):
            break


def main(argv=None):
    """Train with each seed and report; exit with an error if a target was set and not reached."""
    run_seeds(parse_args(argv, Args), train, "SAC", Measure(window=20))


if __name__ == "__main__":
    main()
