"""A pool and one environment of upstream, which play random actions in turns."""

import numpy as np

import envpool
from envpool.cli.bench.actions import draw_actions
from envpool.cli.bench.loops import SyncLoop
from envpool.cli.bench.measure import cpu_ratio, interleave, pool_loop, rate, speed_ratio


def random_actions(space):
    """Return actions of one environment."""
    rng = np.random.default_rng(0)
    if hasattr(space, "n"):
        return rng.integers(0, space.n, 4096).tolist()
    return list(rng.uniform(space.low, space.high, (4096, *space.shape)).astype(space.dtype))


def compare(task, env, seconds, **options):
    """Return the row of a task: steps per second, their ratio, and the ratio of the CPU time per step.

    Parameters
    ----------
    task : str
        Task id.
    env : gymnasium.Env
        The environment of upstream; it is reset after each episode.
    seconds : float
        Time of the measurement.
    **options
        Options of the pool.
    """

    def step(action):
        obs, _, terminated, truncated, _ = env.step(action)
        return env.reset()[0] if terminated or truncated else obs

    env.reset(seed=0)
    spec = envpool.make_spec(task, **options)
    actions = random_actions(spec.action_space)
    with envpool.make_gymnasium(task, **options) as pool:
        loops = {"envpool": pool_loop(pool, "gymnasium", draw_actions(spec)), "upstream": SyncLoop(step, actions, 1)}
        slices = interleave(loops, seconds, lambda text: None)
    ours, upstream = slices["envpool"], slices["upstream"]
    return {
        "task": task,
        "steps_per_second": rate(ours),
        "upstream_steps_per_second": rate(upstream),
        "ratio": speed_ratio(ours, upstream),
        "cpu_ratio": cpu_ratio(upstream, ours),
    }
