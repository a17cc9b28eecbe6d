"""Pools that play some players themselves: each result is that of a loop over single environments."""

import numpy as np
import pytest

import envpool
from envpool.errors import (
    ActionError,
    ConfigError,
    EnvIdError,
    EnvStepError,
    PoolClosedError,
    PoolStateError,
)
from envpool.pools.opponents import opponents_pool as opponents
from tests.support import plugin
from tests.support.crowd import FAIL
from tests.support.results import assert_same
from tests.support.turns import END

NUM_ENVS = 4


def legal_moves(obs, info):
    """A policy that depends on everything it sees."""
    assert obs.shape == (len(obs), 4)
    assert (obs[:, :2] == np.stack([info["env_id"], info["players"]["id"]], 1)).all()
    mask = np.atleast_2d(info["legal_action_mask"])
    assert mask.shape == (len(obs), 7)
    chosen = []
    for row, legal in zip(obs, mask, strict=True):
        moves = np.flatnonzero(legal[:6])
        chosen.append(moves[int(row.sum()) % len(moves)])
    return np.array(chosen, int)


class Reference:
    """One environment with its opponents, stepped one move at a time."""

    def __init__(self, seed, own, options):
        self.own, self.mode = list(own), options["autoreset_mode"]
        options = options | {"autoreset_mode": "disabled", "players": "grid"}
        self.pool = plugin.make_task("Turns-v0", num_envs=1, seed=seed, **options)
        self.id = seed - 42
        self.is_over = True
        self.owed = np.zeros(3, np.float32)

    def reset(self):
        self.obs, self.info = self.pool.reset(np.array([0]))
        self.rows = self.obs[0].copy()
        self.is_over = False
        self.owed[:] = 0
        return self.play_on()

    def play_on(self, reward=None):
        """Let the opponents move; return the sums of rewards, and whether the episode has ended."""
        reward = np.zeros(3, np.float32) if reward is None else reward.copy()
        while not self.is_over and self.info["current_player"][0] not in self.own:
            player = self.info["current_player"][0]
            obs = self.obs[:, player].copy()
            obs[:, 0] = self.id
            mask = self.info["legal_action_mask"]
            row = {"env_id": [self.id], "players": {"id": [player]}, "legal_action_mask": mask[:, player]}
            reward += self.move(legal_moves(obs, row))
        return reward

    def move(self, action):
        self.obs, reward, terminated, truncated, self.info = self.pool.step(action)
        present = self.info["player_mask"][0]
        self.rows[present] = self.obs[0][present]
        self.ends = terminated[0], truncated[0]
        self.is_over = bool(terminated[0] | truncated[0])
        return reward[0]

    def step(self, action):
        """Return obs, rewards, ends, and who moves next, as the pool must return them."""
        self.rows = np.zeros((3, 4), np.int64)
        if self.is_over:
            reward = self.reset()
            return self.seen(), reward, self.ends if self.is_over else (False, False), self.turn()
        reward = self.play_on(self.move(np.array([action]))) + self.owed
        self.owed[:] = 0
        ends = self.ends
        if self.is_over and self.mode == "same_step":
            while self.is_over:
                self.owed = self.reset()
        return self.seen(), reward, ends, self.turn()

    def seen(self):
        obs = self.rows.copy()
        obs[obs.any(1), 0] = self.id
        return obs

    def turn(self):
        return self.info["current_player"][0]


