"""Measure what a learner does with steps and rollouts: this package against the usual way, whole and piece by piece.

    python benchmarks/learner.py [--turns 15] [--seconds 0.05] [--pieces loop advantages sampling ...]

The first table is that of learner_loop.py, which measures the whole loop without a network. Each row of the second
table has the CPU time of one call, in microseconds, the usual way and with this package, and their ratio. Both are
measured in turns; times are medians over the turns, and so are the ratios of each turn. Turns in which the difference
of a call and its base is too small to be measured are repeated with more calls. The ratio of `sb3` and
`pufferlib` is that of a step of the adapter to a step of the pool; these rows need the library. The last column says
which ratio is wanted. By default, all pieces are measured for which it is.
"""

import argparse
import os
import statistics
import tempfile
import time

import gymnasium
import learner_loop
import numpy as np
import torch

import envpool
from envpool.cli.bench.machine import describe_machine
from envpool.cli.parsing import positive_int, positive_seconds
from envpool.gymnasium_api.vector_env import EnvPoolVectorEnv
from envpool.rollout import Sampler, gae

PIECES = {}

#: How often the calls of a turn are doubled if their differences are too small to be measured.
LONGER = 4

#: The ratios that are wanted, by piece and case.
AT_LEAST = {
    "episode_statistics": {"16 envs": 20, "256 envs": 20, "4096 envs": 20},
    "normalize_obs": {"16 envs": 20, "256 envs": 20, "4096 envs": 8},
    "normalize_reward": {"16 envs": 10, "256 envs": 10, "4096 envs": 10},
    "reward_clip": {"16 envs": 10, "256 envs": 10, "4096 envs": 10},
    "clip_action": {"16 envs": 10, "256 envs": 10, "4096 envs": 10},
    "advantages": {"128 x 8": 100, "128 x 64": 100, "128 x 4096": 10},
}
AT_MOST = {
    "sb3": {"256 envs": 2, "4096 envs": 2},
    "pufferlib": {"64 envs": 1.1, "4096 envs": 1.1},
}


def piece(function):
    """Register a piece: a generator of (case, usual call, base of it, own call, base of it), bases may be None."""
    PIECES[function.__name__] = function
    return function


class Replay(gymnasium.vector.VectorEnv):
    """Steps that were recorded, which cost nothing."""

    def __init__(self, steps, num_envs):
        self.steps, self.num_envs, self.at = steps, num_envs, 0
        self.metadata = {"autoreset_mode": gymnasium.vector.AutoresetMode.NEXT_STEP}
        low = np.full(steps[0][0].shape[1:], -np.inf, np.float32)
        self.single_observation_space = gymnasium.spaces.Box(low, -low)
        self.observation_space = gymnasium.vector.utils.batch_space(self.single_observation_space, num_envs)

    def reset(self, **kwargs):
        """Return the observations of the first step."""
        return self.steps[0][0], {}

    def step(self, actions):
        """Return the next step, with a dict of its own."""
        self.at = (self.at + 1) % len(self.steps)
        *arrays, _ = self.steps[self.at]
        return (*arrays, {})


def pool_of(num_envs, task="CartPole-v1", **options):
    """Return a pool on one thread that has been stepped for a while, and a call that steps it."""
    pool = envpool.make_gymnasium(task, num_envs=num_envs, num_threads=1, **options)
    pool.reset()
    actions = [pool.sample_actions() for _ in range(64)]
    for one in actions:
        pool.step(one)
    return pool, cycle(pool.step, actions)


def cycle(function, arguments):
    """Return a call that calls a function with the next argument each time."""
    state = [0]

    def call():
        state[0] = (state[0] + 1) % len(arguments)
        return function(arguments[state[0]])

    return call


def recorded(num_envs):
    """Return 64 steps of a pool."""
    _, step = pool_of(num_envs)
    return [step() for _ in range(64)]


@piece
def episode_statistics():
    """Measure gymnasium's RecordEpisodeStatistics, and the option episode_statistics."""
    yield from wrapper_and_option(gymnasium.wrappers.vector.RecordEpisodeStatistics, episode_statistics=True)


def wrapper_and_option(wrap, **option):
    """Yield the cases of a wrapper of gymnasium around recorded steps, and of the option that replaces it."""
    for n in (16, 256, 4096):
        steps = recorded(n)
        replay, plain = Replay(steps, n), Replay(steps, n)
        wrapped = wrap(replay)
        wrapped.reset()
        with_option, without = pool_of(n, **option)[1], pool_of(n)[1]
        yield f"{n} envs", lambda w=wrapped: w.step(None), lambda p=plain: p.step(None), with_option, without


