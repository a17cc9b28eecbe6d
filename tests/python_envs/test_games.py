"""PettingZoo's environments whose agents move in turn are turn-based tasks."""

import numpy as np
import pytest
from gymnasium import spaces
from pettingzoo.classic import tictactoe_v3
from pettingzoo.utils import AECEnv

import envpool
from envpool.errors import ActionError, ConfigError, EnvStepError
from tests.support.duels import WORKERS


def test_attributes_of_games():
    with envpool.make_python(tictactoe_v3.env, 1) as pool:
        pool.reset()
        pool.set_attr("board", "none")
        assert pool.get_attr("unwrapped")[0].board == "none" and pool.get_attr("agent_selection") == ("player_1",)


@pytest.mark.parametrize("workers", WORKERS)
def test_games(workers):
    with envpool.make_python(tictactoe_v3.env, 3, workers=workers, num_threads=2, players="grid") as pool:
        assert pool.spec.is_turn_based and pool.action_space == spaces.Discrete(9)
        assert pool.observation_space.shape == (2, 3, 3, 2)
        games = [tictactoe_v3.env() for _ in range(3)]
        obs, info = pool.reset()
        for game in games:
            game.reset(seed=42)
        over = [False] * 3
        while not any(over):
            mover, moves = info["current_player"], pool.sample_actions(1)
            for k, game in enumerate(games):
                seen = game.observe(game.agent_selection)
                assert game.agent_selection == f"player_{mover[k] + 1}"
                assert np.array_equal(info["legal_action_mask"][k], seen["action_mask"] != 0)
                game.step(int(moves[k]))
                over[k] = any(game.terminations.values())
            obs, reward, terminated, truncated, info = pool.step(moves)
            assert terminated.tolist() == over and not truncated.any()
            for k, game in enumerate(games):
                assert reward[k].tolist() == [game.rewards[agent] for agent in game.agents]
                for p, agent in enumerate(game.agents):
                    assert np.array_equal(obs[k, p], game.observe(agent)["observation"])
            assert "active_agent" not in info
        assert (info["current_player"][over] == -1).all() and not info["legal_action_mask"][over].any()
        assert info["player_terminated"][over].all()


def test_moves_of_games():
    with envpool.make_python(tictactoe_v3.env, 2, players="rows", observe="current") as pool:
        obs, info = pool.reset()
        assert obs.shape == (2, 3, 3, 2) and info["players"]["id"].tolist() == [0, 0]
        pool.step([4, 4])
        with pytest.raises(ActionError, match="4"):
            pool.step([0, 4])
        *_, info = pool.step([0, 1])
        assert info["players"]["id"].tolist() == [0, 0] and not info["legal_action_mask"][:, 4].any()
    with envpool.make_python(tictactoe_v3.env, 1, players="grid", illegal_actions="lose") as pool:
        pool.reset()
        pool.step([4])
        _, reward, terminated, *_ = pool.step([4])
        assert reward.tolist() == [[0, -1]] and terminated.all()
    with envpool.make_python(tictactoe_v3.env, 4, controlled=[1], opponents="random") as pool:
        obs, info = pool.reset()
        assert obs.shape == (4, 3, 3, 2)
        for _ in range(20):
            obs, reward, *_, info = pool.step(pool.sample_actions())
            assert reward.shape == (4,)


def test_games_whose_moves_differ():
    class Game(type(tictactoe_v3.env().unwrapped)):
        def action_space(self, agent):
            return spaces.Discrete(9 if agent == "player_1" else 8)

    with pytest.raises(ConfigError, match="agents that move in turn must have equal action spaces"):
        envpool.make_python(Game)


class Masked(AECEnv):
    """A game whose masks and infos are the ones of the class."""

    metadata = {"name": "masked", "is_parallelizable": False, "render_modes": []}
    possible_agents = ["a_0", "a_1"]
    render_mode = None
    mask, info, dtype = np.array([1, 0, 1], np.int8), None, np.int8

    def observation_space(self, agent):
        mask = spaces.Box(0, 1, (3,), self.dtype)
        return spaces.Dict({"observation": spaces.Box(-1, 1, (2,), np.float32), "action_mask": mask})

    def action_space(self, agent):
        return spaces.Discrete(3)

    def observe(self, agent):
        return {"observation": np.zeros(2, np.float32), "action_mask": self.mask}

    def reset(self, seed=None, options=None):
        self.agents, self.agent_selection = self.possible_agents[:], "a_0"
        self.rewards, self._cumulative_rewards = dict.fromkeys(self.agents, 0), dict.fromkeys(self.agents, 0)
        self.terminations, self.truncations = dict.fromkeys(self.agents, False), dict.fromkeys(self.agents, False)
        self.infos = dict.fromkeys(self.agents, self.info)

    def step(self, action):
        self.agent_selection = "a_1" if self.agent_selection == "a_0" else "a_0"


@pytest.mark.parametrize(
    ("mask", "text"),
    [
        (np.ones(1, np.int8), r"action_mask of agent 'a_0' must have shape \(3,\), got \(1,\)"),
        (1, r"action_mask of agent 'a_0' must have shape \(3,\), got \(\)"),
        (np.ones((1, 3)), r"must have shape \(3,\), got \(1, 3\)"),
        (np.ones((3, 1)), r"must have shape \(3,\), got \(3, 1\)"),
        (np.array([1, np.nan, 0]), "action_mask of agent 'a_0' must have bools or integers, got nan of dtype float64"),
        (np.array([0.5, 1, 0]), "must have bools or integers, got 0.5"),
        (np.array(["a", "", "b"]), "must have bools or integers, got .*not a number"),
        (np.array([None, 1, 0]), "must have bools or integers"),
        (None, r"must have shape \(3,\), got \(\)|must have bools or integers"),
    ],
)
def test_masks_that_are_refused(mask, text):
    game = type("Game", (Masked,), {"mask": mask})
    with envpool.make_python(game, 1) as pool, pytest.raises(EnvStepError, match=text):
        pool.reset()


@pytest.mark.parametrize("mask", [[True, False, True], [2, 0, -1], np.array([1.0, 0, 1])])
def test_masks_that_are_accepted(mask):
    with envpool.make_python(type("Game", (Masked,), {"mask": mask, "dtype": np.float32}), 1) as pool:
        assert pool.reset()[1]["legal_action_mask"].tolist() == [[True, False, True]]


@pytest.mark.parametrize("workers", WORKERS)
@pytest.mark.parametrize("info", [None, {}, {"x": 1}])
def test_infos_of_games(info, workers):
    with envpool.make_python(type("Game", (Masked,), {"info": info}), 2, workers=workers, num_threads=2) as pool:
        assert ("x" in pool.reset()[1]) is ("x" in (info or {})) and "active_agent" not in pool.step([0, 0])[-1]


@pytest.mark.parametrize("info", [[("x", 1)], 5, "x"])
def test_infos_of_games_that_are_refused(info):
    game, text = type("Game", (Masked,), {"info": info}), "info of agent 'a_0' must be a dict, got"
    with envpool.make_python(game, 1) as pool, pytest.raises(EnvStepError, match=text):
        pool.reset()