@pytest.mark.parametrize("mode", ["next_step", "same_step", "disabled"])
@pytest.mark.parametrize("own", [(0,), (0, 2)])
@pytest.mark.parametrize("view", ["rows", "grid", "dict"])
def test_turns_are_those_of_a_loop(mode, own, view):
    options = {"autoreset_mode": mode, "masks": "players", "max_episode_steps": 9}
    pool = plugin.make_task(
        "Turns-v0", num_envs=NUM_ENVS, players=view, controlled=own, opponents=legal_moves, **options
    )
    single = [Reference(42 + i, own, options) for i in range(NUM_ENVS)]
    obs, info = pool.reset()
    first = [one.reset() for one in single]
    for one, reward in zip(single, first, strict=True):
        while one.is_over and mode == "same_step":
            reward = one.reset()
        one.owed = reward if not one.is_over else one.owed
    check(obs, np.array([one.seen() for one in single]), info, own, view)
    rng = np.random.default_rng(1)
    num_ends = 0
    for _ in range(60):
        if mode == "disabled":
            ended = [i for i, one in enumerate(single) if one.is_over]
            if ended:
                obs, info = pool.reset(np.array(ended))
                for i in ended:
                    single[i].owed = single[i].reset()
                check(obs, np.array([single[i].seen() for i in ended]), info, own, view)
        ready = [i for i, one in enumerate(single) if mode != "disabled" or not one.is_over]
        actions = []
        for i in ready:
            one = single[i]
            turn = one.turn()
            legal = [0] if turn < 0 else np.flatnonzero(one.info["legal_action_mask"][0, turn][:6])
            actions.append(rng.choice(legal))
        obs, reward, terminated, truncated, info = pool.step(np.array(actions), np.array(ready))
        expected = [single[i].step(action) for i, action in zip(ready, actions, strict=True)]
        check(obs, np.array([e[0] for e in expected]), info, own, view)
        check_reward(reward, np.array([e[1] for e in expected]), info, own, view)
        assert list(zip(terminated, truncated, strict=True)) == [e[2] for e in expected]
        assert info["current_player"].tolist() == [e[3] for e in expected]
        num_ends += (terminated | truncated).sum()
    assert num_ends > 20
    pool.close()


def places_of(array, own, view):
    """Return an array of players as a grid of those that are controlled; rows become that of the only one."""
    if view == "dict":
        return array["agents"]
    return array[:, None] if view == "rows" and len(own) == 1 else array


def check(obs, expected, info, own, view):
    if view == "rows":
        rows = info["players"]
        position = {int(k): i for i, k in enumerate(info["env_id"])}
        assert set(rows["id"]) <= set(own)
        for row, env, player in zip(obs, rows["env_id"], rows["id"], strict=True):
            np.testing.assert_array_equal(row, expected[position[env], player])
        return
    np.testing.assert_array_equal(places_of(obs, own, view), expected[:, list(own)])


def check_reward(reward, expected, info, own, view):
    if view == "rows":
        rows = info["players"]
        position = {int(k): i for i, k in enumerate(info["env_id"])}
        for row, env, player in zip(reward, rows["env_id"], rows["id"], strict=True):
            assert row == expected[position[env], player]
        return
    np.testing.assert_array_equal(places_of(reward, own, view), expected[:, list(own)])


@pytest.mark.parametrize("mode", ["next_step", "same_step", "disabled"])
@pytest.mark.parametrize("view", ["rows", "grid", "dict"])
def test_a_game_without_turns_gets_the_actions_of_the_opponents(mode, view):
    """Players come and go: the pool equals one whose user chooses all actions."""
    own = (0, 3)

    def policy(obs, info):
        return (obs[:, 3] + info["players"]["id"] + info["token"]) % 11

    options = {"num_envs": NUM_ENVS, "autoreset_mode": mode, "places": 5}
    pool = plugin.make_task("Crowd-v0", players=view, controlled=own, opponents=policy, **options)
    plain = plugin.make_task("Crowd-v0", players="grid", **options)
    rng = np.random.default_rng(2)
    pool.reset()
    obs, info = plain.reset()
    for t in range(60):
        everybody = (obs[:, :, 3] + np.arange(5) + info["token"]) % 11
        mine = rng.integers(0, 11, (NUM_ENVS, 2)) if t % 7 else np.full((NUM_ENVS, 2), 13)
        everybody[:, own] = mine
        form = {"agents": mine} if view == "dict" else mine
        if view == "rows":
            form = mine[pool._player_mask(np.arange(NUM_ENVS))[:, own]]
        got = pool.step(form)
        obs, reward, terminated, truncated, info = plain.step(everybody)
        mask = info["player_mask"][:, own]
        for a, b in ((got[0], obs), (got[1], reward), (got[4]["player_terminated"], info["player_terminated"])):
            expected = b[:, own][mask] if view == "rows" else b[:, own]
            np.testing.assert_array_equal(a["agents"] if view == "dict" else a, expected, strict=True)
        np.testing.assert_array_equal(got[2], terminated)
        np.testing.assert_array_equal(got[4]["num_present"], info["num_present"])
        if mode == "disabled" and (terminated | truncated).any():
            ended = np.flatnonzero(terminated | truncated)
            pool.reset(ended)
            first, more = plain.reset(ended)
            obs[ended] = first
            info["token"][ended] = more["token"]
    pool.close()
    plain.close()


