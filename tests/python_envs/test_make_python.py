"""Pools of Python environments equal gymnasium's SyncVectorEnv, in all modes, styles and spaces."""

import copy
import pickle
import re
import time
from functools import partial

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, SyncVectorEnv

import envpool
from envpool._support.text import shown
from envpool.errors import ActionError, ConfigError, EnvCreateError, EnvIdError, StateError, UnknownTaskError
from envpool.python_envs.choice import choose, seconds_per_step
from tests.support.python_envs import ACTIONS, SPACES, FaultyEnv, SpaceEnv, same

MODES = {"next_step": AutoresetMode.NEXT_STEP, "same_step": AutoresetMode.SAME_STEP}
KINDS = ["inline", "thread"]


def batch_of_actions(space, count):
    """Return a batch of actions in the structure of a space."""
    from gymnasium.vector.utils import batch_space

    return batch_space(space, count).sample()


def own(info):
    """Return an info without the entries of the pool."""
    return {k: v for k, v in info.items() if k not in ("env_id", "players", "elapsed_step")}


def sorted_nest(nest):
    return {k: sorted_nest(nest[k]) if isinstance(nest[k], dict) else nest[k] for k in sorted(nest)}


def check_infos(info, theirs, mode):
    mine, theirs = sorted_nest(own(info)), sorted_nest(theirs)
    if mode == "same_step":
        ended = theirs.pop("_final_info", None)
        final, final_obs = theirs.pop("final_info", {}), theirs.pop("final_obs", None)
        theirs.pop("_final_obs", None)
        got = own(mine.pop("final_info", {}))
        mine.pop("final_obs"), mine.pop("_final_obs")
        has_final = mine.pop("_final_info")
        assert np.array_equal(has_final, ended if ended is not None else np.zeros(len(has_final), bool))
        same(sorted_nest(got), sorted_nest(final))
        assert final_obs is None or len(final_obs) == len(has_final)
    same(mine, theirs)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("observation", [k for k in SPACES if k not in ("text", "sequence", "graph", "mixed")])
def test_equals_sync_vector_env(observation, mode):
    make = partial(SpaceEnv, observation, "discrete")
    theirs = SyncVectorEnv([make] * 3, autoreset_mode=MODES[mode])
    with envpool.make_python(make, 3, seed=5, autoreset_mode=mode) as pool:
        obs, info = pool.reset()
        want, want_info = theirs.reset(seed=5)
        same(obs, want)
        for _ in range(30):
            action = batch_of_actions(SPACES["discrete"], 3)
            obs, reward, terminated, truncated, info = pool.step(action)
            want, want_reward, want_terminated, want_truncated, want_info = theirs.step(action)
            same(obs, want)
            assert np.array_equal(reward, want_reward.astype(np.float32))
            assert np.array_equal(terminated, want_terminated) and np.array_equal(truncated, want_truncated)
            check_infos(info, want_info, mode)


@pytest.mark.parametrize("observation", ["text", "sequence", "graph", "mixed"])
@pytest.mark.parametrize("mode", MODES)
def test_objects(observation, mode):
    def text_of(value):
        return value["text"] if observation == "mixed" else value

    env = SpaceEnv(observation)
    with envpool.make_python(partial(SpaceEnv, observation), 2, seed=7, autoreset_mode=mode) as pool:
        obs, _ = pool.reset()
        want, _ = env.reset(seed=8)
        assert pool.observation_space == SPACES[observation]
        for _ in range(20):
            rows = text_of(obs)
            assert rows.dtype == object and rows.shape == (2,)
            same(rows[1], text_of(want))
            if observation == "mixed":
                same(obs["x"][1], want["x"])
            obs, _, terminated, _, info = pool.step(np.full(2, 3))
            if env.left == 0:
                want, _ = env.reset()
                continue
            want, _, ended, _, _ = env.step(np.int64(3))
            assert terminated[1] == ended
            if ended and mode == "same_step":
                same(text_of(info["final_obs"])[1], text_of(want))
                want, _ = env.reset()


