"""Measure whole training runs: our examples, CleanRL's loops on gymnasium's vector environments, Stable-Baselines3.

    python benchmarks/end_to_end.py [--cells cartpole ...] [--rounds 3] [--seconds 2] [--json FILE]

In each cell, all loops train the same network on the same task with the same settings and numbers of updates, on one
thread of torch. Each has a process of its own. In each round, all of them run one after the other, whole iterations for
at least the given CPU time; an iteration is a rollout with its updates. The table shows medians over the rounds:
environment steps per CPU-second of all threads, and the ratios within a round. Afterwards each loop runs again with
timers around the steps of the environments, the choice of actions, and the gradient steps; the rest is glue: copies,
advantages, replay memory, statistics. If `envpool.rollout.MLP` runs the rollouts, the environment includes the policy.

Ours are the loops of examples/ppo.py and examples/dqn.py (--vanilla); the others are in usual_loops.py. Of each loop,
only what every one of them does is measured: nothing is logged. All networks compute in float32, although
examples/ppo.py by itself takes bfloat16 for convolutions where the processor multiplies it. Needs stable-baselines3.
"""

import argparse
import importlib
import json
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import envpool
import envpool.rollout
from envpool.cli.bench.machine import describe_machine

ROOT = Path(__file__).resolve().parents[1]
#: Name and loop of each contender, by algorithm: a function of this file or of usual_loops.py.
CONTENDERS = {
    "PPO": {"envpool": "our_ppo", "with MLP": "our_ppo_with_mlp", "CleanRL": "cleanrl_ppo", "SB3": "sb3_ppo"},
    "DQN": {"envpool": "our_dqn", "CleanRL": "cleanrl_dqn", "SB3": "sb3_dqn"},
}
#: Those of them that are ours.
OURS = ("envpool", "with MLP")
PARTS = ("environment", "policy", "learner")


@dataclass(frozen=True)
class Cell:
    """A task, an algorithm and its settings.

    Attributes
    ----------
    wanted : float
        Ratio of our speed to that of each other loop that is wanted.
    num_steps : int
        Steps of each environment in an iteration.
    updates_per_step : int
        DQN: gradient steps after each step of all environments.
    """

    task: str
    algorithm: str
    wanted: float
    num_envs: int
    num_steps: int
    epochs: int = 4
    minibatches: int = 4
    hidden: int = 64
    learning_rate: float = 2.5e-4
    gamma: float = 0.99
    gae_lambda: float = 0.95
    clip: float = 0.2
    entropy_coef: float = 0.01
    value_coef: float = 0.5
    max_grad_norm: float = 0.5
    batch_size: int = 32
    capacity: int = 8192
    learning_starts: int = 256
    updates_per_step: int = 2
    target_every: int = 250
    epsilon: float = 0.1


#: The settings are those of CleanRL's ppo.py, ppo_atari.py and dqn_atari.py, and for HalfCheetah those of
#: docs/learning.md; those of "cartpole64" are those of examples/ppo.py. Pong has rollouts of half the length, with half
#: as many minibatches. CleanRL's DQN has one environment and an update in every fourth step; here are 8 and 2.
CELLS = {
    "cartpole": Cell("CartPole-v1", "PPO", 2.5, num_envs=4, num_steps=128),
    "cartpole64": Cell("CartPole-v1", "PPO", 2.5, num_envs=64, num_steps=64, minibatches=8),
    "halfcheetah": Cell(
        "HalfCheetah-v5", "PPO", 1.25, 16, 128, epochs=10, minibatches=16, learning_rate=3e-4, entropy_coef=0.0
    ),
    "pong": Cell("Pong-v5", "PPO", 1.1, num_envs=8, num_steps=64, minibatches=2, hidden=512, clip=0.1),
    "pong_dqn": Cell("Pong-v5", "DQN", 1.1, 8, 16, hidden=512, learning_rate=1e-4, max_grad_norm=10.0),
}


# ---- our loops -------------------------------------------------------------------------------------------------------


def contenders_of(cell):
    """Return the functions of the loops of a cell by name; an MLP has no convolutions."""
    is_image = cell.task == "Pong-v5"
    has_mlp = hasattr(envpool.rollout, "MLP") and not is_image
    return {who: name for who, name in CONTENDERS[cell.algorithm].items() if who != "with MLP" or has_mlp}