@piece
def normalize_obs():
    """Measure gymnasium's NormalizeObservation, and the option normalize_obs."""
    yield from wrapper_and_option(gymnasium.wrappers.vector.NormalizeObservation, normalize_obs=True)


@piece
def normalize_reward():
    """Measure gymnasium's NormalizeReward, and the option normalize_reward."""
    yield from wrapper_and_option(gymnasium.wrappers.vector.NormalizeReward, normalize_reward=True)


@piece
def reward_clip():
    """Measure gymnasium's ClipReward, and the option reward_clip."""
    yield from wrapper_and_option(lambda env: gymnasium.wrappers.vector.ClipReward(env, -0.5, 0.5), reward_clip=0.5)


@piece
def clip_action():
    """Measure gymnasium's ClipAction around a pool, and the option clip_action."""
    yield from action_wrapper_and_option(gymnasium.wrappers.vector.ClipAction, clip_action=True)


@piece
def rescale_action():
    """Measure gymnasium's RescaleAction around a pool, and the option rescale_action."""
    yield from action_wrapper_and_option(
        lambda env: gymnasium.wrappers.vector.RescaleAction(env, -2.0, 2.0), rescale_action=(-2, 2)
    )


def action_wrapper_and_option(wrap, **option):
    """Yield the cases of a wrapper of gymnasium around a pool, and of the option that replaces it."""
    for n in (16, 256, 4096):
        env = EnvPoolVectorEnv("Pendulum-v1", n, num_threads=1)
        wrapped = wrap(EnvPoolVectorEnv("Pendulum-v1", n, num_threads=1))
        actions = [env.pool.sample_actions() for _ in range(64)]
        for one in (env, wrapped):
            one.reset()
        usual = [cycle(one.step, actions) for one in (wrapped, env)]
        own = [cycle(pool_of(n, "Pendulum-v1", **options)[0].step, actions) for options in (option, {})]
        yield f"{n} envs", *usual, *own


@piece
def finished_episodes():
    """Measure CleanRL's loop over next_done, and the option finished_episodes."""
    for n in (64, 4096):
        steps = recorded(n)

        def loop(step):
            found = []
            for i, done in enumerate(step[2] | step[3]):
                if done:
                    found.append((step[1][i], step[4]["elapsed_step"][i]))

        own = pool_of(n, episode_statistics=True, finished_episodes=True)[1]
        yield f"{n} envs", cycle(loop, steps), None, own, pool_of(n, episode_statistics=True)[1]


@piece
def advantages():
    """Measure CleanRL's GAE in torch, and gae()."""
    rng, steps = np.random.default_rng(0), 128
    for n in (8, 64, 4096):
        rewards, values = (rng.normal(size=(steps, n)).astype(np.float32) for _ in range(2))
        last, done = values[0].copy(), rng.random((steps, n)) < 0.02
        never, out = np.zeros_like(done), (np.empty_like(values), np.empty_like(values))
        tensors = [torch.from_numpy(a) for a in (rewards, values, done.astype(np.float32), last)]

        def usual(r, v, d, next_value):
            advantages, carry = torch.zeros_like(r), 0
            for t in reversed(range(len(r))):
                following = next_value if t == len(r) - 1 else v[t + 1]
                delta = r[t] + 0.99 * following * (1 - d[t]) - v[t]
                advantages[t] = carry = delta + 0.99 * 0.95 * (1 - d[t]) * carry
            return advantages, advantages + v

        own = (rewards, values, last, done, never)
        yield (
            f"{steps} x {n}",
            lambda a=tensors, f=usual: f(*a),
            None,
            lambda a=own, o=out: gae(*a, out=o, num_threads=1),
            None,
        )


@piece
def sampling():
    """Measure torch's Categorical with log-probability and entropy, and Sampler.categorical."""
    sampler = Sampler(0)

    def usual(logits):
        distribution = torch.distributions.Categorical(logits=logits)
        actions = distribution.sample()
        return actions, distribution.log_prob(actions), distribution.entropy()

    for n, count in ((64, 6), (4096, 2)):
        logits = np.random.default_rng(0).normal(size=(n, count)).astype(np.float32)

        tensor = torch.from_numpy(logits)
        yield f"{n} x {count}", lambda t=tensor: usual(t), None, lambda a=logits: sampler.categorical(a), None


