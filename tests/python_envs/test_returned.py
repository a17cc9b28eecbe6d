"""Python environments that return something of the wrong structure: the text says what was expected."""

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

import envpool
from envpool.errors import EnvStepError

OBS = np.zeros(2, np.float32)


class Env(gymnasium.Env):
    """Returns what it is given."""

    observation_space = spaces.Box(0, 1, (2,))
    action_space = spaces.Discrete(2)

    def __init__(self, of_reset=(OBS, {}), of_step=(OBS, 0.0, False, False, {})):
        self.of_reset, self.of_step = of_reset, of_step

    def reset(self, *, seed=None, options=None):
        return self.of_reset

    def step(self, action):
        return self.of_step


class Nested(Env):
    """The same with a Dict space."""

    observation_space = spaces.Dict(pos=spaces.Box(0, 1, (2,)), inner=spaces.Dict(t=spaces.Discrete(3)))


GOOD = {"pos": OBS, "inner": {"t": 1}}


def caught(env, name, value, **options):
    """Return the text of the failure of a call that returns a value."""
    first = GOOD if env is Nested else OBS
    kwargs = {"of_reset": (first, {}), "of_step": (first, 0.0, False, False, {})} | {name: value}
    with envpool.make_python(lambda: env(**kwargs), 1, **options) as pool:
        with pytest.raises((EnvStepError, TypeError)) as error:
            pool.reset()
            pool.step(np.zeros(1, int))
        return str(getattr(error.value, "failures", {0: error.value})[0])


@pytest.mark.parametrize("options", [{}, {"debug": True}, {"workers": "process"}], ids=["inline", "debug", "process"])
@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("of_reset", OBS, r"reset() must return (obs, info), got array([0., 0.]"),
        ("of_reset", None, "reset() must return (obs, info), got None"),
        ("of_reset", (OBS,), "reset() must return (obs, info), got 1 values"),
        ("of_reset", "ab", "reset() must return (obs, info), got 'ab'"),
        ("of_step", None, "step() must return (obs, reward, terminated, truncated, info), got None"),
        ("of_step", (OBS, 0.0, False), "step() must return (obs, reward, terminated, truncated, info), got 3 values"),
        ("of_step", (OBS, OBS, False, False, {}), "the reward must be a real number, got an array of shape (2,)"),
        ("of_step", (OBS, 0.0, OBS, False, {}), "terminated must be True or False, got array([0., 0.]"),
        ("of_step", (OBS, 0.0, False, "False", {}), "truncated must be True or False, got 'False'"),
        ("of_step", (OBS, 0.0, np.nan, False, {}), "terminated must be True or False, got nan"),
        ("of_step", (OBS, 0.0, None, False, {}), "terminated must be True or False, got None"),
        ("of_step", (OBS, 0.0, False, 2, {}), "truncated must be True or False, got 2"),
        ("of_step", (OBS, 0.0, False, False, []), "info must be a dict, got a list"),
        ("of_reset", (OBS, 0), "info must be a dict, got a int"),
        ("of_reset", (OBS, OBS), "info must be a dict, got a ndarray"),
    ],
)
def test_values(name, value, text, options):
    assert text in caught(Env, name, value, **options)


@pytest.mark.parametrize("options", [{}, {"debug": True}], ids=["inline", "debug"])
@pytest.mark.parametrize(
    ("obs", "text"),
    [
        (OBS, "the observation must have the entry 'pos', as the observation_space says, got array([0., 0.]"),
        (
            {"pos": OBS},
            "the observation must have the entry 'inner', as the observation_space says, got the keys ['pos']",
        ),
        (
            GOOD | {"inner": {}},
            "the observation['inner'] must have the entry 't', as the observation_space says, got the keys []",
        ),
        (GOOD | {"inner": 3}, "the observation['inner'] must have the entry 't', as the observation_space says, got 3"),
    ],
)
def test_parts_of_observations(obs, text, options):
    found = [
        caught(Nested, "of_reset", (obs, {}), **options),
        caught(Nested, "of_step", (obs, 0.0, False, False, {}), **options),
    ]
    assert all(text in one for one in found), found


def test_no_info():
    with envpool.make_python(lambda: Env((OBS, None), (OBS, 2.0, False, False, None)), 1) as pool:
        pool.reset()
        assert pool.step(np.zeros(1, int))[1] == [2]


def test_other_sequences_count():
    with envpool.make_python(lambda: Env([OBS, {}], [OBS, 2, 0, np.False_, {"a": 1}]), 1) as pool:
        pool.reset()
        assert pool.step(np.zeros(1, int))[1] == [2]


@pytest.mark.parametrize("flag", [1, np.True_, np.int64(1), np.array(True), np.array([1])])
def test_flags(flag):
    with envpool.make_python(lambda: Env(of_step=(OBS, 0.0, flag, not flag, {})), 1) as pool:
        pool.reset()
        _, _, terminated, truncated, _ = pool.step(np.zeros(1, int))
        assert (terminated, truncated) == ([True], [False])


class Quits(Env):
    """Its close() ends the program."""

    def close(self):
        raise SystemExit(3)


@pytest.mark.parametrize("workers", ["inline", "thread"])
def test_a_close_that_exits_is_a_warning(workers):
    pool = envpool.make_python(Quits, 2, workers=workers)
    pool.reset()
    with pytest.warns(RuntimeWarning, match=r"close\(\) of Quits raised SystemExit\(3\)"):
        pool.close()


class Named(Env):
    """Its infos have names that the pool has as well."""

    def step(self, action):
        names = ["error", "_error", "episode", "_episode", "finished", "elapsed_step", "env_id", "players", "mine"]
        return OBS, 1.0, False, False, dict.fromkeys(names, 0.25)


def test_names_of_the_pool():
    """An entry that the pool has in other batches never has the values of an environment."""
    with envpool.make_python(Named, 2) as pool:
        pool.reset()
        assert pool.step(np.zeros(2, int))[4]["error"].tolist() == [0.25, 0.25]
    options = {"on_error": "restart", "episode_statistics": True, "finished_episodes": True}
    with envpool.make_python(Named, 2, **options) as pool:
        pool.reset()
        info = pool.step(np.zeros(2, int))[4]
        assert info["mine"].tolist() == [0.25, 0.25] and info["elapsed_step"].tolist() == [1, 1]
        assert set(info) == {"env_id", "players", "elapsed_step", "mine", "_mine"}
