"""Forms of results and actions of tasks with players: rows, a grid, and groups; and what is refused."""

import pickle

import gymnasium
import numpy as np
import pytest
from gymnasium.spaces import Box, Dict, Discrete, MultiDiscrete

import envpool
from envpool.adapters.single import SingleEnvironment
from envpool.errors import ActionError, ConfigError, EnvIdError, EnvStepError, StateError
from envpool.native import Field, PlayerGroup, define
from tests.support import plugin
from tests.support.crowd import DIE, FAIL
from tests.support.definitions import pool_of
from tests.support.saved import body_of, core_at, sealed

P = 4


def make(players="rows", env_type="gymnasium", **options):
    return plugin.make_task("Crowd-v0", env_type, **{"num_envs": 3, "places": P, "players": players} | options)


def full(value, rows=(3, P)):
    return np.full(rows, value, np.int32)


# ---- spaces, specs, options ------------------------------------------------------------------------------------------


def test_spaces_of_each_view():
    obs = Box(-(2**63), 2**63 - 1, (8,), np.int64)
    with make() as pool:
        assert (pool.observation_space, pool.action_space) == (obs, Discrete(16))
        assert pool.config["players"] == "rows" and pool.config["max_num_players"] == P
    with make("grid", groups=True) as pool:
        assert pool.observation_space == Box(-(2**63), 2**63 - 1, (P, 8), np.int64)
        assert pool.action_space == MultiDiscrete([16, 16, 16, 11])
    with make("dict", groups=True) as pool:
        hunters, prey = (Box(-(2**63), 2**63 - 1, shape, np.int64) for shape in ((3, 8), (1, 6)))
        assert pool.observation_space == Dict({"hunters": hunters, "prey": prey})
        assert pool.action_space == Dict({"hunters": MultiDiscrete([16] * 3), "prey": MultiDiscrete([11])})


@pytest.mark.parametrize("view", ["rows", "grid", "dict"])
def test_a_state_has_the_fields_of_its_spec(view):
    with make(view, "dm", groups=True, episode_statistics=True) as pool:
        observation, spec = pool.reset().observation, pool.observation_spec()
        assert observation._fields == spec._fields
        for got, declared in zip(observation, spec, strict=True):
            assert getattr(got, "_fields", ()) == getattr(declared, "_fields", ())


def test_array_specs_name_the_arrays_of_envpool():
    plugin.load()
    spec = envpool.make_spec("Crowd-v0", places=P)
    state, action = spec.state_array_spec, spec.action_array_spec
    assert [state[f"info:players.{name}"].shape for name in ("env_id", "id")] == [[-1], [-1]]
    assert (state["obs"].shape, state["reward"].shape, state["info:num_present"].shape) == ([-1, 8], [-1], [])
    assert list(action) == ["env_id", "players.env_id", "players.id", "action"]
    assert (spec.num_players, [g.name for g in spec.groups]) == (P, ["agents"])


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"players": "rows"}, "players must be None, since CartPole has one player, got 'rows'"),
        ({"max_num_players": 2}, "max_num_players must be 1, since CartPole has one player, got 2"),
        ({"players": "columns"}, "players must be one of None, 'rows', 'grid', 'dict', got 'columns'"),
    ],
)
def test_options_of_one_player(options, text):
    with pytest.raises(ConfigError, match=text):
        envpool.make("CartPole-v1", "gymnasium", **options)


def test_another_number_of_players_is_refused():
    with pytest.raises(ConfigError, match=r"max_num_players must be 4, the number of players of Crowd with these .* 3"):
        make(max_num_players=3)
    make(max_num_players=P).close()


def test_another_spec_may_have_other_players():
    plugin.load()
    spec = envpool.make_spec("Crowd-v0", places=P)
    assert envpool.make_spec(spec, places=7).num_players == 7
    assert envpool.make_spec(spec).config == spec.config


REFUSALS = {
    "a VectorEnv": lambda: envpool.make_vec("Crowd-v0", 2),
    "gymnasium.make": lambda: gymnasium.make("envpool/Crowd-v0"),
    "this adapter": lambda: SingleEnvironment("Crowd-v0"),
}


@pytest.mark.parametrize("what", REFUSALS)
def test_what_does_not_know_players_refuses_them(what):
    plugin.load()
    with pytest.raises(ConfigError, match=f"{what} does not support tasks with players, and Crowd.* has [48]: "):
        REFUSALS[what]()


