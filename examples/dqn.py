"""DQN (Mnih et al., 2015) on a pool of environments, with a replay buffer that the pool fills.

    python examples/dqn.py --target 475 --plot dqn.png
    python examples/dqn.py --n-step 1 --prioritized
    python examples/dqn.py --task Pong-v5 --num-envs 8 --total-timesteps 10000000 --capacity 1000000 \
        --learning-starts 80000 --n-step 1 --batch-size 32 --learning-rate 1e-4 \
        --target-every 250 --exploration-steps 1000000 --final-epsilon 0.01 --hidden 512 --device cuda

Targets are those of double DQN (van Hasselt et al., 2016), or with ``--vanilla`` those of DQN. Points to note about the
pool:

- ``envpool.ReplayBuffer`` steps the pool and keeps its steps. A million steps of an Atari game take 7.1 GB, since each
  frame is stored once.
- A minibatch has ``discount``: ``gamma`` to the power of the steps of the transition, and 0 where the episode
  terminated. Truncated episodes (time limits) are bootstrapped from their true last observation. The same lines are
  therefore right for n-step returns and in every auto-reset mode.
- All environments are stepped at once, so that a phase consists of some steps of all of them and of some updates.
"""

import json
from copy import deepcopy
from dataclasses import dataclass

import numpy as np
import torch
from gymnasium.spaces import Box, Discrete
from torch import nn
from torch.nn.functional import mse_loss

import envpool
from envpool.rollout import Progress
from envpool.training.curves import Curve
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

    num_envs: int = option(16, "environments in the pool", positive)
    total_timesteps: int = option(120_000, "largest number of environment steps", natural)
    capacity: int = option(20_000, "steps that the replay buffer keeps", positive)
    learning_starts: int = option(1000, "environment steps with random actions at the start", natural)
    steps_per_phase: int = option(32, "environment steps between two phases of updates", positive)
    updates_per_phase: int = option(8, "gradient steps in a phase", positive)
    batch_size: int = option(128, "transitions in a minibatch", positive)
    learning_rate: float = option(
        1e-3, "Adam's step size at the start; falls to 0 over total_timesteps", positive_number
    )
    gamma: float = option(0.99, "discount", share)
    n_step: int = option(3, "rewards in a target", positive)
    vanilla: bool = option(False, "let the target network choose the next action: plain DQN, not double DQN")
    prioritized: bool = option(False, "draw transitions in proportion to the errors of their values")
    target_every: int = option(50, "gradient steps between two copies of the network to the target network", positive)
    exploration_steps: int = option(20_000, "environment steps until epsilon is at its final value", positive)
    final_epsilon: float = option(0.02, "probability of a random action after that", share)
    hidden: int = option(128, "units in a hidden layer", positive)
    max_grad_norm: float = option(10.0, "gradient clipping", natural_number)
    device: str = option("cpu", "device of the networks, e.g. cuda")