@pytest.mark.parametrize("action", ACTIONS)
def test_actions(action):
    space = ACTIONS[action]
    space.seed(1)
    with envpool.make_python(partial(SpaceEnv, "box", action), 3, autoreset_mode="disabled") as pool:
        pool.reset()
        pool.step(pool.sample_actions(1))
        pool.reset()
        batch = batch_of_actions(space, 3)
        pool.step(batch)
        for i, got in enumerate(pool.get_attr("last_action")):
            assert space.contains(got)
            first = next(iter(gymnasium.vector.utils.iterate(gymnasium.vector.utils.batch_space(space, 3), batch)))
            if i == 0:
                np.testing.assert_equal(got, first)


@pytest.mark.parametrize("workers", KINDS)
@pytest.mark.parametrize("batch_size", [4, 2, 1])
def test_async(workers, batch_size):
    """Every environment sees its own actions, whatever the order of the batches."""
    refs = [gymnasium.make("CartPole-v1") for _ in range(4)]
    waiting = [env.reset(seed=42 + i)[0] for i, env in enumerate(refs)]
    over = [False] * 4
    with envpool.make_python("CartPole-v1", 4, batch_size, workers=workers, num_threads=2) as pool:
        pool.async_reset()
        for k in range(100):
            obs, _, terminated, _, info = pool.recv()
            for row, i in enumerate(info["env_id"]):
                assert np.array_equal(obs[row], waiting[i])
                assert terminated[row] == over[i]
                if over[i]:
                    waiting[i], over[i] = refs[i].reset()[0], False
                else:
                    waiting[i], _, over[i], _, _ = refs[i].step((k + i) % 2)
            pool.send((k + info["env_id"]) % 2, info["env_id"])


def test_partial_recv():
    with envpool.make_python("CartPole-v1", 4) as pool:
        pool.async_reset()
        obs, info = pool.recv(reset=True, env_id=[3, 1])
        assert info["env_id"].tolist() == [3, 1]
        assert np.array_equal(obs[0], gymnasium.make("CartPole-v1").reset(seed=45)[0])
        assert len(pool.recv(min_ready=2)[0]) == 2


def test_seeds_of_reset():
    env = gymnasium.make("CartPole-v1")
    with envpool.make_python("CartPole-v1", 3, seed=[9, 4, 1]) as pool:
        assert np.array_equal(pool.reset()[0][1], env.reset(seed=4)[0])
        assert np.array_equal(pool.reset()[0][1], env.reset()[0])
        assert np.array_equal(pool.reset(seed=20)[0][1], env.reset(seed=21)[0])
        assert np.array_equal(pool.reset([1], seed=[6])[0][0], env.reset(seed=6)[0])


def test_disabled_reset():
    with envpool.make_python(FaultyEnv, 2, autoreset_mode="disabled") as pool:
        pool.reset()
        for _ in range(20):
            *_, terminated, truncated, _ = pool.step(np.zeros(2, int))
        assert terminated.all() and not truncated.any()
        with pytest.raises(EnvIdError, match="disabled"):
            pool.step(np.zeros(2, int))
        obs, _ = pool.reset(options={"reset_mask": np.array([False, True])})
        assert obs[0, 0] == 0


@pytest.mark.parametrize("style", ["gym", "dm"])
def test_styles(style):
    with envpool.make_python(partial(SpaceEnv, "dict"), 2, env_type=style, seed=1) as pool:
        out = pool.reset()
        env = SpaceEnv("dict")
        want, _ = env.reset(seed=2)
        if style == "dm":
            assert out.observation.a[1] == want["a"]
            step = pool.step(np.full(2, 3))
            assert set(step.observation.infos) >= {"_left"} or set(step.observation.infos) >= {"_name"}
        else:
            obs = out[0] if isinstance(out, tuple) else out
            assert obs["a"][1] == want["a"]
            assert np.array_equal(obs["b"]["c.d"][1], want["b"]["c.d"])


