"""Cases of Gymnasium's MuJoCo tasks for the conformance tests: exactness and frames."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from tests.conformance.cases import ExactnessCase, FrameCase, StateCase, UndisturbedCase, describe
from tests.mujoco.gym.upstream import IDS, TaskOracle, upstream_of
from tests.mujoco.params import GROUPS, ParamsOracle, assign
from tests.support.oracles.frames import Size, rendered

# ---- exactness -------------------------------------------------------------------------------------------------------

TWO_THREADS: dict[str, Any] = {"num_threads": 2}
ASYNC: dict[str, Any] = {"num_threads": 2, "batch_size": 1}


def same(task_id: str, **options: Any) -> tuple[str, dict[str, Any], dict[str, Any]]:
    """Return a row whose options have the same names and values upstream."""
    return task_id, options, options


#: Task, options of the pool, options of upstream.
WEIGHTS = {"forward_reward_weight": 0.7, "ctrl_cost_weight": 0.3, "reset_noise_scale": 0.02}
SHOWN = {"exclude_current_positions_from_observation": False}
OPTIONS: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    same("Ant-v5", healthy_reward=2.5, contact_cost_weight=0.01, frame_skip=3, **WEIGHTS, **SHOWN),
    same("Ant-v5", healthy_z_range=(0.5, 0.9), contact_force_range=(-0.3, 0.2), main_body="front_left_leg"),
    same("Ant-v5", include_cfrc_ext_in_observation=False, terminate_when_unhealthy=False, main_body=3),
    same("Ant-v4", use_contact_forces=True, terminate_when_unhealthy=False, healthy_z_range=(0.5, 0.9)),
    (
        "Ant-v4",
        {"use_contact_force": True, "contact_force_min": -0.5, "healthy_z_min": 0.5},
        {"use_contact_forces": True, "contact_force_range": (-0.5, 1.0), "healthy_z_range": (0.5, 1.0)},
    ),
    same("Ant-v3", reset_noise_scale=0.3, **SHOWN),
    same("HalfCheetah-v5", frame_skip=2, **WEIGHTS, **SHOWN),
    same("HalfCheetah-v4", **WEIGHTS, **SHOWN),
    same("Hopper-v5", healthy_state_range=(-2.0, 1.5), healthy_reward=0.1, frame_skip=1, **WEIGHTS, **SHOWN),
    same("Hopper-v5", healthy_z_range=(0.9, 1.4), healthy_angle_range=(-0.1, 0.05), terminate_when_unhealthy=False),
    same("Hopper-v4", healthy_z_range=(1.1, 1.4), terminate_when_unhealthy=False),
    (
        "Hopper-v4",
        {"healthy_z_min": 1.1, "healthy_angle_max": 0.1, "healthy_state_min": -3.0},
        {"healthy_z_range": (1.1, np.inf), "healthy_angle_range": (-0.2, 0.1), "healthy_state_range": (-3.0, 100.0)},
    ),
    same("Humanoid-v5", contact_cost_weight=1e-3, contact_cost_range=(0.01, 0.5), healthy_reward=1.5, **WEIGHTS),
    same("Humanoid-v5", healthy_z_range=(1.3, 1.45), terminate_when_unhealthy=False, frame_skip=2, **SHOWN),
    same("Humanoid-v5", include_cinert_in_observation=False, include_cfrc_ext_in_observation=False),
    same("Humanoid-v5", include_cvel_in_observation=False, include_qfrc_actuator_in_observation=False),
    same("Humanoid-v4", healthy_z_range=(1.3, 1.45), terminate_when_unhealthy=False, **SHOWN),
    ("Humanoid-v5", {"contact_cost_max": 1e-5}, {"contact_cost_range": (-np.inf, 1e-5)}),
    same("HumanoidStandup-v5", uph_cost_weight=3.0, impact_cost_weight=0.1, frame_skip=2, **SHOWN),
    same("HumanoidStandup-v5", ctrl_cost_weight=0.2),
    same("HumanoidStandup-v5", impact_cost_range=(0.2, 0.3), impact_cost_weight=1e-3, reset_noise_scale=0.2),
    same("HumanoidStandup-v5", include_cinert_in_observation=False, include_cvel_in_observation=False),
    same("HumanoidStandup-v5", include_qfrc_actuator_in_observation=False, include_cfrc_ext_in_observation=False),
    same("InvertedDoublePendulum-v5", healthy_reward=3.0, reset_noise_scale=0.4, frame_skip=2),
    same("InvertedPendulum-v5", reset_noise_scale=0.15, frame_skip=3),
    same("Pusher-v5", reward_near_weight=0.2, reward_dist_weight=3.0, reward_control_weight=0.7, frame_skip=2),
    same("Reacher-v5", reward_dist_weight=0.3, reward_control_weight=1.7, frame_skip=3),
    same("Swimmer-v5", frame_skip=2, **WEIGHTS, **SHOWN),
    same("Swimmer-v4", **WEIGHTS, **SHOWN),
    same("Walker2d-v5", healthy_z_range=(1.1, 1.3), healthy_angle_range=(-0.2, 0.1), healthy_reward=0.3, **WEIGHTS),
    same("Walker2d-v5", terminate_when_unhealthy=False, frame_skip=2, **SHOWN),
    same("Walker2d-v4", terminate_when_unhealthy=False, healthy_z_range=(1.1, 1.3)),
]  # fmt: skip
#: Time limits of v5 that are not 1000 steps.
LIMITS = {"Pusher-v5": 100, "Reacher-v5": 50}
CLIPPED = ["Ant-v5", "HalfCheetah-v4", "Hopper-v5", "Humanoid-v5", "Pusher-v4", "Reacher-v5"]
RUNS = [
    TWO_THREADS,
    ASYNC,
    {"num_threads": 2, "autoreset_mode": "same_step"},
    {"num_threads": 1, "autoreset_mode": "disabled"},
]


def params_case(task_id: str, group: str = "", **more: Any) -> ExactnessCase:
    """Return a comparison of envs with parameters of their own."""
    limit: dict[str, Any] = {"max_episode_steps": 60}
    oracle = ParamsOracle(lambda case: upstream_of(task_id, limit), lambda player: player.env.unwrapped.model, group)
    runs = [TWO_THREADS, ASYNC]
    return ExactnessCase(
        task_id, oracle, f"own {group or 'parameters'}", limit, **{"num_envs": 2, "steps": 150, "runs": runs, **more}
    )


def exactness() -> Iterator[ExactnessCase]:
    """Yield every comparison with Gymnasium."""
    for task_id in IDS:
        limit: dict[str, Any] = {"max_episode_steps": 80}
        case = ExactnessCase(
            task_id,
            TaskOracle(task_id, limit),
            options=limit,
            num_envs=2,
            steps=200,
            runs=[TWO_THREADS, ASYNC],
            min_episodes=2,
        )
        yield case
        limit = {"max_episode_steps": 300}
        yield replace(
            case,
            oracle=TaskOracle(task_id, limit),
            label="long",
            options=limit,
            actions="sticky",
            steps=1010,
            runs=RUNS,
            min_episodes=6,
            is_slow=True,
        )
        if task_id.endswith("v5"):
            steps = max(3 * LIMITS.get(task_id, 1000), 2000) + 3
            oracle = TaskOracle(task_id)
            yield ExactnessCase(
                task_id, oracle, "default time limit", num_envs=1, steps=steps, min_episodes=3, is_slow=True
            )
    # MuJoCo clips controls, and uses zeros when a control is not finite; upstream's cost of such an action stays, which
    # is why NaN is refused, except where the reward does not depend on the action.
    for task_id in ("InvertedPendulum-v5", "InvertedDoublePendulum-v5"):
        oracle = TaskOracle(task_id, {"max_episode_steps": 40})
        yield ExactnessCase(
            task_id, oracle, "", {"max_episode_steps": 40}, actions="non_finite", num_envs=3, steps=90, min_episodes=2
        )
    limit = {"max_episode_steps": 40}
    for task_id in CLIPPED:
        for mode in ("out_of_range", "infinite"):
            oracle = TaskOracle(task_id, limit)
            yield ExactnessCase(task_id, oracle, "", limit, actions=mode, num_envs=3, steps=90, min_episodes=2)
    limit = {"max_episode_steps": 45}
    for task_id, options, kwargs in OPTIONS:
        oracle = TaskOracle(task_id, kwargs | limit)
        yield ExactnessCase(task_id, oracle, describe(options), options | limit, num_envs=2, steps=90, min_episodes=2)
    for task_id in IDS:
        if task_id.endswith("v5") or task_id in ("Ant-v3", "Humanoid-v4"):  # the other versions share their code
            yield params_case(task_id, is_slow=not task_id.endswith("v5"))
    for group in GROUPS:
        yield params_case("HalfCheetah-v5", group, steps=300)
    # Contact forces stay zero with post_constraint=False, as in versions before v4.
    for task_id in ("Ant-v5", "Humanoid-v5", "HumanoidStandup-v5"):
        oracle = TaskOracle(task_id, has_contact_forces=False)
        options = {"post_constraint": False}
        yield ExactnessCase(task_id, oracle, describe(options), options, num_envs=2, steps=60, min_episodes=0)


EXACTNESS = list(exactness())

# ---- frames ----------------------------------------------------------------------------------------------------------

SMALL: Size = (48, 64)
#: Tasks with every type of camera.
FEW = ["HalfCheetah-v5", "Humanoid-v4", "InvertedDoublePendulum-v4", "InvertedDoublePendulum-v5", "Swimmer-v3"]


class Rendered:
    """An environment of gymnasium whose OpenGL context is current when it uses OpenGL.

    Gymnasium makes the context current once, when it is created. Whatever frees another context of the thread after
    that leaves the thread without one. Gymnasium also leaves the resources in the context to the garbage collector,
    which frees those of the same numbers in whichever context is current by then. Either makes later frames black.
    """

    def __init__(self, env: Any):
        self.reset, self.step, self.unwrapped = env.reset, env.step, env.unwrapped
        self._env = env

    def _enter(self) -> Any:
        """Make the context current, if it exists, and return the viewer that it belongs to."""
        viewer = self._env.unwrapped.mujoco_renderer.viewer
        if viewer is not None:
            viewer.make_context_current()
        return viewer

    def render(self) -> np.ndarray:
        """Return a frame."""
        self._enter()
        return self._env.render()

    def close(self) -> None:
        """Free the resources in the context, then the context."""
        viewer = self._enter()
        if viewer is not None:
            viewer.con.free()
        self._env.close()


def make_rendered(task_id: str, size: Size | None, **kwargs: Any) -> Rendered:
    """Return gymnasium's environment with ``render_mode="rgb_array"``."""
    if size:
        kwargs |= {"height": size[0], "width": size[1]}
    gc.collect()  # what other tests have left behind, before this environment has a context
    return Rendered(rendered(upstream_of(task_id), **kwargs)(None))


