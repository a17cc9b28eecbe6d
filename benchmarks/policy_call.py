"""Measure the loop that collects a rollout, with policies that are called from Python and with an MLP in native code.

    python benchmarks/policy_call.py [--turns 9] [--steps 64] [--num-threads 1]

All ways collect rollouts of the same pool, which has one thread by default, with the same networks: an actor and a
critic with two hidden layers of 64 tanh units. They are measured one after the other in each turn. "torch" samples with
torch's distributions and computes log-probabilities and entropies, as the scripts of CleanRL do; "Sampler" runs the
networks in torch and samples with envpool.rollout.Sampler; "MLP" is envpool.rollout.MLP. The last column is a step of
the pool without a policy, with actions that are given. Times are CPU time per step of all environments, in
microseconds: medians over the turns. With several threads, they are the time that passes, on a machine without other
work. Ratios are medians of the ratios of the turns. torch runs on one thread.
"""

import argparse
import os
import statistics
import time

import numpy as np
import torch
from gymnasium.spaces import Discrete
from torch import nn
from torch.distributions import Categorical, Normal

import envpool
from envpool.cli.bench.machine import describe_machine
from envpool.rollout import MLP, Sampler

#: Tasks and numbers of environments, and the wanted ratios of torch over MLP.
CASES = {
    ("CartPole-v1", 8): 8.0,
    ("CartPole-v1", 64): None,
    ("CartPole-v1", 256): 8.0,
    ("HalfCheetah-v5", 8): 1.5,
    ("HalfCheetah-v5", 64): 1.5,
}
HIDDEN = 64
#: Least time of each way in a turn, in seconds.
SECONDS = 0.1


def network(inputs, outputs):
    """Return a network with two hidden layers."""
    hidden = [nn.Linear(inputs, HIDDEN), nn.Tanh(), nn.Linear(HIDDEN, HIDDEN), nn.Tanh()]
    return nn.Sequential(*hidden, nn.Linear(HIDDEN, outputs))


class Policies:
    """The ways to act in a pool, which share their networks."""

    def __init__(self, pool):
        torch.manual_seed(0)
        space = pool.action_space
        self.is_discrete = isinstance(space, Discrete)
        inputs, outputs = (
            int(np.prod(pool.observation_space.shape)),
            int(space.n if self.is_discrete else space.shape[0]),
        )
        self.actor, self.critic = network(inputs, outputs), network(inputs, 1)
        self.log_std = None if self.is_discrete else torch.full((outputs,), -0.5)
        self.sampler = Sampler(0)
        self.mlp = MLP((self.actor, self.critic), log_std=self.log_std, rng=0)

    @torch.no_grad()
    def with_torch(self, result):
        """Act with torch alone."""
        x = torch.from_numpy(result[0]).float()
        outputs, value = self.actor(x), self.critic(x).squeeze(1)
        if self.is_discrete:
            distribution = Categorical(logits=outputs)
            action = distribution.sample()
            log_prob = distribution.log_prob(action)
            distribution.entropy()
        else:
            distribution = Normal(outputs, self.log_std.expand_as(outputs).exp())
            action = distribution.sample()
            log_prob = distribution.log_prob(action).sum(1)
            distribution.entropy().sum(1)
        return action.numpy(), {"log_prob": log_prob.numpy(), "value": value.numpy()}

    @torch.no_grad()
    def with_sampler(self, result):
        """Act with the networks in torch, and with a Sampler."""
        x = torch.from_numpy(result[0]).float()
        outputs, value = self.actor(x).numpy(), self.critic(x).squeeze(1).numpy()
        if self.is_discrete:
            sample = self.sampler.categorical(outputs)
        else:
            sample = self.sampler.gaussian(outputs, self.log_std.numpy())
        return sample.actions, {"log_prob": sample.log_probs, "value": value}


def mean_time(call, count, clock):
    """Return the time of a call in microseconds, the mean of `count` calls."""
    start = clock()
    for _ in range(count):
        call()
    return (clock() - start) * 1e6 / count


def measure(task, num_envs, steps, turns, num_threads):
    """Return the times of a step in microseconds, by way: a list with an entry for each turn."""
    clock = time.process_time if num_threads == 1 else time.perf_counter
    pool = envpool.make_gymnasium(task, num_envs=num_envs, num_threads=num_threads, seed=1)
    policies = Policies(pool)
    rollout = envpool.Rollout(pool, steps, policies.mlp.extras)
    result = [rollout.reset()]
    actions = pool.sample_actions(0)

    def collect(act):
        result[0] = rollout.collect(act, result[0])[1]

    def alone():
        for _ in range(steps):
            pool.step(actions)

    ways = {"torch": policies.with_torch, "Sampler": policies.with_sampler, "MLP": policies.mlp}
    calls = {name: lambda act=act: collect(act) for name, act in ways.items()}
    counts = {name: max(int(SECONDS * 1e6 / mean_time(call, 2, clock)), 1) for name, call in calls.items()}
    rows = {name: [mean_time(calls[name], counts[name], clock) / steps] for name in calls}
    for _ in range(turns):
        for name, call in calls.items():
            rows[name].append(mean_time(call, counts[name], clock) / steps)
    count = max(int(SECONDS * 1e6 / mean_time(alone, 2, clock)), 1)
    rows["pool"] = [mean_time(alone, count, clock) / steps for _ in range(turns + 1)]
    return {name: row[1:] for name, row in rows.items()}


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--turns", type=int, default=9)
    parser.add_argument("--steps", type=int, default=64, help="steps of a rollout")
    parser.add_argument("--num-threads", type=int, default=1, help="threads of the pool")
    args = parser.parse_args()
    torch.set_num_threads(1)
    machine = describe_machine()
    load = os.getloadavg()[0]
    print(
        f"{machine['cores_available']} cores ({machine['cpu']}), torch {torch.__version__}, load {load:.1f}, "
        f"{args.num_threads} threads of the pool"
    )
    print("\n| task, envs | torch, us | Sampler, us | MLP, us | torch / MLP | Sampler / MLP | wanted | step, us |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for (task, num_envs), wanted in CASES.items():
        rows = measure(task, num_envs, args.steps, args.turns, args.num_threads)
        times = {name: statistics.median(row) for name, row in rows.items()}
        ratios = {
            name: statistics.median(a / b for a, b in zip(rows[name], rows["MLP"], strict=True))
            for name in ("torch", "Sampler")
        }
        cells = [f"{times[name]:.1f}" for name in ("torch", "Sampler", "MLP")]
        cells += [f"{ratios[name]:.1f}" for name in ("torch", "Sampler")]
        print(f"| {task}, {num_envs} | {' | '.join(cells)} | {wanted or ''} | {times['pool']:.1f} |", flush=True)


if __name__ == "__main__":
    main()