def test_legacy_gym():
    with envpool.make_python("CartPole-v1", 2, env_type="gym", gym_api="legacy") as pool:
        assert pool.reset().shape == (2, 4)
        assert len(pool.step(np.zeros(2, int))) == 4


def test_statistics_and_time_limit():
    with envpool.make_python(FaultyEnv, 2, max_episode_steps=5, episode_statistics=True) as pool:
        pool.reset()
        for _ in range(5):
            *_, truncated, info = pool.step(np.zeros(2, int))
        assert truncated.all() and info["episode"]["r"].tolist() == [5, 5]
        assert pool.stats().episodes == 2


def test_render():
    with envpool.make_python(FaultyEnv, 2, render_mode="rgb_array", env_kwargs={"render_mode": "rgb_array"}) as pool:
        pool.reset()
        pool.step(np.zeros(2, int))
        frames = pool.render([1, 0])
        assert frames.shape == (2, 6, 5, 3) and (frames == 1).all()
        assert pool.metadata["render_modes"]


def test_rollout():
    env = gymnasium.make("CartPole-v1")
    first, _ = env.reset(seed=5)
    rows = [first] + [env.step(k % 2)[0] for k in range(7)]
    with envpool.make_python("CartPole-v1", 4, seed=3) as pool:
        rollout = envpool.Rollout(pool, num_steps=8)
        steps = iter(range(9))
        data, _ = rollout.collect(lambda result: (np.full(4, next(steps) % 2), {}), rollout.reset())
        assert np.array_equal(data.obs[:8, 2], rows)


def test_xla():
    import jax

    env = gymnasium.make("CartPole-v1")
    with envpool.make_python("CartPole-v1", 2, seed=1) as pool:
        handle, _, _, step = pool.xla()
        pool.reset()
        env.reset(seed=2)
        _, (obs, *_) = jax.jit(step)(handle, np.ones(2, np.int64))
        assert np.array_equal(obs[1], env.step(1)[0])


def test_call_and_attributes():
    with envpool.make_python(FaultyEnv, 3) as pool:
        pool.reset()
        assert pool.call("square", 3) == (9, 9, 9)
        assert pool.call("count", env_id=[1]) == (0,)
        pool.set_attr("resets_fail", [False, True, False])
        assert pool.get_attr("resets_fail") == (False, True, False)
        pool.set_attr("extra", 5, env_id=2)
        assert pool.get_attr("extra", [2]) == (5,)
        with pytest.raises(AttributeError):
            pool.get_attr("extra", [0])
        with pytest.raises(EnvIdError):
            pool.call("square", 3, env_id=[7])
        with pytest.raises(ConfigError, match="3 environments, got 2"):
            pool.set_attr("extra", [1, 2])
        pool.send(np.zeros(3, int))
        with pytest.raises(EnvIdError, match="in flight"):
            pool.call("square", 3)
        pool.recv()


def test_states_are_refused():
    with envpool.make_python(FaultyEnv, 2) as pool:
        pool.reset()
        with pytest.raises(StateError):
            pool.get_state()


@pytest.mark.parametrize("call", [pickle.dumps, copy.copy, copy.deepcopy])
def test_pools_cannot_be_pickled(call):
    text = "pools of Python environments cannot be pickled or copied: make the pool in the other process"
    with envpool.make_python(FaultyEnv, 2) as pool, pytest.raises(StateError, match=text):
        call(pool)
    with pytest.raises(StateError, match=text):
        call(pool)


class Old:
    observation_space = action_space = spaces.Discrete(2)

    def reset(self):
        return 0

    def step(self, action):
        return 0, 0.0, False, {}


@pytest.mark.parametrize("base", [FaultyEnv, Old])
@pytest.mark.parametrize("name", ["observation_space", "action_space"])
@pytest.mark.parametrize("space", [None, "x", spaces.Box])
def test_spaces_that_are_no_spaces(base, name, space):
    text = rf"{name} must be a space of gymnasium.*, got {re.escape(shown(space))}: set it"
    with pytest.raises(ConfigError, match=text):
        envpool.make_python(type("Env", (base,), {name: space}))


