"""PettingZoo's environments as pools: the views and the flags of native tasks with players, in every kind of worker."""

import os
import signal

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from pettingzoo import ParallelEnv
from pettingzoo.utils import BaseParallelWrapper

import envpool
from envpool.adapters.pettingzoo import aec_env, parallel_env
from envpool.errors import ActionError, EnvStepError
from envpool.rollout import Rollout
from envpool.tasks.players import RESERVED
from tests.support import plugin
from tests.support.crowd import CUT, DIE
from tests.support.duels import WORKERS, Duel, duels

VIEWS = ["rows", "grid", "dict"]
MODES = ["next_step", "same_step", "disabled"]


def assert_same(ours, theirs):
    """Results are equal; ours may have more entries in dicts, and wider integers."""
    if isinstance(theirs, dict):
        assert theirs.keys() <= ours.keys()
        for key, value in theirs.items():
            assert_same(ours[key], value)
    elif isinstance(theirs, tuple):
        for a, b in zip(ours, theirs, strict=True):
            assert_same(a, b)
    else:
        assert ours.dtype == theirs.dtype
        assert ours.shape == theirs.shape
        assert np.array_equal(ours, theirs)


def native(task_id, num_envs, **options):
    return envpool.make_gymnasium(task_id, num_envs=num_envs, num_threads=1, **options)


def grids(pool, view):
    """Return functions that put a grid of actions into the form of a view, and into that of the last results."""
    groups = {group.name: list(group.players) for group in pool.spec.groups}
    return (lambda grid: {name: grid[:, own] for name, own in groups.items()}) if view == "dict" else lambda grid: grid


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("workers", WORKERS)
def test_pools_equal_those_of_native_tasks(workers, view, mode):
    """Agents of a crowd come and go; its observations have two sizes."""
    plugin.load()
    own = {"places": 3, "groups": True, "episode_length": 0}
    options = {"players": view, "autoreset_mode": mode, "seed": 6, "episode_statistics": True}
    theirs = native("Crowd-v0", 4, **own, **options)
    ours = envpool.make_python(lambda: parallel_env("Crowd-v0", **own), 4, workers=workers, num_threads=2, **options)
    assert [group[:2] for group in ours.spec.groups] == [group[:2] for group in theirs.spec.groups]
    assert ours.observation_space == theirs.observation_space
    form, rng = grids(theirs, view), np.random.default_rng(1)

    def result_of(pool, call, *args):
        """Return a result without clocks, the numbers of environments, and what an agent does not see."""
        result = getattr(pool, call)(*args)
        for entry in (result[-1], result[-1].get("final_info", {})):
            entry.pop("num_present", None), entry.pop("mode", None)
            entry.get("episode", {}).pop("t", None)
        for obs in (result[0], result[-1].get("final_obs", {})):
            for array in obs.values() if isinstance(obs, dict) else [obs]:
                array[..., 0] = 0
                array[array[..., 1] == 2, 6:] = 0
        if mode == "same_step" and not result[-1]["_final_info"].any():
            result[-1]["final_info"] = {}
        return result

    def assert_equal(call, *args):
        mine, expected = (result_of(pool, call, *args) for pool in (ours, theirs))
        assert_same(mine, expected)
        return expected

    assert_equal("reset")
    ends = 0
    for _ in range(60):
        grid = np.where(rng.random((4, 3)) < 0.4, rng.integers(0, 11, (4, 3)), rng.choice([CUT, DIE], (4, 3)))
        grid[:, 2] = grid[:, 2].clip(0, 10)
        over = np.logical_or(*assert_equal("step", form(grid))[2:4])
        ends += over.sum()
        if mode == "disabled" and over.any():
            assert_equal("reset", np.flatnonzero(over))
    assert ends > 3
    ours.close(), theirs.close()


