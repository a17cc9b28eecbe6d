"""The environments of PettingZoo's forms: mpe2 returns the same bits, and PettingZoo's own tests pass."""

import copy
import importlib
import warnings
from functools import partial
from types import SimpleNamespace

import gymnasium
import numpy as np
import pytest
from pettingzoo.test import (
    api_test,
    max_cycles_test,
    parallel_api_test,
    parallel_seed_test,
    render_test,
    seed_test,
    state_test,
)

import envpool
from envpool.adapters.pettingzoo import AECEnv, ParallelEnv, aec_env, parallel_env
from envpool.errors import ActionError, ConfigError, EnvIdError, EnvStepError, PoolClosedError
from envpool.mpe.registration import TASKS
from tests.support import plugin
from tests.support.crowd import CUT, DIE, END, FAIL

VERSIONS = {f"MPE/{name}-v{version}": f"{name}_v{version}" for name, version in TASKS.items()}
MODES = [{}, {"continuous_actions": True}]
#: What PettingZoo's tests warn about: observations of MPE, some of which are zero, differ in length among agents.
QUIET = pytest.mark.filterwarnings("ignore::UserWarning")


def upstream(task_id):
    return importlib.import_module(f"mpe2.{VERSIONS[task_id]}")


def sampled(rng, space):
    if isinstance(space, gymnasium.spaces.Discrete):
        return int(rng.integers(space.n))
    return rng.random(space.shape, np.float32)


def assert_same(ours, theirs):
    """Dicts by agent have the same keys in the same order, and the same bits; rewards are float32."""
    assert list(ours) == list(theirs)
    for agent, value in theirs.items():
        if isinstance(value, np.ndarray):
            assert ours[agent].dtype == value.dtype
            assert ours[agent].tobytes() == value.tobytes()
        else:
            assert type(ours[agent]) is (float if isinstance(value, float) else type(value))
            assert ours[agent] == (np.float32(value) if isinstance(value, float) else value)


@pytest.mark.parametrize("options", MODES, ids=["discrete", "continuous"])
@pytest.mark.parametrize("task_id", VERSIONS)
def test_parallel_env_equals_mpe2(task_id, options):
    ours, theirs = parallel_env(task_id, **options), upstream(task_id).parallel_env(**options)
    rng = np.random.default_rng(1)
    assert ours.possible_agents == theirs.possible_agents
    for agent in theirs.possible_agents:
        assert ours.observation_space(agent) == theirs.observation_space(agent)
        assert ours.action_space(agent) == theirs.action_space(agent)
    assert ours.state_space == theirs.unwrapped.state_space
    for seed in (3, None, None):
        (obs, infos), (expected, their_infos) = (env.reset(seed=seed) for env in (ours, theirs))
        assert_same(obs, expected)
        assert infos == their_infos
        assert ours.agents == theirs.agents
        while theirs.agents:
            actions = {agent: sampled(rng, theirs.action_space(agent)) for agent in theirs.agents}
            got, wanted = ours.step(actions), theirs.step(actions)
            for a, b in zip(got, wanted, strict=True):
                assert_same(a, b)
            assert ours.agents == theirs.agents
            assert ours.state().tobytes() == theirs.state().tobytes()
        assert ours.step({}) == ({}, {}, {}, {}, {})
    ours.close()


@pytest.mark.parametrize("options", MODES, ids=["discrete", "continuous"])
@pytest.mark.parametrize("task_id", VERSIONS)
def test_aec_env_equals_mpe2(task_id, options):
    ours, theirs = aec_env(task_id, **options), upstream(task_id).env(**options)
    rng = np.random.default_rng(1)
    for seed in (3, None):
        for env in (ours, theirs):
            env.reset(seed=seed)
        for agent, same in zip(ours.agent_iter(), theirs.agent_iter(), strict=False):
            assert agent == same
            (obs, reward, *flags, info), (expected, their_reward, *their_flags, their_info) = ours.last(), theirs.last()
            assert obs.tobytes() == expected.tobytes()
            assert [reward, *flags, info] == [np.float32(their_reward), *their_flags, their_info]
            assert ours.agents == theirs.agents
            action = None if any(flags) else sampled(rng, theirs.action_space(agent))
            ours.step(action), theirs.step(action)
        assert ours.agents == theirs.agents == []
    ours.close()


@QUIET
@pytest.mark.parametrize("options", MODES, ids=["discrete", "continuous"])
@pytest.mark.parametrize("task_id", VERSIONS)
def test_pettingzoos_own_tests(task_id, options):
    make, make_aec = (partial(make, task_id, **options) for make in (parallel_env, aec_env))
    parallel_api_test(make(), num_cycles=60)
    parallel_seed_test(make, num_cycles=30)
    api_test(make_aec(), num_cycles=60)
    seed_test(make_aec, num_cycles=30)
    state_test(make_aec(), make())
    max_cycles_test(SimpleNamespace(parallel_env=make, env=make_aec))


