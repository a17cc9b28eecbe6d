"""`evaluate` and `record` of tasks with players: policies take and return grids, and each player has its return."""

import json

import imageio.v3
import numpy as np
import pytest

import envpool
from envpool.errors import ConfigError
from envpool.evaluation.datasets import read_episodes
from envpool.evaluation.result import MOST_SHOWN
from tests.support import plugin

P = 4
CROWD = {"num_envs": 3, "places": P, "players": "grid", "seed": 3, "episode_length": 6}


def act(obs):
    """Return actions that depend on the observations (num_envs, P, 8) of crowds, none of which ends an episode."""
    return (obs[..., 1] + obs[..., 3]) % 10


def played(steps, pool):
    """Return the episodes of `act` by (env, number), each a list of steps: (obs, mask, action, reward, flags)."""
    found, (obs, info) = {}, pool.reset()
    mask, numbers, begins = info["player_mask"], [0] * 3, np.zeros(3, bool)
    for i in range(3):
        found[i, 0] = [(obs[i], mask[i])]
    for _ in range(steps):
        action = act(obs)
        obs, reward, terminated, truncated, info = pool.step(action)
        for i in range(3):
            if begins[i]:
                numbers[i] += 1
                found[i, numbers[i]] = [(obs[i], info["player_mask"][i])]
                continue
            ends = info["player_terminated"][i], info["player_truncated"][i], terminated[i], truncated[i]
            found[i, numbers[i]].append((obs[i], info["player_mask"][i], action[i], reward[i], *ends))
        begins = terminated | truncated
    return found


@pytest.mark.parametrize("mode", ["next_step", "same_step", "disabled"])
@pytest.mark.parametrize("counted", [False, True])
def test_each_player_has_a_return(mode, counted):
    plugin.load()
    with envpool.make_gymnasium("Crowd-v0", **CROWD) as pool:
        expected = played(40, pool)
    options = CROWD | {"autoreset_mode": mode, "episode_statistics": counted}
    with envpool.make_gymnasium("Crowd-v0", **options) as pool:
        result = envpool.evaluate(act, pool, 7)
    assert len(result) == 7 and result.groups == {"agents": (0, 1, 2, 3)}
    for i, number, total, returns, length in zip(
        result.env_ids, result.numbers, result.returns, result.player_returns, result.lengths, strict=True
    ):
        steps = expected[i, number][1:]
        np.testing.assert_allclose(returns, np.sum([step[3] for step in steps], axis=0, dtype=np.float64))
        assert total == pytest.approx(returns.sum()) and length == len(steps)
    assert (result.player_returns[:, 2:] < result.player_returns[:, :1]).any()  # players that were not always there


def in_view(view):
    """Return the policy `act` for a form of the observations."""
    return (lambda obs: {group: act(array) for group, array in obs.items()}) if view == "dict" else act


@pytest.mark.parametrize("own", [None, [1, 3]])
@pytest.mark.parametrize("mode", ["next_step", "same_step", "disabled"])
@pytest.mark.parametrize("view", ["rows", "dict"])
def test_each_form_has_the_same_episodes(view, mode, own, tmp_path):
    """Policies see and return rows or groups; results and datasets have a place for each player."""
    plugin.load()
    options = CROWD | {"autoreset_mode": mode, "groups": True}
    if own is not None:
        options |= {"controlled": own, "opponents": lambda obs, info: act(obs)}
    found = []
    for players in ("grid", view):
        with envpool.make_gymnasium("Crowd-v0", **options | {"players": players}) as pool:
            found.append(envpool.evaluate(in_view(players), pool, 7))
            if mode != "same_step":
                recording = envpool.record(pool, in_view(players), tmp_path / f"{players}.npz", episodes=6)
                assert recording.episodes == 6
    for name in ("returns", "lengths", "player_returns", "env_ids"):
        np.testing.assert_array_equal(getattr(found[0], name), getattr(found[1], name))
    if mode == "same_step":
        return
    for one, other in zip(*(read_episodes(tmp_path / f"{name}.npz") for name in ("grid", view)), strict=True):
        np.testing.assert_array_equal(one.obs["obs"][..., :6], other.obs["obs"][..., :6])
        acted = one.reward != 0
        np.testing.assert_array_equal(one.action["action"][acted], other.action["action"][acted])
        for name in one.players:
            np.testing.assert_array_equal(one.players[name], other.players[name])


