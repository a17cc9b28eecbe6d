"""Measure the loop of a learner without its network: the pool alone, the usual way, and this package.

    python benchmarks/learner_loop.py [--turns 7] [--steps 32] [--tasks CartPole-v1:256 ...]

All three step the same task with the same random actions and values. The usual way puts gymnasium's vector wrappers
(RecordEpisodeStatistics, ClipAction, NormalizeObservation, NormalizeReward, and clipping of both) around the pool,
stores steps in NumPy arrays, and computes GAE in NumPy. This package does the same with options, a Rollout and gae().
Observations of Atari are not normalised. Times are CPU time per step of all environments, in microseconds: medians over
turns in which all three are measured one after the other. Pools have one thread. The last column says which ratios are
wanted. learner.py prints this table as well.

The usual way clips rewards with gymnasium's ClipReward, which loops over environments; with --fast-clip, it uses a
TransformReward with np.clip instead.
"""

import argparse
import statistics
import time

import numpy as np
from gymnasium.wrappers import vector as wrappers

import envpool
from envpool.cli.bench.machine import describe_machine
from envpool.gymnasium_api.vector_env import EnvPoolVectorEnv
from envpool.rollout import gae

#: What is measured, and the ratios that are wanted.
TASKS = {
    "CartPole-v1:256": "usual / envpool at least 10, pool / envpool at least 0.4",
    "CartPole-v1:4096": "pool / envpool at least 0.5",
    "HalfCheetah-v5:64": "pool / envpool at least 0.97",
    "Pong-v5:64": "pool / envpool at least 0.97",
}
GAMMA, LAM, BOUND = 0.99, 0.95, 10.0
#: Least CPU time of each way in a turn.
SECONDS = 0.1


class Inputs:
    """What a policy would have returned for each step."""

    def __init__(self, spec, num_steps):
        num_envs, rng = spec.config.num_envs, np.random.default_rng(0)
        with envpool.make_gymnasium(spec.task_id, num_envs=num_envs) as pool:
            self.actions = [pool.sample_actions(rng) for _ in range(num_steps)]
        self.values, self.log_probs = rng.normal(size=(2, num_steps + 1, num_envs)).astype(np.float32)


def alone(spec, inputs):
    """Return a call that steps the pool."""
    pool = envpool.make_gymnasium(spec.task_id, num_envs=spec.config.num_envs, num_threads=1)
    pool.reset()

    def rollout():
        for action in inputs.actions:
            pool.step(action)

    return rollout


def usual(spec, inputs, fast_clip):
    """Return a call that collects a rollout with wrappers of gymnasium and arrays of NumPy."""
    num_envs, num_steps = spec.config.num_envs, len(inputs.actions)
    env = wrappers.RecordEpisodeStatistics(EnvPoolVectorEnv(spec.task_id, num_envs, num_threads=1))
    if env.single_action_space.dtype.kind == "f":
        env = wrappers.ClipAction(env)
    if env.single_observation_space.dtype.kind == "f":
        env = wrappers.NormalizeObservation(env)
        env = wrappers.TransformObservation(env, lambda obs: np.clip(obs, -BOUND, BOUND))
    env = wrappers.NormalizeReward(env, GAMMA)
    if fast_clip:
        env = wrappers.TransformReward(env, lambda reward: np.clip(reward, -BOUND, BOUND))
    else:
        env = wrappers.ClipReward(env, -BOUND, BOUND)
    obs_space, act_space = env.single_observation_space, env.single_action_space
    obs = np.zeros((num_steps, num_envs, *obs_space.shape), obs_space.dtype)
    actions = np.zeros((num_steps, num_envs, *act_space.shape), act_space.dtype)
    rewards, dones, values, log_probs = np.zeros((4, num_steps, num_envs), np.float32)
    state = [env.reset()[0], np.zeros(num_envs, np.float32)]

    def rollout():
        next_obs, next_done = state
        for t, action in enumerate(inputs.actions):
            obs[t], dones[t], values[t], log_probs[t] = next_obs, next_done, inputs.values[t], inputs.log_probs[t]
            actions[t] = action
            next_obs, rewards[t], terminated, truncated, _ = env.step(action)
            next_done = np.logical_or(terminated, truncated).astype(np.float32)
        state[:] = next_obs, next_done
        advantages, carry = np.zeros_like(rewards), 0
        for t in reversed(range(num_steps)):
            is_last = t == num_steps - 1
            alive = 1 - (next_done if is_last else dones[t + 1])
            following = inputs.values[num_steps] if is_last else values[t + 1]
            delta = rewards[t] + GAMMA * following * alive - values[t]
            advantages[t] = carry = delta + GAMMA * LAM * alive * carry
        return advantages, advantages + values

    return rollout


