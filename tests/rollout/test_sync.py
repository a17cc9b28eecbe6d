"""Rollouts of sync pools: the workers write in place, and nothing differs from the results of a pool without one."""

import numpy as np
import pytest

import envpool
from envpool.errors import EnvIdError
from tests.rollout.reference import assert_nest_equal, flat, parts, stacked
from tests.support import plugin

N, T, ROLLOUTS = 6, 7, 5
STYLES = ("gymnasium", "gym", "dm")
MODES = ("next_step", "same_step", "disabled")


def actions(layout, rng):
    """Return actions that sometimes end an episode."""
    move = rng.choice([3, 17, 95, 96], N, p=[0.4, 0.4, 0.1, 0.1]).astype(np.int32)
    if layout == "flat":
        return move
    push = rng.uniform(-1, 1, (N, 2)).astype(np.float32)
    return {"action": {"move": move, "push": push, "mode": np.tile(np.int8([0, 1, 2]), (N, 1)), "count": np.arange(N)}}


def pair(style, **options):
    """Return two equal pools."""
    options = {"num_envs": N, "num_threads": 2, "seed": 9, "episode_statistics": True} | options
    return plugin.make(style, **options), plugin.make(style, **options)


def observation(style, found):
    """Return the observation arrays of a result by their keys; a single one has the key ""."""
    if style == "dm":
        return {k.removeprefix("obs"): v for k, v in found.items() if k in ("obs", "a", "b.c", "b.d", "b.e")}
    return {k.removeprefix("obs").removeprefix("."): v for k, v in found.items() if k.startswith("obs")}


@pytest.mark.parametrize("layout", ["flat", "rich"])
@pytest.mark.parametrize("mode", ["next_step", "same_step"])
@pytest.mark.parametrize("style", STYLES)
def test_arrays_equal_the_results_of_a_pool(style, mode, layout):
    a, b = pair(style, autoreset_mode=mode, layout=layout)
    rollout = envpool.Rollout(a, T, {"logprob": np.float32, "hidden": (np.float64, (2, 3))})
    rng = np.random.default_rng(5)
    first, plain = rollout.reset(), b.reset()
    before = parts(style, plain)
    assert_nest_equal(dict(enumerate(parts(style, first).values())), dict(enumerate(before.values())))
    with a, b:
        for _ in range(ROLLOUTS):
            taken, steps, extras = [], [before], []
            for _ in range(T):
                action = actions(layout, rng)
                hidden = rng.normal(size=(N, 2, 3))
                found = parts(style, rollout.step(action, logprob=hidden[:, 0, 0], hidden=hidden))
                expected = parts(style, b.step(action))
                assert found.keys() == expected.keys()
                for name in expected.keys() - {"info.episode.t", "episode.t"}:
                    np.testing.assert_array_equal(found[name], expected[name], err_msg=name)
                taken.append(flat(action) if layout == "rich" else {"action": action})
                steps.append(expected)
                extras.append(hidden)
            last = rng.normal(size=N).astype(np.float32)
            data = rollout.finish(logprob=last)
            assert (data.num_steps, data.lengths.tolist()) == (T, [T] * N)
            keys = observation(style, before)
            for got, rows in ((data.obs, steps[:-1]), (data.next_obs, steps[1:])):
                expected = {k: np.stack([observation(style, s)[k] for s in rows]) for k in keys}
                assert_nest_equal(got if "" not in keys else {"": got}, expected)
            np.testing.assert_array_equal(data.reward, stacked(steps[1:], "reward"))
            for name in steps[1].keys() & {"terminated", "truncated", "done"}:
                np.testing.assert_array_equal(getattr(data, name), stacked(steps[1:], name), err_msg=name)
            if style == "dm":
                np.testing.assert_array_equal(data.array("step_type"), stacked(steps[:-1], "step_type"))
                np.testing.assert_array_equal(data.array("discount"), stacked(steps[1:], "discount"))
            else:
                elapsed = stacked(steps[1:], "info.elapsed_step")
                np.testing.assert_array_equal(data.array("elapsed_step", 1), elapsed)
            got = flat({"action": data.action}) if layout == "rich" else {"action": data.action}
            for name in taken[0]:
                np.testing.assert_array_equal(got[name], stacked(taken, name), err_msg=name)
            np.testing.assert_array_equal(data.hidden, np.stack(extras))
            np.testing.assert_array_equal(data.logprob, np.stack(extras)[:, :, 0, 0].astype(np.float32))
            np.testing.assert_array_equal(data.last("logprob"), last)
            before = steps[-1]


class Episodes:
    """The episodes of a pool of flat envs, one list of observations each, as they follow from rollouts."""

    def __init__(self, mode):
        self.mode, self.open, self.ended = mode, {i: [] for i in range(N)}, []

    def add(self, data):
        final = {(t, n): obs for t, n, obs in zip(*data.last_of_episodes(), strict=True)}
        obs, valid, first, done = data.obs, data.valid, data.first, data.done
        for t in range(data.num_steps):
            for n in range(N):
                if first[t, n]:
                    assert self.open[n] == []
                if not valid[t, n]:
                    assert self.mode == "next_step"
                    assert self.open[n] == []
                    assert (data.reward[t, n], done[t, n]) == (0, False)
                    continue
                self.open[n].append(obs[t, n].copy())
                if done[t, n]:
                    self.ended.append([*self.open[n], final[t, n]])
                    self.open[n] = []
                else:
                    assert (t, n) not in final


