"""Extreme values of the parameters of Box2D's environments: nothing crashes, hangs, or stops being a number."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import envpool
from envpool.errors import StateError

TASKS: list[tuple[str, dict[str, Any]]] = [
    ("LunarLander-v3", {"enable_wind": True}),
    ("LunarLander-v2", {"enable_wind": True}),
    ("LunarLanderContinuous-v3", {}),
    ("BipedalWalker-v3", {}),
    ("BipedalWalkerHardcore-v3", {}),
    ("CarRacing-v3", {}),
]
NUM_ENVS = 16


def drawn(rng: np.random.Generator, spec: Any, n: int) -> dict[str, Any]:
    """Return values of all parameters for n environments: bounds, defaults, and values between the bounds."""
    values = {}
    for name, param in spec.items():
        between = rng.uniform(param.low, param.high, n)
        if param.dtype.kind == "i":
            between = np.round(between)
        which = rng.integers(0, 4, n)
        values[name] = np.choose(which, [param.low, param.high, param.default, between]).astype(param.dtype)
    return values


def actions_of(rng: np.random.Generator, pool: Any) -> Any:
    """Return the least, the largest and random actions."""
    space = pool.action_space
    if hasattr(space, "n"):
        return rng.integers(0, space.n, NUM_ENVS).astype(np.int32)
    corner = np.where(rng.integers(0, 2, (NUM_ENVS, *space.shape)), space.low, space.high)
    return np.where(rng.integers(0, 2, (NUM_ENVS, 1)), corner, rng.uniform(space.low, space.high)).astype(np.float32)


def saved_states(pool: Any, env_ids: list[int]) -> Any:
    """Return the states of environments; None if the forces in one are larger than a state can hold."""
    try:
        return pool.get_state(env_ids)
    except StateError as error:
        assert "forces that are too large" in str(error)
        return None


def survive(task_id: str, options: dict[str, Any], seed: int, steps: int) -> None:
    """Step, render, save and restore environments with extreme parameters, which change every 100 steps."""
    rng = np.random.default_rng(seed)
    with envpool.make_gymnasium(
        task_id,
        num_envs=NUM_ENVS,
        seed=seed,
        max_episode_steps=60,
        on_error="restart",
        render_mode="rgb_array",
        render_height=20,
        render_width=30,
        **options,
    ) as pool:
        for t in range(steps):
            if t % 100 == 0:
                pool.set_params(drawn(rng, pool.spec.param_spec, NUM_ENVS))
                pool.reset()
            obs, reward, _, _, info = pool.step(actions_of(rng, pool))
            assert np.isfinite(obs).all() and np.isfinite(reward).all()
            if t % 25 == 7:
                errors = info.get("error", np.full(NUM_ENVS, None))
                sound = [i for i in range(NUM_ENVS) if not errors[i]]
                saved = saved_states(pool, sound)
                if saved is not None:
                    pool.set_state(saved, sound)
                pool.render(sound)


@pytest.mark.parametrize(
    ("task_id", "options"), [pytest.param(*t, marks=pytest.mark.slow if "Car" in t[0] else ()) for t in TASKS]
)
def test_extreme_values(task_id: str, options: dict[str, Any]) -> None:
    survive(task_id, options, 1, 300)


@pytest.mark.sweep
@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize(("task_id", "options"), TASKS)
def test_many_extreme_values(task_id: str, options: dict[str, Any], seed: int) -> None:
    survive(task_id, options, seed, 3000)
