"""Parameters of Box2D's environments: trajectories and frames equal upstream's with the same constants changed."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pytest
from gymnasium.envs.box2d import bipedal_walker, lunar_lander
from gymnasium.wrappers import TimeLimit

import envpool
from envpool.box2d.upstream import LunarLanderV2
from envpool.errors import ConfigError, StateError
from tests.box2d.car_racing.test_parameters import CARS
from tests.box2d.compared import SEEDS, Compared, several
from tests.box2d.variants import variant
from tests.support.saved import CORE, body_of, core_at, play, sealed

#: What a parameter of LunarLander is called upstream: a piece of the source for those that have no name.
LANDER_TEXTS = {
    "lander_density": ("density=5.0", "density={}"),
    "leg_density": ("density=1.0", "density={}"),
    "moon_friction": ("density=0, friction=0.1", "density=0, friction={}"),
}
LANDER_OPTIONS = ("gravity", "wind_power", "turbulence_power")
#: One value for each of three environments.
LANDERS: dict[str, list[float]] = {
    "gravity": [-10.0, -1.62, -11.9],
    "wind_power": [15.0, 5, -3],
    "turbulence_power": [1.5, 0, 19.25],
    "main_engine_power": [13.0, 7.5, 40],
    "side_engine_power": [0.6, 0.0, 5.1],
    "main_engine_y_location": [4.0, 9.5, -3],
    "side_engine_height": [14.0, 3, -1.5],
    "side_engine_away": [12.0, 30.5, 1],
    "initial_random": [1000.0, 1500, 0],
    "leg_away": [20.0, 25.5, 12],
    "leg_down": [18.0, 22, 9.75],
    "leg_w": [2.0, 3.3, 1],
    "leg_h": [8.0, 12.5, 4],
    "leg_spring_torque": [40.0, 0, 700.5],
    "lander_density": [5.0, 2.3, 12],
    "leg_density": [1.0, 0.4, 3.1],
    "moon_friction": [0.1, 0, 2.5],
}


def lander_variant(values: Mapping[str, float]) -> Any:
    """Return upstream's module with constants changed."""
    texts = {LANDER_TEXTS[k][0]: LANDER_TEXTS[k][1].format(v) for k, v in values.items() if k in LANDER_TEXTS}
    names = {k.upper(): v for k, v in values.items() if k not in LANDER_TEXTS and k not in LANDER_OPTIONS}
    return variant(lunar_lander, names, texts)


def landers(values: Mapping[str, Sequence[float]], task_id: str, limit: int, **options: Any) -> Any:
    """Return the context of landers."""

    def make(given: dict[str, Any]) -> Any:
        kwargs = {k: v for k, v in given.items() if k in LANDER_OPTIONS} | options
        return lander_variant(given).LunarLander(render_mode="rgb_array", **kwargs)

    return several(values, task_id, make, limit, **options)


@pytest.mark.parametrize("continuous", [False, True])
def test_all_parameters_of_landers(continuous: bool) -> None:
    options = {"continuous": continuous, "enable_wind": True}
    with landers(LANDERS, "LunarLander-v3", 90, **options) as compared:
        compared.reset(SEEDS)
        compared.step(250, shown=(5, 40, 120))
        assert compared.episodes >= 6


@pytest.mark.slow
@pytest.mark.parametrize("name", list(LANDERS))
def test_each_parameter_of_landers(name: str) -> None:
    with landers(
        {name: LANDERS[name]}, "LunarLander-v3", 200, enable_wind="wind" in name or "turb" in name
    ) as compared:
        compared.reset(SEEDS)
        compared.step(500, shown=range(0, 500, 50))
        assert compared.episodes >= 3


def test_every_parameter_of_landers_has_an_effect() -> None:
    """No parameter is read from the wrong member."""
    trajectories = set()
    for given in ({}, *({name: values[2]} for name, values in LANDERS.items())):
        with envpool.make_gymnasium("LunarLander-v3", seed=5, enable_wind=True, **given) as pool:
            pool.reset()
            actions = np.random.default_rng(1).integers(0, 4, (120, 1)).astype(np.int32)
            trajectories.add(b"".join(pool.step(a)[0].tobytes() for a in actions))
    assert len(trajectories) == 1 + len(LANDERS)


# ---- BipedalWalker ---------------------------------------------------------------------------------------------------


def drawn(name: str) -> str:
    """Return the source of a draw between two parameters; if the largest value is too small, it is the smallest one."""
    return f"self.np_random.integers({{{name}_min}}, max({{{name}_min}}, {{{name}_max}}) + 1)"


