"""Descriptions of the options that only some levels have."""

from __future__ import annotations

from envpool.native import EnvDefinition


class LevelOptions(EnvDefinition):
    """The options that only some levels have; `MiniGrid` has those of all levels.

    Options
    -------
    size, width, height : int
        Number of cells along a side of the grid, walls included.
    room_size : int
        Number of cells along a side of a room, walls included.
    num_rows : int
        Number of rows of rooms.
    num_cols : int
        Number of columns of rooms.
    num_dists : int
        Number of distractors that are placed in the level.
    num_objs : int
        Number of objects in the level.
    objs_per_room : int
        Number of objects in each room.
    distractors : bool
        If True, there are objects that the mission does not need.
    doors_open : bool
        If True, the doors are open when an episode begins.
    blocked : bool
        If True, a ball blocks each locked door.
    key_in_box : bool
        If True, the keys are in boxes.
    num_doors : int
        Number of doors that the mission names.
    select_by : str
        How the mission describes its door: "color", "loc", or "" for either.
    first_color, second_color : str
        Colours of the doors, or "" for random ones.
    strict, debug : bool
        If True, a wrong action of the kind that the mission asks for ends the episode.
    start_carrying : bool
        If True, the agent starts with the object that it should move.
    obj_type : str
        Kind of the object to pick up: "ball", "box" or "key".
    num_crossings : int
        Number of rivers or walls to cross.
    n_obstacles : int
        Number of moving balls.
    obstacle_type : str
        Material of crossings and gaps: "lava" or "wall".
    agent_start_pos, agent_pos : pair of int, optional
        Column and row in which the agent starts; None for a random place.
    goal_pos : pair of int, optional
        Column and row of the goal; None for a random place.
    agent_start_dir : int
        Direction of the agent when an episode begins: 0 right, 1 down, 2 left, 3 up.
    strip2_row : int
        Row of the second strip of lava.
    random_length : bool
        If True, the length of the corridor is random.
    min_num_rooms, max_num_rooms, max_room_size : int
        Smallest and largest number of rooms, and the largest size of a room, in cells along a side.
    agent_room : pair of int
        Column and row of the room in which the agent starts.
    num_quarters : int
        Number of corner rooms in which the ball may be.
    num_rooms_visited : int
        Number of rooms that the time limit allows for.
    """
