"""Cases of the Fetch and Shadow Hand tasks for the conformance tests: exactness, frames and saved states."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.conformance.cases import ExactnessCase, FrameCase, StateCase, UndisturbedCase, describe
from tests.mujoco.gym.cases import Rendered
from tests.mujoco.params import ParamsOracle
from tests.mujoco.robotics.upstream import TaskOracle, upstream_of
from tests.support.oracles.frames import Size, rendered

# ---- exactness -------------------------------------------------------------------------------------------------------

FETCH = ["FetchReach-v4", "FetchPush-v1", "FetchPickAndPlaceDense-v4", "FetchSlideDense-v1"]
#: Each object, each way to sample goals and each kind of touch sensors occurs once.
HAND = [
    "HandReach-v3",
    "HandManipulateBlock-v1",
    "HandManipulateEggRotate_ContinuousTouchSensorsDense-v1",
    "HandManipulatePenDense-v0",
    "HandManipulateBlockRotateZ-v0",
    "HandManipulateBlockRotateParallel_BooleanTouchSensors-v1",
]
RUNS: list[dict[str, Any]] = [{"num_threads": 2, "batch_size": 1}, {"num_threads": 1, "autoreset_mode": "same_step"}]
#: Options of upstream's classes that have the same names and values here.
OPTIONS: list[tuple[str, dict[str, Any]]] = [
    ("HandManipulateEgg-v1", {"target_position": "fixed", "rotation_threshold": 3.0, "distance_threshold": 0.1}),
    ("HandManipulateBlock_ContinuousTouchSensors-v1", {"touch_get_obs": "log", "randomize_initial_position": False}),
    ("HandReachDense-v0", {"distance_threshold": 0.2}),
]


def exactness() -> Iterator[ExactnessCase]:
    """Yield every comparison with Gymnasium-Robotics."""
    limit: dict[str, Any] = {"max_episode_steps": 9}
    few: dict[str, Any] = {"num_envs": 1, "steps": 32, "min_episodes": 3}
    for task_id in FETCH + HAND:
        is_slow = task_id in HAND[3:]
        yield ExactnessCase(task_id, TaskOracle(task_id, limit), "", limit, is_slow=is_slow, **few)
        if task_id in FETCH + HAND[:3]:
            more = {"actions": "sticky", "num_envs": 2, "steps": 60, "seed": 1, "runs": RUNS, "is_slow": True}
            longer = {"max_episode_steps": 25}
            yield ExactnessCase(task_id, TaskOracle(task_id, longer), "sticky", longer, min_episodes=4, **more)
    for task_id in (FETCH[2], HAND[1]):
        oracle = ParamsOracle(
            lambda case, i=task_id: upstream_of(i, limit), lambda player: player.env.unwrapped.model, "masses"
        )
        yield ExactnessCase(task_id, oracle, "own masses", limit, is_slow=True, **few)
    for mode in ("out_of_range", "infinite"):
        task_id = "FetchPickAndPlace-v4"
        yield ExactnessCase(task_id, TaskOracle(task_id, limit), "", limit, mode, is_slow=True, **few)
    for task_id, options in OPTIONS:
        oracle = TaskOracle(task_id, options | limit)
        yield ExactnessCase(task_id, oracle, describe(options), options | limit, is_slow=True, **few)


EXACTNESS = list(exactness())

# ---- frames ----------------------------------------------------------------------------------------------------------

SMALL: Size = (48, 64)


def frame_case(task_id: str, size: Size | None = SMALL, **options: Any) -> FrameCase:
    """Return a comparison with upstream's frames."""

    def make(size: Size | None) -> Any:
        kwargs = {"height": size[0], "width": size[1]} if size else {}
        return Rendered(rendered(upstream_of(task_id), **kwargs)(None))

    return FrameCase(task_id, make, "", size, {"seeds": [5], **options}, is_slow=True)


FRAMES = [
    frame_case("FetchPush-v4", steps=(0, 7)),
    frame_case("FetchReach-v4", steps=(0, 20)),
    frame_case("FetchSlide-v4", None, steps=(0, 20)),
    frame_case("HandReach-v3", steps=(0, 7)),
    # Frames of upstream change its simulation, so only the first one can be equal.
    frame_case("FetchPickAndPlace-v4", steps=(0,)),
    frame_case("HandManipulateBlock_ContinuousTouchSensors-v1", None, steps=(0,)),
    frame_case("HandManipulatePenRotate-v1", None, steps=(0,)),
]
TINY = {"render_height": 16, "render_width": 16}
UNDISTURBED = [
    UndisturbedCase("FetchPickAndPlace-v4", TINY, steps=12, is_slow=True),
    UndisturbedCase("HandManipulateEgg_BooleanTouchSensors-v1", TINY, steps=8, is_slow=True),
]

# ---- saved states ----------------------------------------------------------------------------------------------------


def state_case(task_id: str, mode: str, is_slow: bool = True, outlives_seed: bool = False) -> StateCase:
    """Return a case of few steps and no frames."""
    return StateCase(
        task_id,
        TINY,
        label="short",
        modes=[mode],
        limit=8,
        after=12,
        has_frames=False,
        outlives_seed=outlives_seed,
        is_slow=is_slow,
    )


STATES = [
    state_case("FetchReach-v4", "disabled"),
    state_case("FetchPickAndPlace-v4", "next_step", is_slow=False),
    state_case("FetchSlide-v4", "same_step"),
    state_case("HandReach-v3", "next_step"),
    state_case("HandManipulateBlock_BooleanTouchSensors-v1", "next_step", outlives_seed=True),
]