@pytest.mark.parametrize("workers", ["inline", "process"])
def test_async_pools(workers):
    plugin.load()
    theirs = native("Crowd-v0", 6, places=3, players="grid")
    ours = envpool.make_python(
        lambda: parallel_env("Crowd-v0", places=3), 6, 2, workers=workers, num_threads=2, players="grid"
    )
    ours.async_reset()
    expected = {}
    obs, info = theirs.reset()
    for t in range(12):
        expected.update({(i, t): (obs[i], info["player_mask"][i]) for i in range(6)})
        obs, *_, info = theirs.step(np.full((6, 3), 3))
    counts = [0] * 6
    while min(counts) < 10:
        obs, *_, info = ours.recv()
        ids = info["env_id"]
        for row, i in enumerate(ids.tolist()):
            if counts[i] < 12:
                assert np.array_equal(obs[row][:, 1:], expected[i, counts[i]][0][:, 1:])
                assert np.array_equal(info["player_mask"][row], expected[i, counts[i]][1])
            counts[i] += 1
        ours.send(np.full((len(ids), 3), 3), ids)
    ours.close(), theirs.close()


@pytest.mark.parametrize("workers", WORKERS)
def test_agents_that_leave(workers):
    with duels(workers=workers) as pool:
        assert pool.observation_space.shape == (2, 3)
        obs, info = pool.reset()
        assert obs.shape == (2, 2, 3) and info["player_mask"].all()
        actions = np.array([[1, 2], [3, 4]])
        _, reward, terminated, _, info = pool.step(actions)
        assert reward.dtype == np.float32 and reward.tolist() == [[1, 2], [3, 4]]
        *_, terminated, truncated, info = pool.step(actions)
        assert info["player_terminated"].tolist() == [[False, True]] * 2 and not info["player_truncated"].any()
        obs, reward, terminated, _, info = pool.step(actions)
        assert info["player_mask"].tolist() == [[True, False]] * 2 and reward.tolist() == [[1, 0], [3, 0]]
        assert obs[0].tolist() == [[3, 3, 3], [0, 0, 0]] and not terminated.any()
        *_, terminated, truncated, _ = pool.step(actions)
        assert terminated.all() and not truncated.any()
        assert pool.step(actions)[0].tolist() == np.zeros((2, 2, 3)).tolist()  # the next episode
    with duels(workers=workers, players="rows") as pool:
        _, info = pool.reset()
        assert info["players"]["id"].tolist() == [0, 1, 0, 1]
        for rows in (4, 4, 2):
            obs, reward, *_, info = pool.step(np.full(len(info["players"]["id"]), 2))
            assert len(obs) == rows if rows == 2 else len(reward) == 4
            if rows == 4 and info["player_terminated"].any():
                break
        obs, reward, *_, info = pool.step(np.array([1, 9, 2, 9]))  # of agents that are out: ignored
        assert reward.tolist() == [1, 2] and info["players"]["id"].tolist() == [0, 0]
        with pytest.raises(ActionError):
            pool.step(np.array([1, 9]))


class Ending(Duel):
    """Ends in its first step, with these flags of the agents."""

    def __init__(self, ended, cut, left=()):
        super().__init__()
        self.ended, self.cut, self.left = ended, cut, left

    def step(self, actions):
        flags = [dict(zip(self.agents, which, strict=True)) for which in (self.ended, self.cut)]
        obs, infos = self._obs(), self._infos()
        self.agents = list(self.left)
        return obs, dict.fromkeys(obs, 0.0), *flags, infos


@pytest.mark.parametrize(
    ("ended", "cut", "expected"),
    [
        ((1, 1), (0, 0), ([True, True], [False, False], True, False)),
        ((0, 0), (1, 1), ([False, False], [True, True], False, True)),
        ((1, 0), (0, 1), ([True, False], [True, True], False, True)),  # the end of the environment is that of both
        ((1, 1), (0, 1), ([True, True], [False, True], True, False)),
        ((0, 0), (0, 0), ([True, True], [False, False], True, False)),  # without a flag
    ],
)
def test_ends(ended, cut, expected):
    with duels(1, lambda: Ending(ended, cut)) as pool:
        pool.reset()
        *_, terminated, truncated, info = pool.step(np.zeros((1, 2), int))
        flags = [info["player_terminated"][0].tolist(), info["player_truncated"][0].tolist()]
        assert (*flags, terminated[0], truncated[0]) == expected


