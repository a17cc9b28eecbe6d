"""Adapters after a call that was interrupted, timed out or failed: ``reset`` brings the environments back."""

import contextlib

import gymnasium
import numpy as np
import pytest

from envpool.adapters import rlib
from envpool.adapters.single import SingleEnvironment
from envpool.adapters.tianshou import DummyVectorEnv, SubprocVectorEnv, VectorEnv
from envpool.errors import EnvIdError, EnvStepError, EnvTimeoutError, PoolStateError
from tests.support import plugin
from tests.support.gate import eventually
from tests.support.interrupts import ENDINGS, ending_in
from tests.support.walks import RIGHT, Walk

ID, N = "Synthetic-v0", 3


def single(**options):
    return gymnasium.make(f"envpool/{ID}", disable_env_checker=True, seed=42, **options)


def acme(**options):
    return SingleEnvironment(ID, seed=42, **options)


def vector(**options):
    return gymnasium.make_vec(f"envpool/{ID}", num_envs=N, seed=42, **options)


def tianshou(**options):
    return VectorEnv(ID, num_envs=N, seed=42, **options)


def tianshou_async(**options):
    return VectorEnv(ID, num_envs=N, seed=42, wait_num=2, **options)


def of_rlib(**options):
    return rlib.VecEnv(ID, N, seed=42, **options)


def observation(result):
    """Return the observation of environment 0 from a result of reset or step."""
    result = getattr(result, "observation", result)
    obs = result.obs if hasattr(result, "obs") else result[0] if isinstance(result, tuple) else result
    return np.reshape(obs, (-1, 6))[0].tolist()


@pytest.fixture
def make():
    plugin.load()
    made = []

    def make_one(kind, **options):
        made.append(kind(episode_length=0, num_threads=2, **options))
        return made[-1]

    yield make_one
    plugin.load().native.open_gate()
    for env in made:
        if not getattr(env, "is_closed", False):
            env.close()


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("kind", [single, acme, vector, tianshou, tianshou_async, of_rlib])
def test_reset_brings_them_back(make, kind, ending):
    """No text names recv(), which these classes do not have."""
    action, _, options = ENDINGS[ending]
    env = make(kind, **options)
    first = observation(eventually(env.reset))
    is_single = kind in (single, acme)
    with ending_in(ending) as caught:
        env.step(action if is_single else np.full(N, action))
    assert "recv" not in str(caught.value)
    try:
        env.step(0 if is_single else np.zeros(N, int))
    except (PoolStateError, EnvIdError) as error:
        assert "recv" not in str(error) and "reset" in str(error)
    again = observation(eventually(env.reset))
    assert (first[0], first[2], again[0], again[2]) == (0, 0, 0, 0) and again[1] > first[1]  # a later episode

    def step():
        return env.step(0 if is_single else np.zeros(N, int))

    def step_again():  # after a timeout, since the machine was busy
        eventually(env.reset)
        return step()

    assert observation(eventually(step, step_again))[2] == 1


def test_environments_of_a_failed_step_go_on(make):
    """The failed one starts an episode, or has to be reset; the others have taken the step."""
    action, *_ = ENDINGS["failure"]
    env = make(vector)
    env.reset()
    with pytest.raises(EnvStepError, match="results of the other envs were dropped; reset"):
        env.step(np.array([action, 0, 0]))
    assert env.step(np.zeros(N, int))[0][:, :3].tolist() == [[0, 2, 0], [1, 1, 2], [2, 1, 2]]
    env = make(vector, autoreset_mode="disabled")
    env.reset()
    with pytest.raises(EnvStepError):
        env.step(np.array([action, 0, 0]))
    obs, _ = env.reset(options={"reset_mask": np.array([True, False, False])})
    assert obs[:, :3].tolist() == [[0, 2, 0], [1, 1, 1], [2, 1, 1]]  # with the observations of the failed step
    assert env.step(np.zeros(N, int))[0][:, 2].tolist() == [1, 2, 2]


@pytest.mark.parametrize("ending", ["interrupt", "timeout"])
def test_a_masked_reset_needs_idle_environments(make, ending):
    action, _, options = ENDINGS[ending]
    env = make(vector, **options)
    eventually(env.reset)
    with ending_in(ending):
        env.step(np.array([0, 0, action]))
    with pytest.raises(PoolStateError, match=r"reset\(\) without a mask"):
        env.reset(options={"reset_mask": np.array([True, False, False])})
    assert eventually(env.reset)[0][:, 2].tolist() == [0] * N


