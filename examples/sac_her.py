"""SAC (Haarnoja et al., 2018) with hindsight experience replay on a pool of environments with goals.

    python examples/sac_her.py --target 0.9 --plot sac_her.png
    python examples/sac_her.py --save her.pt
    envpool watch FetchReach-v4 --policy examples/sac_her.py:load --load her.pt

A reward of 0 at the goal and of -1 everywhere else says nothing until the goal is reached by chance. Hindsight replaces
the goals of most transitions by what the robot achieved later in the same episode, for which the reward is known, too.
Points to note about the pool:

- A rollout contains one episode of each environment. The step after the last one of an episode only resets the
  environment (autoreset_mode "next_step"); ``envpool.Rollout`` marks it, and the replay memory leaves it out.
- The time limit truncates the episodes, and nothing terminates them. Every transition is therefore bootstrapped from
  the value of its next observation; after the last step of an episode, the pool returns the true last observation.
- ``pool.compute_reward`` computes the rewards for all new goals of a minibatch at once.
"""

import math
from copy import deepcopy
from dataclasses import dataclass

import numpy as np
import torch
from gymnasium.spaces import Box, Dict
from torch import nn
from torch.distributions import Normal
from torch.nn.functional import softplus

import envpool
from envpool.rollout import Progress
from envpool.training import policies
from envpool.training.curves import Curve, Measure
from envpool.training.files import check_files
from envpool.training.options import (
    PolicyArgs,
    RunArgs,
    natural,
    natural_number,
    number,
    option,
    parse_args,
    positive,
    positive_number,
    share,
)
from envpool.training.runs import run_seeds, start


@dataclass(frozen=True)
class Args(PolicyArgs, RunArgs):
    """Options of the command line."""

    task: str = option("FetchReach-v4", "id of a task with goals, see docs/robotics.md")
    num_envs: int = option(8, "environments in the pool", positive)
    total_timesteps: int = option(20_000, "largest number of environment steps", natural)
    target: float = option(
        None, "success rate of 100 episodes at which to stop; exit with an error if it is never reached", number
    )
    random_steps: int = option(1000, "environment steps with random actions at the start", natural)
    updates_per_step: float = option(0.5, "gradient steps for each environment step", natural_number)
    batch_size: int = option(256, "transitions in a minibatch", positive)
    hindsight: float = option(0.8, "share of the goals of a minibatch that are replaced in hindsight", share)
    learning_rate: float = option(1e-3, "Adam's step size", positive_number)
    gamma: float = option(0.95, "discount", share)
    tau: float = option(0.05, "step of the target critics towards the critics after each gradient step", share)
    entropy_coef: float = option(0.2, "weight of the entropy at the start; it is learned", positive_number)
    hidden: int = option(64, "units in each of the two hidden layers", positive)


class RunningScale:
    """Running mean and standard deviation of all rows seen so far."""

    def __init__(self, shape=()):
        self.count, self.mean, self.m2 = 1e-4, np.zeros(shape), np.zeros(shape)

    def update(self, rows):
        """Add rows (n, *shape)."""
        n, total = len(rows), self.count + len(rows)
        mean = rows.mean(axis=0, keepdims=True)
        delta = mean[0] - self.mean
        self.mean = self.mean + delta * n / total
        self.m2 = self.m2 + rows.var(axis=0, mean=mean) * n + delta**2 * self.count * n / total
        self.count = total

    @property
    def std(self):
        """Standard deviation, never zero."""
        return np.sqrt(self.m2 / self.count + 1e-8)


class Agent(nn.Module):
    """A policy, a normal distribution that is squashed by tanh, and two critics with their targets."""

    def __init__(self, env, hidden):
        super().__init__()
        obs_space, self.action_space = env.observation_space, env.action_space
        has_goals = isinstance(obs_space, Dict) and isinstance(obs_space.spaces.get("desired_goal"), Box)
        if not has_goals or not isinstance(self.action_space, Box):
            raise SystemExit(
                f"this example needs a task with a desired_goal and Box actions; got {obs_space}, {self.action_space}"
            )
        inputs, actions = (
            sum(int(np.prod(x.shape)) for x in spaces)
            for spaces in ((obs_space["observation"], obs_space["desired_goal"]), (self.action_space,))
        )
        self.num_actions, self.scale = actions, RunningScale((inputs,))
        self.actor = mlp(inputs, hidden, 2 * actions)
        self.critics = nn.ModuleList(mlp(inputs + actions, hidden, 1) for _ in range(2))
        self.targets = deepcopy(self.critics).requires_grad_(False)

    def prepare(self, observation, goal):
        """Return observations and goals (n, ...) as inputs of the networks, float32 (n, inputs)."""
        rows = np.concatenate([observation, goal], axis=1)
        return torch.from_numpy(np.clip((rows - self.scale.mean) / self.scale.std, -5, 5).astype(np.float32))

    def forward(self, inputs):
        """Return sampled actions (n, actions) in [-1, 1], and their log probabilities (n,)."""
        mean, log_std = self.actor(inputs).chunk(2, dim=1)
        normal = Normal(mean, log_std.clamp(-20, 2).exp(), validate_args=False)
        sample = normal.rsample()
        log_slope = 2 * (math.log(2) - sample - softplus(-2 * sample))  # of tanh; its square could round to 1
        return sample.tanh(), (normal.log_prob(sample) - log_slope).sum(dim=1)

    def to_env(self, actions):
        """Return actions for the pool, scaled from [-1, 1] to the bounds."""
        low, high = self.action_space.low, self.action_space.high
        return low + (actions.reshape(-1, *low.shape) + 1) / 2 * (high - low)

    @torch.no_grad()
    def best(self, obs):
        """Return the likeliest actions for observations, for the pool."""
        mean, _ = self.actor(self.prepare(obs["observation"], obs["desired_goal"])).chunk(2, dim=1)
        return self.to_env(mean.tanh().numpy())


