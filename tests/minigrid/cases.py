"""Cases of MiniGrid and BabyAI for the conformance tests: exactness and saved states."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from minigrid.core.world_object import Wall

from envpool.registration import registry
from tests.conformance.cases import ExactnessCase, StateCase, describe
from tests.minigrid.upstream import upstream_of

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


def exactness() -> Iterator[ExactnessCase]:
    """Yield the comparisons with minigrid."""
    for task_id in TASKS:
        upstream = upstream_of(task_id)
        if task_id in LEVELS:
            yield ExactnessCase(task_id, upstream, num_envs=4, steps=60, runs=RUNS, min_episodes=0)
            yield ExactnessCase(
                task_id, upstream, actions="explored", num_envs=2, steps=120, runs=RUNS[:1], min_episodes=0
            )
        yield ExactnessCase(task_id, upstream, "long", num_envs=4, runs=RUNS[::3], min_episodes=0, is_slow=True)
    for task_id, options, kwargs in OPTIONS:
        upstream = upstream_of(task_id, kwargs)
        yield ExactnessCase(task_id, upstream, describe(options), options, num_envs=4, steps=60, min_episodes=0)


EXACTNESS = list(exactness())

# ---- saved states ----------------------------------------------------------------------------------------------------

#: Tasks whose states are tested at full length.
SAVED = [
    "MiniGrid-DoorKey-5x5-v0",
    "MiniGrid-Dynamic-Obstacles-8x8-v0",
    "MiniGrid-ObstructedMaze-1Dlhb-v0",
    "MiniGrid-RedBlueDoors-6x6-v0",
]
STATES = [StateCase(task_id, has_frames=False, is_slow=task_id not in SAVED) for task_id in TASKS]