@pytest.mark.parametrize(
    ("groups", "text"),
    [
        ([PlayerGroup("a", (0, 1))], r"each of the 3 players in one group, got \[0, 1\]"),
        ([PlayerGroup("a", (0, 1)), PlayerGroup("b", (1, 2))], r"got \[0, 1, 1, 2\]"),
        ([PlayerGroup("a", (0, 1)), PlayerGroup("a", (2,))], "names must be different identifiers"),
        ([PlayerGroup("action", (0, 1, 2))], "other than action, mask, info"),
        ([PlayerGroup("a b", (0, 1, 2))], "names must be different identifiers"),
        ([PlayerGroup("a", (1, 0, 2))], "must be in increasing order"),
        (
            [PlayerGroup("a", (0, 1, 2), {"obs": (9,)})],
            r"must be at most that of a field with players, \(8,\), got \(9,\)",
        ),
        ([PlayerGroup("a", (0, 1, 2), {"info:mode": ()})], "the shape of 'info:mode' in 'a' must be at most"),
    ],
)
def test_bad_groups(groups, text, monkeypatch):
    module = plugin.load()
    monkeypatch.setattr(module.Crowd, "player_groups", staticmethod(lambda config: groups))
    with pytest.raises(ConfigError, match=text):
        make(places=3)


# ---- results ---------------------------------------------------------------------------------------------------------


def test_results_in_the_old_style_of_gym():
    with make(env_type="gym", gym_api="legacy", gym_reset_return_info=True) as pool:
        obs, info = pool.reset()
        rows = len(obs)
        obs, reward, done, info = pool.step(np.zeros(rows, np.int32))
        assert done.shape == (3,)
        assert len(obs) == len(reward) == len(info["players"]["id"]) == len(info["player_terminated"])


def test_an_env_with_one_place_has_players():
    with make(places=1, constant=True) as pool:
        obs, info = pool.reset()
        assert obs.shape == (3, 8)
        assert info["players"]["id"].tolist() == [0, 0, 0]
    with make("grid", places=1, constant=True) as pool:
        assert pool.reset()[0].shape == (3, 1, 8)
        assert pool.action_space == MultiDiscrete([16])


def test_rows_and_grid_are_the_memory_of_the_batch():
    for view, shape in (("rows", (3 * P, 8)), ("grid", (3, P, 8))):
        with make(view, constant=True) as pool:
            pool.reset()
            obs = pool.step(full(1))[0]
            assert obs.shape == shape
            base = obs.base
            while isinstance(base, np.ndarray):
                base = base.base
            assert type(base).__name__ == "BlockMemory"


def test_a_player_that_ends_has_one_more_row():
    with make(constant=True, num_envs=1) as pool:
        pool.reset()
        _, reward, _, _, info = pool.step(np.array([1, DIE, 2, 3]))
        assert info["player_terminated"].tolist() == [False, True, False, False]
        assert reward.tolist() == [1, DIE + 1 / 8, 2.25, 3.375]
        _, _, terminated, _, info = pool.step(np.array([1, 1, 1, 1]))
        assert info["players"]["id"].tolist() == [0, 2, 3]
        assert terminated.tolist() == [False]


def test_returns_of_players():
    with make(constant=True, num_envs=2, episode_length=3, episode_statistics=True) as pool:
        pool.reset()
        pool.step(full(1, (2, P)))
        pool.step(np.array([[DIE, 1, 1, 1], [2, 2, 2, 2]]))
        info = pool.step(full(1, (2, P)))[-1]
        eighths = np.arange(P) / 8
        expected = np.array([[1 + DIE, 3, 3, 3], [4, 4, 4, 4]]) + 3 * eighths
        np.testing.assert_array_equal(info["episode"]["player_r"], expected)
        np.testing.assert_array_equal(info["episode"]["r"], expected.sum(axis=1))
        assert pool.stats().mean_return == expected.sum(axis=1).mean()
        pool.step(full(1, (2, P)))
        for _ in range(3):
            info = pool.step(full(1, (2, P)))[-1]
        np.testing.assert_array_equal(info["episode"]["player_r"], np.tile(3 + 3 * eighths, (2, 1)))


