"""Cases of PointMaze and AntMaze for the conformance tests: exactness, frames and saved states."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from tests.conformance.cases import ExactnessCase, FrameCase, StateCase, UndisturbedCase, describe
from tests.mujoco.gym.cases import Rendered
from tests.mujoco.params import ParamsOracle
from tests.mujoco.robotics.upstream import TaskOracle, upstream_of
from tests.support.oracles.frames import Size, rendered
from tests.support.oracles.trajectory import Trajectory

MAPS = ["UMaze", "Open", "Open_Diverse_G", "Open_Diverse_GR", "Medium", "Medium_Diverse_G", "Medium_Diverse_GR"]
MAPS += ["Large", "Large_Diverse_G", "Large_Diverse_GR"]
RUNS: list[dict[str, Any]] = [{"num_threads": 2, "batch_size": 1}, {"num_threads": 1, "autoreset_mode": "same_step"}]
#: A corridor in which many goals are reached.
CORRIDOR = [[1, 1, 1, 1, 1], [1, "c", "c", "c", 1], [1, 1, 1, 1, 1]]


# ---- exactness -------------------------------------------------------------------------------------------------------


def reaches_goals(found: Trajectory) -> None:
    """Assert that goals are reached."""
    assert (found.arrays["info:success"] == 1).any()


def moves_goals(found: Trajectory) -> None:
    """Assert that goals move within episodes."""
    goals, is_step = found.arrays["obs:desired_goal"], found.arrays["elapsed_step"][1:] > 0
    assert ((goals[1:] != goals[:-1]).any(-1) & is_step).any()


def case(task_id: str, limit: int, verify: Callable[[Trajectory], None] | None = None, **more: Any) -> ExactnessCase:
    """Return a comparison of episodes with a time limit; options have the same names and values upstream."""
    options = {"max_episode_steps": limit, **more.pop("options", {})}
    label = describe({name: value for name, value in options.items() if name not in ("max_episode_steps", "maze_map")})
    label += "-corridor" if "maze_map" in options else ""
    rows = {"num_envs": 2, "steps": 3 * limit + 5, "min_episodes": 4, "label": label, "verify": verify}
    return ExactnessCase(task_id, TaskOracle(task_id, options), options=options, **{**rows, **more})


def params_case(task_id: str, limit: dict[str, Any]) -> ExactnessCase:
    """Return a comparison of envs with masses of their own."""
    oracle = ParamsOracle(lambda case: upstream_of(task_id, limit), lambda player: player.env.unwrapped.model, "masses")
    return ExactnessCase(task_id, oracle, "own masses", limit, num_envs=2, steps=50, min_episodes=4)


def exactness() -> Iterator[ExactnessCase]:
    """Yield every comparison with Gymnasium-Robotics."""
    corridor: dict[str, Any] = {"maze_map": CORRIDOR}
    sticky: dict[str, Any] = {"actions": "sticky", "num_envs": 4}
    yield case("PointMaze_UMaze-v3", 30)
    yield case("PointMaze_Large_Diverse_GRDense-v3", 30)
    yield case("PointMaze_Open-v3", 60, reaches_goals, options=corridor, **sticky)
    moving = corridor | {"reset_target": True}
    yield case("PointMaze_OpenDense-v3", 60, moves_goals, options=moving, steps=100, **sticky)
    ending = corridor | {"continuing_task": False}
    yield case("PointMaze_Open-v3", 60, reaches_goals, options=ending, steps=100, **sticky)
    yield case("AntMaze_UMaze-v5", 12)
    yield case("AntMaze_Medium_Diverse_GDense-v4", 12, options={"use_contact_forces": True})
    yield case("AntMaze_OpenDense-v3", 3, moves_goals, num_envs=4, steps=60)
    for mode in ("out_of_range", "infinite"):
        yield case("PointMaze_UMazeDense-v3", 20, actions=mode)
    yield case("PointMaze_UMazeDense-v3", 20, actions="non_finite", is_slow=True)
    yield case("AntMaze_UMaze-v5", 20, actions="out_of_range", is_slow=True)
    yield case("AntMaze_Open-v5", 30, options=corridor | {"frame_skip": 3}, is_slow=True)
    yield case("AntMaze_Open-v4", 30, options={"continuing_task": False, **corridor}, is_slow=True)
    for k, name in enumerate(MAPS):  # test_episodes.py has all ids
        row: dict[str, Any] = {"is_slow": True, "label": "slow", "actions": "sticky", "runs": RUNS}
        yield case(f"PointMaze_{name}-v3", 80, **row)
        yield case(f"AntMaze_{name}Dense-v{3 + k % 3}", 15, **row)
    for task_id in ("PointMaze_Medium-v3", "AntMaze_Open-v5"):
        yield params_case(task_id, {"max_episode_steps": 20})


EXACTNESS = list(exactness())

# ---- frames ----------------------------------------------------------------------------------------------------------

SMALL: Size = (48, 64)


def frame_case(task_id: str, label: str = "", size: Size | None = SMALL, **options: Any) -> FrameCase:
    """Return a comparison with upstream's frames."""
    is_slow = options.pop("is_slow", False)

    def make(size: Size | None) -> Any:
        kwargs = {"height": size[0], "width": size[1]} if size else {}
        env = rendered(upstream_of(task_id, options.get("options")), **kwargs)(None)
        maze = env.unwrapped
        maze.mujoco_renderer = getattr(maze, "point_env" if hasattr(maze, "point_env") else "ant_env").mujoco_renderer
        return Rendered(env)

    return FrameCase(task_id, make, label, size, {"seeds": [5], **options}, is_slow)


FRAMES = [
    frame_case("PointMaze_UMaze-v3", steps=(0, 20)),
    frame_case("PointMaze_Large-v3", steps=(0, 20), is_slow=True),
    frame_case("PointMaze_Open-v3", "goals move", steps=(0, 30, 90), options={"reset_target": True}, is_slow=True),
    frame_case("AntMaze_UMaze-v5", steps=(0, 9), is_slow=True),
    frame_case("AntMaze_Medium-v4", size=None, steps=(0, 9), is_slow=True),
]
TINY = {"render_height": 16, "render_width": 16}
UNDISTURBED = [UndisturbedCase("PointMaze_UMaze-v3", TINY, steps=25)]

# ---- saved states ----------------------------------------------------------------------------------------------------


def state_case(task_id: str, mode: str, **options: Any) -> StateCase:
    """Return a case of few steps and no frames."""
    return StateCase(task_id, TINY | options, label="short", modes=[mode], limit=8, after=12, has_frames=False)


STATES = [
    state_case("PointMaze_OpenDense-v3", "next_step", reset_target=True),
    state_case("AntMaze_UMaze-v5", "same_step"),
    state_case("AntMaze_OpenDense-v3", "disabled"),
    StateCase("PointMaze_UMaze-v3", TINY, modes=["next_step"], limit=20, after=60, is_slow=True),
]