@pytest.mark.parametrize("view", ["rows", "dict"])
def test_random_policies_of_each_form(view, tmp_path):
    path = tmp_path / "tag.gif"
    options = {"players": view, "render_width": 32, "render_height": 32, "max_episode_steps": 4}
    result = envpool.evaluate("random", "MPE/simple_tag-v3", 4, num_envs=2, video=path, **options)
    assert result.player_returns.shape == (4, 4)
    with envpool.make_gymnasium("ConnectFour-v0", num_envs=2, players=view) as pool:
        assert set(envpool.evaluate("random", pool, 4).player_returns.ravel()) <= {-1, 0, 1}
    plugin.load()
    with envpool.make_gymnasium(
        "Crowd-v0", num_envs=2, places=3, layout="rich", players=view, episode_length=4
    ) as pool:
        envpool.record(pool, "random", tmp_path / "rich.npz", episodes=2)
    for episode in read_episodes(tmp_path / "rich.npz"):
        shapes = {name: array.shape[1:] for name, array in episode.action.items()}
        assert shapes == {"action:action.move": (3,), "action:action.push": (3, 2), "action:action.mode": ()}


def test_a_task_is_played_as_a_grid():
    seen = []

    def policy(obs):
        seen.append(obs.shape)
        return np.zeros(obs.shape[:2], np.int32)

    result = envpool.evaluate(policy, "MPE/simple_tag-v3", 6, seeds=0, num_envs=3)
    assert set(seen) == {(3, 4, 16)}
    assert result.player_returns.shape == (6, 4) and (result.lengths == 25).all()
    groups = result.group_returns()
    np.testing.assert_allclose(groups["adversary"], result.player_returns[:, :3].sum(1))
    np.testing.assert_allclose(groups["agent"], result.player_returns[:, 3])
    names = ["return", "return of adversary", "return of agent", *(f"return of player {p}" for p in range(4)), "length"]
    assert list(result.summary()) == names
    table = str(result)
    assert [name for name in names if f"{name}  " not in table] == []
    described = json.loads(json.dumps(result.to_dict()))
    assert described["episodes"][2]["player_returns"] == result.player_returns[2].tolist()
    assert described["summary"]["return of agent"]["mean"] == pytest.approx(groups["agent"].mean())


def test_many_players_are_left_out_of_the_table():
    result = envpool.evaluate("random", "MPE/simple_spread-v3", 2, N=MOST_SHOWN + 1)
    assert "return of player" not in str(result) and "return of player 16" in result.summary()


def test_a_policy_plays_in_the_dm_style():
    def policy(state):
        assert state.player_mask.all()
        return np.ones(state.obs.shape[:2], np.int32)

    options = {"num_envs": 2, "players": "grid", "seed": 5}
    with envpool.make_dm("MPE/simple_spread-v3", **options) as pool:
        result = envpool.evaluate(policy, pool, 4)
    with envpool.make_gymnasium("MPE/simple_spread-v3", **options) as pool:
        other = envpool.evaluate(lambda obs: np.ones(obs.shape[:2], np.int32), pool, 4)
    np.testing.assert_array_equal(result.player_returns, other.player_returns)