@pytest.mark.parametrize("mode", ["next_step", "same_step"])
@pytest.mark.parametrize("view", ["rows", "grid", "dict"])
def test_finished_episodes_have_a_place_for_each_player(view, mode):
    options = {"episode_statistics": True, "episode_length": 4, "autoreset_mode": mode, "groups": True}
    num_ended = 0
    with make(view, finished_episodes=True, **options) as pool, make("grid", **options) as grid:
        pool.reset(), grid.reset()
        for t in range(20):
            actions = np.random.default_rng(t).integers(0, 11, (3, P))
            info, (obs, *_, expected) = pool.step(actions)[-1], grid.step(actions)
            assert ("finished" in info) == ("episode" in expected)
            if "finished" not in info:
                continue
            finished, ended = info["finished"], expected["_episode"]
            num_ended += ended.sum()
            last = (expected["final_obs"] if mode == "same_step" else obs)[ended]
            assert finished["env_id"].tolist() == np.flatnonzero(ended).tolist()
            np.testing.assert_array_equal(finished["player_r"], expected["episode"]["player_r"][ended])
            if view == "dict":
                np.testing.assert_array_equal(finished["final_obs"]["hunters"], last[:, :-1])
                np.testing.assert_array_equal(finished["final_obs"]["prey"], last[:, -1:, :6])
            else:
                np.testing.assert_array_equal(finished["final_obs"], last)
    assert num_ended >= 9


def test_a_failed_env_costs_its_own_rows():
    with make(constant=True, on_error="restart") as pool:
        pool.reset()
        actions = full(1)
        actions[1, 2] = FAIL
        obs, reward, terminated, truncated, info = pool.step(actions)
        assert info["_error"].tolist() == truncated.tolist() == [False, True, False]
        assert not terminated.any()
        assert not obs[P : 2 * P].any() and not reward[P : 2 * P].any()
        assert obs[:P, 7].all() and obs[2 * P :, 7].all()
        assert info["player_truncated"].tolist() == [False] * P + [True] * P + [False] * P
        assert pool.step(full(1))[-1]["elapsed_step"].tolist() == [2, 0, 2]
    with make(constant=True) as pool:
        pool.reset()
        with pytest.raises(EnvStepError, match=r"env 1: error code 1"):
            pool.step(actions)
        assert len(pool.recv()[0]) == 3 * P


# ---- actions ---------------------------------------------------------------------------------------------------------

WRONG = {
    "too few rows": (full(1, (11,)), r"shape \(12,\), a row for .* or \(3, 4\), a place .*, got \(11,\)"),
    "a grid of other envs": (full(1, (2, P)), r"shape \(R,\), a row for .* or \(3, 4\), a place .*, got \(2, 4\)"),
    "a scalar": (np.int32(1), r"shape \(R,\), .*, got \(\)"),
    "text": (np.array(["a"] * 12), "must have the dtype int32, or one that casts to it, got <U1"),
    "out of bounds": (full(16), "of player 0 of env 0 must have integers from 0 to 15, got 16; nothing was sent"),
    "a fraction": (np.full((3, P), 0.5), "of player 0 of env 0 must have integers from 0 to 15"),
    "NaN": (np.full(12, np.nan), "of player 0 of env 0 must have integers from 0 to 15, got nan"),
    "another key": ({"move": full(1)}, r"must have the keys \['action'\], or those of groups of players, \['agents'\]"),
    "another dtype in a dict": ({"action": full(1).astype(np.int64)}, "must have the dtype int32, got int64"),
    "a group with too few players": ({"agents": full(1, (3, 3))}, r"of group 'agents' must have .*, got \(3, 3\)"),
    "ids without env ids": ({"action": full(1), "players": {"id": np.arange(12)}}, "'players.id' without"),
}


@pytest.mark.parametrize("which", WRONG)
def test_wrong_actions(which):
    action, text = WRONG[which]
    with make(constant=True) as pool:
        pool.reset()
        with pytest.raises(ActionError, match=text):
            pool.step(action)
        assert pool.num_outstanding == 0
        assert len(pool.step(full(1))[0]) == 12  # nothing was lost


@pytest.mark.parametrize(
    ("env_id", "player", "text"),
    [
        ([0, 0, 0, 0, 5], [0, 1, 2, 3, 0], r"players.env_id\[4\] is 5, which is not in env_id"),
        ([0, 0, 0, 0], [0, 1, 2, 4], r"players.id\[3\] is 4: env 0 has 4 players"),
        ([0, 0, 0, 0], [0, 1, 2, 2], r"rows 2 and 3 are both of player 2 of env 0"),
        ([0, 0, 0], [0, 1, 3], "player 2 of env 0 acts, but has no row"),
        ([0, 0, 0], [0, 1], "players.id has 2 entries and players.env_id has 3"),
        ([0, 0, 0, 0, 0], None, "row 4 is one too many for its env"),
    ],
)
def test_wrong_ids_of_players(env_id, player, text):
    ids = {"env_id": np.array(env_id)} | ({} if player is None else {"id": np.array(player)})
    with make(constant=True) as pool:
        pool.reset()
        with pytest.raises(EnvIdError, match=text):
            pool.send({"action": full(1, (len(env_id),)), "env_id": np.array([0]), "players": ids})
        assert pool.num_outstanding == 0
        assert len(pool.step(full(1))[0]) == 12