#: Pieces of upstream's source, what replaces them, and the parameters in it.
WALKER_TEXTS = [
    ("self.world = Box2D.b2World()", "self.world = Box2D.b2World(gravity=(0, {gravity}))"),
    ("density=5.0", "density={hull_density}"),
    ("density=1.0", "density={leg_density}"),
    ("friction=0.1", "friction={hull_friction}"),
    ("uniform(-1, 1) / SCALE", "uniform(-{terrain_roughness}, {terrain_roughness}) / SCALE"),
    ("self.np_random.integers(1, 3)", drawn("stump")),
    ("counter = self.np_random.integers(3, 5)", f"counter = {drawn('pit')}"),
    ("self.np_random.integers(4, 5)", drawn("stair_width")),
    ("stair_steps = self.np_random.integers(3, 5)", f"stair_steps = {drawn('stair_steps')}"),
    ("4 * TERRAIN_STEP", "{pit_depth} * TERRAIN_STEP"),
]
WALKERS: dict[str, list[Any]] = {
    "gravity": [-10.0, -3.5, -20],
    "motors_torque": [80.0, 33.3, 200],
    "speed_hip": [4.0, 4.3, 9],
    "speed_knee": [6.0, 2.7, 11],
    "initial_random": [5.0, 50.5, 0],
    "lidar_range": [160 / 30, 2.3, 11],
    "hull_density": [5.0, 3.3, 9],
    "leg_density": [1.0, 2.2, 0.6],
    "hull_friction": [0.1, 0, 1.3],
    "friction": [2.5, 0.4, 5],
    "leg_down": [-8 / 30, 0.1, -0.5],
    "leg_w": [8 / 30, 0.35, 0.15],
    "leg_h": [34 / 30, 0.9, 1.4],
    "terrain_step": [14 / 30, 0.7, 0.3],
    "terrain_length": [200, 121, 377],
    "terrain_height": [400 / 30 / 4, 2.5, 5],
    "terrain_grass": [10, 4, 25],
    "terrain_startpad": [20, 11, 30],
    "terrain_roughness": [1.0, 2.5, 0.2],
    "stump_min": [1, 2, 1],
    "stump_max": [2, 3, 1],
    "pit_min": [3, 2, 5],
    "pit_max": [4, 2, 9],
    "pit_depth": [4.0, 2.5, 6],
    "stair_width_min": [4, 3, 2],
    "stair_width_max": [4, 5, 2],
    "stair_steps_min": [3, 2, 5],
    "stair_steps_max": [4, 2, 8],
}


def make_walker(given: dict[str, Any], **options: Any) -> Any:
    """Return an upstream environment with other values."""
    whole = {name: values[0] for name, values in WALKERS.items()} | given
    texts = {old: new.format(**whole) for old, new in WALKER_TEXTS}
    in_texts = set(re.findall("{(.*?)}", " ".join(new for _, new in WALKER_TEXTS)))
    names = {k.upper(): v for k, v in given.items() if k not in in_texts}
    module = variant(bipedal_walker, names, texts)
    return module.BipedalWalker(render_mode="rgb_array", **options)


@pytest.mark.parametrize("hardcore", [False, True])
def test_all_parameters_of_walkers(hardcore: bool) -> None:
    make = partial(make_walker, hardcore=hardcore)
    with several(WALKERS, "BipedalWalker-v3", make, 70, hardcore=hardcore) as compared:
        compared.reset(SEEDS)
        compared.step(160, shown=(5, 100))
        assert compared.episodes >= 6


@pytest.mark.slow
@pytest.mark.parametrize("name", list(WALKERS))
def test_each_parameter_of_walkers(name: str) -> None:
    make = partial(make_walker, hardcore=True)
    with several({name: WALKERS[name]}, "BipedalWalkerHardcore-v3", make, 60) as compared:
        compared.reset(SEEDS)
        compared.step(130, shown=range(0, 130, 40))


def test_walkers_change_at_the_next_reset() -> None:
    """The world stays, with another gravity and another terrain."""
    changed = {"gravity": -6.5, "terrain_length": 150, "terrain_grass": 6, "motors_torque": 120.0}
    make = partial(make_walker, hardcore=True)
    with several({"friction": [2.5] * 3}, "BipedalWalkerHardcore-v3", make, 40) as compared:

        def change(i: int) -> None:
            env: Any = compared.upstreams[i].unwrapped
            env.world.gravity = (0, changed["gravity"])
            env.reset.__globals__.update({k.upper(): v for k, v in changed.items() if k != "gravity"})

        compared.reset(SEEDS)
        compared.step(20)
        compared.pool.set_params(changed)
        compared.before_reset = change
        compared.step(120, shown=(100,))