class Network(nn.Module):
    """The values of all actions: two hidden layers, or the convolutions of Mnih et al. (2015) for stacks of frames."""

    def __init__(self, pool, hidden):
        super().__init__()
        space, actions = pool.single_observation_space, pool.single_action_space
        if not isinstance(space, Box) or not isinstance(actions, Discrete):
            raise SystemExit(
                f"this example needs an array of observations and discrete actions; got {space}, {actions}"
            )
        self.num_actions, self.first_action = int(actions.n), int(actions.start)
        self.is_image = len(space.shape) == 3
        if self.is_image:
            layers = [nn.Conv2d(space.shape[0], 32, 8, 4), nn.ReLU(), nn.Conv2d(32, 64, 4, 2), nn.ReLU()]
            layers += [nn.Conv2d(64, 64, 3, 1), nn.ReLU(), nn.Flatten()]
            inputs = nn.Sequential(*layers)(torch.zeros(1, *space.shape)).shape[1]
            layers += [nn.Linear(inputs, hidden), nn.ReLU(), nn.Linear(hidden, self.num_actions)]
        else:
            layers = [nn.Flatten(), nn.Linear(int(np.prod(space.shape)), hidden), nn.ReLU()]
            layers += [nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, self.num_actions)]
        # Convolutions are faster if the channels are last in memory.
        self.layers = nn.Sequential(*layers).to(memory_format=torch.channels_last)

    def forward(self, obs):
        """Return the values (n, actions) of observations (n, ...)."""
        if self.is_image:
            obs = obs.to(torch.float32, memory_format=torch.channels_last, copy=True).div_(255)
        return self.layers(obs.float())


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
        self.args, self.curve, self.step, self.updates = args, Curve(), 0, 0
        self.rng = np.random.default_rng(args.seed)
        self.network = Network(pool, args.hidden).to(args.device)
        self.target = deepcopy(self.network).requires_grad_(False)
        self.parameters = [*self.network.parameters()]
        # With the millions of weights behind convolutions, Adam's fused step takes a sixth of the time.
        is_fused = self.network.is_image
        self.optimizer = torch.optim.Adam(self.parameters, lr=args.learning_rate, fused=is_fused)
        self.buffer = envpool.ReplayBuffer(
            pool, args.capacity, args.n_step, args.prioritized, gamma=args.gamma, seed=args.seed
        )
        self.obs, _ = self.buffer.reset()

    @property
    def epsilon(self):
        """The probability of a random action."""
        if self.step < self.args.learning_starts:
            return 1.0
        return max(self.args.final_epsilon, 1 - self.step / self.args.exploration_steps)

    @torch.no_grad()
    def act(self):
        """Return an action for each environment."""
        actions = self.rng.integers(0, self.network.num_actions, len(self.obs))
        greedy = self.rng.random(len(self.obs)) >= self.epsilon
        if greedy.any():
            values = self.network(torch.from_numpy(self.obs[greedy]).to(self.args.device))
            actions[greedy] = values.argmax(dim=1).cpu().numpy()
        return actions + self.network.first_action

    def collect(self):
        """Step each environment once."""
        self.obs, *_, info = self.buffer.step(self.act())
        self.step += len(self.obs)
        if "finished" in info:
            for episode in zip(info["finished"]["r"], info["finished"]["l"], strict=True):
                self.curve.add(*episode)

    def update(self):
        """Improve the network on a minibatch."""
        device, batch = self.args.device, self.buffer.sample(self.args.batch_size)
        obs, reward, next_obs, discount = (
            torch.from_dlpack(array).to(device) for array in (batch.obs, batch.reward, batch.next_obs, batch.discount)
        )
        actions = torch.from_dlpack(batch.action).to(device, torch.int64)[:, None] - self.network.first_action
        with torch.no_grad():
            next_values = self.target(next_obs)
            chooses = next_values if self.args.vanilla else self.network(next_obs)
            best = chooses.argmax(dim=1, keepdim=True)
            targets = reward + discount * next_values.gather(1, best)[:, 0]
        found = self.network(obs).gather(1, actions)[:, 0]
        losses = mse_loss(found, targets, reduction="none")
        if self.args.prioritized:
            self.buffer.update_priorities(batch.index, (found - targets).abs().detach().cpu())
            losses = losses * torch.from_dlpack(batch.weight).to(device)
        self.optimizer.zero_grad()
        losses.mean().backward()
        nn.utils.clip_grad_norm_(self.parameters, self.args.max_grad_norm)
        rate = self.args.learning_rate * max(0.0, 1 - self.step / self.args.total_timesteps)
        self.optimizer.param_groups[0]["lr"] = rate
        self.optimizer.step()
        self.updates += 1
        if self.updates % self.args.target_every == 0:
            self.target.load_state_dict(self.network.state_dict())


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
    while learner.step < args.total_timesteps:
        first = learner.step
        while learner.step < first + args.steps_per_phase:
            learner.collect()
        progress.update(learner.step - first, f"mean return {learner.curve.mean:.1f}")
        if args.target is not None and learner.curve.has_reached(args.target):
            break
        if learner.step >= args.learning_starts and len(learner.buffer):
            for _ in range(args.updates_per_phase):
                learner.update()


def main(argv=None):
    """Train with each seed and report; exit with an error if a target was set and not reached."""
    run_seeds(parse_args(argv, Args), train, "DQN")


if __name__ == "__main__":
    main()
