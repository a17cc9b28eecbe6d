"""Cases of MiniGrid and BabyAI for the conformance tests: exactness and saved states."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import gymnasium
from minigrid import wrappers
from minigrid.core.world_object import Wall

from envpool.minigrid.upstream import observation
from envpool.registration import registry
from tests.conformance.cases import ExactnessCase, FrameCase, StateCase, UndisturbedCase, describe
from tests.minigrid.upstream import upstream_of
from tests.support.oracles.frames import Size
from tests.support.oracles.trajectory import Trajectory

TASKS = [i for i, entry in registry.tasks.items() if entry.import_path.startswith("envpool.minigrid.")]
#: One task of each level.
LEVELS = list({registry.find(i).env: i for i in reversed(TASKS)}.values())[::-1]
#: Every way to run a pool.
RUNS: list[dict[str, Any]] = [
    {"num_threads": 2},
    {"num_threads": 1, "autoreset_mode": "same_step"},
    {"num_threads": 8, "autoreset_mode": "disabled"},
    {"num_threads": 2, "batch_size": 3},
]
#: Options of a task, and the same of upstream.
OPTIONS: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("MiniGrid-Empty-5x5-v0", {"size": 4, "agent_start_dir": 2}, {"size": 4, "agent_start_dir": 2}),
    ("MiniGrid-Empty-8x8-v0", {"agent_start_pos": (3, 4)}, {"agent_start_pos": (3, 4)}),
    ("MiniGrid-Empty-8x8-v0", {"agent_view_size": 3}, {"agent_view_size": 3}),
    ("MiniGrid-Empty-8x8-v0", {"agent_view_size": 31}, {"agent_view_size": 31}),
    ("MiniGrid-DoorKey-8x8-v0", {"size": 5, "max_steps": 17}, {"size": 5, "max_steps": 17}),
    ("MiniGrid-DoorKey-8x8-v0", {"size": 64}, {"size": 64}),
    ("MiniGrid-DoorKey-8x8-v0", {"see_through_walls": True}, {"see_through_walls": True}),
    ("MiniGrid-MultiRoom-N6-v0", {"agent_view_size": 11}, {"agent_view_size": 11}),
    (
        "MiniGrid-MultiRoom-N6-v0",
        {"min_num_rooms": 1, "max_num_rooms": 9, "max_room_size": 7, "width": 40, "height": 30},
        {"minNumRooms": 1, "maxNumRooms": 9, "maxRoomSize": 7, "width": 40, "height": 30},
    ),
    ("MiniGrid-LavaGapS5-v0", {"obstacle_type": "wall"}, {"obstacle_type": Wall}),
    ("MiniGrid-LavaCrossingS9N1-v0", {"size": 5, "num_crossings": 9}, {"size": 5, "num_crossings": 9}),
    ("MiniGrid-SimpleCrossingS9N1-v0", {"size": 15, "num_crossings": 12}, {"size": 15, "num_crossings": 12}),
    ("MiniGrid-DistShift1-v0", {"width": 12, "height": 4}, {"width": 12, "height": 4}),
    ("MiniGrid-DistShift1-v0", {"agent_start_pos": None}, {"agent_start_pos": None}),
    ("MiniGrid-FourRooms-v0", {"agent_pos": (2, 3)}, {"agent_pos": (2, 3)}),
    ("MiniGrid-LockedRoom-v0", {"size": 12}, {"size": 12}),
    ("MiniGrid-LockedRoom-v0", {"size": 30}, {"size": 30}),
    ("MiniGrid-Dynamic-Obstacles-5x5-v0", {"n_obstacles": 40}, {"n_obstacles": 40}),
    ("MiniGrid-Fetch-8x8-N3-v0", {"size": 9, "num_objs": 40}, {"size": 9, "numObjs": 40}),
    ("MiniGrid-GoToObject-6x6-N2-v0", {"size": 7, "num_objs": 18}, {"size": 7, "numObjs": 18}),
    ("MiniGrid-PutNear-6x6-N2-v0", {"size": 14, "num_objs": 7}, {"size": 14, "numObjs": 7}),
    ("MiniGrid-GoToDoor-5x5-v0", {"size": 20}, {"size": 20}),
    ("MiniGrid-RedBlueDoors-6x6-v0", {"size": 4}, {"size": 4}),
    ("MiniGrid-MemoryS7-v0", {"size": 9, "random_length": True}, {"size": 9, "random_length": True}),
    ("MiniGrid-KeyCorridorS6R3-v0", {"obj_type": "key", "num_rows": 5}, {"obj_type": "key", "num_rows": 5}),
    (
        "MiniGrid-ObstructedMaze-Full-v1",
        {"agent_room": (0, 1), "num_quarters": 3},
        {"agent_room": (0, 1), "num_quarters": 3},
    ),
]


#: Options of BabyAI's levels, which upstream has under the same names.
BABYAI_OPTIONS: list[tuple[str, dict[str, Any]]] = [
    ("BabyAI-GoToObj-v0", {"room_size": 12, "max_steps": 9}),
    ("BabyAI-GoToLocal-v0", {"room_size": 10, "num_dists": 20}),
    ("BabyAI-GoTo-v0", {"room_size": 5, "num_rows": 1, "num_cols": 5, "num_dists": 3}),
    ("BabyAI-GoToLocal-v0", {"room_size": 64, "num_dists": 90}),
    ("BabyAI-GoTo-v0", {"room_size": 22, "num_dists": 90}),
    ("BabyAI-GoToImpUnlock-v0", {"room_size": 6, "num_rows": 2, "num_cols": 2}),
    ("BabyAI-Unlock-v0", {"room_size": 7, "num_rows": 2, "num_cols": 4}),
    ("BabyAI-PutNextLocal-v0", {"room_size": 9, "num_objs": 18}),
    ("BabyAI-KeyCorridor-v0", {"obj_type": "box", "num_rows": 4}),
    ("BabyAI-Synth-v0", {"locked_room_prob": 1.0, "num_dists": 30}),
    ("BabyAI-OpenDoor-v0", {"debug": True, "select_by": "loc"}),
]
#: Upstream's wrappers by the option that stands for them.
WRAPPERS = {
    "full": wrappers.FullyObsWrapper,
    "rgb_partial": wrappers.RGBImgPartialObsWrapper,
    "rgb_full": wrappers.RGBImgObsWrapper,
    "one_hot": wrappers.OneHotPartialObsWrapper,
    "symbolic": wrappers.SymbolicObsWrapper,
}
WRAPPED = [
    "MiniGrid-Dynamic-Obstacles-8x8-v0",
    "MiniGrid-LavaCrossingS9N3-v0",
    "MiniGrid-RedBlueDoors-6x6-v0",
    "BabyAI-PutNextS5N2Carrying-v0",
    "BabyAI-MiniBossLevel-v0",
]


#: Levels with locked doors that the player "guided" solves.
LOCKED = [i for i in TASKS if i.startswith(("MiniGrid-LockedRoom", "MiniGrid-ObstructedMaze"))]


def reaches_success(expected: Trajectory) -> None:
    """Assert that each environment has solved its level at least once."""
    assert (expected.arrays["reward"] > 0).any(axis=0).all()


def exactness() -> Iterator[ExactnessCase]:
    """Yield the comparisons with minigrid."""
    for task_id in TASKS:
        upstream = upstream_of(task_id)
        player = "explored" if task_id.startswith("MiniGrid") else "solved"
        if task_id in LEVELS:
            yield ExactnessCase(task_id, upstream, num_envs=4, steps=60, runs=RUNS, min_episodes=0)
            yield ExactnessCase(task_id, upstream, actions=player, num_envs=2, steps=80, min_episodes=0)
        long = ExactnessCase(task_id, upstream, "long", min_episodes=0, is_slow=True, is_recorded=True)
        yield replace(long, num_envs=4, runs=RUNS[::3])
        yield replace(long, actions=player, num_envs=2)
        options: dict[str, Any] = {"max_steps": 12}
        short = replace(long, oracle=upstream_of(task_id, options), label="short", options=options)
        yield replace(short, num_envs=3, steps=78, min_episodes=18)
    for task_id in LOCKED:
        upstream = upstream_of(task_id)
        yield ExactnessCase(
            task_id, upstream, actions="guided", num_envs=3, steps=160, runs=RUNS[1::2], verify=reaches_success
        )
    for task_id, options, kwargs in OPTIONS:
        upstream = upstream_of(task_id, kwargs)
        yield ExactnessCase(task_id, upstream, describe(options), options, num_envs=4, steps=60, min_episodes=0)
    for task_id, options in BABYAI_OPTIONS:
        upstream = upstream_of(task_id, options)
        yield ExactnessCase(task_id, upstream, describe(options), options, num_envs=3, steps=60, min_episodes=0)
    for form, wrapper in WRAPPERS.items():
        for task_id in WRAPPED:
            upstream = upstream_of(task_id, wrapper=wrapper)
            options = {"observation": form}
            yield ExactnessCase(
                task_id, upstream, describe(options), options, "explored", num_envs=2, steps=60, min_episodes=0
            )
    yield from more_wrappers()
    yield from wrappers_of_steps()


def more_wrappers() -> Iterator[ExactnessCase]:
    """Yield the comparisons with wrappers that have options, or whose observations are no dicts."""
    task_id = "MiniGrid-DoorKey-6x6-v0"
    large = upstream_of(task_id, wrapper=lambda env: wrappers.RGBImgPartialObsWrapper(env, tile_size=5))
    options: dict[str, Any] = {"from_pixels": True, "obs_tile_size": 5}
    yield ExactnessCase(task_id, large, describe(options), options, num_envs=2, steps=60, min_episodes=0)
    options = {"observation": "rgb_full", "highlight": False}
    plain = upstream_of(task_id, {"highlight": False}, wrapper=wrappers.RGBImgObsWrapper)
    yield ExactnessCase(task_id, plain, describe(options), options, num_envs=2, steps=60, min_episodes=0)
    wide = upstream_of(task_id, wrapper=lambda env: wrappers.ViewSizeWrapper(env, agent_view_size=5))
    options = {"agent_view_size": 5}
    yield ExactnessCase(task_id, wide, describe(options), options, num_envs=2, steps=60, min_episodes=0)
    for task_id in ("MiniGrid-LockedRoom-v0", "BabyAI-MiniBossLevel-v0"):
        options = {"observation": "flat", "mission_bytes": 300}
        flat = upstream_of(task_id, wrapper=lambda env: wrappers.FlatObsWrapper(env, 300), observation=lambda obs: obs)
        yield ExactnessCase(task_id, flat, describe(options), options, num_envs=2, steps=60, min_episodes=0)


class Reseeded(wrappers.ReseedWrapper):
    """Upstream's wrapper, which warns of seeds that it ignores."""

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Start an episode with the next seed of the wrapper."""
        return super().reset(options=options)


#: Upstream's wrappers of rewards and resets by the options that stand for them.
STEP_WRAPPERS: list[tuple[dict[str, Any], Callable[[Any], Any]]] = [
    ({"bonus": "position"}, wrappers.PositionBonus),
    ({"bonus": "position", "bonus_scale": 0.3}, lambda env: wrappers.PositionBonus(env, scale=0.3)),
    ({"bonus": "action"}, wrappers.ActionBonus),
    ({"reset_seeds": (5, 0, 2**31 - 1)}, lambda env: Reseeded(env, seeds=(5, 0, 2**31 - 1))),
    ({"reset_seeds": [9], "bonus": "action"}, lambda env: wrappers.ActionBonus(Reseeded(env, seeds=[9]))),
]


def with_goal(obs: dict[str, Any]) -> dict[str, Any]:
    """Return an observation of upstream's DirectionObsWrapper in the pool's form."""
    return observation(96, obs) | {"goal_direction": obs["goal_direction"]}


def has_goal_in_every_direction(expected: Trajectory) -> None:
    """Assert that the agent was at the goal, and away from it in several directions."""
    found = set(expected.arrays["obs:goal_direction"].ravel().tolist())
    assert 0 in found and len(found) > 8


def wrappers_of_steps() -> Iterator[ExactnessCase]:
    """Yield the comparisons with wrappers that change rewards and resets, or that add the direction of the goal."""
    for options, wrapper in STEP_WRAPPERS:
        for task_id in ("MiniGrid-Dynamic-Obstacles-6x6-v0", "MiniGrid-MemoryS7-v0", "BabyAI-MiniBossLevel-v0"):
            wrapped = upstream_of(task_id, {"max_steps": 12}, wrapper=wrapper)
            options = options | {"max_steps": 12}
            yield ExactnessCase(task_id, wrapped, describe(options), options, num_envs=3, steps=78, runs=RUNS)
    for kind in ("slope", "angle", "angle_atan2"):
        options = {"goal_direction": kind}
        for task_id in (
            "MiniGrid-Empty-Random-6x6-v0",
            "MiniGrid-SimpleCrossingS9N1-v0",
            "MiniGrid-MultiRoom-N4-S5-v0",
        ):
            wrapped = upstream_of(
                task_id,
                wrapper=lambda env, kind=kind: wrappers.DirectionObsWrapper(env, type=kind),
                observation=with_goal,
            )
            verify = has_goal_in_every_direction if "Empty" in task_id else None
            yield ExactnessCase(
                task_id, wrapped, kind, options, "guided", num_envs=3, steps=90, runs=RUNS, verify=verify
            )


EXACTNESS = list(exactness())

# ---- frames ----------------------------------------------------------------------------------------------------------


def frames_of(task_id: str, **kwargs: Any) -> Any:
    """Return a factory of upstream environments that render, with tiles of the size of frames."""

    def make(size: Size | None) -> Any:
        env: Any = gymnasium.make(task_id, render_mode="rgb_array", disable_env_checker=True, **kwargs)
        if size is not None:
            env.unwrapped.tile_size = size[0] // env.unwrapped.height
        return env

    return make


def frames() -> Iterator[FrameCase]:
    """Yield the comparisons with upstream's frames."""
    for task_id in LEVELS:
        options: dict[str, Any] = {"tile_size": 8}
        yield FrameCase(task_id, frames_of(task_id, **options), "", None, {"options": options})
    for task_id in WRAPPED:
        options = {"tile_size": 8, "agent_pov": True}
        yield FrameCase(task_id, frames_of(task_id, **options), "pov", None, {"options": options})
        options = {"tile_size": 8, "highlight": False, "agent_view_size": 3}
        yield FrameCase(task_id, frames_of(task_id, **options), "plain", None, {"options": options})
    for task_id in ("MiniGrid-DoorKey-5x5-v0", "MiniGrid-LavaGapS5-v0", "BabyAI-OpenRedDoor-v0"):
        yield FrameCase(task_id, frames_of(task_id), "32 pixels", None, {"steps": range(40)})
    yield FrameCase("MiniGrid-DoorKey-5x5-v0", frames_of("MiniGrid-DoorKey-5x5-v0"), "", (65, 65))