def test_spaces_of_unequal_sizes():
    with duels(cls=lambda: Duel((2, 3)), players="dict") as pool:
        assert pool.observation_space["a"].shape == (1, 2) and pool.observation_space["b"].shape == (1, 3)
        obs, _ = pool.reset()
        assert obs["a"].shape == (2, 1, 2) and obs["b"].shape == (2, 1, 3)
        _, reward, *_ = pool.step({"a": np.array([[1], [2]]), "b": np.array([[0], [1]])})
        assert reward["a"].tolist() == [[1], [2]] and reward["b"].tolist() == [[0], [1]]
    with duels(cls=lambda: Duel((2, 3))) as pool:
        pool.reset()
        assert pool.step(np.ones((2, 2), int))[0][0].tolist() == [[1, 1, 0], [1, 1, 1]]


class Talkers(Duel):
    """Agents whose spaces are dicts, with actions that are bounded by numbers of their own."""

    possible_agents = ("talker_0", "talker_1", "other")

    def __init__(self):
        self.got = []

    def observation_space(self, agent):
        size = 2 if agent == "other" else 1
        return spaces.Dict(
            {"place": spaces.Box(-1, size, (size,)), "word": spaces.Discrete(3 + size), "bits": spaces.MultiBinary(2)}
        )

    def action_space(self, agent):
        size = 3 if agent == "other" else 2
        return spaces.Dict({"move": spaces.Box(-size, size, (size,)), "word": spaces.Discrete(size, start=1)})

    def reset(self, seed=None, options=None):
        self.agents = list(self.possible_agents)
        return self._all(), {}

    def _all(self):
        return {
            agent: {
                "place": np.full(self.observation_space(agent)["place"].shape, k / 2, np.float32),
                "word": k,
                "bits": [1, 0],
            }
            for k, agent in enumerate(self.agents)
        }

    def step(self, actions):
        self.got.append(actions)
        flags = dict.fromkeys(self.agents, False)
        return self._all(), dict.fromkeys(self.agents, 1), flags, flags, {}


@pytest.mark.parametrize("workers", ["inline", "process"])
def test_dicts_and_bounds_of_agents(workers):
    with duels(cls=Talkers, num_envs=2, workers=workers) as pool:
        assert [group[:2] for group in pool.spec.groups] == [("talker", (0, 1)), ("other", (2,))]
        obs, _ = pool.reset()
        assert obs["place"].tolist() == [[[0, 0], [0.5, 0], [1, 1]]] * 2
        assert obs["word"].tolist() == [[0, 1, 2]] * 2 and obs["bits"].shape == (2, 3, 2)
        move, word = np.zeros((2, 3, 3), np.float32), np.array([[1, 2, 3]] * 2)
        move[:, 2] = [1, 2, 3]
        pool.step({"action.move": move, "action.word": word})
        got = pool.get_attr("got")[1][0]
        assert got["other"]["move"].tolist() == [1, 2, 3] and got["talker_1"]["move"].tolist() == [0, 0]
        assert [got[agent]["word"] for agent in Talkers.possible_agents] == [1, 2, 3]
        assert type(got["other"]["word"]) is np.int64
        word[1, 0] = 3
        with pytest.raises(ActionError):
            pool.step({"action.move": move, "action.word": word})
        for _ in range(5):
            pool.step(pool.sample_actions())
    with duels(cls=Talkers, players="dict") as pool:
        space = pool.observation_space["other"]
        assert space["place"].shape == (1, 2) and space["place"].high.max() == 2
        assert pool.observation_space["talker"]["place"].high.max() == 1