def begin_ppo(cell):
    """Return the options, the pool, the networks and the optimizer of examples/ppo.py."""
    import ppo
    import torch

    ppo.is_bfloat16_fast = lambda device_type: False
    names = ("task", "num_envs", "num_steps", "epochs", "minibatches", "hidden", "learning_rate", "gamma")
    names += ("gae_lambda", "clip", "entropy_coef", "value_coef", "max_grad_norm")
    args = ppo.Args(**{name: getattr(cell, name) for name in names}, env_threads=1)
    env, agent = ppo.begin(args)
    return args, env, agent, torch.optim.Adam(agent.parameters(), lr=args.learning_rate, eps=1e-5, fused=True)


def our_ppo(cell, timed):
    """PPO of examples/ppo.py."""
    import ppo

    args, env, agent, optimizer = begin_ppo(cell)
    data, returns = ppo.Rollout(args, env, agent), ppo.Returns()
    data.steps.step = timed("environment", data.steps.step)
    data.act, data.take = timed("policy", data.act), timed("policy", data.take)  # the latter computes all values
    update = timed("learner", ppo.update)
    obs, _ = data.steps.reset()
    while True:
        obs = data.collect(args, returns, obs, 0)
        data.estimate_advantages(args.gamma, args.gae_lambda)
        update(args, agent, optimizer, data.transitions())
        yield args.num_steps * args.num_envs


def our_ppo_with_mlp(cell, timed):
    """PPO of examples/ppo.py, whose rollouts `envpool.rollout.MLP` runs in native code, the policy included."""
    import numpy as np
    import ppo
    import torch

    args, env, agent, optimizer = begin_ppo(cell)

    def weights():
        found = {name: x for name, x in agent.state_dict().items() if name.startswith(("actor.", "critic."))}
        return found, {} if agent.is_discrete else {"log_std": agent.log_std.detach()}

    networks, more = weights()
    policy = envpool.rollout.MLP(networks, activation="tanh", rng=args.seed, **more)
    rollout, returns = envpool.Rollout(env, args.num_steps, policy.extras), []
    collect, update = timed("environment", rollout.collect), timed("learner", ppo.update)
    result = rollout.reset()
    while True:
        data, result = collect(policy, result)
        returns.extend(data.array("episode:r")[data.done])
        ends = data.terminated, data.truncated
        factors = {"gamma": args.gamma, "lam": args.gae_lambda, "mask": data.valid}
        advantages = envpool.rollout.gae(data.reward, data.value, data.last("value"), *ends, **factors).advantages
        actions = data.action.astype(np.int64 if agent.is_discrete else np.float32)
        arrays = actions, data.log_prob, advantages, data.value
        columns, valid = [agent.prepare(data.obs, dims=2), *map(torch.from_numpy, arrays)], torch.from_numpy(data.valid)
        update(args, agent, optimizer, [x[valid] for x in columns])
        networks, more = weights()
        policy.update(networks, **more)
        yield args.num_steps * args.num_envs


def our_dqn(cell, timed):
    """DQN of examples/dqn.py."""
    import dqn

    args = dqn.Args(
        task=cell.task,
        num_envs=cell.num_envs,
        capacity=cell.capacity,
        learning_starts=cell.learning_starts,
        steps_per_phase=cell.num_envs,
        updates_per_phase=cell.updates_per_step,
        batch_size=cell.batch_size,
        learning_rate=cell.learning_rate,
        gamma=cell.gamma,
        n_step=1,
        vanilla=True,
        target_every=cell.target_every,
        exploration_steps=1,
        final_epsilon=cell.epsilon,
        hidden=cell.hidden,
        max_grad_norm=cell.max_grad_norm,
        total_timesteps=10**12,
    )
    sizes = {"num_envs": args.num_envs, "seed": 1, "num_threads": 1}
    pool = envpool.make_gymnasium(args.task, episode_statistics=True, finished_episodes=True, **sizes)
    learner = dqn.Learner(args, pool)
    learner.buffer.step = timed("environment", learner.buffer.step)
    learner.act, learner.update = timed("policy", learner.act), timed("learner", learner.update)
    while True:
        for _ in range(cell.num_steps):
            learner.collect()
            if learner.step >= args.learning_starts and len(learner.buffer):
                for _ in range(args.updates_per_phase):
                    learner.update()
        yield cell.num_steps * cell.num_envs


# ---- measuring -------------------------------------------------------------------------------------------------------


class Timers:
    """CPU time of the parts of a loop."""

    def __init__(self):
        self.seconds = dict.fromkeys(PARTS, 0.0)

    def timed(self, part, call):
        """Return `call`, whose CPU time is added to a part."""

        def wrapper(*args, **kwargs):
            start = time.process_time()
            try:
                return call(*args, **kwargs)
            finally:
                self.seconds[part] += time.process_time() - start

        return wrapper


