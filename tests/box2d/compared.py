"""Comparison of a pool, whose environments have parameters of their own, with one upstream environment for each."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import gymnasium
import numpy as np
from gymnasium.wrappers import TimeLimit

import envpool

SEEDS = [3, 14, 15]


def same_bits(expected: Any, got: Any, what: str) -> None:
    """Raise AssertionError unless two arrays have the same bits."""
    expected, got = np.asarray(expected), np.asarray(got)
    expected = expected.astype(got.dtype)
    assert expected.tobytes() == np.ascontiguousarray(got).tobytes(), f"{what}: expected {expected!r}, got {got!r}"


class Compared:
    """A pool and upstream environments that get the same random actions and return the same bits.

    Parameters
    ----------
    pool : EnvPool
        Made with ``autoreset_mode="next_step"`` and a sequence of seeds.
    upstreams : sequence of gymnasium.Env
        One for each environment of the pool.
    draw : callable, optional
        Returns actions for all environments from a generator; by default they are drawn from the action space.

    Attributes
    ----------
    episodes : int
        Episodes that have ended.
    before_reset : callable
        Called with the index of an upstream environment before its reset.
    """

    def __init__(
        self, pool: Any, upstreams: Sequence[gymnasium.Env[Any, Any]], draw: Callable[[Any], Any] | None = None
    ):
        self.pool, self.upstreams = pool, upstreams
        self.rng = np.random.default_rng(7)
        self.draw = draw or self.draw_uniformly
        self.before_reset: Callable[[int], None] = lambda i: None
        self.episodes = self.records = 0
        self.done = np.zeros(len(upstreams), bool)

    def draw_uniformly(self, rng: Any) -> Any:
        """Return random actions."""
        space, n = self.pool.action_space, len(self.upstreams)
        if isinstance(space, gymnasium.spaces.Discrete):
            return rng.integers(0, space.n, n).astype(np.int32)
        return rng.uniform(space.low, space.high, (n, *space.shape)).astype(np.float32)

    def reset(self, seeds: Sequence[int]) -> None:
        """Reset everything."""
        obs, _ = self.pool.reset()
        for i, upstream in enumerate(self.upstreams):
            same_bits(upstream.reset(seed=seeds[i])[0], obs[i], f"observation of env {i} after the first reset")

    def step(self, steps: int, shown: Collection[int] = ()) -> None:
        """Step everything `steps` times, and compare frames after the steps `shown`."""
        for t in range(steps):
            self.records += 1
            actions = self.draw(self.rng)
            got = self.pool.step(actions)
            for i, upstream in enumerate(self.upstreams):
                if self.done[i]:
                    self.before_reset(i)
                    expected: Any = (upstream.reset()[0], 0.0, False, False)
                else:
                    expected = upstream.step(np.int64(actions[i]) if actions.ndim == 1 else actions[i])[:4]
                names = ("observation", "reward", "terminated", "truncated")
                for name, value, row in zip(names, expected, got[:4], strict=True):
                    same_bits(value, row[i], f"{name} of env {i} in step {self.records}")
                self.done[i] = expected[2] or expected[3]
                self.episodes += bool(self.done[i])
            if t in shown:
                for i, frame in enumerate(self.pool.render()):
                    same_bits(self.upstreams[i].render(), frame, f"frame of env {i} after step {self.records}")


def row(values: Mapping[str, Sequence[Any]], i: int) -> dict[str, Any]:
    """Return the values of one environment."""
    return {name: column[i] for name, column in values.items()}


@contextmanager
def several(
    values: Mapping[str, Sequence[Any]], task_id: str, make: Callable[[dict[str, Any]], Any], limit: int, **options: Any
) -> Iterator[Compared]:
    """Yield a pool of three environments, and upstream environments that `make` returns for their values."""
    with ExitStack() as stack:
        upstreams: list[gymnasium.Env[Any, Any]] = []
        for i in range(len(SEEDS)):
            env = make(row(values, i))
            upstreams.append(TimeLimit(env, limit))
            stack.callback(env.close)
        pool = envpool.make_gymnasium(
            task_id, num_envs=3, seed=SEEDS, max_episode_steps=limit, render_mode="rgb_array", **values, **options
        )
        stack.callback(pool.close)
        yield Compared(pool, upstreams)