def test_actions_of_several_arrays():
    """Opponents choose what belongs to players, and the user what belongs to whole environments."""

    def policy(obs, info):
        return {"move": np.full(len(obs), 2), "push": np.full((len(obs), 2), 0.5)}

    with plugin.make_task("Crowd-v0", num_envs=2, places=3, layout="rich", constant=True, controlled=[1]) as pool:
        pool.reset()
        pool.step(pool.sample_actions())
        pool.reset()
        pool.opponents = policy
        action = {"move": np.array([3, 4], np.int32), "push": np.zeros((2, 2), np.float32)}
        obs, reward, *_, info = pool.step({"action": action | {"mode": np.array([1, 2], np.int32)}})
        assert obs[:, 4].tolist() == [3, 4] and info["mode"].tolist() == [1, 2]
        assert reward.tolist() == [3.125, 4.125]


@pytest.mark.parametrize("mode", ["next_step", "same_step"])
def test_alternate_gives_the_user_another_seat_in_each_episode(mode):
    with envpool.make_gymnasium(
        "ConnectFour-v0", num_envs=4, controlled="alternate", autoreset_mode=mode, episode_statistics=True
    ) as pool:
        obs, info = pool.reset()
        seats = info["players"]["id"]
        assert seats.tolist() == [0, 1, 0, 1]
        ends = np.zeros(4, int)
        for _ in range(120):
            before = seats
            obs, reward, terminated, _, info = pool.step(pool.sample_actions())
            seats = info["players"]["id"]
            assert obs.shape == (4, 6, 7, 2) and reward.shape == (4,)
            ended = np.flatnonzero(terminated)
            if mode == "same_step":
                ends += terminated
            for i in ended:
                assert reward[i] == info["episode"]["player_r"][i, before[i]]
            if mode == "next_step":
                ends += started(info)
            assert seats.tolist() == [(i + ends[i]) % 2 for i in range(4)]
            playing = info["current_player"] >= 0
            assert (info["current_player"] == seats)[playing].all()
            assert (obs[..., 0].sum((1, 2)) <= obs[..., 1].sum((1, 2)))[playing].all()
        assert ends.sum() > 20


def started(info):
    """Whether the result is the first one of an episode: at most the opponent has moved."""
    return info["elapsed_step"] <= info["players"]["id"] * (info["current_player"] >= 0)


def test_random_opponents_are_reproducible_and_legal():
    results = []
    for seed in (3, 3, 4):
        with envpool.make_gymnasium("ConnectFour-v0", num_envs=3, controlled=[1], seed=seed) as pool:
            pool.reset()
            results.append([pool.step(pool.sample_actions(t))[0] for t in range(40)])
    assert all((a == b).all() for a, b in zip(results[0], results[1], strict=True))
    assert not all((a == b).all() for a, b in zip(results[0], results[2], strict=True))


def test_opponents_can_be_exchanged_between_calls():
    with envpool.make_gymnasium("ConnectFour-v0", num_envs=2, controlled=[0]) as pool:
        assert pool.opponents == "random"
        pool.reset()
        pool.opponents = lambda obs, info: np.full(len(obs), 6)
        obs, *_ = pool.step(np.array([0, 1]))
        assert obs[:, 5, 6, 1].tolist() == [1, 1]
        with pytest.raises(TypeError, match="callable policy"):
            pool.opponents = 3
        with pytest.raises(ConfigError, match="'random' or a callable"):
            pool.opponents = "minimax"


def test_an_opponent_that_raises_leaves_the_pool_usable():
    def broken(obs, info):
        raise KeyError("no weights")

    with envpool.make_gymnasium("ConnectFour-v0", num_envs=2, controlled=[0], opponents=broken) as pool:
        pool.reset()
        with pytest.raises(KeyError, match="no weights"):
            pool.step(np.array([0, 1]))
        with pytest.raises(EnvIdError, match=r"still in flight: call recv\(\)"):
            pool.step(np.array([0, 1]))
        with pytest.raises(KeyError):
            pool.recv()
        pool.opponents = lambda obs, info: np.full(len(obs), 6)
        obs, *_, info = pool.recv()
        assert obs[:, 5, 6, 1].tolist() == [1, 1] and obs[0, 5, 0, 0] == 1 and info["elapsed_step"].tolist() == [2, 2]
        pool.opponents = broken
        with pytest.raises(KeyError):
            pool.step(np.array([0, 1]))
        obs, _ = pool.reset()
        assert not obs.any()