def test_rows_of_envpool_may_have_any_order():
    with make(constant=True, num_envs=2) as pool:
        pool.reset()
        order = np.random.default_rng(0).permutation(2 * P)
        values = np.arange(2 * P, dtype=np.int32)
        ids = {"env_id": np.repeat([0, 1], P)[order], "id": np.tile(np.arange(P), 2)[order]}
        obs = pool.step({"action": values[order], "env_id": np.arange(2), "players": ids})[0]
        assert obs[:, 4].tolist() == values.tolist()


@pytest.mark.parametrize("bad", [99, -1, np.nan, np.inf])
def test_actions_of_players_that_do_not_act_are_not_checked(bad):
    with make("grid", constant=True, num_envs=2) as pool:
        pool.reset()
        pool.step(np.array([[DIE, 1, 1, 1], [1, 1, 1, 1]]))
        actions = np.ones((2, P))
        actions[0, 0] = bad
        obs, *_, info = pool.step(actions if not float(bad).is_integer() else actions.astype(np.int64))
        assert info["player_mask"].tolist() == [[False, True, True, True], [True] * 4]
        assert not obs[0, 0].any()
        with pytest.raises(ActionError, match="player 0 of env 1"):
            pool.step(actions[::-1])


def test_each_player_has_its_own_bounds():
    with make("dict", groups=True, constant=True) as pool:
        pool.reset()
        pool.step({"hunters": full(10, (3, 3)), "prey": full(10, (3, 1))})
        with pytest.raises(ActionError, match="of player 3 of env 0 must have integers from 0 to 10, got 11"):
            pool.step({"hunters": full(10, (3, 3)), "prey": full(11, (3, 1))})
        with pytest.raises(ActionError, match=r"missing are \['prey'\]"):
            pool.step({"hunters": full(10, (3, 3))})


def test_several_arrays_of_which_one_is_of_whole_envs():
    with make("grid", layout="rich", constant=True) as pool:
        pool.reset()
        push = np.full((3, P, 2), 0.5, np.float32)
        action = {"move": full(1), "push": push, "mode": np.array([0, 1, 3], np.int32)}
        _, reward, *_, info = pool.step({"action": action})
        assert info["mode"].tolist() == [0, 1, 3]
        np.testing.assert_array_equal(reward, np.tile(1.5 + np.arange(P) / 8, (3, 1)).astype(np.float32))
        action["mode"] = np.array([0, 1, 4], np.int32)
        with pytest.raises(ActionError, match=r"'action.mode' of env 2 \(row 2\) must have integers from 0 to 3"):
            pool.step({"action": action})


def test_one_action_of_a_whole_env():
    """Turn-based games have one action per env: whose turn it is, is an array of the env."""
    native = plugin.load().native
    fields = [Field("obs", np.int64, (-1, 8)), Field("info:token", np.int64, (-1,))]
    fields += [Field("info:num_present", np.int32), Field("info:mode", np.int32)]
    options = np.array([1, 12, -1, 1, 0, 0], np.int32).tobytes()
    actions = [Field("action", np.int32, (), 0, 15)]
    capsule = define(native.crowd_definition(), fields, actions, options, max_num_players=1)
    for view in ("rows", "grid", "dict"):
        with pool_of(capsule, num_envs=2, players=view) as pool:
            assert pool.action_space == Discrete(16)
            pool.reset()
            obs = pool.step(np.array([3, 4]))[0]
            assert np.ravel(obs["agents"] if view == "dict" else obs)[4::8].tolist() == [3, 4]
            with pytest.raises(ActionError, match=r"shape \(2,\), one row for each .*, got \(3,\)"):
                pool.step(np.array([3, 4, 5]))
            assert pool.step(pool.sample_actions(0) % 10)[2].tolist() == [False, False]