def own(spec, inputs):
    """Return a call that collects a rollout with this package."""
    options = {"normalize_reward": {"gamma": GAMMA}, "reward_clip": BOUND, "episode_statistics": True}
    if spec.action_space.dtype.kind == "f":
        options["clip_action"] = True
    if spec.observation_space.dtype.kind == "f":
        options |= {"normalize_obs": True, "clip_obs": BOUND}
    pool = envpool.make_gymnasium(spec.task_id, num_envs=spec.config.num_envs, num_threads=1, **options)
    rollout = envpool.Rollout(pool, len(inputs.actions), extras={"log_prob": np.float32, "value": np.float32})
    rollout.reset()

    def collect():
        for t, action in enumerate(inputs.actions):
            rollout.step(action, log_prob=inputs.log_probs[t], value=inputs.values[t])
        data = rollout.finish(value=inputs.values[-1], log_prob=inputs.log_probs[-1])
        return gae(
            data.reward,
            data.value,
            data.last("value"),
            data.terminated,
            data.truncated,
            mask=data.valid,
            gamma=GAMMA,
            lam=LAM,
            num_threads=1,
        )

    return collect


def cpu_time(call, count):
    """Return the CPU time of a call in microseconds, the mean of `count` calls."""
    start = time.process_time()
    for _ in range(count):
        call()
    return (time.process_time() - start) * 1e6 / count


def measure(calls, turns):
    """Return the CPU time of each call in each turn, in microseconds."""
    counts = [max(int(SECONDS * 1e6 / cpu_time(call, 1)), 1) for call in calls]
    return [[cpu_time(*pair) for pair in zip(calls, counts, strict=True)] for _ in range(turns)]


def print_table(tasks=tuple(TASKS), turns=7, steps=32, fast_clip=False):
    """Measure the tasks, print a table, and return its numbers by task and column."""
    found = {}
    print("\n| task, envs | pool, us | usual, us | envpool, us | usual / envpool | pool / envpool | wanted |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for case in tasks:
        task, _, count = case.partition(":")
        spec = envpool.make_spec(task, num_envs=int(count))
        inputs = Inputs(spec, steps)
        rows = measure([alone(spec, inputs), usual(spec, inputs, fast_clip), own(spec, inputs)], turns)
        pool, usual_way, package = (statistics.median(row[k] for row in rows) / steps for k in range(3))
        ratios = [statistics.median(row[k] / row[2] for row in rows) for k in (1, 0)]
        cells = [f"{pool:.1f}", f"{usual_way:.1f}", f"{package:.1f}", *(f"{ratio:.2f}" for ratio in ratios)]
        print(f"| {task}, {count} | {' | '.join(cells)} | {TASKS.get(case, '')} |", flush=True)
        found[case] = {"pool": pool, "usual": usual_way, "envpool": package, "ratios": ratios}
    return found


def main():
    """Measure what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--tasks", nargs="+", default=list(TASKS), help="task ids with numbers of environments")
    parser.add_argument("--turns", type=int, default=7)
    parser.add_argument("--steps", type=int, default=32, help="steps of a rollout")
    parser.add_argument("--fast-clip", action="store_true", help="clip the rewards of the usual way with np.clip")
    args = parser.parse_args()
    machine = describe_machine()
    print(f"{machine['cores_available']} cores ({machine['cpu']}), NumPy {machine['numpy']}")
    print_table(args.tasks, args.turns, args.steps, args.fast_clip)


if __name__ == "__main__":
    main()
