"""Rollouts of tasks with players: arrays (T, N, P, ...), and masks of who acts."""

import numpy as np
import pytest

from envpool.errors import ConfigError
from envpool.rollout import Rollout, gae, lambda_returns, nstep_returns, vtrace
from tests.support import plugin

N, P, T = 3, 4, 25
MODES = ["next_step", "same_step", "disabled"]


def make(players="grid", **options):
    options = {"num_envs": N, "places": P, "episode_length": 6, "num_threads": 2} | options
    return plugin.make_task("Crowd-v0", players=players, **options)


def acting(info, ended):
    """Return who acts on the observations of a result."""
    return info["player_mask"] & ~ended


@pytest.mark.parametrize("mode", ["next_step", "same_step"])
def test_arrays_are_those_of_the_steps(mode):
    rng = np.random.default_rng(0)
    with make(autoreset_mode=mode) as pool, make(autoreset_mode=mode) as plain:
        rollout = Rollout(pool, T, {"value": (np.float32, (P,))})
        rollout.reset()
        obs, info = plain.reset()
        mask, ended = info["player_mask"], np.zeros((N, P), bool)
        for _ in range(2):
            steps = []
            for _ in range(T):
                actions, value = rng.integers(0, 12, (N, P)), rng.random((N, P), np.float32)
                acts = np.array([pool._player_mask([i])[0] for i in range(N)]) & ~ended
                before = {"obs": obs, "mask": mask, "value": value, "actions": actions, "acts": acts}
                got = rollout.step(actions, value=value)
                obs, reward, terminated, _truncated, info = plain.step(actions)
                np.testing.assert_array_equal(got[0], obs)
                mask = info["player_mask"]
                ended = info["player_terminated"] | info["player_truncated"]
                if mode == "same_step":
                    final = info["_final_obs"]
                    ended[final] = ~(obs[final][..., 7] == 1)  # who does not begin the next episode
                steps.append(
                    before
                    | {
                        "reward": reward,
                        "ended": info["player_terminated"],
                        "cut": info["player_truncated"],
                        "token": info["token"],
                        "terminated": terminated,
                        "valid": np.ones(N, bool) if mode == "same_step" else info["elapsed_step"] > 0,
                    }
                )
            data = rollout.finish(value=np.ones((N, P), np.float32))
            expected = {name: np.stack([step[name] for step in steps]) for name in steps[0]}
            assert data.obs.shape == (T, N, P, 8)
            for name, array in {
                "obs": data.obs,
                "mask": data.player_mask,
                "value": data.value,
                "reward": data.reward,
                "ended": data.player_terminated,
                "cut": data.player_truncated,
                "token": data.info["token"],
                "terminated": data.terminated,
                "valid": data.valid,
            }.items():
                np.testing.assert_array_equal(array, expected[name], err_msg=name)
            acts = expected["acts"] & expected["valid"][..., None]
            np.testing.assert_array_equal(data.player_valid, acts)
            np.testing.assert_array_equal(data.action[acts], expected["actions"][acts])
            np.testing.assert_array_equal(data.last_obs, obs)
            assert not data.reward[~data.player_valid].any()


@pytest.mark.parametrize("mode", ["next_step", "same_step"])
def test_async_rollouts_have_the_transitions_of_each_env(mode):
    """The transitions of an env do not depend on which envs it was received with."""
    with make(autoreset_mode=mode) as sync, make(autoreset_mode=mode, batch_size=2) as pool:
        expected = Rollout(sync, T)
        expected.reset()
        for _ in range(T):
            expected.step(np.ones((N, P), np.int32))
        rollout = Rollout(pool, T, max_steps=2 * T)
        rollout.reset()
        while True:
            rollout.send(np.ones((2, P), np.int32), rollout.received)
            if rollout.is_full:
                break
            rollout.recv()
        got, want = rollout.finish(), expected.finish()
        for i in range(N):
            length = min(int(got.lengths[i]), T)
            for name in ("obs", "reward", "player_mask", "player_valid", "player_terminated", "action"):
                np.testing.assert_array_equal(
                    getattr(got, name)[:length, i], getattr(want, name)[:length, i], err_msg=name
                )
            assert not got.player_valid[int(got.lengths[i]) :, i].any()
            assert not got.reward[int(got.lengths[i]) :, i].any()