@pytest.mark.parametrize("view", ["rows", "grid", "dict"])
def test_an_observation_of_whole_envs(view):
    native = plugin.load().native
    fields = [Field("obs", np.int64, (8,)), Field("info:token", np.int64, (-1,))]
    fields += [Field("info:num_present", np.int32), Field("info:mode", np.int32)]
    options = np.array([1, 12, -1, 1, 0, 0], np.int32).tobytes()
    actions = [Field("action", np.int32, (-1,), 0, 15)]
    capsule = define(native.crowd_definition(), fields, actions, options, max_num_players=1)
    with pool_of(capsule, num_envs=2, players=view, autoreset_mode="same_step") as pool:
        assert pool.observation_space == Box(-(2**63), 2**63 - 1, (8,), np.int64)
        obs, info = pool.reset()
        assert obs[:, 0].tolist() == [0, 1]
        obs, *_, info = pool.step(pool.sample_actions(0))
        assert obs.shape == info["final_obs"].shape == (2, 8)


def test_refused_floats_of_players_that_act():
    with make("grid", layout="rich", constant=True, require_finite_actions=True, num_envs=1) as pool:
        pool.reset()
        action = {"move": full(1, (1, P)), "push": np.zeros((1, P, 2), np.float32), "mode": np.zeros(1, np.int32)}
        action["move"][0, 2] = DIE
        pool.step({"action": action})
        action["move"][0, 2] = 1
        action["push"][0, 2] = np.inf
        pool.step({"action": action})
        action["push"][0, 1] = np.inf
        with pytest.raises(ActionError, match=r"'action.push' of player 1 of env 0 must not be NaN or infinite"):
            pool.step({"action": action})


@pytest.mark.parametrize("layout", ["flat", "rich"])
@pytest.mark.parametrize("view", ["rows", "grid", "dict"])
def test_random_actions_are_accepted(view, layout):
    with make(view, layout=layout, groups=True, on_error="restart") as pool:
        pool.reset()
        for t in range(20):
            pool.step(pool.sample_actions(t))
        ids = np.array([2, 0])
        pool.step(pool.sample_actions(0, env_id=ids), ids)
        assert repr(pool.sample_actions(5)) == repr(pool.sample_actions(5))


# ---- states ----------------------------------------------------------------------------------------------------------


def rows_of(batch):
    obs, reward, terminated, truncated, info = batch
    return [a.tolist() for a in (obs, reward, terminated, truncated, info["players"]["id"], info["token"])]


@pytest.mark.parametrize("mode", ["next_step", "same_step"])
@pytest.mark.parametrize("statistics", [False, True])
def test_a_state_has_the_players(mode, statistics):
    options = {"autoreset_mode": mode, "episode_statistics": statistics, "episode_length": 6}
    with make(**options) as pool, make(seed=7, **options) as other:
        pool.reset()
        for _ in range(8):
            pool.step(pool.sample_actions(1) % 11)
        states = pool.get_state()
        saved = [pool._player_mask([i]) for i in range(3)]
        other.reset()
        other.set_state(states)
        assert [other._player_mask([i]).tolist() for i in range(3)] == [m.tolist() for m in saved]
        again = pickle.loads(pickle.dumps(pool))
        for t in range(10):
            expected = pool.step(pool.sample_actions(t) % 11)
            for restored in (other, again):
                got = restored.step(restored.sample_actions(t) % 11)
                assert rows_of(got) == rows_of(expected)
                if statistics and "episode" in expected[-1]:
                    np.testing.assert_array_equal(got[-1]["episode"]["player_r"], expected[-1]["episode"]["player_r"])
        again.close()


def test_a_copy_has_the_players():
    with make("grid") as pool:
        pool.reset()
        for _ in range(3):
            pool.step(full(1))
        pool.copy_state([0], [2])
        assert pool._player_mask([2]).tolist() == pool._player_mask([0]).tolist()
        obs, *_, info = pool.step(full(1))
        assert info["player_mask"][2].tolist() == info["player_mask"][0].tolist()
        np.testing.assert_array_equal(obs[2, :, 1:], obs[0, :, 1:])


@pytest.mark.parametrize("flags", [b"\2\3\3\3", b"\4\3\3\3"])
def test_forged_flags_are_refused(flags):
    """No state says that a player acts which has no row."""
    with make(constant=True, num_envs=1) as pool:
        pool.reset()
        body = body_of(pool.get_state())
        at = body.index(b"\3\3\3\3", core_at(body))
        with pytest.raises(StateError, match="has values that get_state"):
            pool.set_state(sealed(body[:at] + flags + body[at + 4 :]))