def run(loop, seconds):
    """Run whole iterations for some CPU time; return environment steps and CPU seconds."""
    start, steps = time.process_time(), 0
    while not steps or time.process_time() - start < seconds:
        steps += next(loop)
    return steps, time.process_time() - start


def serve(name, contender):
    """Answer each line of the input, "rate SECONDS" or "shares SECONDS", with a line of JSON; 0 s only warm up."""
    sys.path[:0] = [str(ROOT / "examples"), str(ROOT / "benchmarks")]
    import torch

    torch.set_num_threads(1)
    torch.manual_seed(1)
    cell, function = CELLS[name], CONTENDERS[CELLS[name].algorithm][contender]
    make = globals().get(function) or getattr(importlib.import_module("usual_loops"), function)
    loops, timers = {}, Timers()
    out, sys.stdout = sys.stdout, sys.stderr  # libraries may print
    for line in sys.stdin:
        what, seconds = line.split()
        if what not in loops:
            loops[what] = make(cell, timers.timed if what == "shares" else lambda part, call: call)
            for _ in range(1 + (cell.algorithm == "DQN")):  # until the updates of DQN have begun
                run(loops[what], 0.3)
            timers.seconds = dict.fromkeys(PARTS, 0.0)
        answer = None
        if float(seconds) > 0:
            steps, used = run(loops[what], float(seconds))
            answer = steps / used
        if answer and what == "shares":
            answer = {part: timers.seconds[part] / used for part in PARTS}
            answer["glue"] = 1 - sum(answer.values())
        print(json.dumps(answer), file=out, flush=True)


class Contender:
    """A process that runs a loop."""

    def __init__(self, name, contender):
        command = [sys.executable, __file__, "--serve", name, contender]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)

    def ask(self, what, seconds):
        """Return the answer of the process."""
        self.process.stdin.write(f"{what} {seconds}\n")
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"a loop ended with exit status {self.process.wait()}: see its message above")
        return json.loads(line)

    def close(self):
        """End the process."""
        self.process.stdin.close()
        self.process.wait()


def measure(name, rounds, seconds):
    """Return the figures of a cell."""
    cell = CELLS[name]
    contenders = {who: Contender(name, who) for who in contenders_of(cell)}
    for contender in contenders.values():
        contender.ask("rate", 0)
    rates = [{who: one.ask("rate", seconds) for who, one in contenders.items()} for _ in range(rounds)]
    shares = {who: one.ask("shares", seconds) for who, one in contenders.items()}
    for contender in contenders.values():
        contender.close()
    ours, others = ([who for who in contenders if (who in OURS) == is_own] for is_own in (True, False))
    return {
        "task": cell.task,
        "algorithm": cell.algorithm,
        "num_envs": cell.num_envs,
        "wanted": cell.wanted,
        "steps_per_cpu_second": {who: statistics.median(x[who] for x in rates) for who in contenders},
        "ratios": {own: {who: statistics.median(x[own] / x[who] for x in rates) for who in others} for own in ours},
        "shares": shares,
    }


def main():
    """Measure the cells of the command line and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cells", nargs="+", default=list(CELLS), choices=CELLS, metavar="CELL", help=", ".join(CELLS))
    parser.add_argument("--rounds", type=int, default=3, help="measurements of each loop (default: %(default)s)")
    parser.add_argument("--seconds", type=float, default=2.0, help="CPU time of a measurement (default: %(default)s)")
    parser.add_argument("--json", type=Path, help="write the figures to this file, for scripts/pages.py")
    args = parser.parse_args()
    machine, rows = describe_machine(), []
    print(machine)
    print("| cell | loop | steps per CPU-s | ours is faster by | environment | policy | learner | glue |")
    print("|---|---|---|---|---|---|---|---|")
    for name in args.cells:
        row = measure(name, args.rounds, args.seconds)
        rows.append(row)
        for who, rate in row["steps_per_cpu_second"].items():
            ratios = [f"{found[who]:.2f} ({own})" for own, found in row["ratios"].items() if who in found]
            cells = [", ".join(ratios) + (f", wanted {row['wanted']}" if ratios else "")]
            cells += [f"{share:.0%}" for share in row["shares"][who].values()]
            print(f"| {name} | {who} | {rate:,.0f} | {' | '.join(cells)} |", flush=True)
    if args.json:
        command = "python benchmarks/end_to_end.py --json docs/data/end_to_end.json"
        args.json.write_text(json.dumps({"command": command, "machine": machine, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--serve"]:
        serve(*sys.argv[2:])
    else:
        main()
