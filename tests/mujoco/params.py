"""Parameters that differ from the defaults: for a pool, and in the models of upstream environments."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import envpool
from envpool.native import Param
from envpool.verify.oracle import Oracle, Player
from tests.support.oracles.gymnasium_oracle import reference
from tests.support.oracles.oracle import CaseOracle
from tests.support.oracles.trajectory import Trajectory

#: What is added to a default that has been multiplied by a random factor: from 0 to this number.
SUMMANDS = {
    "gravity": 0.5,
    "wind": 4.0,
    "density": 2.0,
    "viscosity": 0.02,
    "dof_damping": 0.1,
    "dof_armature": 0.01,
    "dof_frictionloss": 0.05,
    "jnt_stiffness": 0.2,
}
GROUPS = {
    "gravity": ["gravity"],
    "masses": ["body_mass", "body_inertia", "dof_armature"],
    "friction": ["geom_friction", "dof_frictionloss"],
    "damping": ["dof_damping", "jnt_stiffness"],
    "gain": ["actuator_gain"],
    "medium": ["wind", "density", "viscosity"],
}


def varied(params: Mapping[str, Param], names: Sequence[str], num_envs: int, seed: int = 0) -> dict[str, np.ndarray]:
    """Return a random value of each parameter for each env, (num_envs, ...)."""
    rng = np.random.default_rng(seed)
    values = {}
    for name in names:
        default = np.asarray(params[name].default)
        shape = (num_envs, *default.shape)
        summand = SUMMANDS.get(name, 0)
        if name == "wind":  # in water, the forces of air would end the simulation
            summand /= np.sqrt(1 + params["density"].default)
        values[name] = default * rng.uniform(0.7, 1.3, shape) + summand * rng.uniform(0, 1, shape)
    return values


def field(model: Any, name: str) -> np.ndarray:
    """Return the numbers of a parameter in an mjModel, of MuJoCo or of dm_control."""
    if name in ("density", "viscosity"):
        return np.asarray(getattr(model.opt, name))
    if name == "actuator_gain":
        return np.asarray(model.actuator_gainprm)[:, 0]
    return np.asarray(getattr(model.opt if name in ("gravity", "wind") else model, name))


def assign(model: Any, values: Mapping[str, Any]) -> None:
    """Assign parameters to the fields of an mjModel, as users of upstream do."""
    for name, value in values.items():
        if name in ("density", "viscosity"):
            setattr(model.opt, name, float(value))
        else:
            field(model, name)[...] = value


@dataclass(frozen=True)
class Assigned(Oracle):
    """Upstream environments whose models have been changed.

    Attributes
    ----------
    oracle : Oracle
        The environment.
    model_of : callable
        Returns the mjModel of a player of `oracle`.
    values : mapping of int to mapping
        Seed -> the parameters of the environment with this seed.
    """

    oracle: Oracle
    model_of: Callable[[Any], Any]
    values: Mapping[int, Mapping[str, Any]]

    def start(self, seed: int) -> Player:
        """Return an environment with a seed."""
        player = self.oracle.start(seed)
        assign(self.model_of(player), self.values[seed])
        return player


@dataclass(frozen=True)
class ParamsOracle(CaseOracle):
    """Compares tasks whose envs all have parameters of their own.

    Attributes
    ----------
    upstream : callable
        Returns the upstream environment of a case.
    model_of : callable
        Returns the mjModel of one of its players.
    group : str
        Key of `GROUPS`; empty for all parameters.
    """

    upstream: Callable[[Any], Oracle]
    model_of: Callable[[Any], Any]
    group: str = ""

    def check(self, case: Any) -> None:
        """Raise AssertionError when a pool of the case returns a bit that upstream does not."""
        params = envpool.make_spec(case.task_id, **case.options).param_spec
        values = varied(params, GROUPS[self.group] if self.group else list(params), case.num_envs)
        super().check(replace(case, options={**case.options, **values}))

    def play(self, case: Any) -> tuple[Any, list[int], Trajectory]:
        """Return the actions and seeds of a case, and what upstream returned."""
        spec = envpool.make_spec(case.task_id, num_envs=case.num_envs, **case.options)
        oracle = self.upstream(case)
        actions = oracle.choose_actions(spec.action_space, case.actions, case.steps, case.num_envs, case.seed)
        seeds = case.seeds
        own = {
            seed: {name: case.options[name][i] for name in spec.param_spec if name in case.options}
            for i, seed in enumerate(seeds)
        }
        return actions, seeds, reference(Assigned(oracle, self.model_of, own), actions, seeds)
