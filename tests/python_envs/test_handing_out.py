"""What an environment returned becomes part of a batch: a fault in it costs that environment, and no batch is lost."""

import contextlib
import re
import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

import envpool
from envpool.errors import EnvStepError

WORKERS = ["inline", "thread", "process"]
STYLES = ["gymnasium", "dm", "vector", "final"]


class Nasty:
    """A key or a value whose method raises an exception."""

    def __init__(self, error):
        self.error = error

    def __str__(self):
        raise self.error("on purpose")

    __repr__ = __str__

    def __hash__(self):
        return 1


class NotUnpickled:
    """A value that can be pickled, but not unpickled."""

    def __reduce__(self):
        return int, ("no number",)


def info_of(kind):
    """Return an info that cannot be handed out."""
    info = {"fine": 1}
    if kind == "recursive":
        info["self"] = info
    elif kind == "unpickled":
        info["value"] = NotUnpickled()
    else:
        info[Nasty({"key": ValueError, "exit": SystemExit}[kind])] = 2
    return info


class InfoEnv(gymnasium.Env):
    """Returns an info that the class attribute names, in env 1 with the action 1; its episodes have two steps."""

    observation_space = spaces.Box(0, 9, (1,), np.float32)
    action_space = spaces.Discrete(2)
    kind = None

    def reset(self, *, seed=None, options=None):
        self.count = 0
        return np.zeros(1, np.float32), {}

    def step(self, action):
        self.count += 1
        info = info_of(self.kind) if action else {"fine": 1}
        return np.full(1, self.count, np.float32), 1.0, self.count == 2, False, info


def env_of(kind):
    return type("Env", (InfoEnv,), {"kind": kind})


def make(kind, style="gymnasium", **options):
    options = {"num_envs": 3} | ({"num_threads": 1} if options.get("workers") == "process" else {}) | options
    if style == "vector":
        return envpool.make_vec(env_of(kind), **options)
    if style == "final":
        options |= {"autoreset_mode": "same_step"}
    return envpool.make_python(env_of(kind), env_type="dm" if style == "dm" else "gymnasium", **options)


def info_in(batch):
    return batch.observation.infos if hasattr(batch, "observation") else batch[-1]


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("kind", ["recursive", "key", "exit"])
def test_an_info_that_cannot_be_handed_out_is_dropped(kind, style):
    with contextlib.closing(make(kind, style)) as pool:
        pool.reset()
        pool.step(np.zeros(3, int))
        text = "the info of environment 1 was dropped, since a batch cannot contain it"
        with pytest.warns(RuntimeWarning, match=text):
            info = info_in(pool.step(np.array([0, 1, 0])))
        if style == "final":
            info = info["final_info"]
        assert info["fine"].tolist() == [1, 0, 1] and info["_fine"].tolist() == [True, False, True]
        info_in(pool.step(np.zeros(3, int)))


@pytest.mark.parametrize("workers", WORKERS)
@pytest.mark.parametrize("kind", ["recursive", "unpickled"])
def test_warnings_that_are_errors_lose_no_batch(kind, workers):
    if kind == "unpickled" and workers != "process":
        return
    with make(kind, workers=workers) as pool, warnings.catch_warnings():
        warnings.simplefilter("error")
        pool.reset()
        with pytest.raises(RuntimeWarning, match="the info of environment 1 was dropped"):
            pool.step(np.array([0, 1, 0]))
        obs, *_, info = pool.recv()
        assert obs.tolist() == [[1]] * 3 and info["_fine"].tolist() == [True, False, True]
        assert pool.step(np.zeros(3, int))[-1]["_fine"].tolist() == [True] * 3


@pytest.mark.parametrize("kind", ["recursive", "unpickled"])
def test_warnings_that_are_errors_lose_no_last_info(kind):
    with make(kind, "final", workers="process") as pool, warnings.catch_warnings():
        warnings.simplefilter("error")
        pool.reset()
        pool.step(np.zeros(3, int))
        with pytest.raises(RuntimeWarning, match="the info of environment 1 was dropped"):
            pool.step(np.array([0, 1, 0]))
        assert pool.recv()[-1]["final_info"]["_fine"].tolist() == [True, False, True]


@pytest.mark.parametrize("workers", WORKERS)
def test_an_object_of_a_wrong_shape_fails_its_environment(workers):
    class Env(InfoEnv):
        observation_space = spaces.Dict({"a": spaces.Box(0, 9, (2,), np.float16), "b": spaces.Discrete(3)})

        def reset(self, *, seed=None, options=None):
            return {"a": np.zeros(2, np.float16), "b": 0}, {}

        def step(self, action):
            return {"a": np.zeros(3 if action else 2, np.float16), "b": 1}, 1.0, False, False, {}

    with envpool.make_python(Env, 3, workers=workers, **({"num_threads": 1} if workers == "process" else {})) as pool:
        pool.reset()
        text = "the observation at ('a',) must have shape (2,) as the observation space says, got (3,)"
        with pytest.raises(EnvStepError, match=re.escape(text)) as caught:
            pool.step(np.array([0, 1, 0]))
        assert list(caught.value.failures) == [1]
        obs, _, _, truncated, _ = pool.recv()
        assert truncated.tolist() == [False, True, False] and obs["b"].tolist() == [1, 0, 1]
        assert obs["a"].tolist() == [[0, 0]] * 3
        pool.step(np.zeros(3, int))


def test_a_failure_is_reported_if_its_text_is_interrupted(monkeypatch):
    """Formatting a traceback takes long, and Ctrl-C may come meanwhile."""

    class Env(InfoEnv):
        def step(self, action):
            raise ValueError

    def interrupt(error):
        raise KeyboardInterrupt

    monkeypatch.setattr("traceback.format_exception", interrupt)
    with envpool.make_python(Env, 1) as pool:
        pool.reset()
        with pytest.raises(KeyboardInterrupt):
            pool.step(np.zeros(1, int))
        with pytest.raises(EnvStepError, match="ValueError, whose traceback could not be formatted: KeyboardInterrupt"):
            pool.recv()
        assert pool.recv()[3].tolist() == [True]


def test_structured_actions_of_rollouts():
    """The core takes structured actions apart, so that no Python code runs after a batch was handed out."""

    class Env(InfoEnv):
        action_space = spaces.Dict({"a": spaces.Discrete(2), "b": spaces.Box(0, 1, (2,))})

        def step(self, action):
            assert self.action_space.contains(action)
            return super().step(0)

    with envpool.make_python(Env, 2) as pool:
        rollout = envpool.Rollout(pool, 2)
        rollout.reset()
        for _ in range(2):
            rollout.step(pool.sample_actions())
        assert rollout.finish().action["b"].shape == (2, 2, 2)