class Informing(Duel):
    """Infos of agents, and one that belongs to no agent."""

    def _infos(self):
        infos = {a: {"count": self.count, "deep": {"twice": 2.0 * self.count}} for a in self.agents}
        if "b_0" in infos:
            infos["b_0"]["name"] = "bob"
        return infos | {"common": {"left": len(self.agents)}}


@pytest.mark.parametrize("workers", ["inline", "process"])
def test_infos(workers):
    with duels(cls=Informing, workers=workers) as pool:
        pool.reset()
        for _ in range(3):
            *_, info = pool.step(np.zeros((2, 2), int))
        assert info["count"].tolist() == [[3, 0]] * 2 and info["_count"].tolist() == [[True, False]] * 2
        assert info["deep"]["twice"].tolist() == [[6, 0]] * 2
        assert info["common"]["left"].tolist() == [1, 1] and "name" not in info
    with duels(cls=Informing, workers=workers, players="rows") as pool:
        _, info = pool.reset()
        assert info["count"].tolist() == [0] * 4 and info["name"].tolist() == [None, "bob"] * 2
        for _ in range(3):
            *_, info = pool.step(np.zeros((2, 2), int))
        assert info["count"].tolist() == [3, 3] and info["_count"].tolist() == [True, True]
    with duels(cls=Informing, workers=workers, players="dict", autoreset_mode="same_step") as pool:
        _, info = pool.reset()
        assert info["b"]["name"].tolist() == [["bob"], ["bob"]] and info["a"]["_name"].tolist() == [[False], [False]]
        for _ in range(4):
            *_, info = pool.step({name: np.zeros((2, 1), int) for name in "ab"})
        assert info["a"]["count"].tolist() == [[0], [0]]
        assert info["final_info"]["a"]["count"].tolist() == [[4], [4]]
        assert info["final_info"]["b"]["_count"].tolist() == [[False], [False]]
        assert info["final_obs"]["a"][0, 0].tolist() == [4, 4, 4]
    with duels(cls=Informing, workers=workers, env_type="dm") as pool:
        step = pool.reset()
        assert step.observation.infos["count"].tolist() == [[0, 0]] * 2
        assert step.observation.player_mask.all()


def test_infos_of_controlled_agents():
    with duels(2, Informing, controlled=["b"]) as pool:
        pool.reset()
        *_, info = pool.step(np.ones((2, 1), int))
        assert info["player_mask"].tolist() == [[True]] * 2 and info["count"].shape == (2, 1)


class Recursive(Duel):
    def _infos(self):
        info = {"fine": 1}
        if self.count == 1:
            info["own"] = info
        return dict.fromkeys(self.agents, info)


def test_an_info_that_a_batch_cannot_contain():
    with duels(cls=Recursive) as pool:
        pool.reset()
        with pytest.warns(RuntimeWarning, match="the info of environment 0 was dropped"):
            obs, *_, info = pool.step(np.zeros((2, 2), int))
        assert obs[0, 0, 0] == 1 and "fine" not in info


class Failing(Duel):
    """Fails in the second step with the action 4 of agent "a_0"."""

    def step(self, actions):
        if actions.get("a_0") == 4:
            if self.count:
                raise RuntimeError("broken")
            out = super().step(actions)
            self.agents.append("c_0")
            return out
        if actions.get("a_0") == 3:
            obs, *rest = super().step(actions)
            del obs["b_0"]
            return obs, *rest
        if actions.get("a_0") == 2:
            obs, rewards, *rest = super().step(actions)
            return obs, rewards | {"a_0": 1e300}, *rest
        return super().step(actions)


