"""PPO with a recurrent network on CartPole whose velocities are hidden.

    python examples/ppo_recurrent.py --target 475 --plot ppo_recurrent.png
    python examples/ppo_recurrent.py --total-timesteps 400000 --seeds 3 --plot ppo_recurrent.png
    python examples/ppo_recurrent.py --forgetful  # the same network without its memory does not solve the task

The network sees the position of the cart and the angle of the pole only, and has to remember where they were before.
Points to note about its state:

- The rollout stores the state before each observation, as an extra. It carries over to the next rollout.
- Where an episode begins, the state is zero. With ``autoreset_mode="next_step"``, that is not the step after ``done``,
  which still belongs to the last observation of the episode, but the one after it: ``elapsed_step`` is 0, and ``first``
  of the rollout is True.
- ``envpool.rollout.sequences`` cuts the rollouts into sequences for the minibatches. A sequence starts with the state
  that was stored; with ``--burn-in``, the network first recomputes it from some steps before the sequence.
- The mask of a sequence says which rows count in the loss: not those of resets, of burn-in, and of padding.
"""

from dataclasses import dataclass

import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical

import envpool
from envpool.rollout import Progress, Sampler, gae, sequences
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

#: Observations of CartPole that the network sees: the position of the cart and the angle of the pole.
VISIBLE = [0, 2]


@dataclass(frozen=True)
class Args(RunArgs):
    """Options of the command line."""

    num_envs: int = option(32, "environments in the pool", positive)
    num_steps: int = option(128, "steps of each environment between two updates", positive)
    total_timesteps: int = option(500_000, "largest number of environment steps", natural)
    learning_rate: float = option(
        2e-3, "Adam's step size at the start; falls to 0 over total_timesteps", positive_number
    )
    gamma: float = option(0.99, "discount", share)
    gae_lambda: float = option(0.95, "decay of the advantage estimate", share)
    epochs: int = option(4, "passes over the data of an update", positive)
    minibatches: int = option(4, "gradient steps in a pass", positive)
    clip: float = option(0.2, "clipping range of the probability ratio and of the value", positive_number)
    entropy_coef: float = option(0.005, "weight of the entropy bonus", natural_number)
    value_coef: float = option(0.5, "weight of the value loss", natural_number)
    max_grad_norm: float = option(0.5, "gradient clipping", positive_number)
    hidden: int = option(64, "units of the recurrent layer", positive)
    sequence: int = option(32, "steps of a sequence", positive)
    burn_in: int = option(0, "steps before a sequence from which its first state is recomputed", natural)
    forgetful: bool = option(False, "set the state to zero in each step")


class Agent(nn.Module):
    """A gated recurrent unit with a head for the policy and one for the value."""

    def __init__(self, hidden, num_actions):
        super().__init__()
        self.encoder, self.cell = head(len(VISIBLE), hidden, 2**0.5), nn.GRUCell(hidden, hidden)
        self.actor, self.critic = head(hidden, num_actions, 0.01), head(hidden, 1, 1.0)

    def forward(self, inputs, state, keep):
        """Run through sequences.

        Parameters
        ----------
        inputs : torch.Tensor
            (L, S, inputs): L steps of S sequences.
        state : torch.Tensor
            (S, hidden), the state before the first step.
        keep : torch.Tensor
            (L, S), 0 where the state is forgotten before the step, otherwise 1.

        Returns
        -------
        logits, values, state : torch.Tensor
            (L, S, actions), (L, S), and the state after the last step.
        """
        states = []
        for x, k in zip(torch.tanh(self.encoder(inputs)), keep, strict=True):
            state = self.cell(x, state * k[:, None])
            states.append(state)
        features = torch.stack(states)
        return self.actor(features), self.critic(features).squeeze(-1), state


def head(inputs, outputs, gain):
    """Return a linear layer with orthogonal weights."""
    layer = nn.Linear(inputs, outputs)
    nn.init.orthogonal_(layer.weight, gain)
    nn.init.zeros_(layer.bias)
    return layer