@pytest.mark.parametrize("name", ["observation_space", "action_space"])
def test_spaces_that_are_missing(name):
    other = {"observation_space": "action_space", "action_space": "observation_space"}[name]
    one = type("Env", (gymnasium.Env,), {other: spaces.Discrete(2)})
    with pytest.raises(ConfigError, match=f"{name} must be a space .*, but the environment has none"):
        envpool.make_python(one)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"env": 3}, "must be an id"),
        ({"env": []}, r"env must have at least one function that returns an environment, got \[\]"),
        ({"env": [FaultyEnv, 3]}, r"env\[1\] must be a function that returns an environment, got 3"),
        ({"env": [FaultyEnv], "num_envs": 2}, "num_envs must be 1, the number of functions in env, got 2"),
        ({"env": FaultyEnv, "num_envs": 2**31}, "num_envs must be between 1 and 2147483647, got 2147483648"),
        ({"env": FaultyEnv, "workers": "fork"}, "workers must be one of"),
        ({"env": dict}, "must be a gymnasium"),
        ({"env": [FaultyEnv, SpaceEnv]}, "same spaces"),
        ({"env": partial(SpaceEnv, "box", "text")}, "action space must have numeric arrays"),
        ({"env": FaultyEnv, "num_envs": 0}, "num_envs"),
        ({"env": FaultyEnv, "render_mode": "x"}, "render_mode must be one of 'rgb_array', 'human', got 'x'"),
        ({"env": SpaceEnv, "render_mode": "rgb_array"}, r"render_mode must be None .* render\(\) of SpaceEnv raised"),
        ({"env": FaultyEnv, "render_mode": "rgb_array", "render_width": 7}, "render_width must be 5, .* got 7"),
        ({"env": FaultyEnv, "num_threads": -1}, "num_threads must be between 0 and 4096, got -1"),
        ({"env": FaultyEnv, "num_threads": 10**6}, "num_threads must be between 0 and 4096, got 1000000"),
    ],
)
def test_bad_arguments(arguments, text):
    with pytest.raises((ConfigError, EnvCreateError), match=text):
        envpool.make_python(**arguments)


def test_a_bool_is_no_number_of_environments():
    with pytest.raises(TypeError, match=r"num_threads must be of type int, got array\(\[1, 2\]\)"):
        envpool.make_python(FaultyEnv, num_threads=np.array([1, 2]))
    with pytest.raises(TypeError, match="num_envs must be of type int, got True"):
        envpool.make_python(FaultyEnv, True)


@pytest.mark.parametrize("env", ["CartPole-v1", FaultyEnv])
def test_more_environments_than_the_memory_could_hold_are_refused_at_once(env):
    with pytest.raises(MemoryError, match=r"num_envs=2147483647 needs at least 2048.0 GiB, .*: ask for fewer envs"):
        envpool.make_python(env, 2**31 - 1)


@pytest.mark.parametrize("kind", ["inline", "thread", "process"])
@pytest.mark.parametrize("wrapper", [lambda env: env, lambda env: gymnasium.wrappers.TimeLimit(env, 5)])
def test_one_object_for_several_environments(kind, wrapper):
    """It is refused, also inside wrappers; its copies in other processes are objects of their own."""
    first, second = FaultyEnv(), FaultyEnv()
    makers = [lambda: wrapper(first), lambda: wrapper(second)] * 2
    with pytest.raises(ConfigError, match="environment 2 is the same object as environment 0"):
        envpool.make_python(makers, workers=kind, num_threads=2)
    with pytest.raises(ConfigError, match="environment 1 is the same object as environment 0"):
        envpool.make_python(lambda: wrapper(first), 2, workers=kind, num_threads=1)
    with pytest.raises(ConfigError, match="same object"):
        envpool.make_vec([lambda: wrapper(first)] * 2)
    with envpool.make_python(lambda: wrapper(first), 1, workers=kind) as pool:
        pool.reset()


