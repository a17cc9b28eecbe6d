"""Tianshou's vector environments without Tianshou: what they return for environments of every kind, in every mode."""

import threading

import gymnasium
import numpy as np
import pytest

from envpool.adapters.tianshou import (
    BaseVectorEnv,
    DummyEnvWorker,
    DummyVectorEnv,
    EnvWorker,
    ShmemVectorEnv,
    SubprocEnvWorker,
    SubprocVectorEnv,
)
from envpool.errors import EnvIdError
from tests.support.python import run_python
from tests.support.walks import FAIL, GATE, LEFT, RIGHT, WAIT, OldWalk, Walk

CLASSES = [DummyVectorEnv, SubprocVectorEnv, ShmemVectorEnv]
SIZES = [4, 5, 6, 7]


@pytest.fixture
def make():
    """Make vector environments of walks, which are closed at the end; the gate opens at the end."""
    made = []
    GATE.clear()

    def make_one(cls=DummyVectorEnv, sizes=SIZES, wait_num=None, timeout=None, **options):
        made.append(cls([lambda n=n: Walk(n, **options) for n in sizes], wait_num, timeout))
        return made[-1]

    yield make_one
    GATE.set()
    for env in made:
        if not env.is_closed:
            env.close()


def ids(infos):
    return [info["env_id"] for info in infos]


@pytest.mark.parametrize("cls", CLASSES)
def test_attributes(make, cls):
    env = make(cls)
    assert isinstance(env, BaseVectorEnv)
    assert len(env) == env.env_num == len(env.workers) == 4
    assert isinstance(env.workers[0], DummyEnvWorker if cls is DummyVectorEnv else SubprocEnvWorker)
    assert (env.is_async, env.is_closed, env.waiting_id, env.ready_id) == (False, False, [], [0, 1, 2, 3])
    assert env.action_space == [gymnasium.spaces.Discrete(4)] * 4
    assert [space.high[0] for space in env.observation_space] == SIZES
    assert env.get_env_attr("size") == SIZES
    assert env.get_env_attr("size", id=0) == [4]
    assert env.get_env_attr("size", id=np.array([2, 1])) == [6, 5]
    env.set_env_attr("size", 9, [1, 3])
    env.set_env_attr("size", 8, 0)
    assert env.get_env_attr("size") == [8, 9, 6, 9]
    assert env.get_env_attr("no_such") == [None] * 4
    with pytest.raises(AttributeError, match="no_such"):
        env.no_such  # noqa: B018


@pytest.mark.parametrize("cls", CLASSES)
def test_steps_and_resets(make, cls):
    """Environments are not reset unless the caller does so, and infos are those of the environments."""
    env = make(cls)
    obs, infos = env.reset()
    assert obs.tolist() == [[0]] * 4 and obs.dtype == np.float32
    assert [info["size"] for info in infos] == SIZES and infos.dtype == object
    for t in range(1, 5):
        obs, rew, terminated, truncated, infos = env.step([RIGHT] * 4)
        assert obs.tolist() == [[t]] * 4
        assert rew.dtype == np.float64 and rew.tolist() == [float(t == 4), 0, 0, 0]
        assert terminated.tolist() == [t == 4, False, False, False] and not truncated.any()
        assert [set(info) for info in infos] == [{"object", "cell", "env_id"}] * 4
    with pytest.raises(ValueError, match="after the end"):
        env.step([RIGHT], [0])
    assert env.reset(0)[0].tolist() == [[0]]
    obs, *_, infos = env.step(np.array([RIGHT, LEFT]), np.array([3, 1]))
    assert obs.tolist() == [[5], [3]] and ids(infos) == [3, 1] and set(infos[1]) == {"env_id"}
    assert env.reset([2, 1], options={"cell": 2})[0].tolist() == [[2], [2]]
    assert [frame.max() for frame in env.render()] == [0, 2, 2, 5]


@pytest.mark.parametrize("cls", CLASSES)
@pytest.mark.parametrize("form", ["array", "dict", "nested", "ragged", "graph"])
def test_forms_of_observations(make, cls, form):
    """Observations and rewards are those of the environments, stacked if they are arrays of one shape."""
    env, plain = make(cls, form=form, num_rewards=3), [Walk(n, form=form, num_rewards=3) for n in SIZES]
    obs, _ = env.reset(seed=7)
    expected = [walk.reset(seed=7)[0] for walk in plain]
    for _ in range(3):
        if form == "array":
            assert np.array_equal(obs, np.stack(expected)) and obs.dtype == expected[0].dtype
        else:
            assert obs.dtype == object and obs.shape == (4,)
            assert [repr(row) for row in obs] == [repr(row) for row in expected]
        obs, rew, *_ = env.step(np.ones(4, np.int64))
        assert rew.shape == (4, 3)
        expected = [walk.step(1)[0] for walk in plain]


