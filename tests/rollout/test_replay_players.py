"""Replay buffers of tasks with players: a transition belongs to one player, who acted in its step."""

import numpy as np
import pytest

import envpool
from envpool import ReplayBuffer
from envpool.errors import ConfigError
from tests.support import plugin

N, P, T = 3, 4, 25
MODES = ["next_step", "same_step", "disabled"]


def make(players="grid", **options):
    options = {"num_envs": N, "places": P, "episode_length": 6, "num_threads": 2} | options
    return plugin.make_task("Crowd-v0", players=players, **options)


def reset_ended(mode, target, ended):
    return target.reset(np.flatnonzero(ended)) if mode == "disabled" and ended.any() else None


def expected_rows(mode, actions):
    """Return the transitions of a plain pool by their numbers: who acted, and where that led."""
    rows = {}
    with make(autoreset_mode=mode) as pool:
        obs = pool.reset()[0].copy()
        acts = pool._player_mask(None).copy()
        for t, action in enumerate(actions):
            after, reward, terminated, truncated, info = pool.step(action)
            done = terminated | truncated
            ended = info["player_terminated"] | info["player_truncated"]
            last = after.copy()
            if mode == "same_step":
                last[info["_final_obs"]] = info["final_obs"][info["_final_obs"]]
            is_step = info["elapsed_step"] > 0 if mode == "next_step" else np.ones(N, bool)
            for i, p in np.argwhere(acts & is_step[:, None]):
                rows[(t * N + i) * P + p] = {
                    "obs": obs[i, p],
                    "action": action[i, p],
                    "reward": reward[i, p],
                    "next_obs": last[i, p],
                    "terminated": info["player_terminated"][i, p],
                }
            acts, obs = info["player_mask"] & ~ended, after.copy()
            if mode == "same_step":
                acts[done] = info["player_mask"][done] & (obs[done][..., 7] == 1)  # who begins the next episode
            elif mode == "next_step":
                acts[done] = False
            elif done.any():
                first, info = reset_ended(mode, pool, done)
                obs[done], acts[done] = first, info["player_mask"]
    return rows


