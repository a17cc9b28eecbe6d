"""Actions that pools refuse: those with NaN or infinity, and the action of a single environment."""

import numpy as np
import pytest

import envpool
from envpool.errors import ActionError, EnvStepError
from envpool.registration import registry
from tests.support.results import leaves

QUICK = (
    "Pendulum-v1",
    "MountainCarContinuous-v0",
    "LunarLanderContinuous-v3",
    "BipedalWalker-v3",
    "CarRacing-v3",
    "Ant-v5",
    "InvertedPendulum-v5",
    "CheetahRun-v1",
)


def continuous_tasks():
    """Yield a task of each environment whose actions are floats."""
    seen = set()
    for name, entry in registry.tasks.items():
        if entry.import_path.startswith("envpool.") and entry.env not in seen:
            seen.add(entry.env)
            if action_of(envpool.make_spec(name)).dtype.kind == "f":
                yield name


def action_of(spec):
    return list(spec.action_array_spec.values())[-1]


def check(task):
    """Play actions with NaN and with infinity."""
    with envpool.make_gymnasium(task, num_envs=2, seed=5) as pool, np.errstate(all="ignore"):
        good = pool.sample_actions(1)
        for value in (np.nan, np.inf, -np.inf):
            pool.reset()
            bad = good.copy()
            bad[1, 0] = value
            for _ in range(3):
                try:
                    result = pool.step(bad)
                except ActionError as error:
                    assert "of env 1 (row 1) must not be" in str(error) and "nothing was sent" in str(error)
                    assert pool.num_outstanding == 0 and np.isnan(value)
                except EnvStepError as error:
                    assert set(error.failures) == {1}
                    result = pool.recv()
                else:
                    assert not any(np.isnan(a).any() for _, a in leaves(result) if a.dtype.kind == "f"), value
        pool.reset()
        pool.step(good)
    with envpool.make_gymnasium(task, num_envs=2, require_finite_actions=True) as pool:
        pool.reset()
        for value in (np.nan, np.inf, -np.inf):
            bad = good.copy()
            bad[1, -1] = value
            with pytest.raises(ActionError, match=r"(?s)of env 1 \(row 1\) must not be NaN or infinite"):
                pool.step(bad)
        pool.step(good)


@pytest.mark.parametrize("task", QUICK)
def test_no_nan_comes_back(task):
    check(task)


@pytest.mark.slow
def test_no_nan_comes_back_from_any_environment():
    tasks = [task for task in continuous_tasks() if task not in QUICK]
    assert len(tasks) > 20
    for task in tasks:
        check(task)


def test_an_environment_that_resets_ignores_its_action():
    nan = np.full((2, 1), np.nan, np.float32)
    with envpool.make_gymnasium("Pendulum-v1", num_envs=2, max_episode_steps=1, require_finite_actions=True) as pool:
        pool.step(nan)  # the first step resets
        pool.step(pool.sample_actions())
        pool.step(nan)  # the episodes have ended
        with pytest.raises(ActionError, match="finite"):
            pool.step(nan)
        pool.step(pool.sample_actions())
        pool.step(nan[:1], [0])


def test_discrete_actions_and_every_style():
    with envpool.make_gym("CartPole-v1", num_envs=2, require_finite_actions=True) as pool:
        pool.reset()
        pool.step(np.zeros(2, np.int32))
        with pytest.raises(ActionError, match="integers"):
            pool.step(np.array([0, np.nan]))
    with envpool.make_dm("CheetahRun-v1", num_envs=2, require_finite_actions=True) as pool:
        pool.reset()
        with pytest.raises(ActionError, match="must not be NaN or infinite"):
            pool.step(np.full((2, 6), -np.inf))


@pytest.mark.parametrize("value", ["nan", None, 2])
def test_values_of_the_option(value):
    with pytest.raises(TypeError, match="require_finite_actions must be of type bool"):
        envpool.make_spec("CartPole-v1", require_finite_actions=value)


@pytest.mark.parametrize(
    ("task", "options"), [("CartPole-v1", {}), ("Pendulum-v1", {}), ("Ant-v5", {}), ("Pendulum-v1", {"batch_size": 2})]
)
def test_the_action_of_a_single_env(task, options):
    """What everyone tries first: ``env.step(env.action_space.sample())``."""
    with envpool.make_gymnasium(task, num_envs=4, **options) as pool:
        pool.async_reset()
        *_, info = pool.recv()
        with pytest.raises(ActionError, match=r"of one env.*env\.sample_actions\(rng\).*gymnasium\.make_vec\("):
            pool.step(pool.action_space.sample())
        with pytest.raises(ActionError) as caught:
            pool.step(np.zeros((7, 7, 7)))
        assert "sample_actions" not in str(caught.value)
        assert pool.step(pool.sample_actions(3, info["env_id"]), info["env_id"])[1].shape == info["env_id"].shape
