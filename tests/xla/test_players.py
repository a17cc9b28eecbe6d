"""Pools with players inside code compiled by JAX: the places of the grid, or of groups, equal those of step()."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import envpool
from envpool.errors import ConfigError
from tests.support import plugin
from tests.xla.pools import assert_same, both_widths, leaves, refuses, rollout, twins

P = 4
CROWD = {"num_envs": 3, "places": P, "seed": 2}


def crowds(env_type="gymnasium", **options):
    """Return two pools of crowds with the same seeds."""
    plugin.load()
    return twins("Crowd-v0", env_type, **CROWD | options)


@both_widths
@pytest.mark.parametrize("env_type", ["gymnasium", "gym", "dm"])
@pytest.mark.parametrize("mode", ["next_step", "same_step"])
def test_a_scan_equals_the_loop(env_type, mode, x64):
    """Players come and go, episodes end, and the numbers of players and of their rows do not matter."""
    actions = np.random.default_rng(0).integers(0, 12, (60, 3, P), np.int32)
    inside, outside = crowds(env_type, players="grid", autoreset_mode=mode)
    handle, _, _, step = inside.xla()
    with inside, outside, jax.enable_x64(x64):
        _, got = rollout(step, actions, handle)
        batches = [leaves(outside.step(action)) for action in actions]
        assert_same(got, [np.stack(column) for column in zip(*batches, strict=True)])


def test_returns_of_players():
    inside, outside = crowds(players="grid", episode_statistics=True)
    actions = np.random.default_rng(1).integers(0, 12, (40, 3, P), np.int32)
    handle, _, _, step = inside.xla()
    with inside, outside:
        _, got = rollout(step, actions, handle, lambda batch: batch[-1])
        num_ended = 0
        for t, action in enumerate(actions):
            info = outside.step(action)[-1]
            num_ended += "episode" in info
            mask = np.asarray(got["_episode"][t])
            np.testing.assert_array_equal(mask, info.get("_episode", np.zeros(3, bool)))
            if "episode" in info:
                np.testing.assert_array_equal(got["episode"]["player_r"][t], info["episode"]["player_r"])
        assert num_ended > 3


@pytest.mark.parametrize("layout", ["flat", "floats"])
def test_groups(layout):
    inside, outside = crowds(players="dict", groups=True, layout=layout)
    rng = np.random.default_rng(2)
    handle, _, _, step = inside.xla()
    step = jax.jit(step)
    with inside, outside:
        for _ in range(40):
            action = {
                name: rng.integers(0, 10, (3, count), np.int32) for name, count in (("hunters", P - 1), ("prey", 1))
            }
            if layout == "floats":
                action = {name: np.stack([part, part % 3], -1).astype(np.float32) for name, part in action.items()}
            handle, got = step(handle, action)
            expected = outside.step(action)
            assert got[0]["prey"].shape == (3, 1, 6)
            assert_same(got, expected)


def test_several_arrays_of_actions():
    inside, outside = crowds(players="grid", layout="rich")
    rng = np.random.default_rng(3)
    handle, _, _, step = inside.xla()
    step = jax.jit(step)
    with inside, outside:
        for _ in range(20):
            move, push = rng.integers(0, 10, (3, P), np.int32), rng.uniform(-1, 1, (3, P, 2)).astype(np.float32)
            action = {"action": {"move": move, "push": push, "mode": rng.integers(0, 3, 3, np.int32)}}
            handle, got = step(handle, action)
            assert_same(got, outside.step(action))


def test_send_and_recv_some_environments():
    inside, outside = crowds(players="grid")
    with inside, outside:
        handle, recv, send, step = inside.xla()
        inside.reset(), outside.reset()
        ids = np.array([2, 0], np.int32)
        actions = np.ones((2, P), np.int32)
        handle, got = jax.jit(step)(handle, actions, ids)
        assert_same(got, outside.step(actions, ids))
        handle, got = jax.jit(lambda h, a: recv(send(h, a)))(handle, jnp.ones((3, P), jnp.int32))
        assert_same(got, outside.step(np.ones((3, P), np.int32)))


def test_async():
    """Each batch continues the episodes of its environments, whichever come first."""
    with envpool.make_gymnasium("MPE/simple_spread-v3", num_envs=6, batch_size=2, players="grid") as pool:
        pool.async_reset()
        handle, recv, _, step = pool.xla()
        handle, (_, info) = jax.jit(lambda h: (lambda new, batch: (new, (batch[0], batch[-1])))(*recv(h)))(handle)

        def body(state, _):
            handle, env_id = state
            handle, (obs, *_, info) = step(handle, jnp.ones((2, 3), jnp.int32), env_id)
            return (handle, info["env_id"]), (obs, info["env_id"], info["elapsed_step"])

        _, (obs, ids, elapsed) = jax.jit(lambda *s: jax.lax.scan(body, s, length=200))(handle, info["env_id"])
        assert obs.shape == (200, 2, 3, 18)
        for i in range(6):
            steps = np.asarray(elapsed)[np.asarray(ids) == i]
            assert set(np.diff(steps)) <= {1, -25}


def test_rows_are_refused():
    with envpool.make_gymnasium("MPE/simple_spread-v3") as pool, pytest.raises(ConfigError, match="players='grid'"):
        pool.xla()


def test_actions_are_checked():
    with envpool.make_gymnasium("MPE/simple_spread-v3", num_envs=2, players="grid") as pool:
        pool.reset()
        handle, _, _, step = pool.xla()
        with refuses(r"action 'action' must have the shape .*, got \(2, 4\)"):
            jax.block_until_ready(step(handle, np.zeros((2, 4), np.int32)))
        with refuses("must have integers from 0 to 4, got 5"):
            jax.block_until_ready(step(handle, np.full((2, 3), 5, np.int32)))
        handle, batch = step(handle, np.zeros((2, 3), np.int32))
        assert batch[1].shape == (2, 3)
