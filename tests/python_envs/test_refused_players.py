"""What pools refuse of PettingZoo's environments and their results, and what they accept although it looks odd."""

from collections import defaultdict

import numpy as np
import pytest
from gymnasium import spaces

import envpool
from envpool.errors import ConfigError, EnvCreateError, EnvStepError
from tests.support.duels import WORKERS, Duel, duels


class Wrong(Duel):
    form = ""

    def _obs(self):
        obs = super()._obs()
        if self.form == "shape":
            obs["b_0"] = np.zeros(2, np.float32)
        elif self.form == "bounds":
            obs["b_0"][1] = 11
        elif self.form == "dtype":
            obs["b_0"] = ["one", "two", "three"]
        return obs


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("shape", "observation of agent 'b_0' must have shape .* as its space says, got"),
        ("dtype", "observation of agent 'b_0' contains"),
    ],
)
def test_observations_that_are_refused(form, text):
    with duels(1, type("Env", (Wrong,), {"form": form})) as pool, pytest.raises(EnvStepError, match=text):
        pool.reset()


def without(agent, at):
    """Return a function that removes an agent from a dict of the result of a step."""
    return lambda out: tuple({a: v for a, v in part.items() if k != at or a != agent} for k, part in enumerate(out))


def having(agent, at, value):
    """Return a function that sets the entry of an agent in a dict of the result of a step."""
    return lambda out: tuple(part | {agent: value} if k == at else part for k, part in enumerate(out))


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda out: out[:4], r"step\(\) must return \(obs, rewards, .*\), got 4 values"),
        (lambda out: None, r"step\(\) must return \(obs, rewards, .*\), got None"),
        (lambda out: (*out[:4], None), r"the infos of step\(\) must be a dict by agent, got None"),
        (without("b_0", 1), r"the rewards of step\(\) must have each agent that has acted, got none of 'b_0'"),
        (without("a_0", 2), r"the terminations of step\(\) must have .*, got none of 'a_0'"),
        (having("c_0", 3, True), "agents of the truncations must be among possible_agents, .* got 'c_0'"),
        (having("a_0", 2, "False"), "the termination of agent 'a_0' must be True or False, got 'False'"),
        (having("b_0", 3, np.nan), "the truncation of agent 'b_0' must be True or False, got nan"),
        (having("b_0", 1, None), "the reward of agent 'b_0' must be a real number, got None"),
    ],
)
def test_results_that_are_refused(change, text):
    class Changed(Duel):
        def step(self, actions):
            return change(super().step(actions))

    with duels(cls=Changed) as pool:
        pool.reset()
        with pytest.raises(EnvStepError, match=text):
            pool.step(np.zeros((2, 2), int))


def test_dicts_that_pettingzoo_allows():
    """Observations and infos may have more keys, and a dict may have defaults."""

    class Sparse(Duel):
        def step(self, actions):
            obs, _, ended, cut, infos = super().step(actions)
            return obs | {"common": 3}, defaultdict(float, b_0=2.0), ended, cut, infos | {"common": {"x": 1}}

    with duels(1, cls=Sparse) as pool:
        pool.reset()
        assert pool.step(np.zeros((1, 2), int))[1].tolist() == [[0, 2]]


@pytest.mark.parametrize("workers", WORKERS)
@pytest.mark.parametrize("names", [("a_0", "b_0", "c_0"), ("b_0", "a_0")])
def test_a_new_environment_must_fit_the_pool(names, workers, tmp_path):
    """A failed environment is made anew, now with other agents."""

    class Changing(Duel):
        def __init__(self):
            if (tmp_path / "failed").exists():
                self.possible_agents = names
            super().__init__((3,) * len(self.possible_agents))

        def step(self, actions):
            (tmp_path / "failed").touch()
            raise RuntimeError("broken")

    with duels(1, Changing, workers=workers, on_error="restart") as pool:
        pool.reset()
        pool.step(np.zeros((1, 2), int))
        text = pool.step(np.zeros((1, 2), int))[-1]["error"][0]
        assert f"environment 0 must have the possible_agents ['a_0', 'b_0'] of the pool, got {list(names)}" in text


def test_debug():
    text = r"the observation\['b_0'\], at \(1,\), must be between -9.0 and 9.0"
    with duels(1, type("Env", (Wrong,), {"form": "bounds"}), debug=True) as pool, pytest.raises(ValueError, match=text):
        pool.reset()
    with duels(2, debug=True) as pool:
        pool.reset()
        for _ in range(3):
            obs, *_ = pool.step(np.ones((2, 2), int))
        assert obs.tolist() == [[[3, 3, 3], [0, 0, 0]]] * 2


def test_what_is_refused():
    class Texts(Duel):
        def observation_space(self, agent):
            return spaces.Text(3)

    class Unlike(Duel):
        def action_space(self, agent):
            return spaces.Discrete(5) if agent == "a_0" else spaces.Box(0, 1)

    class Empty(Duel):
        possible_agents = ()

        def __init__(self):
            pass

    class Twins(Duel):
        possible_agents = ("a_0", "a_0")

    class Absent(Duel):
        def reset(self, seed=None, options=None):
            self.agents = []
            return {}, {}

    for cls, text in (
        (Texts, "the obs space of agent 'a_0' must have arrays of .*: wrap the environment"),
        (Unlike, "the action space of agent 'b_0' must have .* of the first agent's, Discrete.*, got Box"),
        (Empty, "possible_agents of Empty must have at least one agent"),
        (Twins, "possible_agents of Twins must have .* different names, got"),
    ):
        with pytest.raises(ConfigError, match=text):
            duels(cls=cls)
    with pytest.raises((ConfigError, EnvCreateError), match="environment 1 must have the possible_agents"):
        envpool.make_python([Duel, type("Other", (Duel,), {"possible_agents": ("a_0", "c_0")})])
    with duels(1, Absent) as pool, pytest.raises(EnvStepError, match=r"at least one agent in env\.agents"):
        pool.reset()
    with pytest.raises(ConfigError, match=r"a VectorEnv does not support tasks with players.*envpool\.make_python"):
        envpool.make_vec(Duel, 2)
    with pytest.raises(ConfigError, match="players must be None"):
        envpool.make_python("CartPole-v1", 1, players="grid")