def frame_case(
    task_id: str, label: str = "", size: Size | None = SMALL, is_slow: bool = False, **options: Any
) -> FrameCase:
    """Return a comparison with gymnasium's frames."""
    kwargs = {"camera_id": options["camera"]} if "camera" in options else {}

    def make(size: Size | None) -> Any:
        env = make_rendered(task_id, size, **kwargs)
        assign(env.unwrapped.model, options.get("options", {}))
        return env

    return FrameCase(task_id, make, label, size, {"seeds": [5], **options}, is_slow)


FRAMES = [
    *(frame_case(task_id, steps=(0, 3, 30)) for task_id in FEW),
    frame_case("Reacher-v5", size=None, steps=(0, 30)),
    # Gymnasium enlarges the buffer of the model from 640 x 480.
    frame_case("Ant-v5", "larger than the buffer of the model", (40, 700), steps=(0,)),
    frame_case("HalfCheetah-v5", "camera of the model", camera=0, steps=(0, 3)),
    frame_case(
        "HalfCheetah-v5", "own parameters", steps=(0, 30), options={"gravity": (0.0, 0.0, -3.0), "density": 50.0}
    ),
    # Gymnasium's camera looks at the centre of what exists when it renders the first frame.
    frame_case("Swimmer-v5", "camera stays where the first frame put it", steps=(20, 90)),
    *(frame_case(task_id, "every task", size, is_slow=True) for task_id in IDS for size in (None, SMALL)),
]
TINY = {"render_height": 16, "render_width": 16}
UNDISTURBED = [UndisturbedCase(task_id, TINY, steps=25) for task_id in ("InvertedDoublePendulum-v5", "Ant-v5")]

