"""The preset "ppo-cleanrl" has the options that CleanRL's script passes to ``envpool.make``."""

import ast
from importlib.util import find_spec
from pathlib import Path

import numpy as np

import envpool

SCRIPT = Path(find_spec("cleanrl").submodule_search_locations[0]) / "ppo_atari_envpool.py"


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
