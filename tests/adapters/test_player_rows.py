"""Each place for a player as a row, for libraries in which a row is an environment."""

import numpy as np
import pytest

import envpool
from envpool.adapters.player_rows import PlayerRows, row_spaces
from envpool.adapters.pools import GRID, open_pool
from envpool.errors import ActionError, ConfigError
from envpool.pools.infos import split_info
from tests.support import plugin
from tests.support.crowd import CUT, DIE, END, FAIL

N, P = 5, 4


def crowd(task="Crowd-v0", **options):
    """Return two equal pools of N crowds as an adapter opens them."""
    plugin.load()
    options = {"num_envs": N, "places": P, "max_episode_steps": 9, **options}
    return [open_pool(task, options, knows_same_step=True, players=GRID) for _ in range(2)]


def test_defaults():
    first, _ = crowd()
    assert (first.config["players"], first.config["autoreset_mode"]) == ("grid", "same_step")
    with open_pool("CartPole-v1", {}, players=GRID) as pool:
        assert (pool.config["players"], pool.config["autoreset_mode"]) == (None, "disabled")


@pytest.mark.parametrize("options", [{}, {"on_error": "restart", "fail_reset": 2}])
def test_rows_of_players_that_come_and_go(options):
    pool, other = crowd(episode_statistics=True, finished_episodes=True, **options)
    rows, rng = PlayerRows(pool), np.random.default_rng(0)
    obs, info = rows.first(*pool.reset())
    expected, first_info = other.reset()
    assert np.array_equal(obs, expected.reshape(N * P, 8))
    assert np.array_equal(info["num_present"], first_info["num_present"].repeat(P))
    actions = [0, 1, 2, DIE, CUT, END, *([FAIL] if options else [])]
    shares = np.array([8, 8, 8, 3, 3, 1, 1][: len(actions)])
    seen = {"alone": 0, "ended": 0, "absent": 0, "episode": 0, "error": 0}
    for _ in range(60):
        action = rng.choice(actions, (N * P,), p=shares / shares.sum()).astype(np.int32)
        obs, reward, terminated, truncated, info = rows.step(pool.step(rows.actions(action)))
        theirs, *flags, their_info = other.step(action.reshape(N, P))
        infos = split_info(info)
        assert len(infos) == N * P and "finished" not in info
        for e in range(N):
            has_ended = their_info["_final_obs"][e]
            for p in range(P):
                i = e * P + p
                ends = [their_info[f"player_{end}"][e, p] for end in ("terminated", "truncated")]
                assert [terminated[i], truncated[i]] == ends
                assert reward[i] == flags[0][e, p]
                assert info["_final_obs"][i] == info["_final_info"][i] == (has_ended or any(ends))
                assert infos[i]["player_mask"] == their_info["player_mask"][e, p]
                last, shown = info["final_obs"][i], obs[i]
                last_token, token = info["final_info"]["token"][i], infos[i]["token"]
                if has_ended:
                    seen["ended"] += 1
                    pairs = [(last, their_info["final_obs"][e, p]), (shown, theirs[e, p])]
                    assert last_token == their_info["final_info"]["token"][e, p]
                    assert token == their_info["token"][e, p]
                elif any(ends):
                    seen["alone"] += 1
                    pairs = [(last, theirs[e, p]), (shown, np.zeros(8))]
                    assert (last_token, token) == (their_info["token"][e, p], 0)
                    assert info["final_info"]["elapsed_step"][i] == their_info["elapsed_step"][e]
                    assert infos[i]["elapsed_step"] == 0
                else:
                    seen["absent"] += not their_info["player_mask"][e, p]
                    pairs = [(last, np.zeros(8)), (shown, theirs[e, p])]
                    assert infos[i]["num_present"] == their_info["num_present"][e]
                assert all(np.array_equal(*pair) for pair in pairs)
                assert ("episode" in infos[i]) == ("episode" in their_info and bool(their_info["_episode"][e]))
                if "episode" in infos[i]:
                    seen["episode"] += 1
                    assert infos[i]["episode"]["r"] == their_info["episode"]["player_r"][e, p]
                    assert infos[i]["episode"]["l"] == their_info["episode"]["l"][e]
                assert ("error" in infos[i]) == ("error" in their_info and bool(their_info["_error"][e]))
                seen["error"] += "error" in infos[i]
    assert min(seen["alone"], seen["ended"], seen["absent"], seen["episode"]) > 20
    assert (seen["error"] > 0) == bool(options)
    pool.close(), other.close()