@pytest.mark.parametrize("workers", WORKERS)
def test_an_environment_that_fails(workers):
    """The players that acted have rows of zeros, which are truncated; the others go on."""
    with duels(3, Failing, workers=workers, on_error="restart") as pool:
        pool.reset()
        pool.step(np.ones((3, 2), int))
        actions = np.ones((3, 2), int)
        actions[1] = 4
        obs, reward, _, truncated, info = pool.step(actions)
        assert info["_error"].tolist() == [False, True, False] and "broken" in info["error"][1]
        assert truncated.tolist() == [False, True, False]
        assert info["player_truncated"].tolist() == [[False] * 2, [True] * 2, [False] * 2]
        assert not obs[1].any() and not reward[1].any() and info["player_mask"].all()
        obs, *_, info = pool.step(np.ones((3, 2), int))
        assert info["elapsed_step"].tolist() == [3, 0, 3] and info["player_mask"][1].all()
    with duels(2, Failing, workers=workers) as pool:
        pool.reset()
        for action, text in (
            (4, "among possible_agents"),
            (3, "none of 'b_0'"),
            (2, "in the range of float32, got 1e\\+300"),
        ):
            with pytest.raises(EnvStepError, match=text) as caught:
                pool.step(np.array([[1, 1], [action, 1]]))
            assert list(caught.value.failures) == [1]
            pool.recv()
            pool.reset()


class Private(Duel, ParallelEnv):
    """Has attributes of names that an adapter has as well."""

    def __init__(self):
        super().__init__()
        self.scale, self.present, self.groups, self._own = 1.0, "mine", "none", 0

    def step(self, actions):
        obs, rewards, *rest = super().step(actions)
        return obs, dict.fromkeys(rewards, self.scale + self._own), *rest


@pytest.mark.parametrize("workers", WORKERS)
@pytest.mark.parametrize("wrap", [lambda env: env, BaseParallelWrapper])
def test_attributes_are_those_of_the_environment(wrap, workers):
    with duels(2, lambda: wrap(Private()), workers=workers) as pool:
        pool.reset()
        assert pool.get_attr("present") == ("mine",) * 2 and pool.get_attr("groups") == ("none",) * 2
        for name, value in (("present", [np.zeros(2)] * 2), ("ended", "x"), ("scale", [5.0, 6.0]), ("_own", 1)):
            pool.set_attr(name, value)
        assert pool.step(np.zeros((2, 2), int))[1].tolist() == [[6, 6], [7, 7]]
        assert pool.get_attr("scale") == (5, 6) and pool.get_attr("_own") == (1, 1)


def test_a_process_that_is_killed():
    with duels(4, workers="process", on_error="restart") as pool:
        pool.reset()
        pool.step(np.ones((4, 2), int))
        os.kill(pool._visit(pid)[0], signal.SIGKILL)
        obs, reward, *_, info = pool.step(np.ones((4, 2), int))
        assert info["_error"].tolist() == [True, False, True, False]
        assert info["player_truncated"].all(1).tolist() == [True, False, True, False]
        assert obs[:, 0, 0].tolist() == [0, 2, 0, 2] and reward[:, 0].tolist() == [0, 1, 0, 1]
        obs, *_, info = pool.step(np.ones((4, 2), int))
        assert info["elapsed_step"].tolist() == [0, 3, 0, 3]
        assert info["player_mask"].tolist() == [[True, True], [True, False]] * 2


def pid(env):
    return os.getpid()


@pytest.mark.parametrize("workers", ["inline", "process"])
def test_rollouts(workers):
    with duels(workers=workers) as pool:
        rollout = Rollout(pool, 6)
        rollout.reset()
        for _ in range(6):
            rollout.step(np.ones((2, 2), int))
        data = rollout.finish()
        assert data.obs.shape == (6, 2, 2, 3) and data.reward.dtype == np.float32
        assert data.reward[:, 0].tolist() == [[1, 1]] * 2 + [[1, 0]] * 2 + [[0, 0], [1, 1]]
        assert data.player_mask[:, 0].tolist() == [[True, True]] * 3 + [[True, False]] * 2 + [[True, True]]
        assert data.player_terminated[:, 0, 1].tolist() == [False, True, False, False, False, False]


