"""PPO in one file on a pool of environments (Schulman et al., 2017; layout after CleanRL).

    python examples/ppo.py --task CartPole-v1 --target 475 --plot ppo.png
    python examples/ppo.py --task Pendulum-v1 --gamma 0.9 --total-timesteps 400000 --target -200
    python examples/ppo.py --checkpoint run.pt  # again after an interruption: the run continues, with the same results

Actions may be discrete or continuous, and observations may come from any Box, or from a Dict of them, whose arrays are
joined. Images, uint8 (channels, height, width), pass through convolutions. A pool of environments needs attention in
the following points:

- ``env.step(actions)`` steps all environments at once and returns NumPy arrays with one row per environment.
- The step after the last one of an episode ignores its action and returns the first observation of the next episode
  (autoreset_mode "next_step"). That row is not a transition of the task, so it is left out of the loss.
- ``envpool.Rollout`` records the steps: the pool writes them in place, and marks the rows that are transitions.
- The row of the last step contains the true last observation. A truncated episode (time limit) is bootstrapped from the
  value of this observation; a terminated one is not.
"""

import argparse
import json
import time
from collections import deque
from dataclasses import dataclass, field, fields, replace

import checkpoint
import numpy as np
import torch
from curves import plot, plot_seeds
from gymnasium.spaces import Box, Dict, Discrete, flatdim
from torch import nn
from torch.distributions import Categorical, Independent, Normal
from tqdm import tqdm

import envpool
from envpool.rollout import gae


def option(default, text, parse=None):
    """Return a field of Args with a default, a help text, and a parser, by default the type of the default."""
    return field(default=default, metadata={"help": text, "parse": parse or type(default)})


def positive(text):
    """Return a positive integer."""
    if int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a positive integer")
    return int(text)


@dataclass(frozen=True)
class CommonArgs:
    """Options of the command line that other variants of PPO have, too."""

    task: str = option("CartPole-v1", "task id, see envpool.list_all_envs()")
    options: str = option("{}", "further options of the task as JSON, e.g. '{\"noop_max\": 10}'")
    seed: int = option(1, "seed of the network, the sampling and the environments")
    seeds: int = option(1, "number of runs, with the seeds seed, seed + 1, ...; the plot shows their mean", positive)
    num_envs: int = option(64, "environments in the pool")
    num_steps: int = option(64, "steps of each environment between two updates")
    total_timesteps: int = option(1_000_000, "largest number of environment steps")
    learning_rate: float = option(2e-3, "Adam's step size at the start; falls to 0 over total_timesteps")
    gamma: float = option(0.99, "discount")
    gae_lambda: float = option(0.95, "decay of the advantage estimate")
    epochs: int = option(4, "passes over the data of an update")
    minibatches: int = option(8, "gradient steps in a pass")
    clip: float = option(0.2, "clipping range of the probability ratio and of the value")
    entropy_coef: float = option(0.005, "weight of the entropy bonus")
    value_coef: float = option(0.5, "weight of the value loss")
    max_grad_norm: float = option(0.5, "gradient clipping")
    hidden: int = option(64, "units in each of the two hidden layers, or in the hidden layer after the convolutions")
    torch_threads: int = option(1, "threads of torch; networks this small run fastest on one")
    env_threads: int = option(0, "threads of the pool; 0 for its default")
    target: float = option(
        None, "mean return of 100 episodes at which to stop; exit with an error if it is never reached", float
    )
    plot: str = option(None, "write the learning curve to this PNG file", str)


@dataclass(frozen=True)
class Args(CommonArgs):
    """Options of the command line."""

    checkpoint: str = option(None, "write checkpoints to this file; if it exists, continue the run from it", str)
    checkpoint_every: int = option(10, "number of updates between two checkpoints", positive)


