"""Transforms of tasks with players: each row of a player that is present is transformed like that of an env."""

import numpy as np
import pytest
from gymnasium.wrappers.utils import RunningMeanStd

from envpool.errors import ConfigError
from tests.support import plugin

P = 4


def make(players="rows", **options):
    return plugin.make_task("Crowd-v0", num_envs=3, places=P, players=players, **options)


def play(pool, rounds, rng):
    """Yield the results of steps with the same actions in every pool."""
    yield pool.reset()
    for _ in range(rounds):
        yield pool.step(rng.integers(0, 12, (3, P)))


def both(options, raw_options=None, players="rows", rounds=40):
    """Yield the results of a pool with transforms and of one without."""
    with make(players, **options) as pool, make(players, **(raw_options or {})) as raw:
        yield from zip(
            play(pool, rounds, np.random.default_rng(0)), play(raw, rounds, np.random.default_rng(0)), strict=True
        )


def test_a_cast():
    for got, raw in both({"float32_obs": True}):
        assert got[0].dtype == np.float32
        np.testing.assert_array_equal(got[0], raw[0].astype(np.float32))


@pytest.mark.parametrize("clip", [None, 0.5])
def test_observations_are_normalised_by_the_rows_of_all_players(clip):
    moments = RunningMeanStd(shape=(8,), dtype=np.int64)
    for got, raw in both({"normalize_obs": True, "clip_obs": clip}):
        moments.update(raw[0])
        expected = ((raw[0] - moments.mean) / np.sqrt(moments.var + 1e-8)).astype(np.float32)
        if clip:
            expected = np.clip(expected, -clip, clip)
        np.testing.assert_allclose(got[0], expected, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("view", ["grid", "dict"])
def test_places_without_a_player_stay_zero(view):
    options = {"normalize_obs": True, "clip_obs": (0.25, 1)}
    with make(view, **options) as pool, make("rows", **options) as other:
        for got, rows in zip(
            play(pool, 40, np.random.default_rng(1)), play(other, 40, np.random.default_rng(1)), strict=True
        ):
            obs, mask = got[0], got[-1]["player_mask"]
            if view == "dict":
                obs, mask = obs["agents"], mask["agents"]
            np.testing.assert_array_equal(obs[mask], rows[0])
            assert not obs[~mask].any()


def test_final_observations_are_normalised_by_the_moments_of_the_batch():
    options = {"autoreset_mode": "same_step", "episode_length": 4}
    moments = RunningMeanStd(shape=(8,), dtype=np.int64)
    num_ended = 0
    for got, raw in both({"normalize_obs": True} | options, options, "grid"):
        shown = raw[0][..., 7] == 1  # an observation of this env has a one there
        moments.update(raw[0][shown])
        np.testing.assert_allclose(
            got[0][shown],
            ((raw[0][shown] - moments.mean) / np.sqrt(moments.var + 1e-8)).astype(np.float32),
            rtol=1e-6,
            atol=1e-7,
        )
        assert not got[0][~shown].any()
        final, raw_final = got[-1]["final_obs"], raw[-1]["final_obs"]
        was_there = raw_final[..., 7] == 1
        num_ended += was_there.sum()
        np.testing.assert_allclose(
            final[was_there],
            ((raw_final[was_there] - moments.mean) / np.sqrt(moments.var + 1e-8)).astype(np.float32),
            rtol=1e-6,
            atol=1e-7,
        )
        assert not final[~was_there].any()
    assert num_ended > 10


def test_rewards_are_scaled_and_clipped():
    for got, raw in both({"scale_reward": 0.5, "reward_clip": (1, 4)}, rounds=15):
        if len(got) == 5:
            np.testing.assert_array_equal(got[1], np.clip(raw[1] * np.float32(0.5), 1, 4))


def test_rewards_are_normalised_with_a_sum_for_each_player():
    sums, moments = np.zeros((3, P), np.float32), RunningMeanStd(shape=())
    for got, raw in both({"normalize_reward": {"gamma": 0.9, "epsilon": 1e-8}}):
        if len(got) == 2:
            continue
        chosen = []
        _, reward, terminated, truncated, info = raw
        for k, (i, p) in enumerate(zip(info["players"]["env_id"], info["players"]["id"], strict=True)):
            if info["elapsed_step"][i] == 0:
                continue
            has_ended = info["player_terminated"][k] | info["player_truncated"][k]
            total = sums[i, p] * np.float32(0.9) * np.float32(not info["player_terminated"][k]) + reward[k]
            chosen.append(total)
            sums[i, p] = 0 if has_ended and not (terminated[i] | truncated[i]) else total
        if chosen:
            moments.update(np.array(chosen))
        np.testing.assert_allclose(got[1], reward / np.sqrt(moments.var + 1e-8), rtol=1e-5)


def test_the_statistics_of_rewards_are_those_of_players():
    with make(normalize_reward=True, constant=True) as pool:
        pool.reset()
        pool.step(np.ones((3, P), np.int32))
        values = pool.normalization.get()
        assert values["reward.discounted"].shape == (3, P)
        assert values["reward.discounted"][0].tolist() == [1, 1.125, 1.25, 1.375]
        pool.normalization.set(values)
        pool.reset([1])
        assert not pool.normalization.get()["reward.discounted"][1].any()


def test_actions_are_clipped_and_rescaled_to_the_bounds_of_each_player():
    options = {"layout": "floats", "groups": True, "constant": True}
    rng = np.random.default_rng(2)
    with make("grid", rescale_action=(-1, 1), clip_action=True, **options) as pool, make("grid", **options) as raw:
        assert np.isinf(pool.action_space.low).all()
        high = np.broadcast_to([15, 3], (P, 2)).copy()
        high[-1, 0] = 10
        np.testing.assert_array_equal(raw.action_space.high, high)
        pool.reset(), raw.reset()
        for _ in range(8):
            actions = rng.uniform(-1.5, 0.3, (3, P, 2)).astype(np.float32)
            own = ((np.clip(actions, -1, 1) + 1) / 2 * high).astype(np.float32)
            got, expected = pool.step(actions), raw.step(own)
            np.testing.assert_array_equal(got[0], expected[0])
            np.testing.assert_allclose(got[1], expected[1], rtol=1e-5)


@pytest.mark.parametrize("options", [{"time_aware": True}, {"frame_stack": 2}])
def test_transforms_with_a_memory_are_refused(options):
    with pytest.raises(ConfigError, match=f"the option {next(iter(options))} does not support tasks with players"):
        make(**options)
