"""Transforms of tasks with players: each row of a player that is present is transformed like that of an env."""

import numpy as np
import pytest
from gymnasium.wrappers.utils import RunningMeanStd

from envpool import make_gymnasium
from envpool.config.options import TRANSFORM_DEFAULTS
from envpool.errors import ConfigError, StateError
from envpool.native import Field, PlayerGroup
from envpool.transforms.observations import transform_fields
from tests.support import plugin
from tests.support.saved import body_of, sealed

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


class Rows:
    """What time and stacks make of the rows of players, in plain Python.

    Parameters
    ----------
    depth : int
        Rows of a stack.
    has_time : bool
        Whether elapsed steps are appended.
    """

    def __init__(self, depth, has_time):
        self.depth, self.has_time, self.stacks, self.acts = depth, has_time, {}, set()

    def next(self, raw):
        """Return the rows (R, ...) for a result without transforms."""
        obs, *flags, info = raw[0], *raw[1:]
        ended = np.zeros(len(obs), bool)
        if flags:
            ended = info["player_terminated"] | info["player_truncated"]
        shown, acts = [], set()
        for row, end, i, p in zip(obs, ended, info["players"]["env_id"], info["players"]["id"], strict=True):
            elapsed = info["elapsed_step"][i]
            row = np.append(row, elapsed).astype(obs.dtype) if self.has_time else row
            begins = elapsed == 0 or (i, p) not in self.acts
            self.stacks[i, p] = [row] * self.depth if begins else [*self.stacks[i, p][1:], row]
            shown.append(np.array(self.stacks[i, p]) if self.depth > 1 else row)
            if not end:
                acts.add((i, p))
        self.acts = acts
        return np.array(shown)


@pytest.mark.parametrize(
    ("options", "depth", "has_time"),
    [
        ({"frame_stack": 3}, 3, False),
        ({"time_aware": True}, 1, True),
        ({"time_aware": True, "frame_stack": 4}, 4, True),
        ({"time_aware": True, "frame_stack": 2, "float32_obs": True}, 2, True),
    ],
)
def test_a_player_that_joins_begins_its_stack_as_a_reset_does(options, depth, has_time):
    expected, num_joined = Rows(depth, has_time), 0
    dtype = np.float32 if "float32_obs" in options else np.float64
    for got, raw in both(options | {"float_obs": True}, {"float_obs": True}, rounds=60):
        before = expected.acts
        rows = expected.next(raw)
        elapsed = raw[-1]["elapsed_step"]
        num_joined += sum(elapsed[i] > 0 for i, p in expected.acts - before)
        assert got[0].dtype == dtype
        np.testing.assert_array_equal(got[0], rows.astype(dtype))
    assert num_joined > 20


@pytest.mark.parametrize("mode", ["same_step", "disabled"])
def test_stacks_in_other_modes(mode):
    options = {"float_obs": True, "autoreset_mode": mode}
    with make("grid", frame_stack=3, **options) as pool, make("grid", **options) as raw:
        rng = np.random.default_rng(4)
        got, plain = pool.reset(), raw.reset()
        num_ended = 0
        for _ in range(40):
            np.testing.assert_array_equal(got[0][:, :, -1], plain[0])
            obs, mask = got[0], plain[-1]["player_mask"]
            assert not obs[~mask].any()
            starts = plain[-1]["elapsed_step"] == 0
            if mode == "same_step" and len(plain) == 5:
                starts = plain[2] | plain[3]
                if starts.any():  # the newest frame of a final stack is the final observation
                    final, plain_final = got[-1]["final_obs"], plain[-1]["final_obs"]
                    np.testing.assert_array_equal(final[:, :, -1], plain_final)
                    num_ended += 1
            assert (obs[starts] == obs[starts][:, :, -1:]).all()
            if mode == "disabled" and len(plain) == 5 and (plain[2] | plain[3]).any():
                num_ended += 1
                got, plain = pool.reset(), raw.reset()
                continue
            actions = rng.integers(0, 12, (3, P))
            got, plain = pool.step(actions), raw.step(actions)
        assert num_ended > 3