@QUIET
def test_frames():
    render_test(partial(aec_env, "MPE/simple_spread-v3"))
    render_test(partial(AECEnv, "MPE/simple_tag-v3"))
    env = parallel_env("MPE/simple_spread-v3", render_mode="rgb_array")
    env.reset(seed=1)
    with envpool.make_gymnasium("MPE/simple_spread-v3", seed=1, render_mode="rgb_array") as pool:
        pool.reset()
        assert np.array_equal(env.render(), pool.render()[0])
    assert env.metadata["render_fps"] == 10


def test_seeds():
    rows = [parallel_env("MPE/simple-v3", seed=seed).reset()[0]["agent_0"] for seed in (5, 5, None, None)]
    assert np.array_equal(rows[0], rows[1])
    assert not any(np.array_equal(rows[2], row) for row in (rows[0], rows[3]))
    env = parallel_env("MPE/simple-v3")
    assert np.array_equal(env.reset(seed=5)[0]["agent_0"], rows[0])


def test_infos():
    env = parallel_env("MPE/simple_tag-v3", benchmark_data=True, episode_statistics=True, max_cycles=2)
    _, infos = env.reset(seed=1)
    assert infos["agent_0"].keys() == {"benchmark_data"}
    rewards = [env.step(dict.fromkeys(env.agents, 1)) for _ in range(2)]
    for agent, info in rewards[1][4].items():
        assert info["episode"]["r"] == sum(step[1][agent] for step in rewards)
        assert info["episode"]["l"] == 2
    assert "episode" not in rewards[0][4]["agent_0"]


def test_agents_come_and_go():
    """An agent whose episode has ended vanishes; one who joins appears with an observation."""
    plugin.load()
    env = ParallelEnv("Crowd-v0", seed=4, places=5, groups=True)
    assert env.possible_agents == ["hunters_0", "hunters_1", "hunters_2", "hunters_3", "prey_0"]
    assert env.observation_space("prey_0").shape == (6,)
    assert env.action_space("prey_0").n < env.action_space("hunters_0").n
    pool = envpool.make_gymnasium("Crowd-v0", seed=4, places=5, groups=True, players="grid", autoreset_mode="disabled")
    left, joined = 0, 0
    for _ in range(6):
        (obs, _), (grid, info) = env.reset(), pool.reset()
        while True:
            present = np.flatnonzero(info["player_mask"][0])
            assert list(obs) == [env.possible_agents[p] for p in present]
            for p, row in zip(present, obs.values(), strict=True):
                assert np.array_equal(row, grid[0, p, : len(row)])
            if not env.agents:
                break
            before = env.agents
            obs, rewards, ended, cut, _ = env.step(dict.fromkeys(env.agents, 10))
            grid, reward, *_, info = pool.step(np.full((1, 5), 10, np.int32))
            assert rewards == {a: reward[0, env.possible_agents.index(a)] for a in obs}
            assert env.agents == [a for a in obs if not (ended[a] or cut[a])]
            assert set(before) <= set(obs)
            left += len(set(before) - set(env.agents))
            joined += len(set(env.agents) - set(before))
    assert left and joined
    env.close(), pool.close()


def test_an_agent_whose_episode_has_ended_steps_once_more():
    """In the AEC form: each of them takes a step with None, before the others go on."""
    plugin.load()
    env = aec_env("Crowd-v0", seed=4, places=4)
    env.reset()
    kinds = {DIE: "terminations", CUT: "truncations"}
    for k, action in enumerate((DIE, CUT)):
        first, *others = env.agents
        for agent in env.agents[:]:
            assert env.agent_selection == agent
            env.step(action if agent == first else 1)
        assert env.agent_selection == first
        assert getattr(env, kinds[action])[first] is True
        with pytest.raises(ActionError, match=f"'{first}' has ended: its last action must be None, got 1"):
            env.step(1)
        env.step(None)
        assert first not in env.agents and first not in env.rewards and set(others) <= set(env.agents), k
        assert env.agent_selection == env.agents[0]
    for agent in env.agents[:]:
        env.step(END if agent == env.agents[-1] else 1)
    assert all(env.terminations.values())
    while env.agents:
        env.step(None)
    for call in (env.last, lambda: env.step(None)):
        with pytest.raises(EnvIdError, match=r"no agent is left: call reset\(\)"):
            call()


@pytest.mark.parametrize("make", [parallel_env, aec_env])
def test_an_environment_that_fails(make):
    plugin.load()
    env = make("Crowd-v0", places=2)
    env.reset()
    with pytest.raises(EnvStepError, match=r"reset\(\) starts a new episode"):
        if make is parallel_env:
            env.step(dict.fromkeys(env.agents, FAIL))
        else:
            for _ in env.agents[:]:
                env.step(FAIL)
    assert env.agents == []
    env.reset()
    assert env.agents


