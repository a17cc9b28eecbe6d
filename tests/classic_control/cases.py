"""Cases of classic control for the conformance tests: exactness and frames."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import FunctionType, MethodType
from typing import Any

import gymnasium
import numpy as np

import envpool
from envpool.classic_control import upstream
from envpool.classic_control.upstream import UPSTREAM_IDS
from envpool.verify.gymnasium_oracle import GymnasiumPlayer
from tests.conformance.cases import ExactnessCase, FrameCase, StateCase, UndisturbedCase, describe
from tests.support.oracles.frames import STEPS, rendered
from tests.support.oracles.gymnasium_oracle import Upstream
from tests.support.oracles.trajectory import Trajectory

#: Constants that upstream has in the code of a method: env, name of the parameter -> method, value.
LITERALS: dict[tuple[str, str], tuple[str, float]] = {
    ("Continuous_MountainCarEnv", "gravity"): ("step", 0.0025),
    ("AcrobotEnv", "gravity"): ("_dsdt", 9.8),
}


def change(env: Any, attributes: Mapping[str, Any]) -> None:
    """Set attributes of an upstream environment, and those that it derives from them when it is made."""
    for name, value in attributes.items():
        if (type(env).__name__, name) in LITERALS:
            method, literal = LITERALS[type(env).__name__, name]
            code = getattr(type(env), method).__code__
            assert code.co_consts.count(literal) == 1
            changed = code.replace(co_consts=tuple(value if c == literal else c for c in code.co_consts))
            setattr(env, method, MethodType(FunctionType(changed, getattr(type(env), method).__globals__), env))
        else:
            assert hasattr(env, name)
            setattr(env, name, value)
    if type(env).__name__ == "CartPoleEnv":
        env.total_mass = env.masspole + env.masscart
        env.polemass_length = env.masspole * env.length


def upstream_of(
    task_id: str, kwargs: Mapping[str, Any] | None = None, attributes: Mapping[str, Any] | None = None
) -> Upstream:
    """Return the oracle of a task, with arguments of ``gymnasium.make`` and attributes that are set afterwards."""

    def set_attributes(env: gymnasium.Env[Any, Any]) -> None:
        change(env.unwrapped, attributes or {})

    return Upstream.of(upstream.upstream_of(task_id), kwargs=kwargs or {}, prepare=set_attributes)


# ---- exactness -------------------------------------------------------------------------------------------------------

DISCRETE = ("random", "boundary", "sticky")
CONTINUOUS = (*DISCRETE, "out_of_range", "infinite")
#: Name, number of steps, and whether the test is slow.
LENGTHS = [("short", 313, False), ("full", 6250, True)]
PENDULUM, CAR, FORCE = "Pendulum-v1", "MountainCar-v0", "MountainCarContinuous-v0"
EACH_ENV = ["CartPole-v1", PENDULUM, CAR, FORCE, "Acrobot-v1"]
SYNC = [{"num_threads": n, "autoreset_mode": m} for n in (1, 2, 8) for m in ("next_step", "same_step", "disabled")]
ASYNC = [{"num_threads": n, "batch_size": b} for n in (1, 2, 8) for b in (1, 5, 15)]
ASYNC += [{"num_threads": 2, "batch_size": 5, "autoreset_mode": "same_step"}]  # type: ignore[dict-item]


def modes_of(task_id: str) -> tuple[str, ...]:
    """Return the modes of actions that a task is tested with."""
    return CONTINUOUS if "Pendulum" in task_id or "Continuous" in task_id else DISCRETE


#: Task, options that upstream takes too, options that are attributes upstream, modes of actions.
OPTIONS: list[tuple[str, dict[str, Any], dict[str, Any], tuple[str, ...]]] = [
    ("CartPole-v1", {"sutton_barto_reward": True}, {}, DISCRETE),
    (PENDULUM, {"g": 9.81}, {}, CONTINUOUS),
    (PENDULUM, {"g": -3.0}, {}, DISCRETE),
    (CAR, {"goal_velocity": 0.03}, {}, DISCRETE),
    (FORCE, {"goal_velocity": 0.03}, {}, DISCRETE),
    ("Acrobot-v1", {}, {"book_or_nips": "nips"}, DISCRETE),
    ("Acrobot-v1", {}, {"torque_noise_max": 2.5}, DISCRETE),
    ("Acrobot-v1", {}, {"book_or_nips": "nips", "torque_noise_max": 1000.0}, DISCRETE),
]

#: Task, parameters, modes of actions. Each parameter of each task is in one of them with a value that is not exact in
#: float32.
PARAMS: list[tuple[str, dict[str, Any], tuple[str, ...]]] = [
    ("CartPole-v1", {"gravity": 3.7, "masscart": 2.3, "masspole": 0.35}, DISCRETE),
    ("CartPole-v1", {"length": 1.3, "force_mag": 7.1, "tau": 0.013}, DISCRETE),
    ("CartPole-v1", {"theta_threshold_radians": 0.77, "x_threshold": 0.9, "gravity": -1.1}, DISCRETE),
    (PENDULUM, {"m": 0.7, "l": 1.9, "g": 3.3}, CONTINUOUS),
    (PENDULUM, {"dt": 0.013, "max_speed": 3.1, "max_torque": 5.7}, CONTINUOUS),
    (PENDULUM, {"max_speed": 0.0, "max_torque": 0.1}, DISCRETE),
    (CAR, {"force": 0.0031, "gravity": 0.0017, "max_speed": 0.051}, DISCRETE),
    (CAR, {"min_position": -0.71, "max_position": 0.33, "goal_position": 0.21, "goal_velocity": 0.003}, DISCRETE),
    (CAR, {"min_position": -0.5, "max_position": -0.45, "goal_position": -0.47, "goal_velocity": -0.01}, DISCRETE),
    (FORCE, {"power": 0.0041, "gravity": 0.0019, "max_speed": 0.043}, CONTINUOUS),
    (FORCE, {"min_position": -0.71, "max_position": 0.33, "goal_position": 0.21, "goal_velocity": 0.003}, CONTINUOUS),
    (FORCE, {"min_position": -0.5, "max_position": -0.45, "goal_position": -0.47, "goal_velocity": -0.01}, CONTINUOUS),
    (FORCE, {"min_action": -0.3, "max_action": 0.7, "power": 0.0123, "goal_velocity": -0.04}, CONTINUOUS),
    (FORCE, {"min_position": -0.71, "goal_position": -0.71, "goal_velocity": -0.02}, CONTINUOUS),
    (FORCE, {"max_position": 0.1, "goal_position": 0.1, "power": 0.01}, CONTINUOUS),
    (FORCE, {"max_position": 0.1, "goal_position": 0.1000000001, "power": 0.01}, CONTINUOUS),
    ("Acrobot-v1", {"dt": 0.07, "LINK_LENGTH_1": 1.3, "LINK_LENGTH_2": 0.6, "LINK_MASS_1": 0.7}, DISCRETE),
    ("Acrobot-v1", {"LINK_MASS_2": 1.9, "LINK_COM_POS_1": 0.31, "LINK_COM_POS_2": 0.83, "LINK_MOI": 0.57}, DISCRETE),
    ("Acrobot-v1", {"MAX_VEL_1": 1.7, "MAX_VEL_2": 3.1, "gravity": 4.3, "torque_noise_max": 0.3}, DISCRETE),
    ("Acrobot-v1", {"AVAIL_TORQUE": (-2.7, 0.3, 3.9), "book_or_nips": "nips", "LINK_LENGTH_1": 0.8}, DISCRETE),
]


@dataclass(frozen=True)
class OwnValues(Upstream):
    """Upstream environments of which environment i has row i of each parameter.

    Attributes
    ----------
    rows : mapping of str to array_like
        Values by the names of the parameters, one row for each environment.
    """

    rows: Mapping[str, Any] = field(default_factory=dict)

    def start(self, seed: int) -> GymnasiumPlayer:
        player = super().start(seed)
        values = {name: rows[seed % 1000] for name, rows in self.rows.items()}
        change(player.env.unwrapped, values)
        return player

    def actions_of(self, case: Any) -> Any:
        return super().actions_of(replace(case, options={}))


def own_values(task_id: str, num_envs: int) -> dict[str, Any]:
    """Return one value for each environment of each parameter of a task, near its default."""
    rng = np.random.default_rng(5)
    spec = envpool.make_spec(task_id).param_spec
    defaults = {name: np.asarray(param.default) for name, param in spec.items()}
    factors = {name: rng.uniform(0.7, 1.4, (num_envs, *value.shape)) for name, value in defaults.items()}
    return {name: (factors[name] * value).tolist() for name, value in defaults.items()}


def assert_both_ends_at_once(expected: Trajectory) -> None:
    """Assert that a step both terminated and truncated an episode."""
    assert (expected.arrays["terminated"] & expected.arrays["truncated"]).any()


def exactness() -> Iterator[ExactnessCase]:
    """Yield every comparison with Gymnasium."""
    for length, steps, is_slow in LENGTHS:
        for task_id in UPSTREAM_IDS:
            for mode in modes_of(task_id):
                yield ExactnessCase(
                    task_id,
                    upstream_of(task_id),
                    length,
                    actions=mode,
                    steps=steps,
                    runs=[{"num_threads": 2}, {"num_threads": 2, "batch_size": 5}],
                    min_episodes=steps // 1000,
                    is_slow=is_slow,
                    is_recorded=is_slow,
                )
        for task_id, options, attributes, modes in OPTIONS:
            for mode in modes:
                yield ExactnessCase(
                    task_id,
                    upstream_of(task_id, options, attributes),
                    f"{describe(options | attributes)}-{length}",
                    options | attributes,
                    actions=mode,
                    steps=steps,
                    min_episodes=0,
                    is_slow=is_slow,
                    is_recorded=is_slow,
                )
        for task_id, params, modes in PARAMS:
            for mode in modes[:1] if is_slow else modes:
                yield ExactnessCase(
                    task_id,
                    upstream_of(task_id, {}, params),
                    f"{describe(params)}-{length}",
                    params,
                    actions=mode,
                    steps=steps,
                    runs=[{"num_threads": 2}, {"num_threads": 2, "batch_size": 5}],
                    min_episodes=0,
                    is_slow=is_slow,
                    is_recorded=is_slow,
                )
    for task_id in EACH_ENV:
        limit = {"max_episode_steps": 40}
        yield ExactnessCase(
            task_id,
            upstream_of(task_id, limit),
            "threads, batches and auto-reset modes",
            limit,
            actions="sticky",
            steps=130,
            runs=SYNC + ASYNC,
        )
        rows = own_values(task_id, 16)
        upstream_rows = OwnValues.of(upstream_of(task_id, limit), rows=rows)
        yield ExactnessCase(
            task_id, upstream_rows, "own parameters", limit | rows, actions="sticky", steps=130, runs=SYNC + ASYNC
        )
        # Loops over spans of any length: shorter than a vector register, and longer than the envs of one call.
        for num_envs in (1, 3, 37, 1100):
            limit = {"max_episode_steps": 4}
            yield ExactnessCase(
                task_id,
                upstream_of(task_id, limit),
                f"num_envs={num_envs}",
                limit,
                num_envs=num_envs,
                steps=12,
                runs=[{"num_threads": 1}, {"num_threads": 3}],
            )
    limit = {"max_episode_steps": 10}
    yield ExactnessCase(
        "CartPole-v1",
        upstream_of("CartPole-v1", limit),
        "terminated and truncated in one step",
        limit,
        verify=assert_both_ends_at_once,
    )


EXACTNESS = list(exactness())

# ---- frames ----------------------------------------------------------------------------------------------------------


def set_screen(env: gymnasium.Env[Any, Any], height: int, width: int) -> None:
    """Set the size of frames of CartPole and MountainCar."""
    env.unwrapped.screen_height, env.unwrapped.screen_width = height, width  # type: ignore[attr-defined]


def set_pendulum_screen(env: gymnasium.Env[Any, Any], height: int, width: int) -> None:
    """Set the size of frames of Pendulum."""
    assert height == width
    env.unwrapped.screen_dim = height  # type: ignore[attr-defined]


def set_acrobot_screen(env: gymnasium.Env[Any, Any], height: int, width: int) -> None:
    """Set the size of frames of Acrobot."""
    assert height == width
    env.unwrapped.SCREEN_DIM = height  # type: ignore[attr-defined]


RENDERED = [task_id for task_id in UPSTREAM_IDS if not task_id.startswith("phys2d")]
#: Name, seeds, steps, and whether the test is slow.
ROUNDS: list[tuple[str, tuple[int, ...], Any, bool]] = [
    ("short", (0, 1, 2), STEPS, False),
    ("full", (0, 1, 2, 1000, 1001, 1002), range(101), True),
]


def frames() -> Iterator[FrameCase]:
    """Yield every comparison with Gymnasium."""
    for task_id in RENDERED:
        set_size = {"Acrobot-v1": set_acrobot_screen}.get(task_id, set_screen)
        # Height and width: smaller and larger than the default, and sizes that only a part of the scene fits into.
        sizes = [(211, 333), (90, 640), (500, 131)]
        if task_id.startswith(("Acrobot", "Pendulum")):
            sizes = [(84, 84), (317, 317), (701, 701)]
        if task_id.startswith("Pendulum"):
            set_size = set_pendulum_screen
        make = rendered(upstream_of(task_id), set_size)
        for name, seeds, steps, is_slow in ROUNDS:
            for size in [None, *sizes]:
                yield FrameCase(task_id, make, name, size, {"seeds": seeds, "steps": steps}, is_slow)
        for mode in ("sticky", "boundary"):  # far from the start
            yield FrameCase(
                task_id, make, mode, None, {"seeds": (0, 1, 2), "mode": mode, "steps": (1, 2, 9, 60, 130, 180)}
            )
        if task_id in (FORCE, PENDULUM):
            options = {"seeds": (0, 1, 2), "mode": "out_of_range", "steps": (1, 2, 3, 4, 60)}
            yield FrameCase(task_id, make, "out_of_range", None, options)
    for task_id, params, _ in PARAMS:
        yield FrameCase(
            task_id,
            rendered(upstream_of(task_id, {}, params)),
            describe(params),
            None,
            {"seeds": (0, 1, 2), "mode": "sticky", "steps": (0, 1, 2, 9, 60, 130, 180), "options": params},
        )


FRAMES = list(frames())
UNDISTURBED = [UndisturbedCase(task_id, actions=mode) for task_id in RENDERED for mode in ("random", "sticky")]

# ---- saved states ----------------------------------------------------------------------------------------------------

STATES = [
    *(StateCase(task_id) for task_id in UPSTREAM_IDS),
    StateCase(PENDULUM, actions="infinite"),
    StateCase(FORCE, actions="infinite"),
    StateCase("Acrobot-v1", {"torque_noise_max": 2.0}),
    *(StateCase(task_id, params) for task_id, params, _ in PARAMS[::3]),
]