def test_smaller_observations_keep_their_time_and_their_stacks():
    """The time of a player stands behind its own numbers, before the padding."""
    options = {"float_obs": True, "groups": True, "constant": True}
    with make("dict", time_aware=True, frame_stack=2, **options) as pool, make("dict", **options) as raw:
        space = pool.observation_space
        assert space["hunters"].shape == (P - 1, 2, 9) and space["prey"].shape == (1, 2, 7)
        limit = pool.spec.config.max_episode_steps
        assert space["prey"].high[0, 0, -1] == limit and space["prey"].low[0, 0, -1] == 0
        assert space["hunters"].high[0, 0, -1] == limit and np.isinf(space["hunters"].high[0, 0, 6])
        assert pool.spec.groups[1].shapes["obs"] == (2, 7)
        rng, before = np.random.default_rng(5), {}
        got, plain = pool.reset(), raw.reset()
        for _ in range(30):
            elapsed = plain[-1]["elapsed_step"]
            for group in ("hunters", "prey"):
                own = plain[0][group]
                times = np.broadcast_to(elapsed[:, None, None], (*own.shape[:2], 1))
                newest = np.concatenate([own, times], 2)
                older = np.where((elapsed == 0)[:, None, None], newest, before.get(group, newest))
                np.testing.assert_array_equal(got[0][group], np.stack([older, newest], 2))
                before[group] = newest
            actions = rng.integers(0, 10, (3, P))
            got, plain = pool.step(actions), raw.step(actions)


def test_time_in_the_grid_of_smaller_observations():
    with make("grid", time_aware="normalized", max_episode_steps=8, float_obs=True, groups=True) as pool:
        obs, _ = pool.reset()
        assert obs.shape == (3, P, 9)
        pool.step(np.zeros((3, P), np.int32))
        obs, *_, info = pool.step(np.zeros((3, P), np.int32))
        place = [8] * (P - 1) + [6]
        for p in range(P):
            there = info["player_mask"][:, p]
            assert (obs[there, p, place[p]] == 0.25).all()
        assert (obs[there, P - 1, 8] == 1).all()  # what this environment has in place of padding


def test_smaller_observations_of_several_dimensions_have_no_time():
    with pytest.raises(ConfigError, match="rows of one dimension if players such as 'small' have smaller ones"):
        transform_fields(
            (Field("obs", np.dtype(np.float32), (-1, 4, 4)),),
            TRANSFORM_DEFAULTS | {"time_aware": True},
            100,
            2,
            [PlayerGroup("large", (0,)), PlayerGroup("small", (1,), {"obs": (2, 4)})],
        )


def test_a_stack_of_most_dimensions_is_refused():
    with pytest.raises(ConfigError, match="adds a dimension to 6 others"):
        transform_fields(
            (Field("obs", np.dtype(np.float32), (-1, 2, 2, 2, 2, 2)),),
            TRANSFORM_DEFAULTS | {"frame_stack": 2},
            100,
            2,
            [PlayerGroup("all", (0, 1))],
        )


def test_stacks_are_saved_with_who_acts():
    """A copy of an environment continues the stacks of its players, also of one that is about to join."""
    options = {"frame_stack": 3, "time_aware": True, "float_obs": True}
    with make("grid", **options) as pool, make("grid", **options) as other:
        rng = np.random.default_rng(6)
        pool.reset(), other.reset()
        for _ in range(30):
            for _ in range(3):
                pool.step(rng.integers(0, 12, (3, P)))
            other.set_state(pool.get_state())
            for _ in range(4):
                actions = rng.integers(0, 12, (3, P))
                got, expected = other.step(actions), pool.step(actions)
                np.testing.assert_array_equal(got[0], expected[0])


def test_forged_flags_of_who_acts_are_refused():
    """In a state, a byte for each player stands before the stacks; only 0 and 1 are allowed."""
    with plugin.make_task("Crowd-v0", num_envs=1, places=P, players="grid", frame_stack=3) as pool:
        pool.reset()
        pool.step(np.ones((1, P), np.int32))
        state = pool.get_state(0)
        body, refused = body_of(state), []
        for at in range(len(body) - P * 3 * 8 * 8 - 3 * P, len(body)):
            forged = bytearray(body)
            forged[at] = 7
            try:
                pool.set_state(sealed(forged), 0)
            except StateError:
                refused.append(at)
        assert len(refused) == P and refused[-1] - refused[0] == P - 1
        pool.set_state(state, 0)
        assert pool.get_state(0) == state


def test_stacks_of_mpe_are_those_of_single_observations():
    with (
        make_gymnasium("MPE/simple_tag-v3", num_envs=2, players="grid", frame_stack=3) as pool,
        make_gymnasium("MPE/simple_tag-v3", num_envs=2, players="grid") as raw,
    ):
        obs, plain = pool.reset()[0], raw.reset()[0]
        rows = [plain] * 3
        for _ in range(30):
            np.testing.assert_array_equal(obs, np.stack(rows, 2))
            actions = raw.sample_actions()
            obs, plain = pool.step(actions)[0], raw.step(actions)
            elapsed = plain[-1]["elapsed_step"]
            begins = (elapsed == 0)[:, None, None]
            rows = [np.where(begins, plain[0], row) for row in rows[1:]] + [plain[0]]
