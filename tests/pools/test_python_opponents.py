"""Opponents in pools of Python environments: infos are those of the controlled players."""

import itertools

import gymnasium
import numpy as np
import pytest
from pettingzoo.classic import tictactoe_v3

import envpool

AGENTS = ("a_0", "a_1", "a_2")


class Race:
    """A parallel environment in the form of PettingZoo; agent k leaves after k + 2 steps."""

    possible_agents = AGENTS

    def observation_space(self, agent):
        return gymnasium.spaces.Box(-99, 99, (2,), np.float32)

    def action_space(self, agent):
        return gymnasium.spaces.Discrete(9)

    def reset(self, seed=None, options=None):
        self.agents, self.count = list(AGENTS), 0
        return self._seen(dict.fromkeys(AGENTS, 0))

    def _seen(self, actions):
        obs = {a: np.array([self.count, actions[a]], np.float32) for a in actions}
        infos = {a: {"speed": 10 * actions[a] + self.count, "deep": {"name": a}} for a in actions}
        return obs, infos

    def step(self, actions):
        self.count += 1
        obs, infos = self._seen(actions)
        ended = {a: self.count == int(a[-1]) + 2 for a in actions}
        self.agents = [a for a in self.agents if not ended[a]]
        return obs, {a: float(actions[a]) for a in actions}, ended, dict.fromkeys(actions, False), infos


def policy(obs, info):
    return (obs[:, 0].astype(int) + info["players"]["id"]) % 9


@pytest.mark.parametrize("mode", ["next_step", "same_step"])
@pytest.mark.parametrize(
    ("view", "own"),
    [*((view, own) for view in ("rows", "grid", "dict") for own in ((1,), (0, 2))), ("rows", "alternate")],
)
def test_results_and_infos_are_those_of_a_pool_without_opponents(mode, view, own):
    num_envs = 3
    options = {"num_envs": num_envs, "autoreset_mode": mode, "num_threads": 1}
    pool = envpool.make_python(Race, players=view, controlled=own, opponents=policy, **options)
    plain = envpool.make_python(Race, players="grid", **options)
    with pool, plain:
        pool.reset()
        obs, _ = plain.reset()
        seats = np.arange(num_envs)[:, None] if own == "alternate" else np.array([own] * num_envs)
        for t in range(12):
            actions = (obs[..., 0].astype(int) + np.arange(3)) % 9
            np.put_along_axis(actions, seats, 8 - t % 4, 1)
            obs, reward, terminated, _, info = plain.step(actions)
            before = seats
            if own == "alternate":
                seats = (seats + (info["elapsed_step"] == 0)[:, None]) % 3
            got = pool.step(np.full((num_envs, before.shape[1]), 8 - t % 4))
            np.testing.assert_array_equal(got[2], terminated)
            compare(got[0], obs, info["player_mask"], seats, view)
            compare(got[1], reward, info["player_mask"], before if mode == "same_step" else seats, view)
            compare_infos(got[4], info, info["player_mask"], seats, view)
            if mode == "same_step" and terminated.any():
                assert "final_info" in got[4]
                compare_infos(got[4]["final_info"], info["final_info"], info["player_mask"], before, view)


def compare(got, expected, mask, seats, view):
    """Compare an array of players with the places of the controlled ones in a grid."""
    if view == "dict":
        got = got["a"]
    rows = np.arange(len(seats))[:, None]
    expected = expected[rows, seats]
    np.testing.assert_array_equal(got, expected[mask[rows, seats]] if view == "rows" else expected)


def compare_infos(got, expected, mask, seats, view):
    own = got["a"] if view == "dict" else got
    assert "speed" in expected
    for key in ("speed", "_speed"):
        compare({"a": own[key]} if view == "dict" else own[key], expected[key], mask, seats, view)
    name = own["deep"]["name"]
    compare({"a": name} if view == "dict" else name, expected["deep"]["name"], mask, seats, view)


def test_opponents_of_games_of_pettingzoo_see_the_mask_of_legal_moves():
    def last_legal(obs, info):
        assert (info["players"]["id"] == 1).all()
        return 8 - info["legal_action_mask"][:, ::-1].argmax(1)

    with envpool.make_python(tictactoe_v3.env, num_envs=2, controlled=[0], opponents=last_legal) as pool:
        obs, info = pool.reset()
        for count in (1, 2):
            assert info["current_player"].tolist() == [0, 0]
            obs, *_, info = pool.step(info["legal_action_mask"].argmax(1))
            assert obs.sum((1, 2)).tolist() == [[count, count]] * 2
        _, reward, terminated, *_ = pool.step(info["legal_action_mask"].argmax(1))  # three in a line
        assert reward.tolist() == [1, 1] and terminated.all()


def breaking_at(number):
    """Return a class of environments whose reset with this number, counted over all of them, fails."""
    numbers = itertools.count()

    class Breaking(Race):
        def reset(self, seed=None, options=None):
            if next(numbers) == number:
                raise RuntimeError("no memory")
            return super().reset(seed, options)

    return Breaking


@pytest.mark.parametrize("view", ["rows", "grid"])
def test_a_reset_that_fails_is_that_of_its_environment(view):
    options = {"num_envs": 2, "on_error": "restart", "max_episode_steps": 1}
    with envpool.make_python(breaking_at(3), players=view, controlled=[0], opponents=policy, **options) as pool:
        pool.reset()
        action = np.zeros((2, 1), int)
        pool.step(action)
        info = pool.step(action)[-1]
        assert info["error"].shape == (2,) and info["_error"].sum() == 1
        assert pool.step(action)[3].tolist() == [not failed for failed in info["_error"]]


def test_a_reset_that_fails_takes_no_seat():
    options = {"num_envs": 1, "on_error": "restart", "max_episode_steps": 1}
    with envpool.make_python(breaking_at(1), controlled="alternate", opponents=policy, **options) as pool:
        seats = [pool.reset()[1]["players"]["id"].tolist()]
        seats += [pool.step(np.zeros((1, 1), int))[-1]["players"]["id"].tolist() for _ in range(3)]
    assert seats == [[0], [0], [], [1]]
