"""Cases of the Adroit hand for the conformance tests: exactness, frames and saved states."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.conformance.cases import ExactnessCase, FrameCase, StateCase
from tests.mujoco.gym.cases import Rendered
from tests.mujoco.params import ParamsOracle
from tests.mujoco.robotics.upstream import TaskOracle, upstream_of
from tests.support.oracles.frames import Size, rendered

TASKS = [f"AdroitHand{name}-v1" for name in ("Door", "Hammer", "Pen", "Relocate")]
RUNS: list[dict[str, Any]] = [{"num_threads": 2, "batch_size": 1}, {"num_threads": 1, "autoreset_mode": "same_step"}]


# ---- exactness -------------------------------------------------------------------------------------------------------


def case(task_id: str, limit: int, **more: Any) -> ExactnessCase:
    """Return a comparison of episodes with a time limit."""
    options = {"max_episode_steps": limit}
    rows = {"num_envs": 2, "steps": 3 * limit + 5, "min_episodes": 4}
    return ExactnessCase(task_id, TaskOracle(task_id, options), options=options, **{**rows, **more})


def params_case(task_id: str) -> ExactnessCase:
    """Return a comparison of envs with masses of their own."""
    limit = {"max_episode_steps": 12}
    oracle = ParamsOracle(lambda case: upstream_of(task_id, limit), lambda player: player.env.unwrapped.model, "masses")
    return ExactnessCase(task_id, oracle, "own masses", limit, num_envs=2, steps=30, min_episodes=4, is_slow=True)


def exactness() -> Iterator[ExactnessCase]:
    """Yield every comparison with Gymnasium-Robotics."""
    for task_id in TASKS:
        yield case(task_id, 12)
        yield case(task_id, 100, actions="sticky", seed=1, label="long", runs=RUNS, is_slow=True)
        yield case(task_id.replace("-v1", "Sparse-v1"), 40, actions="sticky", seed=2, is_slow=True)
        yield params_case(task_id)
    for mode in ("out_of_range", "infinite", "non_finite"):
        yield case("AdroitHandDoor-v1", 12, actions=mode, is_slow=True)


EXACTNESS = list(exactness())

# ---- frames ----------------------------------------------------------------------------------------------------------

SMALL: Size = (48, 64)


def frame_case(task_id: str, **options: Any) -> FrameCase:
    """Return a comparison with upstream's frames."""

    def make(size: Size | None) -> Any:
        kwargs = {"height": size[0], "width": size[1]} if size else {}
        return Rendered(rendered(upstream_of(task_id), **kwargs)(None))

    return FrameCase(task_id, make, "", SMALL, {"seeds": [5], "steps": (9,), **options}, is_slow=True)


FRAMES = [frame_case(task_id) for task_id in TASKS]

# ---- saved states ----------------------------------------------------------------------------------------------------

STATES = [
    StateCase(
        task_id,
        label="short",
        modes=[mode],
        limit=8,
        after=12,
        has_frames=False,
        is_slow=task_id in ("AdroitHandHammer-v1", "AdroitHandDoor-v1"),
    )
    for task_id, mode in zip(TASKS, ("same_step", "disabled", "next_step", "same_step"), strict=True)
]