FRAMES = list(frames())
UNDISTURBED = [UndisturbedCase(task_id, {"tile_size": 4}) for task_id in WRAPPED]

# ---- saved states ----------------------------------------------------------------------------------------------------

#: Tasks whose states are tested at full length.
SAVED = [
    "MiniGrid-DoorKey-5x5-v0",
    "MiniGrid-Dynamic-Obstacles-8x8-v0",
    "MiniGrid-ObstructedMaze-1Dlhb-v0",
    "MiniGrid-RedBlueDoors-6x6-v0",
    "BabyAI-PutNextS5N2Carrying-v0",
    "BabyAI-MiniBossLevel-v0",
]
#: Options with counts and a position in a table, which belong to an environment.
COUNTED = {"tile_size": 2, "bonus": "action", "reset_seeds": (3, 1, 2), "goal_direction": "angle"}
STATES = [
    StateCase("MiniGrid-Empty-Random-5x5-v0", COUNTED, outlives_seed=True),
    StateCase("MiniGrid-Dynamic-Obstacles-6x6-v0", {"tile_size": 2, "bonus": "position"}, outlives_seed=True),
] + [
    StateCase(task_id, {"tile_size": 2}, after=500 if task_id in SAVED else 60, is_slow=task_id not in SAVED)
    for task_id in TASKS
]