@pytest.mark.parametrize("mode", MODES)
def test_transitions_are_those_of_the_players_who_acted(mode):
    actions = np.random.default_rng(0).integers(0, 12, (T, N, P))
    expected = expected_rows(mode, actions)
    with make(autoreset_mode=mode) as pool:
        buffer = ReplayBuffer(pool, capacity=T * N * P)
        buffer.reset()
        for action in actions:
            _, _, terminated, truncated, _ = buffer.step(action)
            reset_ended(mode, buffer, terminated | truncated)
        batch = buffer.transitions(buffer.indices())
        assert batch.index.tolist() == sorted(expected)
        assert 0 < len(expected) < T * N * P  # players come and go
        for name in ("obs", "action", "reward", "next_obs", "terminated"):
            np.testing.assert_array_equal(getattr(batch, name), [expected[k][name] for k in sorted(expected)], name)
        env_id, player = buffer.owners(batch.index)
        np.testing.assert_array_equal(env_id, batch.index // P % N)
        np.testing.assert_array_equal(player, batch.index % P)
        assert {array.dtype for array in (env_id, player)} == {np.dtype(np.int32)}


@pytest.mark.parametrize("env_type", ["gymnasium", "gym", "dm"])
@pytest.mark.parametrize("players", ["rows", "grid", "dict"])
def test_views_record_the_same(players, env_type):
    found = []
    for view, style in (("grid", "gymnasium"), (players, env_type)):
        with envpool.make("MPE/simple_tag-v3", style, num_envs=2, players=view, seed=4, max_cycles=7) as pool:
            buffer = ReplayBuffer(pool, capacity=200, n_step=3, seed=1)
            buffer.reset()
            actions = np.random.default_rng(0)
            for _ in range(20):
                buffer.step(actions.integers(0, 5, (2, pool.spec.num_players)).astype(np.int32))
            found.append((buffer.sample(64), buffer.capacity))
    for one, other in zip(*(sample for sample, _ in found), strict=True):
        np.testing.assert_array_equal(one, other)
    assert found[0][1] == 200


@pytest.mark.parametrize("players", ["rows", "grid", "dict"])
def test_begin_continues(players):
    """begin() with the last observations in the form of the pool continues the trajectories: n-step returns go on."""
    with envpool.make_gymnasium("MPE/simple_tag-v3", num_envs=2, players=players) as pool:
        buffer = ReplayBuffer(pool, capacity=200, n_step=2)
        buffer.reset()
        obs, *_ = buffer.step(pool.sample_actions())
        buffer.begin(obs)
        buffer.step(pool.sample_actions())
        assert len(buffer) == 2 * pool.spec.num_players
        np.testing.assert_array_equal(buffer.transitions(buffer.indices()).discount, np.float32(0.99**2))


def leftmost(obs, info):
    return info["legal_action_mask"].argmax(1)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("controlled", [1, "alternate"])
def test_opponents(controlled, mode):
    """A transition is a move of the user's player and what its opponent has answered."""
    options = {"num_envs": 3, "controlled": controlled, "opponents": leftmost, "autoreset_mode": mode, "seed": 2}
    moves = np.random.default_rng(1)
    expected = []
    with envpool.make_gymnasium("ConnectFour-v0", **options) as pool:
        buffer = ReplayBuffer(pool, capacity=200)
        obs, info = buffer.reset()
        before = np.zeros(3, bool)
        for _ in range(40):
            legal = info["legal_action_mask"]
            action = np.where(legal, moves.random(legal.shape), -1).argmax(1)
            after, reward, terminated, truncated, info = buffer.step(action)
            done = terminated | truncated
            for i in np.flatnonzero(~before):
                is_last = mode == "same_step" and done[i]
                last = info["final_obs"][i] if is_last else after[i]
                expected.append((obs[i], action[i], reward[i], last, terminated[i]))
            obs, before = after.copy(), done & (mode == "next_step")
            if mode == "disabled" and done.any():
                first, more = buffer.reset(np.flatnonzero(done))
                obs[done], info["legal_action_mask"][done] = first, more["legal_action_mask"]
        assert any(row[4] for row in expected)
        batch = buffer.transitions(buffer.indices())
        for name, values in zip(
            ("obs", "action", "reward", "next_obs", "terminated"), zip(*expected, strict=True), strict=True
        ):
            np.testing.assert_array_equal(getattr(batch, name).reshape(np.shape(values)), values, name)
        if controlled == "alternate":
            with pytest.raises(ConfigError, match="same players in all episodes"):
                buffer.owners(batch.index)
        else:
            assert (buffer.owners(batch.index)[1] == 1).all()


def test_opponents_without_turns_and_a_failure():
    """What an opponent raises loses no step: recv() records it."""
    calls = []

    def policy(obs, info):
        calls.append(len(obs))
        if len(calls) == 3:
            raise RuntimeError("no answer")
        return np.zeros(len(obs), np.int32)

    with envpool.make_gymnasium(
        "MPE/simple_tag-v3", num_envs=2, controlled="adversary", opponents=policy, players="grid"
    ) as pool:
        buffer = ReplayBuffer(pool, capacity=100)
        buffer.reset()
        for _ in range(2):
            buffer.step(pool.sample_actions())
        with pytest.raises(RuntimeError, match="no answer"):
            buffer.step(pool.sample_actions())
        buffer.step(pool.sample_actions())
        assert len(buffer) == 3 * 2 * 3  # steps, environments, adversaries
        assert buffer.transitions(buffer.indices()).obs.shape == (18, 16)


def test_save_and_load(tmp_path):
    def made(pool):
        return ReplayBuffer(pool, capacity=60, prioritized=True, seed=3)

    with make() as pool, make() as other, make(num_envs=2) as smaller:
        buffer, loaded = made(pool), made(other)
        buffer.reset()
        for _ in range(8):
            buffer.step(np.zeros((N, P), np.int64))
        buffer.save(tmp_path / "buffer.npz")
        loaded.load(tmp_path / "buffer.npz")
        for one, two in zip(buffer.sample(9), loaded.sample(9), strict=True):
            np.testing.assert_array_equal(one, two)
        with pytest.raises(envpool.errors.StateError, match="num_envs=3"):
            made(smaller).load(tmp_path / "buffer.npz")


def test_refused():
    text = "players of ConnectFour-v0 move in turn: make the pool with one controlled player"
    with envpool.make_gymnasium("ConnectFour-v0", num_envs=2) as pool, pytest.raises(ConfigError, match=text):
        ReplayBuffer(pool, 10)
    with make(batch_size=2) as pool, pytest.raises(ConfigError, match="needs a sync pool"):
        ReplayBuffer(pool, 10)


def test_owners_without_players():
    with envpool.make_gymnasium("CartPole-v1", num_envs=3) as pool:
        buffer = ReplayBuffer(pool, 30)
        buffer.reset()
        for _ in range(3):
            buffer.step(np.zeros(3, int))
        env_id, player = buffer.owners([0, 4, 8])
        assert env_id.tolist() == [0, 1, 2] and not player.any()
