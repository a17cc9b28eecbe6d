"""Parameters of CarRacing: trajectories, observations and frames equal upstream's with the same constants changed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gymnasium.envs.box2d import car_dynamics, car_racing

import envpool
from envpool.errors import EnvStepError
from tests.box2d.compared import SEEDS, several
from tests.box2d.variants import variant
from tests.support.saved import play

SIZE = 0.02
#: Pieces of the sources of upstream's two modules, what replaces them, and the parameters in it.
DYNAMICS_TEXTS = [
    ("FRICTION_LIMIT * 0.6", "FRICTION_LIMIT * {grass_friction}"),
    ("BRAKE_FORCE = 15", "BRAKE_FORCE = {brake_force}"),
]
DYNAMICS = ("size", "engine_power", "wheel_moment_of_inertia", "friction_limit")
CARS: dict[str, list[Any]] = {
    "size": [SIZE, 0.031, 0.015],
    "engine_power": [100000000 * SIZE * SIZE, 90000.5, 12345],
    "wheel_moment_of_inertia": [4000 * SIZE * SIZE, 3.3, 0.9],
    "friction_limit": [1000000 * SIZE * SIZE, 150.25, 900],
    "grass_friction": [0.6, 1.4, 0.2],
    "brake_force": [15.0, 4.5, 100],
    "track_rad": [900 / 6, 110.5, 190],
    "track_detail_step": [21 / 6, 2.6, 5.1],
    "track_turn_rate": [0.31, 0.22, 0.5],
    "track_width": [40 / 6, 11.5, 3],
    "border": [8 / 6, 3.3, 0.4],
    "border_min_count": [4, 2, 6],
    "playfield": [2000 / 6, 290.5, 420],
    "lap_complete_percent": [0.95, 0.01, 0.5],
}


def make_car(given: dict[str, Any]) -> Any:
    """Return an upstream environment with other values."""
    whole = {name: values[0] for name, values in CARS.items()} | given
    texts = {old: new.format(**whole) for old, new in DYNAMICS_TEXTS}
    dynamics = variant(car_dynamics, {name.upper(): whole[name] for name in DYNAMICS}, texts)
    others = ("grass_friction", "brake_force", "lap_complete_percent", *DYNAMICS)
    module = variant(car_racing, {k.upper(): v for k, v in given.items() if k not in others})
    module.Car = dynamics.Car  # type: ignore[attr-defined]
    return module.CarRacing(render_mode="rgb_array", lap_complete_percent=whole["lap_complete_percent"])


def steer(rng: np.random.Generator) -> Any:
    """Return actions that accelerate, brake now and then, and leave the road."""
    actions = rng.uniform([-0.4, 0.5, 0], [0.4, 1, 0.2], (3, 3))
    actions[rng.random(3) < 0.05, 2] = 1
    return actions.astype(np.float32)


def test_all_parameters_of_cars() -> None:
    with several(CARS, "CarRacing-v3", make_car, 60) as compared:
        compared.draw = steer
        compared.reset(SEEDS)
        compared.step(75, shown=(30, 70))
        assert compared.episodes >= 3


@pytest.mark.slow
@pytest.mark.parametrize("name", list(CARS))
def test_each_parameter_of_cars(name: str) -> None:
    with several({name: CARS[name]}, "CarRacing-v3", make_car, 50) as compared:
        compared.draw = steer
        compared.reset(SEEDS)
        compared.step(60, shown=(20, 59))


def test_cars_change_at_the_next_reset() -> None:
    changed = {"track_width": 4.5, "track_detail_step": 3.0, "friction_limit": 200.0}
    with several({"border": [8 / 6] * 3}, "CarRacing-v3", make_car, 15) as compared:

        def change(i: int) -> None:
            constants = compared.upstreams[i].unwrapped.reset.__globals__  # type: ignore[attr-defined]
            constants.update(TRACK_WIDTH=4.5, TRACK_DETAIL_STEP=3.0)
            constants["Car"].step.__globals__["FRICTION_LIMIT"] = 200.0

        compared.draw = steer
        compared.reset(SEEDS)
        compared.step(8)
        compared.pool.set_params(changed)
        compared.before_reset = change
        compared.step(30, shown=(25,))


def test_a_track_that_is_never_closed() -> None:
    """The reset fails, and nothing else."""
    with envpool.make_gymnasium(
        "CarRacing-v3", num_envs=2, track_rad=[300.0, 150], track_detail_step=[1.0, 3.5]
    ) as pool:
        with pytest.raises(EnvStepError, match="env 0: no track is closed with these parameters"):
            pool.reset()
        pool.recv()
        pool.set_params({"track_rad": 150.0, "track_detail_step": 3.5})
        pool.reset()
        play(pool, 3)


# ---- changes and bad values ------------------------------------------------------------------------------------------