@pytest.mark.parametrize("task", ["ConnectFour-v0", "MPE/simple_tag-v3"])
@pytest.mark.parametrize(
    "call",
    [
        lambda pool: pool.step(np.zeros(2, int)),
        lambda pool: pool.send(np.zeros(2, int)),
        lambda pool: pool.recv(),
        lambda pool: pool.reset(),
        lambda pool: pool.reset(np.array([0])),
        lambda pool: pool.async_reset(),
    ],
)
def test_opponents_cannot_use_their_own_pool(task, call):
    """It would step environments whose results are merged, or ask the opponents again, and so on forever."""
    with envpool.make_gymnasium(task, num_envs=2, controlled=[0]) as pool:
        pool.reset()
        pool.opponents = lambda obs, info: call(pool)
        with pytest.raises(PoolStateError, match="opponents cannot step, reset or receive"):
            pool.step(np.array([3, 4]))
        pool.opponents = "random"
        *_, info = pool.step(np.array([3, 4])) if not pool.num_outstanding else pool.recv()
        assert info["elapsed_step"].tolist() == [2, 2] if task == "ConnectFour-v0" else [1, 1]


def test_opponents_that_end_each_episode_first_are_refused(monkeypatch):
    """same_step: the step would not return."""
    monkeypatch.setattr(opponents, "MOST_UNSEEN", 3)
    options = {"num_envs": 2, "masks": "none", "controlled": [2], "autoreset_mode": "same_step"}
    with plugin.make_task("Turns-v0", opponents=lambda obs, info: np.full(len(obs), END), **options) as pool:
        with pytest.raises(PoolStateError, match=r"but ended 3 episodes of env \d in a row before one"):
            pool.reset() and [pool.step(np.full(2, END)) for _ in range(20)]
        pool.opponents = lambda obs, info: np.zeros(len(obs), int)
        assert pool.recv()[-1]["current_player"].tolist() == [2, 2]


@pytest.mark.parametrize("task", ["ConnectFour-v0", "MPE/simple_tag-v3"])
def test_an_opponent_may_close_the_pool(task):
    pool = envpool.make_gymnasium(task, num_envs=2, controlled=[0])
    pool.reset()

    def close(obs, info):
        pool.close()
        return np.zeros(len(obs), int)

    pool.opponents = close
    with pytest.raises(PoolClosedError):
        pool.step(np.array([3, 4]))