def test_errors_while_making():
    def make():
        raise OSError("no such file")

    with pytest.raises(EnvCreateError, match="no such file") as caught:
        envpool.make_python(make, 2)
    assert isinstance(caught.value.__cause__, OSError)
    with pytest.raises(EnvCreateError, match="no such file") as caught:
        envpool.make_python([FaultyEnv, make])
    assert isinstance(caught.value.__cause__, OSError)
    with pytest.raises(EnvCreateError):
        envpool.make_python("NoSuchEnv-v0")

    def interrupted():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        envpool.make_python([FaultyEnv, interrupted])
    with pytest.raises(TypeError, match="env_kwargs must be a mapping"):
        envpool.make_python(FaultyEnv, env_kwargs=[3])
    with pytest.raises(TypeError, match="batch_size must be of type int"):
        envpool.make_python(FaultyEnv, batch_size=np.zeros((3, 3)))


def test_gymnasium_ids_without_a_native_version(monkeypatch):
    task = "tests/Faulty-v0"
    monkeypatch.setitem(gymnasium.registry, task, gymnasium.envs.registration.EnvSpec(task, entry_point=FaultyEnv))
    for call in (envpool.make_gymnasium, envpool.make_gym, envpool.make_dm, envpool.make_spec):
        with pytest.raises(UnknownTaskError, match=r"no native version: envpool\.make_python\('tests/Faulty-v0'"):
            call(task)
    with envpool.make_python(task, num_envs=2, seed=1) as pool:
        assert np.array_equal(pool.reset()[0][1], gymnasium.make(task).reset(seed=2)[0])
    with pytest.raises(UnknownTaskError, match="did you mean"):
        envpool.make_gym("CartPoll-v1")
    with pytest.raises(UnknownTaskError, match="no_such_module"):
        envpool.make_gym("no_such_module:Env-v0")
    with pytest.raises(EnvCreateError, match="no_such_module"):
        envpool.make_python("no_such_module:Env-v0")


class Waiting(SpaceEnv):
    def step(self, action):
        time.sleep(0.002)
        return super().step(action)


def test_auto():
    with envpool.make_python(SpaceEnv, 2, workers="auto", num_threads=1) as pool:
        assert type(pool.envs).__name__ == "Envs"  # one process cannot be faster
    assert choose(1e-6, 16, 2) == "inline" and choose(1e-3, 16, 2) == "process" and choose(1e-3, 1, 1) == "inline"
    with envpool.make_python(SpaceEnv, 4) as pool:
        source = pool.spec.config.source
    assert seconds_per_step(source) > 0
    assert seconds_per_step(with_maker(source, Waiting)) > 0.002

    class Failing(SpaceEnv):
        def step(self, action):
            raise OSError

    assert seconds_per_step(with_maker(source, Failing)) == 0


def with_maker(source, maker):
    other = copy.copy(source)
    other.makers = [maker]
    return other


def test_bad_actions():
    with envpool.make_python(FaultyEnv, 2) as pool:
        pool.reset()
        with pytest.raises(ActionError):
            pool.step(np.array([0, 8]))


@pytest.fixture
def limited(monkeypatch):
    """The id of an environment whose episodes have 20 steps, and for which 10 are registered."""
    task = "tests/Limited-v0"
    spec = gymnasium.envs.registration.EnvSpec(task, entry_point=FaultyEnv, max_episode_steps=10)
    monkeypatch.setitem(gymnasium.registry, task, spec)
    return task


def steps_of(pool):
    """Return the number of steps of the first episode, and whether it was truncated."""
    pool.reset()
    for count in range(1, 50):
        _, _, terminated, truncated, *_ = pool.step(np.zeros(1, int))
        if terminated[0] or truncated[0]:
            return count, bool(truncated[0])