def test_seeds(make):
    env = make(form="dict")
    assert env.seed(3) == [[3], [4], [5], [6]]
    assert env.seed([1, 1, 2, 2]) == [[1], [1], [2], [2]]
    assert env.seed(None) == [[None]] * 4
    rows = env.reset(seed=5)[0]
    assert all(np.array_equal(row["rand"], np.random.default_rng(5).random(2)) for row in rows)
    again = env.reset()[0]  # without a seed, the generators go on
    assert not any(np.array_equal(a["rand"], b["rand"]) for a, b in zip(rows, again, strict=True))


def test_environments_of_old_gym():
    env = DummyVectorEnv([OldWalk, OldWalk])
    assert env.seed(1) == [[1], [2]]
    assert env.reset()[0].tolist() == [[0], [0]]
    ends = [env.step([RIGHT, RIGHT], None)[2:4] for _ in range(3)]
    assert [pair[1].tolist() for pair in ends] == [[False] * 2] * 2 + [[True] * 2]
    assert not any(pair[0].any() for pair in ends)
    env.close()


def test_mistakes(make):
    for bad in ({"wait_num": 5}, {"wait_num": 0}, {"timeout": 0.0}):
        with pytest.raises(AssertionError):
            make(**bad)
    env = make()
    env.reset()
    for bad in ([0, 0], [4], [-1]):
        for call in (lambda bad=bad: env.step([RIGHT] * len(bad), bad), lambda bad=bad: env.reset(bad)):
            with pytest.raises(EnvIdError, match="env ids must be different numbers from 0 to 3"):
                call()
    assert env.get_env_attr("size", [0, 0]) == [4, 4]
    with pytest.raises(ValueError, match="one entry for each of the 4 environments"):
        env.seed([1, 2])
    with pytest.raises(ValueError, match="wait_num or timeout"):
        env.step(None)
    with pytest.raises(AssertionError, match="2 actions for 4"):
        env.step([0, 0])
    with pytest.raises(TypeError, match="tuples are not supported"):
        make(form="tuple").reset()
    with pytest.raises(TypeError, match="subclass of EnvWorker"):
        BaseVectorEnv([Walk], lambda fn: fn())
    with pytest.raises(ValueError, match="if no environment is in flight"):
        make(wait_num=2).step(None)


@pytest.mark.parametrize("cls", CLASSES)
def test_an_exception_is_that_of_the_environment(make, cls):
    env = make(cls)
    env.reset()
    with pytest.raises(KeyError, match="was asked to fail") as caught:
        env.step([RIGHT, FAIL, RIGHT, RIGHT])
    assert "environment 1" in caught.value.__notes__[-1]
    assert env.step([RIGHT] * 4)[0].tolist() == [[2], [1], [2], [2]]


def test_an_environment_that_cannot_be_made():
    def broken():
        raise OSError("no file")

    with pytest.raises(Exception, match="no file"):
        DummyVectorEnv([Walk, broken])


def test_close(make):
    env = make()
    walks = [worker.env for worker in env.workers]
    env.close()
    assert env.is_closed and [walk.num_closed for walk in walks] == [1] * 4
    for call in (env.close, env.reset, env.seed, env.render, lambda: env.step([0] * 4), lambda: env.get_env_attr("a")):
        with pytest.raises(AssertionError, match="after close"):
            call()


@pytest.mark.parametrize("cls", [SubprocVectorEnv, ShmemVectorEnv])
def test_async_steps(make, cls):
    env = make(cls, wait_num=2)
    assert env.is_async
    env.reset()
    found = ids(env.step([WAIT, RIGHT, WAIT, RIGHT])[-1])
    assert sorted(found) == [1, 3]
    assert sorted(env.waiting_id) == [0, 2] and sorted(env.ready_id) == [1, 3]
    obs, *_, infos = env.step([RIGHT, RIGHT], [3, 1])
    assert sorted(ids(infos)) == [1, 3] and obs.tolist() == [[2], [2]]
    assert env.reset([1])[0].tolist() == [[0]]
    for call in (lambda: env.step([0], [0]), lambda: env.reset(2), lambda: env.get_env_attr("size", 0), env.seed):
        with pytest.raises(AssertionError, match=r"stepping now: fetch it with step\(None\)"):
            call()
    with pytest.raises(EnvIdError, match=r"different numbers from 0 to 3, got \[1, 1\]"):
        env.step([RIGHT, RIGHT], [1, 1])
    assert sorted(env.ready_id) == [1, 3]
    with pytest.raises(RuntimeError, match="still stepping"):
        env.render()
    GATE.set()
    assert sorted(ids(env.step(None)[-1])) == [0, 2]
    assert env.waiting_id == []