@piece
def random_actions():
    """Measure sample() of gymnasium's batched action space, and pool.sample_actions()."""
    for task, n in (("CartPole-v1", 4096), ("HalfCheetah-v5", 64)):
        pool = envpool.make_gymnasium(task, num_envs=n)
        space = gymnasium.vector.utils.batch_space(pool.single_action_space, n)
        yield f"{task} {n}", space.sample, None, pool.sample_actions, None


@piece
def sb3():
    """Measure a step of the pool, and a step of the SB3 adapter whose infos nobody reads."""
    from envpool.adapters.sb3 import VecEnv

    yield from adapters(VecEnv)


@piece
def pufferlib():
    """Measure a step of the pool, and a step of the PufferLib adapter."""
    os.chdir(tempfile.mkdtemp())  # PufferLib makes a link in the folder in which it is imported
    from envpool.adapters.pufferlib import PufferEnv

    yield from adapters(PufferEnv)


def adapters(adapter):
    """Yield the cases of an adapter: the default pool, and one with the auto-reset mode of the adapter."""
    for mode in ("next_step", "same_step"):
        for n in (64, 256, 4096):
            env = adapter("CartPole-v1", num_envs=n, num_threads=1)
            env.reset()
            pool, step = pool_of(n, autoreset_mode=mode)
            yield f"{n} envs, {mode}", step, None, cycle(env.step, [pool.sample_actions() for _ in range(64)]), None


def cpu_time(call, count):
    """Return the CPU time of a call in microseconds, the mean of `count` calls."""
    start = time.process_time()
    for _ in range(count):
        call()
    return (time.process_time() - start) / count * 1e6


def calls_within(call, seconds):
    """Return how many calls take some seconds of CPU time."""
    return max(int(seconds * 1e6 / max(cpu_time(call, 3), 0.1)), 3)


def measure(calls, turns, seconds):
    """Return the median times of both ways without their bases, and the median of their ratios.

    A difference of two times that is about 0 has no ratio: while more than a quarter of the turns have one, all turns
    are repeated with twice as many calls, at most `LONGER` times. The ratio is None if that is not enough.
    """
    counts = [calls_within(call, seconds) if call else 0 for call in calls]
    for _ in range(LONGER + 1):
        rows = []
        for _ in range(turns + 1):
            usual, base, own, own_base = (
                cpu_time(call, count) if call else 0.0 for call, count in zip(calls, counts, strict=True)
            )
            rows.append((usual - base, own - own_base))
        rows = rows[1:]
        times = [statistics.median(row[k] for row in rows) for k in range(2)]
        ratios = [usual / own for usual, own in rows if usual > 0 and own > 0]
        if len(ratios) == len(rows):
            return *times, statistics.median(ratios)
        if 4 * len(ratios) >= 3 * len(rows):
            return *times, times[0] / times[1]  # the median of those ratios that are defined would be too small
        counts = [2 * count for count in counts]
    return *times, None


def measure_piece(name, turns, seconds):
    """Print the rows of a piece."""
    try:
        for case, *calls in PIECES[name]():
            usual, own, ratio = measure(calls, turns, seconds)
            size, wanted = case.partition(",")[0], ""
            if name in AT_MOST:
                ratio, wanted = ratio and 1 / ratio, f"at most {AT_MOST[name][size]}" if size in AT_MOST[name] else ""
            elif name in AT_LEAST:
                wanted = f"at least {AT_LEAST[name][size]}"
            found = "not measurable: pass larger --seconds" if ratio is None else f"{ratio:.2f}"
            print(f"| {name} | {case} | {usual:.2f} | {own:.2f} | {found} | {wanted} |", flush=True)
    except ImportError as error:
        print(f"| {name} | not measured: {error} | | | | |")


def main():
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pieces", nargs="+", choices=["loop", *PIECES], default=["loop", *AT_LEAST, *AT_MOST])
    parser.add_argument("--turns", type=positive_int, default=15)
    parser.add_argument("--seconds", type=positive_seconds, default=0.05, help="CPU time of each call in a turn")
    args = parser.parse_args()
    torch.set_num_threads(1)
    machine = describe_machine()
    print(f"{machine['cores_available']} cores ({machine['cpu']}), NumPy {machine['numpy']}, torch {torch.__version__}")
    if "loop" in args.pieces:
        learner_loop.print_table(turns=args.turns)
    print("\n| piece | case | usual, us | envpool, us | ratio | wanted |\n| --- | --- | --- | --- | --- | --- |")
    for name in args.pieces:
        if name != "loop":
            measure_piece(name, args.turns, args.seconds)


if __name__ == "__main__":
    main()
