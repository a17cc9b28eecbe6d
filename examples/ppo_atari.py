"""PPO on Atari as in CleanRL's ppo_atari_envpool.py, on envpool.Rollout with each frame stored once.

    python examples/ppo_atari.py --task Pong-v5 --target 18 --plot ppo_atari.png
    python examples/ppo_atari.py --num-envs 64 --skip-resets

The networks, the losses and the default options are those of CleanRL's script; with the same random numbers, every loss
is the same, bit for bit (tests/examples/test_ppo_atari.py). What is different here:

- ``preset="ppo-cleanrl"`` stands for the options that the script passes to ``envpool.make``.
- The rollout keeps frames as uint8 and stores each of them once: a fifteenth of the memory of stacks of float32.
  ``data.minibatch`` gathers the stacks of a minibatch in native threads.
- ``envpool.rollout.gae`` estimates the advantages, and ``shuffled`` draws the minibatches.
- The pool itself counts the returns of whole games, whose rewards are not clipped and which have several lives.

The step after the end of an episode ignores its action and only resets the environment. CleanRL's script learns from
such rows like from any other; ``--skip-resets`` leaves them out.
"""

from dataclasses import dataclass

import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical

import envpool
from envpool.rollout import Progress, Sampler, gae, shuffled
from envpool.training.curves import Curve
from envpool.training.options import (
    natural,
    natural_number,
    number,
    option,
    parse_args,
    positive,
    positive_number,
    share,
)
from envpool.training.runs import run_seeds


@dataclass(frozen=True)
class Args:
    """Options of the command line."""

    task: str = option("Pong-v5", "task id of an Atari game")
    seed: int = option(1, "seed of the network, the sampling and the environments", natural)
    seeds: int = option(1, "number of runs, with the seeds seed, seed + 1, ...", positive)
    num_envs: int = option(8, "environments in the pool", positive)
    num_steps: int = option(128, "steps of each environment between two updates", positive)
    total_timesteps: int = option(10_000_000, "number of environment steps", natural)
    learning_rate: float = option(
        2.5e-4, "Adam's step size at the start; falls to 0 over total_timesteps", positive_number
    )
    gamma: float = option(0.99, "discount", share)
    gae_lambda: float = option(0.95, "decay of the advantage estimate", share)
    epochs: int = option(4, "passes over the data of an update", positive)
    minibatches: int = option(4, "gradient steps in a pass", positive)
    clip: float = option(0.1, "clipping range of the probability ratio and of the value", positive_number)
    entropy_coef: float = option(0.01, "weight of the entropy bonus", natural_number)
    value_coef: float = option(0.5, "weight of the value loss", natural_number)
    max_grad_norm: float = option(0.5, "gradient clipping", positive_number)
    device: str = option("cpu", "device of the networks, e.g. cuda")
    torch_threads: int = option(1, "threads of torch on the CPU", positive)
    target: float = option(None, "mean return of 100 games at which to stop; exit with an error otherwise", number)
    plot: str = option(None, "write the learning curve to this PNG file", str)
    skip_resets: bool = option(False, "leave out rows that only reset an environment")


class Agent(nn.Module):
    """The network of Mnih et al. (2015) with a head for the policy and one for the value."""

    def __init__(self, stack, num_actions):
        super().__init__()
        self.features = nn.Sequential(
            *(orthogonal(nn.Conv2d(stack, 32, 8, stride=4)), nn.ReLU()),
            *(orthogonal(nn.Conv2d(32, 64, 4, stride=2)), nn.ReLU()),
            *(orthogonal(nn.Conv2d(64, 64, 3, stride=1)), nn.ReLU()),
            *(nn.Flatten(), orthogonal(nn.Linear(64 * 7 * 7, 512)), nn.ReLU()),
        )
        self.actor = orthogonal(nn.Linear(512, num_actions), 0.01)
        self.critic = orthogonal(nn.Linear(512, 1), 1.0)

    def forward(self, images):
        """Return the distribution over actions and the value (n,) of images (n, stack, 84, 84) from 0 to 255."""
        features = self.features(images / 255)
        return Categorical(logits=self.actor(features)), self.critic(features).flatten()


def orthogonal(layer, gain=2**0.5):
    """Initialise a layer with orthogonal weights and zero biases."""
    nn.init.orthogonal_(layer.weight, gain)
    nn.init.zeros_(layer.bias)
    return layer