def mlp(inputs, hidden, outputs):
    """Return a network with two hidden layers."""
    first, second = nn.Linear(inputs, hidden), nn.Linear(hidden, hidden)
    return nn.Sequential(first, nn.ReLU(), second, nn.ReLU(), nn.Linear(hidden, outputs))


def values(critics, inputs, actions):
    """Return the expected discounted returns that the critics estimate, (2, n)."""
    pairs = torch.cat([inputs, actions], dim=1)
    return torch.stack([critic(pairs).squeeze(1) for critic in critics])


def last_of_episodes(valid, done):
    """Return for each transition of a rollout the number of the last transition of its episode, int (transitions,).

    If an episode continues after the rollout, its last transition in the rollout counts.

    Parameters
    ----------
    valid, done : numpy.ndarray
        bool (N, T): which rows are transitions, and which of them end an episode. The transitions are numbered in the
        order of the arrays: first those of the first environment.
    """
    is_followed = np.append(valid[:, 1:], np.zeros((len(valid), 1), bool), axis=1)
    ends = np.flatnonzero((done | ~is_followed)[valid])
    return ends[np.searchsorted(ends, np.arange(valid.sum()))]


def relabel(goals, achieved, last, rows, share, rng):
    """Return the goals of sampled transitions (batch, goal), some of them replaced in hindsight.

    A new goal is one that the episode achieved in the sampled transition or later; all of these are equally likely (the
    strategy "future").

    Parameters
    ----------
    goals, achieved : numpy.ndarray
        (n, goal): the goal of each transition, and the goal that its step achieved. The transitions of an episode are
        adjacent.
    last : numpy.ndarray
        int (n,): number of the last transition of the same episode.
    rows : numpy.ndarray
        int (batch,): numbers of the sampled transitions.
    share : float
        Probability with which a goal is replaced.
    rng : numpy.random.Generator
        Source of randomness.
    """
    is_replaced = rng.random(len(rows)) < share
    source = rng.integers(rows, last[rows], endpoint=True)
    return np.where(is_replaced[:, None], achieved[source], goals[rows])


class Replay:
    """All transitions of a run.

    Parameters
    ----------
    capacity : int
        Largest number of transitions.
    share : float
        Share of the goals in a minibatch that are replaced.
    seed : int
        Seed of the minibatches.

    Attributes
    ----------
    size : int
        Number of transitions so far.
    """

    def __init__(self, capacity, share, seed):
        self.capacity, self.share, self.rng = capacity, share, np.random.default_rng(seed)
        self.size, self.arrays = 0, {}

    def add(self, data):
        """Append the transitions of a finished rollout, whose actions are an extra `unit_action`, and return them.

        Auto-reset rows are left out. The last transition of an episode has the true last observation as its next one.
        """
        valid = data.valid.T
        obs, next_obs = data.obs, data.next_obs
        rollout = {
            "observation": obs["observation"],
            "goal": obs["desired_goal"],
            "action": data.unit_action,
            "next_observation": next_obs["observation"],
            "achieved": next_obs["achieved_goal"],
        }
        rows = {name: x.swapaxes(0, 1)[valid] for name, x in rollout.items()}
        rows["last"] = self.size + last_of_episodes(valid, data.done.T)
        end = self.size + len(rows["last"])
        for name, x in rows.items():
            self.arrays.setdefault(name, np.empty((self.capacity, *x.shape[1:]), x.dtype))[self.size : end] = x
        self.size = end
        return rows

    def sample(self, size, compute_reward):
        """Return a minibatch as a dict of arrays (size, ...); see `relabel` for the goals.

        Parameters
        ----------
        size : int
            Number of transitions.
        compute_reward : callable
            The pool's method of this name, which computes the rewards for the new goals.
        """
        rows = self.rng.integers(self.size, size=size)
        arrays = self.arrays
        names = "observation", "action", "next_observation"
        batch = {name: arrays[name][rows] for name in names}
        batch["goal"] = relabel(arrays["goal"], arrays["achieved"], arrays["last"], rows, self.share, self.rng)
        batch["reward"] = compute_reward(arrays["achieved"][rows], batch["goal"]).astype(np.float32)
        return batch


