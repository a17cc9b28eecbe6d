"""Rollouts of tasks with players: arrays (T, N, P, ...), and masks of who acts."""

import numpy as np
import pytest

import envpool
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
        np.testing.assert_array_equal(data.player_mask[0], info["player_mask"])


def in_form(view, grid, mask, groups):
    """Return an array (N, P, ...) in the form of a view."""
    return {"grid": grid, "rows": grid[mask], "dict": {g: grid[:, list(own)] for g, own in groups.items()}}[view]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("view", ["rows", "dict"])
def test_each_view_records_the_same_arrays(view, mode):
    """Results, actions and extras have the form of the pool; what is recorded has a place for each player."""
    rng = np.random.default_rng(0)
    with make(autoreset_mode=mode, groups=True) as grid, make(view, autoreset_mode=mode, groups=True) as pool:
        groups = {group.name: group.players for group in pool.spec.groups}
        rollouts = [Rollout(p, T, {"value": (np.float32, (P,)), "key": np.int32}) for p in (grid, pool)]
        obs, info = rollouts[0].reset()
        got = rollouts[1].reset()
        for _ in range(2):
            mask = info["player_mask"]
            for _ in range(T):
                compare(got[0], in_form(view, obs, mask, groups))
                actions = rng.integers(0, 10, (N, P))
                value, key = rng.random((N, P), np.float32), rng.integers(0, 9, N)
                obs, reward, terminated, truncated, info = rollouts[0].step(actions, value=value * mask, key=key)
                forms = (in_form(view, a, mask, groups) for a in (actions, value * mask))
                got = rollouts[1].step(next(forms), value=next(forms), key=key)
                mask = info["player_mask"]
                compare(got[1], in_form(view, reward, mask, groups))
                ended = np.flatnonzero(terminated | truncated)
                if mode == "disabled" and len(ended):
                    first, more = rollouts[0].reset(ended)
                    rollouts[1].reset(ended)
                    obs, mask = obs.copy(), mask.copy()
                    obs[ended], mask[ended] = first, more["player_mask"]
                    got = (in_form(view, obs, mask, groups), *got[1:])
            last = rng.random((N, P), np.float32) * mask
            data = [
                rollouts[0].finish(value=last, key=key),
                rollouts[1].finish(value=in_form(view, last, mask, groups), key=key),
            ]
            assert data[0].names == data[1].names
            for name in data[0].names:
                chosen = data[0].player_valid if name == "action" else ...
                np.testing.assert_array_equal(data[1].array(name)[chosen], data[0].array(name)[chosen], err_msg=name)
            np.testing.assert_array_equal(data[1].last("value"), last)
            for one, other in zip(data[0].last_of_episodes(), data[1].last_of_episodes(), strict=True):
                np.testing.assert_array_equal(one, other)


def compare(got, expected):
    if isinstance(expected, dict):
        assert got.keys() == expected.keys()
        for group, array in expected.items():  # the last group has shorter observations
            np.testing.assert_array_equal(got[group], array[..., : got[group].shape[-1]])
    else:
        np.testing.assert_array_equal(got, expected)


def test_groups_with_unequal_observations_are_padded():
    with envpool.make_gymnasium("MPE/simple_tag-v3", num_envs=2, players="dict") as pool:
        rollout = Rollout(pool, 2)
        obs, _ = rollout.reset()
        for _ in range(2):
            rollout.step(pool.sample_actions(0))
        data = rollout.finish()
        assert data.obs.shape == (2, 2, 4, 16)
        np.testing.assert_array_equal(data.obs[0, :, :3], obs["adversary"])
        np.testing.assert_array_equal(data.obs[0, :, 3, :14], obs["agent"][:, 0])
        assert not data.obs[:, :, 3, 14:].any()


@pytest.mark.parametrize("view", ["rows", "dict"])
def test_views_may_begin_with_observations(view):
    with make(view, groups=True) as pool, make(groups=True) as grid:
        for one in (pool, grid):
            one.reset()
        rollouts = []
        for one in (pool, grid):
            obs, *_ = one.step(one.sample_actions(0) if one is grid else grid.sample_actions(0))
            rollouts.append(Rollout(one, 1))
            rollouts[-1].begin(obs)
            rollouts[-1].step(np.ones((N, P), np.int32))
        data = [rollout.finish() for rollout in rollouts]
        np.testing.assert_array_equal(data[0].obs[..., :6], data[1].obs[..., :6])
        for name in ("player_mask", "player_valid", "next_obs", "reward"):
            np.testing.assert_array_equal(getattr(data[0], name), getattr(data[1], name))


@pytest.mark.parametrize("view", ["rows", "dict"])
def test_async_rollouts_of_views(view):
    with make(batch_size=2) as grid, make(view, batch_size=2, num_threads=1) as pool:
        found = []
        for one in (grid, pool):
            rollout = Rollout(one, 8, {"value": (np.float32, (P,))})
            rollout.reset()
            while True:
                ids = rollout.received
                mask = one._player_mask(ids)
                value = mask * np.float32(ids[:, None] + 1)
                groups = {group.name: group.players for group in one.spec.groups}
                form = in_form(one.spec.config.players, value, mask, groups)
                rollout.send(np.ones((2, P), np.int32), ids, value=form)
                if rollout.is_full:
                    break
                rollout.recv()
            found.append(rollout.finish())
        for data in found:
            for i in range(N):
                steps = slice(0, int(data.lengths[i]))
                np.testing.assert_array_equal(data.value[steps, i], data.player_mask[steps, i] * np.float32(i + 1))


def test_extras_of_views_are_checked():
    with make("rows") as pool:
        rollout = Rollout(pool, 3, {"value": (np.float32, (P,))})
        rows = len(rollout.reset()[0])
        text = rf"value must have the shape \({rows},\), a row .* or \(3, 4\), a place for each player, got \(2,\)"
        with pytest.raises(ConfigError, match=text):
            rollout.step(np.zeros(rows, int), value=np.zeros(2))
        rollout.step(np.zeros(rows, int), value=np.zeros((N, P)))
        assert rollout.recorded == N
    with make("dict", groups=True) as pool:
        rollout = Rollout(pool, 3, {"value": (np.float32, (P,))})
        rollout.reset()
        groups = {group.name: np.zeros((N, len(group.players))) for group in pool.spec.groups}
        first = next(iter(groups))
        for wrong, text in (
            ({first: groups[first]}, "an array for each of the groups"),
            (groups | {first: np.zeros(N)}, f"value of group '{first}' must have the shape"),
            (groups | {first: groups[first][:2]}, "one number of environments in all groups"),
        ):
            with pytest.raises(ConfigError, match=text):
                rollout.step(np.zeros((N, P), int), value=wrong)
        rollout.step(np.zeros((N, P), int), value=groups)


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
    with pytest.raises(ConfigError, match=r"values must have the shape \(25, 3, 4\), got \(25, 3\)"):
        gae(given[0], given[1][..., 0].copy(), *given[2:])
    with pytest.raises(ConfigError, match=r"lengths must have the shape \(3,\), got \(12,\)"):
        gae(*given, lengths=np.full(12, T))