class Learner:
    """The rollout, the networks, and the state of the network in each environment."""

    def __init__(self, args, pool):
        self.args, self.sampler = args, Sampler(args.seed)
        self.returns = Returns()
        self.agent = Agent(args.hidden, pool.single_action_space.n)
        self.optimizer = torch.optim.Adam(self.agent.parameters(), lr=args.learning_rate, eps=1e-5)
        extras = {"inputs": (np.float32, (len(VISIBLE),)), "keep": np.float32, "state": (np.float32, (args.hidden,))}
        self.rollout = envpool.Rollout(pool, args.num_steps, extras | {"logprob": np.float32, "value": np.float32})
        self.result = self.rollout.reset()
        self.state = torch.zeros(args.num_envs, args.hidden)

    @torch.no_grad()
    def act(self, result):
        """Return actions for the observations of a result, and what is recorded with them."""
        inputs, before = result[0][:, VISIBLE], self.state
        is_forgotten = (result[-1]["elapsed_step"] == 0) | self.args.forgetful
        keep = torch.from_numpy(np.float32(~is_forgotten))
        logits, value, self.state = self.agent(torch.from_numpy(inputs)[None], before, keep[None])
        sample = self.sampler.categorical(logits[0])
        extras = {"inputs": inputs, "keep": keep, "state": before, "logprob": sample.log_probs, "value": value[0]}
        return sample.actions, extras

    def update(self, step):
        """Collect a rollout and learn from it; `step` is the number of environment steps so far."""
        self.optimizer.param_groups[0]["lr"] = self.args.learning_rate * (1 - step / self.args.total_timesteps)
        for t in range(self.args.num_steps):
            action, extras = self.act(self.result)
            self.result = self.rollout.step(action, **extras)
            self.returns.add(self.result[-1], step + (t + 1) * self.args.num_envs)
        data = self.rollout.finish(**self.act(self.result)[1])
        self.state = torch.from_numpy(data.last("state"))  # the next rollout begins with the last observations
        self.learn(data)

    def learn(self, data):
        """Improve the networks on a rollout."""
        args, shape = self.args, data.valid.shape
        factors = {"gamma": args.gamma, "lam": args.gae_lambda}
        last = data.last("value")
        estimate = gae(data.reward, data.value, last, data.terminated, data.truncated, mask=data.valid, **factors)
        arrays = data.inputs, data.keep, data.state, data.action, data.logprob, data.value, *estimate
        rows_of = [torch.from_numpy(x.reshape(-1, *x.shape[2:])) for x in arrays]
        count = -(-data.valid.size // (args.sequence * args.minibatches))
        for _ in range(args.epochs):
            cut = sequences(shape, args.sequence, count, self.sampler, burn_in=args.burn_in, mask=data.valid)
            for rows, mask in cut:
                self.descend(torch.from_numpy(mask), *(x[rows] for x in rows_of))

    def descend(self, mask, inputs, keep, state, action, logprob, old_value, advantage, target):
        """Take a gradient step on sequences (L, S, ...), of which rows where `mask` is True count."""
        args = self.args
        logits, value, _ = self.agent(inputs, state[0], keep)
        policy, value = Categorical(logits=logits[mask]), value[mask]
        ratio = (policy.log_prob(action[mask]) - logprob[mask]).exp()
        gain = advantage[mask]
        gain = (gain - gain.mean()) / (gain.std(correction=0) + 1e-8)
        policy_loss = torch.max(-gain * ratio, -gain * ratio.clamp(1 - args.clip, 1 + args.clip)).mean()
        clipped = old_value[mask] + (value - old_value[mask]).clamp(-args.clip, args.clip)
        value_loss = torch.max((value - target[mask]) ** 2, (clipped - target[mask]) ** 2).mean() / 2
        loss = policy_loss + args.value_coef * value_loss - args.entropy_coef * policy.entropy().mean()
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.agent.parameters(), args.max_grad_norm)
        self.optimizer.step()


def make_pool(args):
    """Return a pool that normalises observations and rewards, and counts the returns of episodes."""
    options = {"normalize_obs": True, "clip_obs": 10.0, "normalize_reward": {"gamma": args.gamma}}
    return start(args, episode_statistics=True, finished_episodes=True, **options)


def train(args):
    """Train until the target or the last step is reached, or until Ctrl-C, and return the Returns."""
    with make_pool(args) as pool, Progress(args.total_timesteps) as progress:
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
        learner.update(step)
        progress.update(per_update, f"mean return {learner.returns.mean:.1f}")
        if args.target is not None and learner.returns.has_reached(args.target):
            break


def main(argv=None):
    """Train with each seed and report; exit with an error if a target was set and not reached."""
    run_seeds(parse_args(argv, Args), train, "Recurrent PPO")


if __name__ == "__main__":
    main()
