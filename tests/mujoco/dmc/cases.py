"""Cases of dm_control's suite for the conformance tests: exactness and frames."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import envpool
from envpool.mujoco.dmc import upstream
from envpool.mujoco.dmc.upstream import UNLIMITED, suite_tasks
from tests.conformance.cases import ExactnessCase, FrameCase, StateCase, UndisturbedCase
from tests.mujoco.dmc.upstream import Suite, SuiteOracle
from tests.mujoco.params import GROUPS, ParamsOracle
from tests.support.oracles.frames import Size
from tests.support.oracles.trajectory import Trajectory

TASKS = list(suite_tasks())

# ---- exactness -------------------------------------------------------------------------------------------------------

#: Domains whose models take long to compile or to step.
EXPENSIVE = ("Dog", "HumanoidCMU", "Quadruped")


def qpos(env: Any) -> Any:
    """Return the positions of joints."""
    return env.physics.data.qpos


def qvel(env: Any) -> Any:
    """Return the velocities of joints."""
    return env.physics.data.qvel


def assert_some_stand(expected: Trajectory) -> None:
    """Assert that some hoppers stand: few do, and only for some steps; rewards of the others are zero."""
    assert len(np.unique(expected.arrays["reward"])) > 2


#: Task -> the key of debug_info with what an episode starts with besides positions and velocities, and its value.
EXTRAS = {
    "DogStand-v1": ("act0", lambda p: p.data.act),
    "FingerTurnHard-v1": ("target0", lambda p: p.named.model.site_pos["target", ["x", "z"]]),
    "FishSwim-v1": ("target0", lambda p: p.named.model.geom_pos["target"]),
    "LqrLqr62-v1": ("stiffness0", lambda p: p.model.jnt_stiffness),
    "ReacherEasy-v1": ("target0", lambda p: p.named.model.geom_pos["target", :2]),
    "SwimmerSwimmer6-v1": ("target0", lambda p: p.named.model.geom_pos["target", :2]),
    "PointMassHard-v1": ("wrap_prm0", lambda p: p.model.wrap_prm),
    "StackerStack2-v1": ("target0", lambda p: p.named.model.body_pos["target", ["x", "z"]]),
    "ManipulatorBringBall-v1": (
        "target0",
        lambda p: np.r_[
            p.named.model.body_pos["target_ball", ["x", "z"]], p.named.model.body_quat["target_ball", ["qw", "qy"]]
        ],
    ),
}


def case(task_id: str, label: str, steps: int = 200, limit: int = 70, **more: Any) -> ExactnessCase:
    """Return a comparison with dm_control; a limit is the number of steps of an episode."""
    options = {"max_episode_steps": limit, **more.pop("options", {})}
    oracle = SuiteOracle(more.pop("info", {}))
    return ExactnessCase(task_id, oracle, label, options, steps=steps, **{"num_envs": 2, **more})


def params_case(task_id: str, group: str = "", steps: int = 60, **more: Any) -> ExactnessCase:
    """Return a comparison of envs with parameters of their own."""
    limit = 25
    oracle = ParamsOracle(
        lambda case: upstream.SuiteOracle(task_id, limit), lambda player: player.env.physics.model, group
    )
    options = {"max_episode_steps": limit}
    return ExactnessCase(
        task_id, oracle, f"own {group or 'parameters'}", options, steps=steps, **{"num_envs": 1, **more}
    )


def exactness() -> Iterator[ExactnessCase]:
    """Yield every comparison with dm_control."""
    debug = {"debug_info": True}
    for task_id in TASKS:
        is_expensive = task_id.startswith(EXPENSIVE)
        yield case(
            task_id,
            "",
            num_envs=1 if is_expensive else 2,
            runs=[{"num_threads": 2, "batch_size": 1}],
            info={"qpos0": qpos, "qvel0": qvel},
            options=debug,
            min_episodes=2,
        )
        yield case(task_id, "long", 2003, 600, num_envs=1, seed=1, min_episodes=3, is_slow=True)
        if not is_expensive:
            yield case(task_id, "long", 603, 300, actions="sticky", num_envs=1, seed=2, is_slow=True)
    for task_id in ("HopperStand-v1", "HopperHop-v1"):
        yield case(task_id, "hoppers that stand", 15, 4, num_envs=24, seed=3, verify=assert_some_stand)
    # The number of physics steps in a step, which is upstream's by default; tasks of both integrators.
    for task_id in ("AcrobotSwingup-v1", "CheetahRun-v1", "HopperHop-v1"):
        yield case(task_id, "frame_skip=3", 60, 25, options={"frame_skip": 3})
    for task_id in ("CartpoleSwingup-v1", "FishSwim-v1", "HumanoidStand-v1"):
        for mode in ("boundary", "out_of_range"):
            yield case(task_id, "", 60, 25, actions=mode)
    for task_id in ("FingerTurnEasy-v1", "CheetahRun-v1"):  # The first task changes its model with each episode.
        for mode in ("same_step", "disabled"):
            yield case(task_id, mode, 60, 25, runs=[{"autoreset_mode": mode}])
    for task_id in TASKS:
        if not task_id.startswith(EXPENSIVE):
            yield params_case(task_id)
    for task_id in ("DogRun-v1", "HumanoidCMURun-v1", "QuadrupedEscape-v1"):
        yield params_case(task_id, is_slow=True)
    for group in GROUPS:
        yield params_case("WalkerWalk-v1", group, num_envs=2, steps=300)
    for task_id, (key, get) in EXTRAS.items():
        info = {key: lambda env, get=get: get(env.physics)}
        yield case(task_id, f"info {key}", 12, 5, num_envs=1, info=info, options=debug)


EXACTNESS = list(exactness())

# ---- frames ----------------------------------------------------------------------------------------------------------

SMALL: Size = (48, 64)
#: Tasks that hide things, move lights, change their model, or have a terrain.
FEW = ["CheetahRun-v1", "FingerSpin-v1", "FishUpright-v1", "QuadrupedEscape-v1", "SwimmerSwimmer6-v1"]


@dataclass(frozen=True)
class SuiteFrameCase(FrameCase):
    """A comparison with the frames of dm_control, after actions of at most 1 where controls have no limits."""

    def check(self) -> None:
        """Raise AssertionError when a pixel differs."""
        high = envpool.make_spec(self.task_id).action_space.high
        scale = 1 / UNLIMITED if (high == UNLIMITED).any() else 1
        replace(self, options={**self.options, "scale": scale}).compare()


def frame_case(
    task_id: str, label: str = "", size: Size | None = SMALL, camera: int = -1, is_slow: bool = False, **options: Any
) -> FrameCase:
    """Return a comparison with the frames of dm_control."""

    def make(size: Size | None) -> Suite:
        return Suite(task_id, size, camera)

    return SuiteFrameCase(task_id, make, label, size, {"seeds": [5], "camera": camera, **options}, is_slow)


FRAMES = [
    *(frame_case(task_id, steps=(0, 3, 30)) for task_id in FEW),
    frame_case("PointMassEasy-v1", size=None, steps=(0, 3)),
    frame_case("CheetahRun-v1", "camera of the model", camera=0, steps=(0, 30)),
    *(frame_case(task_id, "every task", size, is_slow=True) for task_id in TASKS for size in (None, SMALL)),
]
UNDISTURBED = [UndisturbedCase("QuadrupedEscape-v1", {"render_height": 16, "render_width": 16}, steps=25)]

# ---- saved states ----------------------------------------------------------------------------------------------------

TINY = {"render_height": 16, "render_width": 16}
PIXELS = {"from_pixels": True, "frame_stack": 2, **TINY}
MODES = ("next_step", "same_step", "disabled")
#: Tasks that change their model or their terrain, keep numbers of their own, or have sensors that lag behind.
KEEPING = ["FingerSpin-v1", "FishSwim-v1", "LqrLqr21-v1", "PointMassHard-v1", "ReacherHard-v1", "SwimmerSwimmer6-v1"]


def short(task_id: str, options: dict[str, Any] | None = None, mode: str = "next_step", **more: Any) -> StateCase:
    """Return a case of few steps and no frames, since each pool that draws creates an OpenGL context first."""
    more = {"has_frames": False, **more}
    return StateCase(task_id, TINY | (options or {}), label="short", modes=[mode], limit=8, after=12, **more)


STATES = [
    *(short(task_id, mode=MODES[k % 3]) for k, task_id in enumerate(KEEPING)),
    short("CartpoleSwingup-v1", {"frame_stack": 3}),
    short("PointMassHard-v1", {"frame_stack": 2}),
    StateCase("PendulumSwingup-v1", PIXELS, label="pixels", modes=["same_step"], limit=8, after=12, is_slow=True),
    *(
        StateCase(task_id, TINY, has_frames=task_id in FEW, modes=[MODES[k % 3]], is_slow=True)
        for k, task_id in enumerate(TASKS)
    ),
    StateCase("FingerTurnHard-v1", {"frame_stack": 2, "debug_info": True}, has_frames=False, is_slow=True),
]