@pytest.mark.parametrize("mode", ["next_step", "disabled"])
def test_datasets_equal_what_the_pool_has_returned(mode, tmp_path):
    plugin.load()
    with envpool.make_gymnasium("Crowd-v0", **CROWD) as pool:
        expected = played(40, pool)
    path = tmp_path / "crowd.npz"
    with envpool.make_gymnasium("Crowd-v0", **CROWD, autoreset_mode=mode) as pool:
        recording = envpool.record(pool, act, path, episodes=8)
    episodes = list(read_episodes(path))
    assert recording.episodes == len(episodes) == 8 and recording.steps == sum(map(len, episodes))
    assert recording.mean_return == pytest.approx(np.mean([e.reward.sum(dtype=np.float64) for e in episodes]))
    num_absent = 0
    for e in episodes:
        steps = expected[e.env_id, e.number]
        np.testing.assert_array_equal(e.obs["obs"], [step[0] for step in steps])
        np.testing.assert_array_equal(e.players["player_mask"], [step[1] for step in steps])
        arrays = e.action["action"], e.reward, e.players["player_terminated"], e.players["player_truncated"]
        for k, array in enumerate((*arrays, e.terminated, e.truncated)):
            np.testing.assert_array_equal(array, [step[2 + k] for step in steps[1:]])
        num_absent += (~e.players["player_mask"]).sum()
    assert num_absent > 10
    with np.load(path) as file:
        sums = [e.reward.sum(axis=0, dtype=np.float64) for e in episodes]
        np.testing.assert_allclose(file["player_return"], sums)
        np.testing.assert_allclose(file["return"], np.sum(sums, axis=1))


def test_an_episode_that_is_cut_is_truncated_for_the_players_that_are_present(tmp_path):
    plugin.load()
    with envpool.make_gymnasium("Crowd-v0", **CROWD) as pool:
        envpool.record(pool, act, tmp_path / "a.npz", steps=24)
    cut = [e for e in read_episodes(tmp_path / "a.npz") if not e.terminated.any()]
    assert cut
    for e in cut:
        assert e.truncated[-1] and not e.truncated[:-1].any()
        mask = e.players["player_mask"][-1]
        assert e.players["player_truncated"][-1][mask].all() and not e.players["player_truncated"][-1][~mask].any()


def test_videos(tmp_path):
    path = tmp_path / "spread.mp4"
    envpool.evaluate("random", "MPE/simple_spread-v3", 3, video=path, render_width=64, render_height=64)
    for which in ("best", "median", "worst"):
        assert len(imageio.v3.imread(tmp_path / f"spread-{which}.mp4")) == 26
    options = {"render_mode": "rgb_array", "render_width": 64, "render_height": 64, "players": "grid"}
    with envpool.make_gymnasium("MPE/simple_spread-v3", num_envs=2, **options) as pool:
        recording = envpool.record(pool, "random", path, steps=30)
    assert recording.episodes == 2 and recording.steps == 58 and recording.mean_return < 0
    assert len(imageio.v3.imread(path)) == 31


def test_what_is_not_available_is_refused(tmp_path):
    with envpool.make_dm("MPE/simple_spread-v3", num_envs=2) as pool:
        for play in (lambda: envpool.evaluate("random", pool), lambda: envpool.record(pool, "random", "a.npz")):
            with pytest.raises(ConfigError, match=r"dm style must be 'grid', got 'rows'"):
                play()
    with envpool.make_gymnasium("MPE/simple_spread-v3", num_envs=2) as pool:
        with pytest.raises(
            ConfigError, match=r"must have the shape \(6,\), a row .* or \(2, 3\), a place .* got \(4,\)"
        ):
            envpool.evaluate(lambda obs: np.zeros(4, np.int32), pool)
        with pytest.raises(ConfigError, match=r"a policy must return actions with the array 'action', got \{'move'"):
            envpool.evaluate(lambda obs: {"move": np.zeros(6, np.int32)}, pool)
        with pytest.raises(ConfigError, match=r"the action of a policy must be an array, got \[\[0, 0\], \[1\]\]:"):
            envpool.evaluate(lambda obs: [[0, 0], [1]], pool)
    with envpool.make_gymnasium("MPE/simple_spread-v3", num_envs=2, players="grid", frame_stack=2) as pool:
        with pytest.raises(ConfigError, match=r"Minari's format has no players: write spread-v0.npz or"):
            envpool.record(pool, "random", tmp_path / "spread-v0")
        with pytest.raises(ConfigError, match="frames_once is not available for tasks with players"):
            envpool.record(pool, "random", tmp_path / "a.npz", frames_once=True)
        with pytest.raises(
            ConfigError, match=r"the shape \(2, 3, ...\), a place for each player of each environ.* \(6,\)"
        ):
            envpool.evaluate(lambda obs: np.zeros(6, np.int32), pool)
        with pytest.raises(ConfigError, match=r"the action of a policy must be an array"):
            envpool.evaluate(lambda obs: [[0, 0], [1]], pool)
    options = {"num_envs": 2, "players": "grid", "autoreset_mode": "same_step"}
    text = "autoreset_mode must be 'next_step' or 'disabled' .*, got 'same_step'"
    with envpool.make_gymnasium("MPE/simple_spread-v3", **options) as pool, pytest.raises(ConfigError, match=text):
        envpool.record(pool, "random", tmp_path / "a.npz")