def test_a_rollout_that_resets_its_envs():
    with make(autoreset_mode="disabled") as pool:
        rollout = Rollout(pool, T)
        rollout.reset()[0]
        num_ended = 0
        for _ in range(T):
            _obs, _, terminated, truncated, _ = rollout.step(np.ones((N, P), np.int32))
            ended = np.flatnonzero(terminated | truncated)
            if len(ended):
                num_ended += len(ended)
                rollout.reset(ended)
        data = rollout.finish()
        assert data.valid.all() and num_ended > 5
        steps, _envs, last = data.last_of_episodes()
        assert last.shape == (len(steps), P, 8)
        assert (last[..., 3] == 6)[last[..., 7] == 1].all()  # the observations of the sixth step
        begins = np.argwhere(data.first)
        for t, i in begins:
            np.testing.assert_array_equal(data.player_valid[t, i], data.obs[t, i, :, 7] == 1)


def test_a_rollout_may_begin_with_observations():
    with make() as pool:
        pool.reset()
        obs, *_, info = pool.step(np.ones((N, P), np.int32))
        rollout = Rollout(pool, 1)
        rollout.begin(obs)
        rollout.step(np.ones((N, P), np.int32))
        data = rollout.finish()
        acts = acting(info, info["player_terminated"] | info["player_truncated"])
        np.testing.assert_array_equal(data.player_valid[0], acts)


@pytest.mark.parametrize("view", ["rows", "dict"])
def test_other_views_are_refused(view):
    with make(view) as pool, pytest.raises(ConfigError, match=f"has players='{view}': make it with players='grid'"):
        Rollout(pool, T)


def test_frames_once_is_refused():
    with make() as pool, pytest.raises(ConfigError, match="frames_once does not support tasks with players"):
        Rollout(pool, T, frames_once=2)


# ---- advantages ------------------------------------------------------------------------------------------------------


def arguments(rng):
    shape = (T, N, P)
    floats = [rng.normal(size=shape).astype(np.float32) for _ in range(2)]
    flags = [rng.random(shape) < 0.1 for _ in range(2)]
    mask = rng.random(shape) < 0.9
    last = rng.normal(size=(N, P)).astype(np.float32)
    return [*floats, last, *flags], {"mask": mask, "lengths": np.array([T, T - 3, 5])}


@pytest.mark.parametrize("function", [gae, lambda_returns, nstep_returns, vtrace])
def test_each_player_is_computed_by_itself(function):
    given, options = arguments(np.random.default_rng(1))
    extra = {"n": 3} if function is nstep_returns else {}
    ratios = [np.random.default_rng(2).normal(size=(T, N, P)).astype(np.float32)] if function is vtrace else []
    got = np.array(function(*ratios, *given, **options, **extra))
    for p in range(P):
        own = [np.ascontiguousarray(a[..., p]) for a in (*ratios, *given)]
        mask = np.ascontiguousarray(options["mask"][..., p])
        expected = np.array(function(*own, mask=mask, lengths=options["lengths"], **extra))
        np.testing.assert_array_equal(got[..., p], expected)


def test_results_go_to_arrays_of_the_caller():
    given, options = arguments(np.random.default_rng(1))
    out = tuple(np.empty((T, N, P), np.float32) for _ in range(2))
    assert all(a is b for a, b in zip(gae(*given, **options, out=out), out, strict=True))
    np.testing.assert_array_equal(out[0], gae(*given, **options).advantages)


def test_wrong_shapes():
    given, _ = arguments(np.random.default_rng(1))
    with pytest.raises(ConfigError, match=r"values has shape \(25, 3\), expected \(25, 3, 4\)"):
        gae(given[0], given[1][..., 0].copy(), *given[2:])
    with pytest.raises(ConfigError, match=r"lengths has shape \(12,\), expected \(3,\)"):
        gae(*given, lengths=np.full(12, T))