def test_every_parameter_has_its_default() -> None:
    """The tables of the tests are complete, and begin with upstream's values."""
    for task_id, values in (("LunarLander-v3", LANDERS), ("BipedalWalker-v3", WALKERS), ("CarRacing-v3", CARS)):
        spec = envpool.make_spec(task_id).param_spec
        assert set(spec) == set(values)
        assert all(spec[name].default == column[0] for name, column in values.items())


def test_parameters_change_at_the_next_reset() -> None:
    """Upstream's constants change right before the reset."""
    with landers({"gravity": [-10.0] * 3}, "LunarLander-v3", 60) as compared:
        changed = {"gravity": -4.5, "main_engine_power": 30.0, "leg_away": 28.0}

        def change(i: int) -> None:
            env = compared.upstreams[i].unwrapped
            env.gravity = changed["gravity"]  # type: ignore[attr-defined]
            env.reset.__globals__["MAIN_ENGINE_POWER"] = changed["main_engine_power"]  # type: ignore[attr-defined]
            env.reset.__globals__["LEG_AWAY"] = changed["leg_away"]  # type: ignore[attr-defined]

        compared.reset(SEEDS)
        compared.step(20)
        compared.pool.set_params(changed)
        assert compared.pool.get_params(0)["gravity"] == [-4.5]
        assert compared.pool.get_params(0, in_force=True)["gravity"] == [-10]
        compared.before_reset = change
        compared.step(150, shown=(100,))
        assert compared.pool.get_params(0, in_force=True)["gravity"] == [-4.5]


def test_landers_that_keep_their_world(monkeypatch: pytest.MonkeyPatch) -> None:
    """Gravity changes in a world that exists."""
    env = LunarLanderV2(enable_wind=True, turbulence_power=9.5)  # type: ignore[no-untyped-call]
    options = {"enable_wind": True, "turbulence_power": [9.5], "max_episode_steps": 50}
    with envpool.make_gymnasium("LunarLander-v2", num_envs=1, seed=[3], **options) as pool:
        compared = Compared(pool, [TimeLimit(env, 50)])
        compared.reset([3])
        pool.set_params({"gravity": -2.5, "side_engine_power": 3.0})

        def change(i: int) -> None:
            monkeypatch.setattr(lunar_lander, "SIDE_ENGINE_POWER", 3.0)
            env.world.gravity = (0, -2.5)

        compared.before_reset = change
        compared.step(170)


@pytest.mark.parametrize("values", [[-10.0, -12.0], [-10.0] * 3, "-10", [-10.0, np.nan]])
def test_bad_values(values: Any) -> None:
    with pytest.raises((ConfigError, TypeError), match="gravity"):
        envpool.make_gymnasium("LunarLander-v3", num_envs=2, gravity=values)


# ---- saved states ----------------------------------------------------------------------------------------------------


def test_states_contain_parameters() -> None:
    """A pool with other parameters continues exactly, in this episode and after parameters that were pending."""
    with envpool.make_gymnasium("LunarLander-v3", num_envs=3, seed=1, max_episode_steps=40, **LANDERS) as pool:
        pool.reset()
        play(pool, 15)
        pool.set_params({"gravity": [-3.0, -5.0]}, [0, 2])
        states = pool.get_state()
        expected = play(pool, 60)
        with envpool.make_gymnasium("LunarLander-v3", num_envs=3, seed=8, max_episode_steps=40) as other:
            other.reset()
            other.set_state(states)
            assert play(other, 60) == expected
            assert other.get_params()["gravity"].tolist() == [-3.0, LANDERS["gravity"][1], -5.0]
            assert other.get_params()["leg_w"].tolist() == LANDERS["leg_w"]
            other.set_state(states[1], 0)
            other.copy_state(0, 1)
            assert other.get_params(in_force=True)["leg_w"].tolist() == [LANDERS["leg_w"][k] for k in (1, 1, 2)]


def test_simulations_that_diverge() -> None:
    """A forged velocity takes the lander out of all bounds; the next reset puts everything in order."""
    with envpool.make_gymnasium("LunarLander-v3", seed=2, on_error="restart") as pool:
        pool.reset()
        genuine = pool.get_state()
        body, diverged = body_of(genuine), 0
        for at in range(core_at(genuine) + CORE.size, len(body) - 4):
            changed = body.copy()
            changed[at : at + 4] = np.float32(-9.9e5).tobytes()
            try:
                pool.set_state(sealed(changed))
            except StateError:
                continue
            *_, truncated, info = pool.step(np.int32([0]))
            if "error" in info and info["error"][0]:
                assert truncated and "its simulation has diverged" in info["error"][0]
                diverged += 1
        assert diverged >= 2
        pool.set_state(genuine)
        expected = play(pool, 5)
    with envpool.make_gymnasium("LunarLander-v3", seed=2) as pool:
        pool.reset()
        assert play(pool, 5) == expected