class Learner:
    """The pool, the rollout and the networks."""

    def __init__(self, args, pool):
        self.args, self.games, self.sampler = args, Curve(), Sampler(args.seed)
        self.device = torch.device(args.device)
        extras = {"logprob": np.float32, "value": np.float32}
        self.rollout = envpool.Rollout(pool, args.num_steps, extras, frames_once=True)
        self.shape = pool.single_observation_space.shape
        self.agent = Agent(self.shape[0], pool.single_action_space.n).to(self.device)
        self.optimizer = torch.optim.Adam(self.agent.parameters(), lr=args.learning_rate, eps=1e-5)
        self.result = self.rollout.reset()

    @torch.no_grad()
    def act(self, result):
        """Return actions for the observations of a result, and what is recorded with them."""
        if "game" in result[-1]:
            game, ended = result[-1]["game"], result[-1]["_game"]
            for value, length in zip(game["r"][ended], game["l"][ended], strict=True):
                self.games.add(value, length)
        policy, value = self.agent(torch.from_numpy(result[0]).to(self.device))
        action = policy.sample()
        return action.cpu().numpy(), {"logprob": policy.log_prob(action).cpu(), "value": value.cpu()}

    def update(self, fraction):
        """Collect a rollout and learn from it; return the losses of each minibatch: policy, value, entropy.

        `fraction` is that of the updates which are done, 0 to 1.
        """
        self.optimizer.param_groups[0]["lr"] = (1 - fraction) * self.args.learning_rate
        data, self.result = self.collect()
        return self.learn(data)

    @torch.no_grad()
    def collect(self):
        """Return the data of a rollout, and its last result."""
        result = self.result
        for _ in range(self.args.num_steps):
            action, extras = self.act(result)
            result = self.rollout.step(action, **extras)
        last_value = self.agent(torch.from_numpy(result[0]).to(self.device))[1]
        return self.rollout.finish(value=last_value.cpu()), result

    def learn(self, data):
        """Improve the networks on a rollout, and return the losses of each minibatch."""
        args = self.args
        mask = data.valid if args.skip_resets else np.ones_like(data.valid)
        arrays = data.action, data.logprob, *self.estimate(data, mask), data.value
        rows = [torch.from_numpy(x.reshape(-1)).to(self.device) for x in arrays]
        size = int(mask.sum()) // args.minibatches
        losses = []
        for _ in range(args.epochs):
            for ids in shuffled(mask, size, self.sampler, drop_last=True):
                images = torch.from_numpy(data.minibatch(ids, np.empty((size, *self.shape), np.float32)))
                losses.append(self.descend(images.to(self.device), *(x[ids] for x in rows)))
        return losses

    def estimate(self, data, mask):
        """Return advantages and returns. As in CleanRL's script, a truncated episode has no value after its end."""
        truncated = np.zeros_like(data.done)
        factors = {"gamma": self.args.gamma, "lam": self.args.gae_lambda}
        return gae(data.reward, data.value, data.last("value"), data.done, truncated, mask=mask, **factors)

    def descend(self, images, action, logprob, advantage, target, old_value):
        """Take a gradient step on a minibatch, and return its losses: policy, value, entropy."""
        args = self.args
        policy, value = self.agent(images)
        ratio = (policy.log_prob(action) - logprob).exp()
        gain = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
        policy_loss = torch.max(-gain * ratio, -gain * ratio.clamp(1 - args.clip, 1 + args.clip)).mean()
        clipped = old_value + (value - old_value).clamp(-args.clip, args.clip)
        value_loss = 0.5 * torch.max((value - target) ** 2, (clipped - target) ** 2).mean()
        entropy = policy.entropy().mean()
        loss = policy_loss - args.entropy_coef * entropy + args.value_coef * value_loss
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.agent.parameters(), args.max_grad_norm)
        self.optimizer.step()
        return policy_loss.item(), value_loss.item(), entropy.item()


def make_pool(args):
    """Return the pool."""
    return envpool.make_gymnasium(
        args.task,
        num_envs=args.num_envs,
        # Environment i has the seed of the pool plus i: runs with the seeds 1, 2, ... have no environments in common.
        seed=args.seed * args.num_envs,
        preset="ppo-cleanrl",
        episode_statistics=True,
    )


def train(args):
    """Train until the target or the last step is reached, or until Ctrl-C, and return the returns of the games."""
    torch.manual_seed(args.seed)
    torch.set_num_threads(args.torch_threads)
    with make_pool(args) as pool, Progress(args.total_timesteps) as progress:
        learner = Learner(args, pool)
        try:
            learn(args, learner, progress)
        except KeyboardInterrupt:
            learner.games.is_interrupted = True
    return learner.games


def learn(args, learner, progress):
    """Train a Learner."""
    per_update = args.num_envs * args.num_steps
    updates = args.total_timesteps // per_update
    for update in range(updates):
        learner.update(update / updates)
        progress.update(per_update, f"mean return {learner.games.mean:.1f}")
        if args.target is not None and learner.games.has_reached(args.target):
            break


def main(argv=None):
    """Train with each seed and report; exit with an error if a target was set and not reached."""
    run_seeds(parse_args(argv, Args), train, "PPO of CleanRL")


if __name__ == "__main__":
    main()