def test_spawned_processes():
    with (
        envpool.make_python(
            parallel_env,
            2,
            workers="process",
            num_threads=1,
            start_method="spawn",
            env_kwargs={"task_id": "MPE/simple_tag-v3"},
            players="rows",
        ) as ours,
        native("MPE/simple_tag-v3", 2) as theirs,
    ):
        assert_same(ours.reset(), theirs.reset())
        assert_same(ours.step(np.ones(8, int)), theirs.step(np.ones(8, int)))


def test_agents_that_take_turns_in_a_cycle():
    """AEC environments that can be converted: all agents act in each step."""
    with (
        envpool.make_python(lambda: aec_env("MPE/simple_tag-v3"), 2, players="grid") as ours,
        native("MPE/simple_tag-v3", 2, players="grid") as theirs,
    ):
        assert_same(ours.reset(), theirs.reset())
        for t in range(30):
            actions = theirs.sample_actions(np.random.default_rng(t))
            assert_same(ours.step(actions), theirs.step(actions))


class Odd(Duel):
    """Agents whose names are numbers, one of them after the other."""

    possible_agents = (7, 3)

    def reset(self, seed, options):
        self.got = (seed, options)
        self.agents, self.count = [7, 3], 0
        return self._obs(), {}


def test_names_and_options_of_resets():
    with duels(cls=Odd, seed=1, players="dict") as pool:
        assert [tuple(group[:2]) for group in pool.spec.groups] == [("agent", (0, 1))]
        obs, _ = pool.reset(options={"a": 1})
        assert obs["agent"].shape == (2, 2, 3)
        assert pool.get_attr("got") == ((1, {"a": 1}), (2, {"a": 1}))
        pool.reset()
        assert pool.get_attr("got") == ((None, None), (None, None))


def test_auto_chooses_workers():
    with duels(workers="auto") as pool:
        pool.reset()
    assert not issubclass(Duel, gymnasium.Env)


def players_named(*names):
    """Return a class of environments whose agents have these names; each has the info "seen"."""

    def infos(self):
        return {agent: {"seen": self.count} for agent in self.agents}

    def step(self, actions):
        self.count += 1
        over = dict.fromkeys(self.agents, self.count == 2)
        out = self._obs(), dict.fromkeys(self.agents, 1.0), over, dict.fromkeys(self.agents, False), self._infos()
        self.agents = [] if self.count == 2 else self.agents
        return out

    def reset(self, seed=None, options=None):
        self.agents, self.count = list(names), 0
        return self._obs(), self._infos()

    return type("Named", (Duel,), {"possible_agents": names, "_infos": infos, "step": step, "reset": reset})


@pytest.mark.parametrize("env_type", ["gymnasium", "dm"])
def test_groups_stand_beside_all_other_entries(env_type):
    """No group has the name of an entry of the pool."""
    options = {"players": "dict", "env_type": env_type, "episode_statistics": True, "finished_episodes": True}
    for mode in ("next_step", "same_step"):
        with duels(cls=players_named("a_0", "b_0"), autoreset_mode=mode, on_error="restart", **options) as pool:
            pool.reset()
            for _ in range(2):
                result = pool.step(pool.sample_actions())
        keys = result.observation._fields if env_type == "dm" else result[-1]
        assert {key for key in keys if key[0] != "_"} - {"a", "b"} <= {*RESERVED}
    for name in ("player_mask", "episode", "infos", "class"):
        with duels(cls=players_named(f"{name}_0", f"{name}_1"), **options) as pool:
            pool.reset()
            result = pool.step({f"{name}_": np.zeros((2, 2), int)})
            infos = result.observation.infos if env_type == "dm" else result[-1]
            assert infos[f"{name}_"]["seen"].tolist() == [[1, 1]] * 2