@pytest.mark.parametrize("task", ["ConnectFour-v0", "MPE/simple_tag-v3"])
def test_a_reset_with_seeds_also_begins_the_random_opponents_again(task):
    with envpool.make_gymnasium(task, num_envs=2, controlled=[0]) as pool:
        results = []
        for seed in (3, 3, [3, 4], 4):
            pool.reset(seed=seed)
            results.append(np.stack([pool.step(np.array([k % 5, k // 2]))[0] for k in range(6)]))
        assert (results[0] == results[1]).all() and (results[0] == results[2]).all()
        assert (results[0] != results[3]).any()


def test_a_reset_with_seeds_also_begins_the_seats_again():
    with envpool.make_gymnasium("ConnectFour-v0", num_envs=3, controlled="alternate", seed=1) as pool:
        for _ in range(2):
            pool.reset()
        assert pool.reset(seed=5)[1]["players"]["id"].tolist() == [0, 1, 0]
        assert pool.reset()[1]["players"]["id"].tolist() == [1, 0, 1]
        assert pool.reset([2, 1], seed=[None, 7])[1]["players"]["id"].tolist() == [0, 1]


def test_players_that_are_absent_from_the_next_episode_do_not_act():
    """same_step: their rows are those of the last episode. Opponents are not asked for them, nor are their users."""
    asked = []

    def policy(obs, info):
        asked.append(obs.copy())
        return np.zeros(len(obs), np.int64)

    options = {"num_envs": 3, "places": 5, "episode_length": 4, "autoreset_mode": "same_step", "seed": 0}
    with plugin.make_task("Crowd-v0", players="rows", controlled=[1, 2, 4], opponents=policy, **options) as pool:
        obs, info = pool.reset()
        absent = 0
        for _ in range(40):
            acts = obs.any(1)
            absent += (~acts).sum()
            owners, players = info["players"]["env_id"][acts], info["players"]["id"][acts]
            obs, _, _, _, info = pool.step(
                {
                    "action": np.zeros(acts.sum(), np.int32),
                    "env_id": np.arange(3, dtype=np.int32),
                    "players": {"env_id": owners, "id": players},
                }
            )
        assert absent and all(rows.any(1).all() for rows in asked)


def test_calls_for_no_environment_have_empty_results():
    with envpool.make_gymnasium("ConnectFour-v0", num_envs=2, controlled=[0]) as pool:
        pool.reset()
        nobody = np.zeros(0, np.int32)
        obs, reward, *_, info = pool.step(nobody, nobody)
        assert obs.shape == (0, 6, 7, 2) and reward.shape == info["env_id"].shape == (0,)
        assert pool.reset(nobody)[0].shape == (0, 6, 7, 2)
        assert pool.step(np.array([0, 1]))[0].shape == (2, 6, 7, 2)


@pytest.mark.parametrize(
    ("error", "text", "ids"),
    [
        (EnvIdError, r"two rows are of player 0 of env 0", ([0, 0, 1, 1], [0, 0, 0, 2])),
        (EnvIdError, r"id\[1\] is 1, which is not a controlled player of env 0: those are \[0, 2\]", ([0, 0], [0, 1])),
        (EnvIdError, r"id\[1\] is 9, which is not a controlled player", ([0, 0], [0, 9])),
        (EnvIdError, r"player 2 of env 1 acts, but has no row", ([0, 0, 1], [0, 2, 0])),
        (EnvIdError, r"env_id\[1\] is 5, which is not in env_id", ([0, 5], [0, 2])),
        (EnvIdError, r"once for each of its controlled players", ([0, 0, 1], None)),
        (ActionError, r"id has 3 entries, and players.env_id 4", ([0, 0, 1, 1], [0, 2, 0])),
        (EnvIdError, r"players.id must be a 1-D array of integers", ([0, 0, 1, 1], [0.0, 2.0, 0.0, 2.0])),
        (EnvIdError, r"players.env_id must be a 1-D array of integers", ([{}] * 4, [0, 2, 0, 2])),
        (EnvIdError, r"players.id must be a 1-D array of integers", ([0, 0, 1, 1], [[0, 2], [0, 2]])),
        (ActionError, r"'players.id' without 'players.env_id'", (None, [0, 2, 0, 2])),
    ],
)
def test_rows_that_name_their_players_are_checked(error, text, ids):
    with plugin.make_task("Crowd-v0", num_envs=2, places=3, constant=True, controlled=[0, 2]) as pool:
        pool.reset()
        players = {name: np.array(part) for name, part in zip(("env_id", "id"), ids, strict=True) if part is not None}
        count = len(ids[0] or ids[1])
        with pytest.raises(error, match=text):
            pool.step({"action": np.zeros(count, int), "env_id": np.arange(2), "players": players})
        pool.opponents = lambda obs, info: np.zeros(len(obs), int)
        own = {"env_id": np.array([1, 0, 1, 0])}  # without id: those of an environment in order
        obs, *_ = pool.step({"action": np.array([5, 6, 7, 8]), "env_id": np.array([0, 1]), "players": own})
        assert obs[:, 4].tolist() == [6, 8, 5, 7]


def test_rows_of_turns_that_name_their_players_are_checked():
    with envpool.make_gymnasium("ConnectFour-v0", num_envs=2, controlled=[0]) as pool:
        pool.reset()
        pool.opponents = lambda obs, info: np.full(len(obs), 6)
        action = {"action": np.array([3, 4]), "env_id": np.arange(2)}
        for wrong in ({"env_id": [0, 0], "id": [0, 0]}, {"env_id": [0, 1], "id": [1, 1]}):
            with pytest.raises(EnvIdError):
                pool.step(action | {"players": {k: np.array(v) for k, v in wrong.items()}})
        right = {"env_id": np.array([1, 0]), "id": np.array([0, 0])}
        obs, *_ = pool.step(action | {"players": right})
        assert obs[0, 5, 4, 0] == obs[1, 5, 3, 0] == 1


def test_illegal_or_misshapen_moves_of_opponents_are_refused_and_can_be_repeated():
    with envpool.make_gymnasium("ConnectFour-v0", num_envs=2, controlled=[0]) as pool:
        pool.reset()
        for wrong, text in (
            (lambda obs, info: np.full(len(obs), 7), "integers from 0 to 6"),
            (lambda obs, info: np.zeros((len(obs), 2)), "expected numbers of shape"),
            (lambda obs, info: None, "opponents returned"),
            (lambda obs, info: {"action": [0, 1]}, r"opponents must return an array of actions, got \{'action': \["),
            (lambda obs, info: [[1, 2], [3]], "what opponents return for 'action' must be an array"),
        ):
            pool.opponents = wrong
            with pytest.raises(ActionError, match=text):
                pool.step(np.array([0, 1])) if not pool.num_outstanding else pool.recv()
        pool.opponents = "random"
        assert pool.recv()[4]["elapsed_step"].tolist() == [2, 2]


@pytest.mark.parametrize("on_error", ["raise", "restart"])
def test_failures_of_environments(on_error):
    with plugin.make_task("Turns-v0", num_envs=2, masks="none", controlled=[0], on_error=on_error) as pool:
        pool.opponents = lambda obs, info: np.where(info["env_id"] == 1, 6, 0)
        if on_error == "raise":
            with pytest.raises(EnvStepError):
                pool.reset() and pool.step(np.zeros(2, int))
            batch = pool.recv()
        else:
            pool.reset()
            batch = pool.step(np.zeros(2, int))
            while "error" not in batch[-1]:
                batch = pool.step(np.zeros(2, int))
            assert batch[-1]["_error"].tolist() == [False, True]
        assert len(batch[-1]["env_id"]) == 2


def test_actions_of_the_user_are_checked_and_nothing_is_sent():
    with plugin.make_task("Crowd-v0", num_envs=2, places=3, constant=True, controlled=[0, 2]) as pool:
        asked = []
        pool.opponents = lambda obs, info: asked.append(info) or np.zeros(len(obs), int)
        pool.reset()
        with pytest.raises(ActionError, match=r"player 2 of env 1 .* from 0 to 15, got 99"):
            pool.step(np.array([0, 1, 2, 99]))
        with pytest.raises(ActionError, match="must be an array"):
            pool.step([[1, 2], [3]])
        with pytest.raises(ActionError, match=r"shape \(4,\), a row .* \(2, 2\), .* got \(3,\)"):
            pool.step(np.zeros(3, int))
        assert not asked
        own = {"env_id": np.array([1, 0, 0, 1]), "id": np.array([2, 2, 0, 0])}
        obs, *_ = pool.step({"action": np.array([5, 6, 7, 8]), "env_id": np.array([0, 1]), "players": own})
        assert obs[:, 4].tolist() == [7, 6, 8, 5]
        with pytest.raises(EnvStepError):
            pool.step(np.full(4, FAIL))
        assert pool.recv()[3].tolist() == [True, True]


@pytest.mark.parametrize("style", ["dm", "gym"])
def test_other_styles(style):
    with envpool.make("ConnectFour-v0", style, num_envs=3, controlled=[1]) as pool:
        result = pool.reset()
        for _ in range(30):
            result = pool.step(pool.sample_actions())
            if style == "dm":
                assert result.observation.obs.shape == (3, 6, 7, 2)
                ended = result.observation.current_player < 0
                np.testing.assert_array_equal(result.step_type == 2, ended)
                np.testing.assert_array_equal(result.discount, 1 - ended)


def test_spaces_are_those_of_the_controlled_players():
    pool = envpool.make_gymnasium("MPE/simple_tag-v3", players="dict", controlled="adversary")
    assert list(pool.observation_space) == list(pool.action_space) == ["adversary"]
    obs, _ = pool.reset()
    assert pool.observation_space["adversary"].contains(obs["adversary"][0])
    pool.step(pool.sample_actions())
    pool.close()
    with envpool.make_gymnasium("MPE/simple_tag-v3", players="grid", controlled=[1, 3], num_envs=2) as pool:
        obs, _ = pool.reset()
        assert pool.observation_space.shape == (2, 16) and pool.observation_space.contains(obs[0])
        assert pool.step(pool.sample_actions())[1].shape == (2, 2)
    for player, count in ((0, 3), (1, 5)):  # a speaker, and a listener
        with envpool.make_gymnasium("MPE/simple_speaker_listener-v4", controlled=[player]) as pool:
            assert pool.action_space.n == pool.spec.action_spec().num_values == count


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"controlled": [2]}, "players of ConnectFour-v0, 0 to 1, got 2"),
        ({"controlled": ["red"]}, r"names of groups \(agents\)"),
        ({"controlled": []}, "one or more different players"),
        ({"controlled": [0, "agents"]}, "name each player once"),
        ({"opponents": len}, "pass controlled"),
        ({"controlled": "alternate", "players": "grid"}, "players must be 'rows'"),
    ],
)
def test_options_are_checked(options, text):
    with pytest.raises(ConfigError, match=text):
        envpool.make_gymnasium("ConnectFour-v0", **options)


def test_tasks_without_players_or_with_unequal_spaces_refuse_the_options():
    with pytest.raises(ConfigError, match="CartPole-v1 has one player"):
        envpool.make_spec("CartPole-v1", controlled=[0])
    with pytest.raises(ConfigError, match="equal spaces"):
        envpool.make_spec("MPE/simple_tag-v3", controlled="alternate")
    with pytest.raises(ConfigError, match="equal spaces"):  # equal shapes, but other bounds of actions
        plugin.make_task("Crowd-v0", num_envs=1, groups=True, controlled="alternate")
    assert envpool.make_spec("MPE/simple_spread-v3", controlled="alternate").controlled == "alternate"
    with envpool.make_gymnasium("CartPole-v1") as pool, pytest.raises(ConfigError, match="with controlled"):
        pool.opponents = "random"


def test_what_does_not_know_opponents_refuses_them():
    text = "without the option controlled"
    with envpool.make_gymnasium("ConnectFour-v0", controlled=[0]) as pool, pytest.raises(ConfigError, match=text):
        pool.xla()


def test_a_spec_keeps_the_options():
    for wrong in ([True, False], np.array([True, False]), True, [0.0], np.zeros(2), np.zeros((1, 1), int)):
        with pytest.raises(TypeError, match="controlled must have numbers of players or names of groups"):
            envpool.make_spec("ConnectFour-v0", controlled=wrong)
    assert envpool.make_spec("ConnectFour-v0", controlled=np.array([1])).controlled == (1,)
    spec = envpool.make_spec("ConnectFour-v0", controlled=1, opponents="random")
    assert spec.controlled == (1,) and spec.shown_players == (1,)
    with envpool.make_gymnasium(spec, num_envs=2) as pool:
        _, info = pool.reset()
        assert info["players"]["id"].tolist() == [1, 1]


@pytest.mark.parametrize("controlled", [0, 1, "alternate"])
def test_episodes_in_which_nobody_could_move_are_refused(controlled):
    """The opponent would begin each of them, and end it by its only move, forever."""
    options = {"num_envs": 2, "controlled": controlled, "max_episode_steps": 1}
    with pytest.raises(ConfigError, match=r"max_episode_steps must be at least 2.*same_step.*got 1"):
        envpool.make_gymnasium("ConnectFour-v0", autoreset_mode="same_step", **options)
    with envpool.make_gymnasium("ConnectFour-v0", **options) as pool:
        pool.reset()
        pool.step(pool.sample_actions())


def test_an_opponent_may_write_to_what_it_gets():
    def lowest(obs, info):
        return info["legal_action_mask"].argmax(1)

    def writes(obs, info):
        moves = lowest(obs, info)
        for array in (obs, *info.values(), *info["players"].values()):
            if isinstance(array, np.ndarray):
                array.fill(0)
        return moves

    pools = [
        envpool.make_gymnasium("ConnectFour-v0", num_envs=4, controlled="alternate", opponents=policy, seed=5)
        for policy in (lowest, writes)
    ]
    assert_same(*(pool.reset() for pool in pools))
    for t in range(30):
        actions = pools[0].sample_actions(np.random.default_rng(t))
        assert_same(*(pool.step(actions.copy()) for pool in pools))