@pytest.mark.parametrize("mode", ["next_step", "same_step", "disabled"])
@pytest.mark.parametrize("counted", [False, True])
def test_a_policy_against_opponents_has_the_returns_of_its_own_players(mode, counted):
    """The returns are those of a pool in which it plays all players."""
    plugin.load()

    def opponents(obs, info):
        return act(obs)

    options = CROWD | {"autoreset_mode": mode, "episode_statistics": counted}
    with envpool.make_gymnasium("Crowd-v0", **options) as pool:
        expected = envpool.evaluate(act, pool, 7)
    with envpool.make_gymnasium("Crowd-v0", **options, controlled=[1, 3], opponents=opponents) as pool:
        result = envpool.evaluate(act, pool, 7)
    np.testing.assert_array_equal(result.player_returns, expected.player_returns[:, [1, 3]])
    np.testing.assert_array_equal(result.returns, expected.player_returns[:, [1, 3]].sum(1))
    np.testing.assert_array_equal(result.group_returns()["agents"], result.returns)
    np.testing.assert_array_equal(result.lengths, expected.lengths)
    assert [name for name in result.summary() if "player" in name] == ["return of player 1", "return of player 3"]


def test_turns_against_random_opponents_repeat_with_seeds(tmp_path):
    options = {"num_envs": 3, "players": "grid", "controlled": [1], "max_episode_steps": 5}
    with envpool.make_gymnasium("ConnectFour-v0", **options, render_mode="rgb_array") as pool:
        one, other = (envpool.evaluate("random", pool, 5, seeds=7, video=tmp_path / "run.gif") for _ in range(2))
    assert one.to_dict() == other.to_dict() and set(one.player_returns.ravel()) <= {-1, 0, 1}
    envpool.evaluate("random", "ConnectFour-v0", 3, controlled=[0], max_episode_steps=5, video=tmp_path / "task.gif")
    assert (tmp_path / "task-best.gif").exists()


def test_datasets_have_the_controlled_players(tmp_path):
    options = {"num_envs": 2, "players": "grid", "controlled": [0, 2]}
    with envpool.make_gymnasium("MPE/simple_spread-v3", **options) as pool:
        envpool.record(pool, "random", tmp_path / "own.npz", episodes=2)
    for episode in read_episodes(tmp_path / "own.npz"):
        assert episode.obs["obs"].shape == (26, 2, 18) and episode.reward.shape == (25, 2)


@pytest.mark.parametrize("mode", ["next_step", "same_step", "disabled"])
@pytest.mark.parametrize("counted", [False, True])
def test_a_policy_that_alternates_has_the_returns_of_its_player(mode, counted):
    """The returns are those of a pool in which the same policy plays all players."""
    plugin.load()
    options = {"num_envs": 3, "seed": 3, "places": P, "episode_length": 6}
    options |= {"autoreset_mode": mode, "episode_statistics": counted}
    own = {"controlled": "alternate", "opponents": lambda obs, info: act(obs)}
    with envpool.make_gymnasium("Crowd-v0", **options, players="grid") as pool:
        expected = envpool.evaluate(act, pool, 7)
    with envpool.make_gymnasium("Crowd-v0", **options, **own) as pool:
        result = envpool.evaluate(act, pool, 7)
    seats = (result.env_ids + result.numbers) % P
    for returned, all_of_them, seat in zip(result.player_returns, expected.player_returns, seats, strict=True):
        np.testing.assert_array_equal(returned, np.where(np.arange(P) == seat, all_of_them, np.nan))
    np.testing.assert_array_equal(result.returns, expected.player_returns[np.arange(7), seats])
    np.testing.assert_array_equal(result.group_returns()["agents"], result.returns)
    np.testing.assert_array_equal(result.lengths, expected.lengths)
    summary = result.summary()
    assert summary["return of player 2"].mean == pytest.approx(result.returns[seats == 2].mean())