def test_actions_need_a_row_for_each_player():
    pool, _ = crowd()
    rows = PlayerRows(pool)
    pool.reset()
    assert rows.actions(list(range(N * P))).tolist() == np.arange(N * P).reshape(N, P).tolist()
    for actions in (np.zeros(N), np.zeros((N, P)), 0):
        with pytest.raises(ActionError, match=r"a row for each of the 20 players, got \("):
            rows.actions(actions)


@pytest.mark.parametrize("options", [{"players": "rows"}, {"players": "dict"}, {"autoreset_mode": "disabled"}])
def test_other_views_and_modes_are_refused(options):
    [(option, value)] = options.items()
    with pytest.raises(ConfigError, match=rf"{option} must be '\w+' for an adapter .*, got '{value}': make the pool"):
        PlayerRows(crowd(**options)[0])


def test_spaces():
    spec = envpool.make_spec("MPE/simple_tag-v3", players="dict")
    observation, action = row_spaces(spec, "a test")
    assert (observation.shape, action.n) == ((16,), 5)
    with pytest.raises(ConfigError, match=r"a test needs players with equal action spaces, .* of .*listener-v4 differ"):
        row_spaces(envpool.make_spec("MPE/simple_speaker_listener-v4"), "a test")
    plugin.load()
    with pytest.raises(ConfigError, match=r"one action array with a row for each player, and .* has action\.move, "):
        row_spaces(envpool.make_spec("Crowd-v0", layout="rich"), "a test")


@pytest.mark.parametrize("own", [[2], [0, 3]])
def test_rows_of_the_controlled_players(own):
    """They are the rows of these players in a pool whose user plays all of them."""
    policy = {"opponents": lambda obs, info: np.zeros(len(obs), int)}
    (pool, _), (whole, _) = crowd(episode_statistics=True, controlled=own, **policy), crowd(episode_statistics=True)
    mine, theirs = PlayerRows(pool), PlayerRows(whole)
    chosen = np.array([e * P + p for e in range(N) for p in own])
    pairs = [mine.first(*pool.reset()), theirs.first(*whole.reset())]
    assert np.array_equal(pairs[0][0], pairs[1][0][chosen])
    num_episodes = 0
    for t in range(40):
        actions = np.zeros(N * P, np.int32)
        actions[chosen] = t % 3
        got, expected = (
            mine.step(pool.step(mine.actions(actions[chosen]))),
            theirs.step(whole.step(theirs.actions(actions))),
        )
        for a, b in zip(got[:4], expected[:4], strict=True):
            assert np.array_equal(a, b[chosen])
        assert np.array_equal(got[4]["token"], expected[4]["token"][chosen])
        assert ("episode" in got[4]) == ("episode" in expected[4])
        if "episode" in got[4]:
            num_episodes += 1
            for part in ("r", "l"):
                assert np.array_equal(got[4]["episode"][part], expected[4]["episode"][part][chosen])
    assert num_episodes


def test_spaces_of_the_controlled_players():
    task = "MPE/simple_speaker_listener-v4"
    for player, count in ((0, 3), (1, 5)):
        _, actions = row_spaces(envpool.make_spec(task, players="grid", controlled=player), "a client")
        assert actions.n == count
    _, actions = row_spaces(envpool.make_spec("ConnectFour-v0", players="grid", controlled=1), "a client")
    assert actions.n == 7
    with pytest.raises(ConfigError, match=r"move in turn: .* control one player, as with controlled=\[0\]"):
        row_spaces(envpool.make_spec("ConnectFour-v0", players="grid"), "a client")
    with pytest.raises(ConfigError, match=r"must name players for an adapter, such as \[0\], got 'alternate'"):
        open_pool("ConnectFour-v0", {"controlled": "alternate"}, players=GRID)
    pool = envpool.make_gymnasium("ConnectFour-v0", controlled="alternate", autoreset_mode="same_step")
    with pool, pytest.raises(ConfigError, match="must name players for an adapter"):
        open_pool(pool, {}, knows_same_step=True, players=GRID)