def parse_args(argv=None, args_class=Args):
    """Return the command line as Args."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for f in fields(args_class):
        flag, text = f"--{f.name.replace('_', '-')}", f.metadata["help"]
        if f.default is False:
            parser.add_argument(flag, action="store_true", help=text)
        else:
            text += "" if f.default is None else f" (default: {f.default})"
            parser.add_argument(flag, type=f.metadata["parse"], default=f.default, help=text)
    return args_class(**vars(parser.parse_args(argv)))


class RunningScale:
    """Running mean and standard deviation of all rows seen so far."""

    def __init__(self, shape=()):
        self.count, self.mean, self.m2 = 1e-4, np.zeros(shape), np.zeros(shape)

    def update(self, rows):
        """Add rows (n, *shape)."""
        n, total = len(rows), self.count + len(rows)
        delta = rows.mean(axis=0) - self.mean
        self.mean = self.mean + delta * n / total
        self.m2 = self.m2 + rows.var(axis=0) * n + delta**2 * self.count * n / total
        self.count = total

    @property
    def std(self):
        """Standard deviation, never zero."""
        return np.sqrt(self.m2 / self.count + 1e-8)


class Agent(nn.Module):
    """A policy and a value network, with the scaling of their inputs and outputs."""

    def __init__(self, env, hidden):
        super().__init__()
        obs_space, self.action_space = env.single_observation_space, env.single_action_space
        boxes = obs_space.spaces.values() if isinstance(obs_space, Dict) else [obs_space]
        if not all(isinstance(box, Box) for box in boxes) or not isinstance(self.action_space, (Box, Discrete)):
            raise SystemExit(
                "this example needs observations from a Box or from a Dict of them, and Box or Discrete actions, got "
                f"{obs_space}, {self.action_space}"
            )
        self.is_discrete = isinstance(self.action_space, Discrete)
        self.is_image = isinstance(obs_space, Box) and len(obs_space.shape) == 3 and obs_space.dtype == np.uint8
        outputs = int(self.action_space.n if self.is_discrete else np.prod(self.action_space.shape))
        if self.is_image:  # both networks see the same features
            self.features = convolutions(obs_space.shape, hidden)
            self.actor, self.critic = head(hidden, outputs, 0.01), head(hidden, 1, 1.0)
        else:
            inputs = flatdim(obs_space)
            self.features = nn.Identity()
            self.actor, self.critic = mlp(inputs, hidden, outputs, 0.01), mlp(inputs, hidden, 1, 1.0)
        self.scale = RunningScale(() if self.is_image else (inputs,))  # images are divided by 255 instead
        self.log_std = nn.Parameter(torch.zeros(outputs), requires_grad=not self.is_discrete)

    def prepare(self, obs, learn=False):
        """Return observations (n, *shape) as inputs of the networks.

        Images stay uint8. Other observations become float32 (n, inputs) with mean 0 and standard deviation 1.
        """
        if self.is_image:
            return torch.from_numpy(obs)
        arrays = obs.values() if isinstance(obs, dict) else [obs]
        rows = np.concatenate([array.reshape(len(array), -1) for array in arrays], axis=1)
        if learn:
            self.scale.update(rows)
        return torch.from_numpy(np.clip((rows - self.scale.mean) / self.scale.std, -10, 10).astype(np.float32))

    def forward(self, inputs):
        """Return the distribution over actions and the expected discounted return (n,)."""
        # bfloat16 makes the convolutions two to four times faster; its precision is sufficient for the features.
        with torch.autocast("cpu", torch.bfloat16, enabled=self.is_image):
            features = self.features(inputs / 255 if self.is_image else inputs).float()
        outputs, value = self.actor(features), self.critic(features).squeeze(-1)
        if self.is_discrete:
            return Categorical(logits=outputs), value
        return Independent(Normal(outputs, self.log_std.exp()), 1), value

    def to_env(self, actions):
        """Return sampled actions for the pool; continuous actions are scaled from [-1, 1] to the bounds."""
        actions = actions.numpy()
        if self.is_discrete:
            return actions + self.action_space.start
        low, high = self.action_space.low, self.action_space.high
        unit = np.clip(actions, -1, 1).reshape(-1, *self.action_space.shape)
        return np.where(np.isfinite(high - low), low + (unit + 1) / 2 * (high - low), unit)


def head(inputs, outputs, gain):
    """Return a linear layer with orthogonal weights."""
    return orthogonal(nn.Linear(inputs, outputs), gain)


def mlp(inputs, hidden, outputs, gain):
    """Return a network with two hidden tanh layers."""
    first, second = (head(n, hidden, 2**0.5) for n in (inputs, hidden))
    return nn.Sequential(first, nn.Tanh(), second, nn.Tanh(), head(hidden, outputs, gain))


def convolutions(shape, hidden):
    """Return the network of Mnih et al. (2013) for images of this shape: two convolutions, one hidden layer."""
    layers = [orthogonal(nn.Conv2d(shape[0], 16, 8, 4)), nn.ReLU(), orthogonal(nn.Conv2d(16, 32, 4, 2)), nn.ReLU()]
    flat = nn.Sequential(*layers, nn.Flatten())
    return nn.Sequential(flat, head(flat(torch.zeros(1, *shape)).shape[1], hidden, 2**0.5), nn.ReLU())


def orthogonal(layer, gain=2**0.5):
    """Initialise a layer with orthogonal weights and zero biases."""
    nn.init.orthogonal_(layer.weight, gain)
    nn.init.zeros_(layer.bias)
    return layer


class Returns:
    """Undiscounted returns of finished episodes, and the running scale of discounted returns."""

    def __init__(self, num_envs, gamma):
        self.gamma, self.scale = gamma, RunningScale()
        self.episode, self.discounted = np.zeros(num_envs), np.zeros(num_envs)
        self.last, self.steps, self.values = deque(maxlen=100), [], []

    def add(self, reward, done, step, ids=slice(None)):
        """Add one step of the environments `ids`, by default all; `step` is the number of environment steps so far."""
        self.episode[ids] += reward
        self.discounted[ids] = self.discounted[ids] * self.gamma + reward
        self.scale.update(self.discounted[ids])
        for value in self.episode[ids][done]:
            self.last.append(value)
            self.steps.append(step)
            self.values.append(value)
        self.episode[ids] *= ~done
        self.discounted[ids] *= ~done

    @property
    def mean(self):
        """Mean return of the last 100 episodes; NaN before there are 100."""
        return float(np.mean(self.last)) if len(self.last) == 100 else float("nan")


class Rollout:
    """The data of `num_steps` steps of all environments: tensors (num_steps, num_envs, ...)."""

    @torch.no_grad()
    def __init__(self, args, env, agent, obs):
        self.agent = agent
        example = self.act(agent.prepare(obs))
        self.steps = envpool.Rollout(
            env, args.num_steps, {k: (x.numpy().dtype, x.shape[1:]) for k, x in example.items()}
        )
        self.steps.begin(obs)

    def act(self, inputs):
        """Return what is recorded besides the steps: samples of the policy, and what the networks say."""
        policy, value = self.agent(inputs)
        sample = policy.sample()
        found = {"sample": sample, "log_prob": policy.log_prob(sample), "value": value}
        return found if self.agent.is_image else found | {"inputs": inputs}  # images are recorded as observations

    @torch.no_grad()
    def collect(self, args, returns, obs, step):
        """Do the steps, starting from `obs`, the last observation; return the next one."""
        scales = np.zeros((args.num_steps, 1))
        for t in range(args.num_steps):
            extras = self.act(self.agent.prepare(obs, learn=True))
            obs, reward, terminated, truncated, _ = self.steps.step(self.agent.to_env(extras["sample"]), **extras)
            returns.add(reward, terminated | truncated, step + (t + 1) * args.num_envs)
            scales[t] = returns.scale.std
        self.take(self.steps.finish(value=self.agent(self.agent.prepare(obs))[1]), scales)
        return obs

    def take(self, data, scales):
        """Keep the arrays of a finished rollout as tensors; rewards are divided by `scales`."""
        self.data = data
        self.inputs = torch.from_numpy(data.obs if self.agent.is_image else data.inputs)
        arrays = data.sample, data.log_prob, data.value, data.valid
        self.actions, self.log_probs, self.values, self.is_transition = map(torch.from_numpy, arrays)
        self.rewards = (data.reward / scales).astype(np.float32)

    def estimate_advantages(self, gamma, gae_lambda):
        """Estimate advantages (GAE). If an episode ended at t, the value at t + 1 is that of its last observation."""
        data = self.data
        arrays = self.rewards, data.value, data.last("value"), data.terminated, data.truncated
        options = {"mask": data.valid, "lengths": data.lengths}
        self.advantages = torch.from_numpy(gae(*arrays, gamma=gamma, lam=gae_lambda, **options).advantages)

    def transitions(self):
        """Return what `update` learns from: inputs, actions, log_probs, advantages and values, one row a transition."""
        rows = self.inputs, self.actions, self.log_probs, self.advantages, self.values
        return [x[self.is_transition] for x in rows]


def update(args, agent, optimizer, transitions):
    """Improve the networks on the transitions of one rollout."""
    inputs, actions, log_probs, advantages, values = transitions
    targets = advantages + values
    for _ in range(args.epochs):
        for rows in torch.randperm(len(inputs)).chunk(args.minibatches):
            policy, value = agent(inputs[rows])
            ratio = (policy.log_prob(actions[rows]) - log_probs[rows]).exp()
            gain = (advantages[rows] - advantages[rows].mean()) / (advantages[rows].std() + 1e-8)
            policy_loss = torch.max(-gain * ratio, -gain * ratio.clamp(1 - args.clip, 1 + args.clip)).mean()
            clipped = values[rows] + (value - values[rows]).clamp(-args.clip, args.clip)
            value_loss = torch.max((value - targets[rows]) ** 2, (clipped - targets[rows]) ** 2).mean() / 2
            loss = policy_loss + args.value_coef * value_loss - args.entropy_coef * policy.entropy().mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(agent.parameters(), args.max_grad_norm)
            optimizer.step()


def train(args):
    """Train until the target or the last step is reached, and return the Returns."""
    torch.manual_seed(args.seed)
    torch.set_num_threads(args.torch_threads)
    returns = Returns(args.num_envs, args.gamma)
    pool_options = {"num_envs": args.num_envs, "seed": args.seed, "num_threads": args.env_threads}
    env = envpool.make_gymnasium(args.task, **pool_options, **json.loads(args.options))
    with env, tqdm(total=args.total_timesteps, unit="step", unit_scale=True, disable=None) as progress:
        agent = Agent(env, args.hidden)
        optimizer = torch.optim.Adam(agent.parameters(), lr=args.learning_rate, eps=1e-5)
        obs, _ = env.reset()
        data = Rollout(args, env, agent, obs)
        per_update, first = args.num_envs * args.num_steps, 0
        changing = {"returns": returns, "reward scale": returns.scale, "observation scale": agent.scale}
        if saved := checkpoint.load(args, env, agent, optimizer, changing):
            first, obs = saved["step"], saved["obs"]
            data.steps.begin(obs)
            progress.update(first)
        for step in range(first, args.total_timesteps, per_update):
            optimizer.param_groups[0]["lr"] = args.learning_rate * (1 - step / args.total_timesteps)
            obs = data.collect(args, returns, obs, step)
            data.estimate_advantages(args.gamma, args.gae_lambda)
            update(args, agent, optimizer, data.transitions())
            progress.set_postfix_str(f"mean return {returns.mean:.1f}", refresh=False)
            progress.update(per_update)
            following = step + per_update
            if args.checkpoint and following // per_update % args.checkpoint_every == 0:
                checkpoint.save(args, env, agent, optimizer, changing, step=following, obs=obs)
            if args.target is not None and returns.mean >= args.target:
                break
    return returns


def main(argv=None, args_class=Args, train=train, algorithm="PPO"):
    """Train with each seed and report; exit with an error if a target was set and not reached."""
    args = parse_args(argv, args_class)
    if args.seeds > 1 and getattr(args, "checkpoint", None):
        raise SystemExit("--checkpoint belongs to a single run: leave out --seeds")
    runs, missed = [], []
    for seed in range(args.seed, args.seed + args.seeds):
        start = time.perf_counter()
        returns = train(replace(args, seed=seed))
        runs.append((returns.steps, returns.values))
        print(
            f"{args.task}: mean return {returns.mean:.1f} over the last 100 of {len(returns.values)} episodes, "
            f"seed {seed}, {time.perf_counter() - start:.1f} s"
        )
        if args.target is not None and not returns.mean >= args.target:
            missed.append(seed)
    if args.plot and args.seeds == 1:
        plot(args.plot, f"{algorithm} on {args.task}, seed {args.seed}", *runs[0], args.target)
    elif args.plot:
        title = f"{algorithm} on {args.task}, seeds {args.seed} to {args.seed + args.seeds - 1}"
        plot_seeds(args.plot, title, runs, args.target)
    if missed:
        seeds = "" if args.seeds == 1 else f" with the seeds {missed}"
        raise SystemExit(f"the target {args.target:g} was not reached in {args.total_timesteps} steps{seeds}")


if __name__ == "__main__":
    main()