@pytest.mark.parametrize("call", ["step", "reset"])
def test_an_interrupt_after_the_end_of_a_call_of_the_pool(make, monkeypatch, call):
    """Its result is lost, so what was returned before must not be shown as the present observations."""
    env = make(vector)
    env.reset()
    env.step(np.zeros(N, int))
    mask = {"options": {"reset_mask": np.array([True, False, False])}}

    class Interrupted(type(env.pool)):
        """A pool whose calls end, and Ctrl-C comes before their results are used."""

        def step(self, action):
            super().step(action)
            raise KeyboardInterrupt

        def reset(self, **arguments):
            super().reset(**arguments)
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(env.pool, "__class__", Interrupted)
        with pytest.raises(KeyboardInterrupt):
            env.step(np.zeros(N, int)) if call == "step" else env.reset(**mask)
    with pytest.raises(PoolStateError, match=r"interrupted.*dropped: call reset\(\) without a mask"):
        env.reset(**mask)
    with pytest.raises(PoolStateError, match=r"interrupted.*dropped: call reset\(\) without a mask"):
        env.step(np.zeros(N, int))
    assert env.reset()[0][:, 2].tolist() == [0] * N
    assert env.step(np.zeros(N, int))[0][:, 2].tolist() == [1] * N


def test_reset_of_some_environments_after_an_interrupt(make):
    action, _, options = ENDINGS["interrupt"]
    env = make(tianshou, **options)
    env.reset()
    with ending_in("interrupt"):
        env.step(np.array([0, action, 0]))
    obs, infos = env.reset([1])
    assert obs[:, :3].tolist() == [[1, 2, 0]] and len(infos) == 1
    assert env.step(np.zeros(N, int))[0][:, 2].tolist() == [2, 1, 2]


@pytest.mark.parametrize("ending", ENDINGS)
def test_async_steps_can_be_fetched(make, ending):
    """After Ctrl-C and after errors, step(None) returns the rows, and nothing else is in flight."""
    action, _, options = ENDINGS[ending]
    env = make(tianshou_async, **options)
    eventually(env.reset)
    with ending_in(ending) as caught:
        env.step(np.full(N, action))
    if ending != "interrupt":
        assert "step(None)" in str(caught.value)
    assert sorted(env.waiting_id) == [0, 1, 2] and env.ready_id == []
    while env.waiting_id:
        with contextlib.suppress(EnvStepError):  # of environments that came after those of the first error
            eventually(lambda: env.step(None))
    assert sorted(env.ready_id) == [0, 1, 2] and env.pool.num_outstanding == 0


class Interrupted(Walk):
    """A walk that is interrupted by its first step."""

    def step(self, action):
        if self.size == 1:
            self.size = 5
            raise KeyboardInterrupt
        return super().step(action)


@pytest.mark.parametrize("is_async", [False, True])
def test_python_environments(is_async):
    """Ctrl-C inside an environment of the thread that calls."""
    env = DummyVectorEnv([lambda n=n: Interrupted(n) for n in (5, 1, 5)], **{"wait_num": 2} if is_async else {})
    env.reset()
    with pytest.raises(KeyboardInterrupt):
        env.step([RIGHT] * 3)
    if not is_async:
        with pytest.raises(PoolStateError, match=r"call reset\(\)"):
            env.step([RIGHT] * 3)
    assert env.reset()[0].tolist() == [[0]] * 3
    assert (env.waiting_id, sorted(env.ready_id)) == ([], [0, 1, 2])
    assert env.step([RIGHT] * 3)[0].tolist() == [[1]] * 3
    env.close()


def test_workers_that_were_interrupted_are_reset_one_by_one():
    env = DummyVectorEnv([lambda n=n: Interrupted(n) for n in (5, 1)])
    env.reset()
    with pytest.raises(KeyboardInterrupt):
        env.workers[1].step(RIGHT)
    assert env.workers[1].reset()[0].tolist() == [0]
    assert env.workers[1].step(RIGHT)[0].tolist() == [1]
    env.close()


def test_async_reset_drops_what_is_in_flight():
    env = SubprocVectorEnv([Walk] * 3, wait_num=1)
    env.reset()
    env.step([RIGHT] * 3)
    assert env.reset()[0].tolist() == [[0]] * 3
    assert (env.waiting_id, sorted(env.ready_id)) == ([], [0, 1, 2])
    env.close()


def test_timeouts_of_environments_that_hang(make):
    """reset() waits for the environment again; nothing else is lost."""
    action, _, options = ENDINGS["timeout"]
    env = make(single, **options)
    eventually(env.reset)
    with ending_in("timeout"):
        try:
            env.step(action)
        finally:
            with pytest.raises(EnvTimeoutError, match=r"^(?!.*recv)"):
                env.reset()
    assert observation(eventually(env.reset))[2] == 0