@pytest.mark.parametrize("mode", MODES)
def test_masks_cut_the_steps_into_episodes(mode):
    """Transitions of one env form whole episodes, from the first observation to the true last one, in every mode."""
    pool = plugin.make(num_envs=N, num_threads=2, autoreset_mode=mode)
    rollout = envpool.Rollout(pool, T)
    rng, episodes = np.random.default_rng(1), Episodes(mode)
    rollout.reset()
    with pool:
        for _ in range(20):
            for _ in range(T):
                done = np.logical_or(*rollout.step(actions("flat", rng))[2:4])
                if mode == "disabled" and done.any():
                    obs, _ = rollout.reset(options={"reset_mask": done})
                    assert (obs[:, 2] == 0).all()
            episodes.add(rollout.finish())
    assert len(episodes.ended) > 100
    for observations in episodes.ended:
        code = np.stack(observations)
        assert (code[:, 0] == code[0, 0]).all()  # id, episode, step: see synthetic.c
        assert (code[:, 1] == code[0, 1]).all()
        np.testing.assert_array_equal(code[:, 2], np.arange(len(code)))
    lengths = {}
    for observations in episodes.ended:
        lengths.setdefault(int(observations[0][0]), []).append(int(observations[0][1]))
    for numbers in lengths.values():
        assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))


def test_rollouts_follow_each_other():
    pool = plugin.make(num_envs=N)
    rollout = envpool.Rollout(pool, T, {"value": np.float32})
    obs, _ = rollout.reset()
    rng, last, last_first = np.random.default_rng(2), obs, np.ones(N, bool)
    for _ in range(6):
        for _ in range(T):
            rollout.step(actions("flat", rng), value=np.zeros(N))
        assert rollout.is_full
        data = rollout.finish(value=np.arange(N))
        assert not rollout.is_full
        np.testing.assert_array_equal(data.obs[0], last)
        np.testing.assert_array_equal(data.first[0], last_first)
        np.testing.assert_array_equal(data.last("value"), np.arange(N))
        np.testing.assert_array_equal(data.next_obs[-1], data.last_obs)
        last, last_first = data.last_obs.copy(), data.last_first.copy()
        del data


def test_step_returns_slots_of_the_rollout():
    pool = plugin.make(num_envs=N, layout="rich")
    rollout = envpool.Rollout(pool, 3)
    rollout.reset()
    rng, seen = np.random.default_rng(3), []
    for _ in range(3):
        seen.append(rollout.step(actions("rich", rng)))
    data = rollout.finish()
    for t, (obs, reward, terminated, _, info) in enumerate(seen):
        for name, array in flat(obs).items():
            assert np.shares_memory(array, flat(data.next_obs)[name][t]), name
        assert np.shares_memory(reward, data.reward[t])
        assert np.shares_memory(terminated, data.terminated[t])
        assert np.shares_memory(info["calls"], data.info["calls"][t])
    assert pool._blocks_allocated <= 3


def test_a_slot_is_laid_out_over_time():
    pool = plugin.make(num_envs=N)
    rollout = envpool.Rollout(pool, T)
    rollout.reset()
    for _ in range(T):
        rollout.step(np.zeros(N, np.int32))
    data = rollout.finish()
    for array in (data.obs, data.reward, data.terminated, data.action, data.valid):
        assert array.flags.c_contiguous
        assert array.flags.writeable
        assert array.ctypes.data % 64 == 0


def test_disabled_keeps_the_last_observations():
    pool = plugin.make(num_envs=N, autoreset_mode="disabled")
    rollout = envpool.Rollout(pool, 2)
    rollout.reset()
    obs = rollout.step(np.where(np.arange(N) == 2, 96, 1))[0]
    last = obs.copy()
    with pytest.raises(EnvIdError, match="episode of env 1 has not ended"):
        rollout.reset([1])
    new = rollout.reset([2])[0]
    np.testing.assert_array_equal(obs[2], new[0])  # the row of the rollout
    rollout.step(np.where(np.arange(N) == 4, 95, 1))
    data = rollout.finish()
    steps, envs, rows = data.last_of_episodes()
    assert (steps.tolist(), envs.tolist()) == ([0, 1], [2, 4])
    np.testing.assert_array_equal(rows[0], last[2])
    np.testing.assert_array_equal(rows[1], data.last_obs[4])
    np.testing.assert_array_equal(data.first[1], np.arange(N) == 2)
    new = rollout.reset([4])[0]  # between two rollouts: the finished one keeps its arrays
    np.testing.assert_array_equal(data.last_obs[4], rows[1])
    rollout.step(np.ones(N))
    rollout.step(np.ones(N))
    following = rollout.finish()
    np.testing.assert_array_equal(following.obs[0, 4], new[0])
    np.testing.assert_array_equal(following.first[0], np.arange(N) == 4)
    assert len(following.last_of_episodes()[0]) == 0


def test_steps_of_failed_envs_are_no_transitions():
    pool = plugin.make(num_envs=N, on_error="restart")
    rollout = envpool.Rollout(pool, 3)
    rollout.reset()
    result = rollout.step(np.where(np.arange(N) == 3, 97, 1))
    assert result[-1]["_error"].tolist() == [n == 3 for n in range(N)]
    rollout.step(np.ones(N))
    rollout.step(np.ones(N))
    expected = np.ones((3, N), bool)
    expected[:2, 3] = False  # the step that failed, and the one that resets
    np.testing.assert_array_equal(rollout.finish().valid, expected)


def test_begin_records_observations_of_the_pool():
    pool = plugin.make(num_envs=N, layout="rich")
    rollout = envpool.Rollout(pool, 2)
    obs, _ = pool.reset()
    rollout.begin(obs, np.ones(N, bool))
    rng = np.random.default_rng(1)
    for _ in range(2):
        rollout.step(actions("rich", rng))
    data = rollout.finish()
    assert_nest_equal({k: v[0] for k, v in flat(data.obs).items()}, flat(obs))
    assert data.first[0].all()
