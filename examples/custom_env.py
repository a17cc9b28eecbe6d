"""PPO on an environment of your own, written in Python.

    python examples/custom_env.py --target 0.9 --plot custom_env.png
    python examples/custom_env.py --options '{"workers": "process", "num_threads": 4}'

The environment is a subclass of ``gymnasium.Env`` that is registered with gymnasium, and ``envpool.make_python`` makes
a pool of its id; ``envpool.make_python(Lighthouse, num_envs=64)`` makes the same pool without a registration. The
options of the pool, the rollout and the training loop are those of a native task.
"""

from dataclasses import dataclass

import gymnasium
import numpy as np
import torch
from gymnasium.spaces import Box, Discrete
from torch import nn
from torch.distributions import Categorical

import envpool
from envpool.rollout import Progress, Sampler, gae, shuffled
from envpool.training.curves import Returns
from envpool.training.options import RunArgs, natural_number, option, parse_args, positive, positive_number, share
from envpool.training.runs import run_seeds, start


class Lighthouse(gymnasium.Env):
    """A ship on a line looks for the harbour, which it sees only while the light is on, every third step.

    The observation, float32 (3,), is the distance to the harbour or 0 if it is dark, whether it is dark, and the speed.
    The actions brake, drift and accelerate to the right. The reward is 1 for stopping in the harbour.
    """

    observation_space = Box(-np.inf, np.inf, (3,), np.float32)
    action_space = Discrete(3)

    def reset(self, *, seed=None, options=None):
        """Start at a random place, at rest."""
        super().reset(seed=seed)
        self.place, self.speed, self.time = self.np_random.uniform(-1, 1), 0.0, 0
        return self._observe(), {}

    def step(self, action):
        """Take one step; the info of the last one says how far away the ship was."""
        self.time += 1
        self.speed = float(np.clip(self.speed + 0.05 * (int(action) - 1), -0.2, 0.2))
        self.place = float(np.clip(self.place + self.speed, -2, 2))
        has_arrived = abs(self.place) < 0.1 and abs(self.speed) < 0.1
        info = {"distance": abs(self.place)} if has_arrived else {}
        return self._observe(), float(has_arrived), has_arrived, False, info

    def _observe(self):
        is_dark = self.time % 3 != 0
        return np.array([0 if is_dark else self.place, is_dark, self.speed], np.float32)


gymnasium.register("Lighthouse-v0", Lighthouse, max_episode_steps=60)


# ---- PPO -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Args(RunArgs):
    """Options of the command line."""

    task: str = option("Lighthouse-v0", "id of an environment with vectors as observations and discrete actions")
    num_envs: int = option(32, "environments in the pool", positive)
    total_timesteps: int = option(200_000, "largest number of environment steps", positive)
    num_steps: int = option(64, "steps of each environment between two updates", positive)
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
    """A policy and a value network for vectors and discrete actions."""

    def __init__(self, pool, hidden):
        super().__init__()
        obs_space, space = pool.single_observation_space, pool.single_action_space
        if not isinstance(obs_space, Box) or len(obs_space.shape) != 1 or not isinstance(space, Discrete):
            raise SystemExit(f"this example needs vector observations and Discrete actions; got {obs_space}, {space}")
        self.first_action = int(space.start)
        self.actor = mlp(obs_space.shape[0], hidden, int(space.n), 0.01)
        self.critic = mlp(obs_space.shape[0], hidden, 1, 1.0)


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
        self.args, self.sampler, self.returns = args, Sampler(args.seed), Returns()
        self.agent = Agent(pool, args.hidden)
        self.optimizer = torch.optim.Adam(self.agent.parameters(), lr=args.learning_rate, eps=1e-5)
        self.rollout = envpool.Rollout(pool, args.num_steps, {"log_prob": np.float32})
        self.obs, _ = self.rollout.reset()

    @torch.no_grad()
    def collect(self, step):
        """Return the data of a rollout; `step` is the number of environment steps so far."""
        for t in range(self.args.num_steps):
            logits = self.agent.actor(torch.from_numpy(self.obs).float()).numpy()
            sample = self.sampler.categorical(logits)
            actions = sample.actions + self.agent.first_action
            self.obs, *_, info = self.rollout.step(actions, log_prob=sample.log_probs)
            self.returns.add(info, step + (t + 1) * self.args.num_envs)
        return self.rollout.finish()

    def learn(self, data):
        """Improve the networks on a rollout."""
        args, inputs = self.args, torch.from_numpy(data.obs).float().flatten(0, 1)
        with torch.no_grad():
            old = self.agent.critic(inputs).numpy().reshape(data.reward.shape)
            last = self.agent.critic(torch.from_numpy(data.last_obs).float()).numpy()[:, 0]
        factors = {"gamma": args.gamma, "lam": args.gae_lambda}
        estimate = gae(data.reward, old, last, data.terminated, data.truncated, mask=data.valid, **factors)
        choices = data.action.astype(np.int64) - self.agent.first_action
        columns = inputs, *(torch.from_numpy(x).flatten(0, 1) for x in (choices, data.log_prob, old, *estimate))
        size = max(-(-int(data.valid.sum()) // args.minibatches), 1)
        for _ in range(args.epochs):
            for rows in map(torch.from_numpy, shuffled(data.valid, size, self.sampler)):
                self.descend(*(x[rows] for x in columns))

    def descend(self, inputs, choice, log_prob, old_value, advantage, target):
        """Take a gradient step on a minibatch."""
        args, policy = self.args, Categorical(logits=self.agent.actor(inputs), validate_args=False)
        value = self.agent.critic(inputs).squeeze(1)
        ratio = (policy.log_prob(choice) - log_prob).exp()
        gain = (advantage - advantage.mean()) / (advantage.std(correction=0) + 1e-8)
        policy_loss = torch.max(-gain * ratio, -gain * ratio.clamp(1 - args.clip, 1 + args.clip)).mean()
        clipped = old_value + (value - old_value).clamp(-args.clip, args.clip)
        value_loss = torch.max((value - target) ** 2, (clipped - target) ** 2).mean() / 2
        loss = policy_loss + args.value_coef * value_loss - args.entropy_coef * policy.entropy().mean()
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.agent.parameters(), args.max_grad_norm)
        self.optimizer.step()


def train(args):
    """Train until the target or the last step is reached, or until Ctrl-C, and return the Returns."""
    options = {"normalize_obs": True, "clip_obs": 10.0, "normalize_reward": {"gamma": args.gamma}}
    options |= {"episode_statistics": True, "finished_episodes": True}
    with start(args, **options) as pool, Progress(args.total_timesteps) as progress:
        learner = Learner(args, pool)
        try:
            learn(args, learner, progress)
        except KeyboardInterrupt:
            learner.returns.is_interrupted = True
    return learner.returns


def learn(args, learner, progress):
    """Train a Learner."""
    per_update = args.num_envs * args.num_steps
    for step in range(0, args.total_timesteps, per_update):
        learner.optimizer.param_groups[0]["lr"] = args.learning_rate * (1 - step / args.total_timesteps)
        learner.learn(learner.collect(step))
        progress.update(per_update, f"mean return {learner.returns.mean:.1f}")
        if args.target is not None and learner.returns.has_reached(args.target):
            break


def main(argv=None):
    """Train with each seed and report; exit with an error if a target was set and not reached."""
    run_seeds(parse_args(argv, Args), train, "PPO")


if __name__ == "__main__":
    main()