def test_timeout(make):
    env = make(SubprocVectorEnv, wait_num=4, timeout=0.05)
    env.reset()
    assert ids(env.step([WAIT, WAIT, RIGHT, WAIT])[-1]) == [2]
    timer = threading.Timer(0.2, GATE.set)  # nothing is ready at first: the call waits for at least one
    timer.start()
    assert len(ids(env.step(None)[-1])) >= 1
    timer.join()


def test_dummy_is_ready_at_once(make):
    env = make(wait_num=1)
    env.reset()
    assert ids(env.step([RIGHT] * 4)[-1]) == [0, 1, 2, 3]


class OwnWorker(EnvWorker):
    """A worker as a user may write it."""

    def __init__(self, env_fn):
        self.env = env_fn()
        super().__init__(env_fn)

    def get_env_attr(self, key):
        return getattr(self.env, key)

    def set_env_attr(self, key, value):
        setattr(self.env, key, value)

    def send(self, action, **kwargs):
        self.result = self.env.reset(**kwargs) if action is None else self.env.step(action)

    def reset(self, **kwargs):
        return self.env.reset(**kwargs)

    def render(self, **kwargs):
        return self.env.render(**kwargs)

    def close_env(self):
        self.env.close()

    @staticmethod
    def wait(workers, wait_num, timeout=None):
        return workers[:wait_num]


@pytest.mark.parametrize("worker", [OwnWorker, DummyEnvWorker, SubprocEnvWorker])
@pytest.mark.parametrize("wait_num", [None, 2])
def test_workers_of_the_user(worker, wait_num):
    env = BaseVectorEnv([lambda n=n: Walk(n) for n in SIZES], worker, wait_num)
    assert env.reset(options={"cell": 1})[0].tolist() == [[1]] * 4
    obs, rew, terminated, _, infos = env.step([RIGHT] * 4)
    assert (len(obs) >= 2) if wait_num else (obs.tolist() == [[2]] * 4)
    assert rew.tolist() == [0] * len(obs) and not terminated.any()
    assert ids(infos) == sorted(ids(infos))
    while env.waiting_id:
        env.step(None)
    env.set_env_attr("size", 3)
    assert env.get_env_attr("size") == [3] * 4
    assert len(env.render()) == 4
    assert env.workers[0].step(RIGHT)[:4] == (np.array([3]), 1.0, True, False)
    env.close()


def test_a_worker_that_cannot_wait():
    class Hasty(OwnWorker):
        wait = EnvWorker.wait

    env = BaseVectorEnv([Walk, Walk], Hasty, wait_num=1)
    env.reset()
    with pytest.raises(NotImplementedError, match="wait"):
        env.step([RIGHT, RIGHT])


def test_without_ray():
    code = (
        "import sys; sys.modules['ray'] = sys.modules['tianshou'] = None\n"
        "from envpool.adapters.tianshou import RayVectorEnv\n"
        "RayVectorEnv([])"
    )
    assert "ImportError: RayVectorEnv and RayEnvWorker need Ray" in run_python(code).stderr


@pytest.mark.parametrize("cls", CLASSES)
@pytest.mark.parametrize("mode", [{}, {"wait_num": 4, "timeout": 60.0}], ids=["sync", "async"])
def test_steps_before_the_first_reset_are_passed_on(make, cls, mode):
    """Whether an environment must be reset first is its own affair, as in Tianshou's classes."""
    env = make(cls, **mode)
    assert env.step([RIGHT] * 4)[0].tolist() == [[1]] * 4
    assert env.seed(3) == [[3], [4], [5], [6]]  # this resets environments without a method seed()
    assert sorted(env.step([RIGHT] * 4, range(4))[0].tolist()) == [[1]] * 4
    assert env.reset([2])[0].tolist() == [[0]]
    assert env.step([RIGHT], [2])[0].tolist() == [[1]]


def test_an_environment_that_must_be_reset_says_so():
    env = DummyVectorEnv([lambda: gymnasium.make("CartPole-v1")])
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step([0])
    env.close()