class Learner:
    """The rollout, the replay memory and the networks.

    Parameters
    ----------
    args : Args
        The options.
    pool : EnvPool
        A pool of environments with goals, which no learner has used.
    """

    def __init__(self, args, pool):
        self.args, self.pool, self.curve, self.step = args, pool, Curve(), 0
        self.agent = Agent(pool, args.hidden)
        self.log_coef = torch.tensor(math.log(args.entropy_coef), requires_grad=True)
        self.target_entropy = -float(np.prod(pool.single_action_space.shape))
        self.actor_optimizer, self.critic_optimizer, self.coef_optimizer = (
            torch.optim.Adam(list(x), lr=args.learning_rate)
            for x in (self.agent.actor.parameters(), self.agent.critics.parameters(), [self.log_coef])
        )
        shape, num_steps = pool.single_action_space.shape, pool.spec.max_episode_steps + 1  # the last one resets
        self.rollout = envpool.Rollout(pool, num_steps, {"unit_action": (np.float32, shape)})
        self.obs, _ = self.rollout.reset()
        self.rollout_size = args.num_envs * num_steps
        self.replay = Replay(args.total_timesteps + self.rollout_size, args.hindsight, args.seed)

    @torch.no_grad()
    def act(self):
        """Return random actions at the start and samples of the policy afterwards, in [-1, 1]."""
        if self.step < self.args.random_steps:
            return 2 * torch.rand(self.args.num_envs, self.agent.num_actions) - 1
        return self.agent(self.agent.prepare(self.obs["observation"], self.obs["desired_goal"]))[0]

    def collect(self):
        """Play an episode in each environment, and remember it; return the number of transitions."""
        for _ in range(self.rollout.num_steps):
            actions = self.act().numpy().reshape(-1, *self.agent.action_space.shape)
            self.obs, *_ = self.rollout.step(self.agent.to_env(actions), unit_action=actions)
        data = self.rollout.finish()
        if data.terminated.any():
            raise SystemExit(f"the episodes of {self.args.task} terminate; this example needs a task without such ends")
        self.step += self.rollout_size
        is_success = data.info["success" if "success" in data.info else "is_success"]  # mazes have another name
        for episode in zip(is_success[data.done], data.array("elapsed_step")[data.done], strict=True):
            self.curve.add(*episode)
        new = self.replay.add(data)
        self.agent.scale.update(np.concatenate([new["observation"], new["goal"]], axis=1))
        return len(new["goal"])

    @torch.no_grad()
    def critic_targets(self, batch):
        """Return what the critics should say about the transitions of a minibatch, (batch_size,)."""
        inputs = self.agent.prepare(batch["next_observation"], batch["goal"])
        actions, log_probs = self.agent(inputs)
        soft_values = values(self.agent.targets, inputs, actions).amin(dim=0) - self.log_coef.exp() * log_probs
        return torch.from_numpy(batch["reward"]) + self.args.gamma * soft_values

    def update(self):
        """Improve the networks on a minibatch."""
        agent = self.agent
        batch = self.replay.sample(self.args.batch_size, self.pool.compute_reward)
        inputs, actions = agent.prepare(batch["observation"], batch["goal"]), torch.from_numpy(batch["action"])
        errors = values(agent.critics, inputs, actions.flatten(1)) - self.critic_targets(batch)
        descend(self.critic_optimizer, (errors**2).mean())
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
    """Train until the target or the last step is reached, or until Ctrl-C, and return the Curve of successes."""
    check_files(args.save, args.capture_video)
    with start(args) as pool, Progress(args.total_timesteps) as progress:
        learner = Learner(args, pool)
        try:
            learn(args, learner, progress)
        except KeyboardInterrupt:
            learner.curve.is_interrupted = True
    policies.use(args, learner.agent, learner.curve.is_interrupted, __file__)
    return learner.curve


def learn(args, learner, progress):
    """Train a Learner."""
    while learner.step < args.total_timesteps:
        count = learner.collect()
        if learner.step >= args.random_steps:
            for _ in range(round(args.updates_per_step * count)):
                learner.update()
        progress.update(learner.rollout_size, f"success rate {learner.curve.mean:.2f}")
        if args.target is not None and learner.curve.has_reached(args.target):
            break


def load(path):
    """Return the policy of a file of ``--save``: a function from observations to the likeliest actions."""
    return policies.restore(path, Agent)[0].best


def main(argv=None):
    """Train with each seed and report; exit with an error if a target was set and not reached."""
    args = parse_args(argv, Args)
    if args.eval:
        return policies.evaluate_file(args.eval, Agent)
    measure = Measure("success rate", "success rate", window=24, decimals=2)  # an episode is 1 or 0
    run_seeds(args, train, "SAC with HER", measure)


if __name__ == "__main__":
    main()