# ---- saved states ----------------------------------------------------------------------------------------------------

#: Tasks whose results read what lags behind: positions of bodies, contact forces, and distances before a step.
LAGGING = ["Ant-v5", "Humanoid-v4", "Pusher-v4", "InvertedDoublePendulum-v5"]
PIXELS = {"from_pixels": True, "frame_stack": 2, **TINY}
MODES = ("next_step", "same_step", "disabled")


def short(task_id: str, options: dict[str, Any] | None = None, mode: str = "next_step", **more: Any) -> StateCase:
    """Return a case of few steps and no frames, since each pool that draws creates an OpenGL context first."""
    more = {"has_frames": False, **more}
    return StateCase(task_id, TINY | (options or {}), label="short", modes=[mode], limit=8, after=12, **more)


STATES = [
    *(short(task_id, mode=MODES[k % 3]) for k, task_id in enumerate(LAGGING)),
    short("Ant-v5", {"frame_stack": 3}, actions="infinite"),
    short("InvertedPendulum-v5", PIXELS, "same_step", outlives_seed=True),  # the camera looks where it did before
    short("Reacher-v5", has_frames=True),
    *(
        StateCase(task_id, TINY, has_frames=task_id.endswith("v5"), modes=[MODES[k % 3]], is_slow=True)
        for k, task_id in enumerate(IDS)
    ),
    StateCase("Ant-v4", {"use_contact_forces": True, "main_body": 3}, has_frames=False, is_slow=True),
    StateCase("Ant-v3", actions="out_of_range", has_frames=False, is_slow=True),
    StateCase("Humanoid-v4", {"post_constraint": False}, has_frames=False, is_slow=True),
    StateCase("Reacher-v4", {"frame_stack": 3}, has_frames=False, is_slow=True),
]
