"""Cases of FrankaKitchen for the conformance tests: exactness, frames and saved states."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tests.conformance.cases import ExactnessCase, FrameCase, StateCase
from tests.mujoco.gym.cases import Rendered
from tests.mujoco.late_oracle import LateOracle
from tests.mujoco.params import assign
from tests.mujoco.robotics.upstream import upstream_of
from tests.support.oracles.frames import Size, rendered
from tests.support.oracles.gymnasium_oracle import Upstream
from tests.support.oracles.trajectory import Trajectory

TASK = "FrankaKitchen-v1"
#: Gravity that opens the slide cabinet.
TILTED = {"gravity": (30.0, 0.0, -9.81)}
RUNS: list[dict[str, Any]] = [{"num_threads": 2, "batch_size": 1}, {"num_threads": 1, "autoreset_mode": "same_step"}]


@dataclass(frozen=True)
class KitchenOracle(LateOracle):
    """Plays upstream's kitchen with parameters of the model."""

    params: Mapping[str, Any] = field(default_factory=dict)

    def upstream(self) -> Upstream:
        """Return the oracle that makes the environments."""
        oracle = upstream_of(self.task_id, self.kwargs)
        return replace(oracle, prepare=lambda env: assign(env.unwrapped.model, self.params))


def completes_tasks(found: Trajectory) -> None:
    """Assert that tasks are completed, and others not."""
    done = found.arrays["info:episode_task_completions"].any((0, 1))
    assert done.any()
    assert not done.all()


def terminates(found: Trajectory) -> None:
    """Assert that episodes terminate."""
    completes_tasks(found)
    assert found.arrays["terminated"].any()


def case(label: str = "", options: Mapping[str, Any] | None = None, tilted: bool = False, **more: Any) -> ExactnessCase:
    """Return a comparison of episodes of 20 steps."""
    options = {"max_episode_steps": 20, **(options or {})}
    params = TILTED if tilted else {}
    rows = {"num_envs": 2, "steps": 45, "min_episodes": 4, "label": label}
    return ExactnessCase(TASK, KitchenOracle(TASK, options, params), options={**options, **params}, **{**rows, **more})


def exactness() -> Iterator[ExactnessCase]:
    """Yield every comparison with Gymnasium-Robotics."""
    some = {"tasks_to_complete": ["microwave", "slide cabinet"]}
    yield case(steps=25, min_episodes=2)
    yield case("completed", some, True, num_envs=1, min_episodes=2, verify=completes_tasks)
    yield case("repeated", {**some, "remove_task_when_completed": False}, True, verify=completes_tasks, is_slow=True)
    yield case("terminated", {"tasks_to_complete": ["slide cabinet"]}, True, verify=terminates, is_slow=True)
    continuing = {"tasks_to_complete": ["slide cabinet"], "terminate_on_tasks_completed": False}
    yield case("continued", continuing, True, verify=completes_tasks, is_slow=True)
    noisy = {"robot_noise_ratio": 0.3, "object_noise_ratio": 0.2, "frame_skip": 41}
    yield case("noisy", noisy, is_slow=True)
    yield case("long", {"max_episode_steps": 60}, actions="sticky", steps=125, seed=1, runs=RUNS, is_slow=True)
    for mode in ("out_of_range", "non_finite"):
        yield case(actions=mode, is_slow=True)


EXACTNESS = list(exactness())

# ---- frames ----------------------------------------------------------------------------------------------------------


def make_upstream(size: Size | None) -> Any:
    """Return upstream's kitchen with frames of a size."""
    kwargs = {"height": size[0], "width": size[1]} if size else {}
    env = rendered(upstream_of(TASK), **kwargs)(None)
    env.unwrapped.mujoco_renderer = env.unwrapped.robot_env.mujoco_renderer
    return Rendered(env)


FRAMES = [FrameCase(TASK, make_upstream, "", (48, 64), {"seeds": [5], "steps": (0, 4)}, is_slow=True)]

# ---- saved states ----------------------------------------------------------------------------------------------------

STATES = [
    StateCase(
        TASK,
        {**TILTED, "remove_task_when_completed": False},
        "random",
        False,
        "tilted",
        ["same_step"],
        8,
        12,
        is_slow=True,
    )
]
