"""Ten thousand steps inside one lax.scan give the bits of ten thousand calls from Python."""

import jax
import numpy as np
import pytest

from tests.xla.pools import assert_same, both_widths, leaves, rollout, twins

STEPS = 10_000


def discrete(rng, spec, steps):
    low, high = spec.action_space.start, spec.action_space.start + spec.action_space.n
    return rng.integers(low, high, (steps, spec.config.num_envs), np.int32)


def continuous(rng, spec, steps):
    """Return actions that are equal in 32 and 64 bits."""
    shape = (steps, spec.config.num_envs, *spec.action_space.shape)
    return rng.uniform(-1, 1, shape).astype(np.float32)


def all_of_it(batch):
    return batch


def newest_frame(batch):
    obs, *rest = batch
    return obs[:, -1], *rest


CASES = {
    "CartPole-v1": ("gymnasium", 4, discrete, all_of_it),
    "Pong-v5": ("gymnasium", 1, discrete, newest_frame),
    "HalfCheetah-v5": ("gymnasium", 2, continuous, all_of_it),
    "CheetahRun-v1": ("dm", 1, continuous, all_of_it),  # float64 observations in two arrays
}


@both_widths
@pytest.mark.parametrize("task", CASES)
def test_scan_equals_the_loop(task, x64):
    env_type, num_envs, draw, keep = CASES[task]
    inside, outside = twins(task, env_type, num_envs=num_envs, seed=5)
    actions = draw(np.random.default_rng(0), inside.spec, STEPS)
    handle, _, _, step = inside.xla()
    with inside, outside, jax.enable_x64(x64):
        _, got = rollout(step, actions, handle, keep)
        kept = [leaves(keep(outside.step(action))) for action in actions]
        assert_same(got, [np.stack(column) for column in zip(*kept, strict=True)])


@pytest.mark.parametrize("num_threads", [1, 2])
def test_subnormal_numbers_are_kept(num_threads):
    """XLA flushes them to zero on its threads; environments and transforms keep them, whichever thread runs them."""
    options = {"num_envs": 4, "players": "grid", "num_threads": num_threads, "seed": 1, "scale_reward": 1e-42}
    inside, outside = twins("MPE/simple_tag-v3", **options)
    rng = np.random.default_rng(0)
    actions = np.stack([outside.sample_actions(rng) for _ in range(400)])
    handle, _, _, step = inside.xla()
    with inside, outside:
        outside.reset()
        inside.reset()
        _, got = rollout(step, actions, handle, lambda batch: batch[:2])
        kept = [leaves(outside.step(action)[:2]) for action in actions]
        wanted = [np.stack(column) for column in zip(*kept, strict=True)]
    tiny = np.finfo(np.float32).tiny
    assert all(((wanted[k] != 0) & (abs(wanted[k]) < tiny)).any() for k in range(2))
    assert_same(got, wanted)
