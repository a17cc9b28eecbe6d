"""The presets "ppo-cleanrl" and "ppo-continuous" against what CleanRL's own scripts make."""

import ast
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import gym  # noqa: F401  as the script does, for the forms of results of this version
import gymnasium
import numpy as np
import pytest

import envpool

SCRIPTS = Path(find_spec("cleanrl").submodule_search_locations[0])
SCRIPT = SCRIPTS / "ppo_atari_envpool.py"


def options_of_the_script():
    """Return the keyword arguments of the script's call that are constants."""
    calls = [node for node in ast.walk(ast.parse(SCRIPT.read_text())) if isinstance(node, ast.Call)]
    (make,) = [call for call in calls if ast.unparse(call.func) == "envpool.make"]
    return {k.arg: k.value.value for k in make.keywords if isinstance(k.value, ast.Constant)}


def test_options():
    theirs = options_of_the_script()
    assert theirs == {"env_type": "gym", "episodic_life": True, "reward_clip": True}
    for task in ("Pong-v5", "Breakout-v5"):
        theirs_spec = envpool.make_spec(task, num_envs=8, episodic_life=True, reward_clip=True)
        assert envpool.make_spec(task, num_envs=8, preset="ppo-cleanrl").config == theirs_spec.config


def test_steps():
    options = options_of_the_script()
    rng = np.random.default_rng(0)
    with (
        envpool.make("Breakout-v5", num_envs=4, seed=1, **options) as theirs,
        envpool.make("Breakout-v5", "gym", num_envs=4, seed=1, preset="ppo-cleanrl") as own,
    ):
        assert theirs.reset().tobytes() == own.reset().tobytes()
        for _ in range(100):
            action = rng.integers(0, 4, 4).astype(np.int32)
            for a, b in zip(theirs.step(action)[:3], own.step(action)[:3], strict=True):
                assert a.tobytes() == b.tobytes()


def make_continuous(task, seed):
    """Return the environment of the function make_env in ppo_continuous_action.py, and its first observation.

    The script is older than gymnasium 1, whose TransformObservation asks for the new space.
    """

    class TransformObservation(gymnasium.wrappers.TransformObservation):
        def __init__(self, env, function):
            super().__init__(env, function, env.observation_space)

    wrappers = SimpleNamespace(**vars(gymnasium.wrappers) | {"TransformObservation": TransformObservation})
    package = SimpleNamespace(make=lambda task: gymnasium.make(task, max_episode_steps=40), wrappers=wrappers)
    names = {"gym": package, "np": np}
    body = ast.parse((SCRIPTS / "ppo_continuous_action.py").read_text()).body
    (function,) = [node for node in body if isinstance(node, ast.FunctionDef) and node.name == "make_env"]
    exec(ast.unparse(function), names)
    env = names["make_env"](task, 0, capture_video=False, run_name="", gamma=0.99)()
    return env, env.reset(seed=seed)[0]


@pytest.mark.parametrize("task", ["HalfCheetah-v5", "Hopper-v5"])
def test_continuous(task):
    """Observations have the same bits. Rewards and their sums are float64 in CleanRL, and float32 in a pool."""
    rng, done, ends = np.random.default_rng(0), False, 0
    env, expected = make_continuous(task, 4)
    with envpool.make_gymnasium(task, env_seed=[4], max_episode_steps=40, preset="ppo-continuous") as pool:
        got = pool.reset()[0]
        for _ in range(200):
            assert expected.tobytes() == got[0].tobytes()
            action = rng.normal(scale=2, size=pool.action_space.shape)
            got, reward, terminated, truncated, info = pool.step(action[None])
            if done:
                expected, done = env.reset()[0], False
                continue
            expected, *results, expected_info = env.step(action)
            assert reward[0] == pytest.approx(results[0], rel=2e-5, abs=1e-6)
            assert [terminated[0], truncated[0]] == results[1:]
            done = terminated[0] or truncated[0]
            ends += done
            if done:
                for key in "rl":
                    assert info["episode"][key][0] == pytest.approx(expected_info["episode"][key], rel=1e-5)
    assert ends > 3
    env.close()