@pytest.mark.parametrize("given", [None, 15, 4])
@pytest.mark.parametrize("workers", ["inline", "process"])
def test_the_time_limit_of_an_id(limited, given, workers):
    """The option replaces the registered limit, as that of gymnasium.make does, and the spec has the one in force."""
    options, limit = ({}, 10) if given is None else ({"max_episode_steps": given}, given)
    for make in (envpool.make_python, envpool.make_vec):
        pool = make(limited, num_envs=1, workers=workers, **options)
        assert steps_of(pool) == (limit, True)
        assert getattr(pool, "pool", pool).spec.max_episode_steps == limit
        pool.close()


def test_time_limits_that_are_not_allowed(limited):
    with envpool.make_python(limited, env_kwargs={"max_episode_steps": 15}) as pool:
        assert pool.spec.max_episode_steps == 15 and steps_of(pool) == (15, True)
    with envpool.make_python(limited, env_kwargs={"max_episode_steps": -1}) as pool:
        assert pool.spec.max_episode_steps is None and steps_of(pool) == (20, False)
    with pytest.raises(ConfigError, match="max_episode_steps is given twice"):
        envpool.make_python(limited, max_episode_steps=3, env_kwargs={"max_episode_steps": 15})
    for value, error in ((0, ConfigError), (-1, ConfigError), ("a", TypeError), (2.5, TypeError)):
        with pytest.raises(error, match="max_episode_steps must be"):
            envpool.make_python(limited, max_episode_steps=value)


@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
@pytest.mark.parametrize("workers", ["thread", "process"])
def test_actions_of_64_bits(workers, dtype):
    """All of them arrive as they are."""
    ends = np.iinfo(dtype)
    space = gymnasium.spaces.Box(ends.min, ends.max, (2,), dtype)
    actions = np.array([[ends.min, ends.max], [2**53 - 1, 2**53 + 1]], dtype)
    with envpool.make_python([partial(ActionsEnv, space)] * 2, workers=workers) as pool:
        pool.reset()
        pool.step(actions)
        assert np.array_equal(pool.get_attr("last_action"), actions)
        with pytest.raises(ActionError, match="must hold integers"):
            pool.step(actions.astype(np.float64))


def test_actions_of_dtypes_that_no_field_has():
    space = gymnasium.spaces.Box(0, 1, (2,), np.float16)
    with pytest.raises(ConfigError, match=r"float16\) \(its dtype is not one of .* uint64\): .*\.TransformAction"):
        envpool.make_python(partial(ActionsEnv, space))


class ActionsEnv(gymnasium.Env):
    """Keeps its last action."""

    observation_space = gymnasium.spaces.Box(-1, 1, (1,))

    def __init__(self, space):
        self.action_space = space

    def reset(self, *, seed=None, options=None):
        return np.zeros(1, np.float32), {}

    def step(self, action):
        self.last_action = action
        return np.zeros(1, np.float32), 0.0, False, False, {}


def test_the_text_of_a_pool_has_its_options():
    with envpool.make_python("CartPole-v1", 4, env_kwargs={"sutton_barto_reward": True}, workers="thread") as pool:
        assert repr(pool) == (
            "CartPole-v1: PythonEnvGymnasiumEnvPool(num_envs=4, max_episode_steps=500, workers='thread', "
            "env_kwargs={'sutton_barto_reward': True})"
        )


def test_an_argument_of_the_environment_is_no_option():
    with pytest.raises(TypeError, match=r"make_python has no option 'size'; pass arguments .* in env_kwargs"):
        envpool.make_python("CartPole-v1", size=3)
    with pytest.raises(TypeError, match=r"make_python has no option 'worker'; did you mean 'workers'"):
        envpool.make_python("CartPole-v1", worker="thread")
    with pytest.raises(TypeError, match="make_python has no option 'source'"):
        envpool.make_python("CartPole-v1", source=3)
    with pytest.raises(UnknownTaskError, match=r"must be an id, got <class .*: use `envpool.make_python`"):
        envpool.make(type("Env", (), {}), "gymnasium")