def test_turns_that_alternate(tmp_path):
    """Each game is that of one player, and games are played again for videos."""
    options = {"controlled": "alternate", "opponents": lambda obs, info: info["legal_action_mask"][:, ::-1].argmax(1)}
    rows = []

    def act(obs):
        rows.append(obs.shape)
        return obs.any(3).sum(1).argmin(1)  # the emptiest column

    result = envpool.evaluate(act, "ConnectFour-v0", 5, num_envs=2, **options, video=tmp_path / "run.gif")
    assert set(rows) == {(2, 6, 7, 2)} and (tmp_path / "run-worst.gif").exists()
    assert np.isnan(result.player_returns).sum(axis=1).tolist() == [1] * 5
    assert np.isnan(result.player_returns).sum(axis=0).tolist() == [2, 3]
    assert json.loads(json.dumps(result.to_dict(), allow_nan=False))["episodes"][0]["player_returns"][1] is None
    only = envpool.evaluate("random", "ConnectFour-v0", 1, controlled="alternate")
    assert [*only.summary()] == ["return", "return of player 0", "length"]


def test_datasets_refuse_players_that_alternate(tmp_path):
    text = r"of its own, such as one with controlled=\[0\]"
    options = {"num_envs": 2, "controlled": "alternate"}
    with envpool.make_gymnasium("ConnectFour-v0", **options) as pool, pytest.raises(ConfigError, match=text):
        envpool.record(pool, "random", tmp_path / "run.npz")


def test_seats_begin_anew_in_a_pool_that_was_used() -> None:
    options = {"controlled": "alternate", "opponents": "random", "seed": 1}
    with envpool.make_gymnasium("ConnectFour-v0", num_envs=2, **options) as pool:
        first, second = (envpool.evaluate("random", pool, episodes=5, seeds=3) for _ in range(2))
    np.testing.assert_array_equal(first.player_returns, second.player_returns)
    np.testing.assert_array_equal(first.lengths, second.lengths)


@pytest.mark.parametrize("mode", ["next_step", "same_step", "disabled"])
def test_lengths_count_the_moves_of_all_players(mode):
    def leftmost(obs, info):
        return info["legal_action_mask"].argmax(1)

    options = {"num_envs": 2, "controlled": [1], "opponents": leftmost, "autoreset_mode": mode}
    lengths = []
    for counted in (False, True):
        with envpool.make_gymnasium("ConnectFour-v0", episode_statistics=counted, **options) as pool:
            lengths.append(envpool.evaluate("random", pool, 5).lengths.tolist())
    assert lengths[0] == lengths[1] and min(lengths[0]) > 6


@pytest.mark.parametrize("view", ["rows", "dict"])
def test_policies_of_turns_may_return_an_action_for_each_player(view):
    def form(array):
        return {"agents": array} if view == "dict" else array.ravel()

    def act(obs):
        boards = obs["agents"] if view == "dict" else obs.reshape(2, 2, 6, 7, 2)
        return form(boards.any(4).sum(2).argmin(2))  # the emptiest column

    with envpool.make_gymnasium("ConnectFour-v0", num_envs=2, players="grid") as pool:
        expected = envpool.evaluate(lambda obs: obs[:, 0].any(3).sum(1).argmin(1), pool, 2)
    with envpool.make_gymnasium("ConnectFour-v0", num_envs=2, players=view) as pool:
        result = envpool.evaluate(act, pool, 2)
    np.testing.assert_array_equal(result.player_returns, expected.player_returns)
    np.testing.assert_array_equal(result.lengths, expected.lengths)