def test_actions_that_are_refused():
    env = parallel_env("MPE/simple_speaker_listener-v4")
    with pytest.raises(EnvIdError, match=r"call reset\(\) first"):
        env.step({})
    env.reset()
    for actions in (None, [0, 0]):
        with pytest.raises(ActionError, match="actions must be a dict by agent, got"):
            env.step(actions)
    for actions in ({"speaker_0": 1}, {"speaker_0": 1, "listener_0": 1, "other": 1}):
        with pytest.raises(ActionError, match=r"a key for each agent that acts, \['speaker_0', 'listener_0'\]"):
            env.step(actions)
    for action in (None, [1], 1.5, "left", 5):
        with pytest.raises(ActionError, match=r"the action of 'listener_0' must be an action of Discrete\(5\), got"):
            env.step({"speaker_0": 1, "listener_0": action})
    assert env.step({"speaker_0": 2, "listener_0": 4})[1].keys() == {"speaker_0", "listener_0"}
    aec = aec_env("MPE/simple_speaker_listener-v4")
    aec.reset()
    with pytest.raises(ActionError):
        aec.step([1])
    assert aec.agent_selection == "speaker_0"
    aec.step(np.int64(2))
    assert aec.agent_selection == "listener_0"


@pytest.mark.parametrize("options", MODES, ids=["discrete", "continuous"])
def test_a_refused_action_is_that_of_the_agent_who_moves(options):
    """Whoever it is: an action that were kept until the last agent has moved would block the environment."""
    env = aec_env("MPE/simple_spread-v3", **options)
    env.reset(seed=1)
    for agent in env.agents[:]:
        wrong = np.full(5, np.nan, np.float32) if options else 5
        with pytest.raises(ActionError, match=f"the action of '{agent}' must be"):
            env.step(wrong)
        assert env.agent_selection == agent
        env.step(env.action_space(agent).sample())
    assert env.agent_selection == "agent_0"


@pytest.mark.parametrize("make", [parallel_env, aec_env])
def test_before_a_reset_and_after_close(make):
    """Each call says what to do, whoever moves."""
    env = make("MPE/simple_spread-v3")
    calls = [env.state, lambda: env.step({} if make is parallel_env else 0)]
    if make is aec_env:
        calls += [env.last, lambda: env.observe("agent_0")]
        for name in ("agent_selection", "rewards", "terminations", "truncations", "infos"):
            with pytest.raises(AttributeError, match=rf"no attribute '{name}' before the first reset\(\)"):
                getattr(env, name)
    for call in calls:
        with pytest.raises(EnvIdError, match=r"call reset\(\) first"):
            call()
    env.reset()
    env.close()
    for call in calls:
        with pytest.raises(PoolClosedError, match="make a new one"):
            call()


def test_what_is_refused():
    with pytest.raises(ConfigError, match="CartPole-v1 has one player"):
        parallel_env("CartPole-v1")
    for name in ("num_envs", "players", "autoreset_mode"):
        with pytest.raises(ConfigError, match=f"{name} is an option of pools"):
            aec_env("MPE/simple-v3", **{name: 1})
    with pytest.raises(ConfigError, match="observe must be 'all' for an adapter with agents"):
        aec_env("ConnectFour-v0", observe="current")
    aec_env("ConnectFour-v0", observe="all").close()
    env = parallel_env("MPE/simple-v3")
    with pytest.raises(EnvIdError, match=r"call reset\(\) first"):
        env.state()
    with pytest.warns(UserWarning, match="has no reset option 'colour', which is ignored"):
        env.reset(options={"colour": 1})
    with pytest.raises(TypeError, match="options must be a dict or None, got 5"):
        env.reset(options=5)
    for seed in ("a", [1]):
        with pytest.raises(TypeError, match="seed must be of type int, got"):
            env.reset(seed=seed)
    aec = aec_env("ConnectFour-v0")
    aec.reset()
    for call in (env.observation_space, env.action_space, aec.observe):
        for agent in ("zz", 0, None):
            with pytest.raises(ConfigError, match=r"agent must be one of .*, got"):
                call(agent)


def test_observations_are_the_users():
    env = parallel_env("MPE/simple_spread-v3")
    obs, _ = env.reset(seed=1)
    state = env.state()
    obs["agent_0"][:] = 0
    assert np.array_equal(env.state(), state)


def test_copies():
    env = parallel_env("MPE/simple_spread-v3")
    env.reset(seed=1)
    twin = copy.deepcopy(env)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        actions = dict.fromkeys(env.agents, 1)
        assert_same(twin.step(actions)[0], env.step(actions)[0])
