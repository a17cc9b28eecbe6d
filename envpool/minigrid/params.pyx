# optimize: -Og
"""Turns the options of a task into the struct that its level reads."""

import operator

from libc.stdint cimport int32_t
from libc.string cimport memset

from envpool.minigrid.structs cimport (
    ANY, BALL, BOX, GO_TO, KEY, MAX_MISSION, MAX_VIEW, NOWHERE, OPEN_DOOR, PICK_UP_OBJECT, PUT_NEXT, Params,
)
from envpool.minigrid.world cimport LAVA_CELL, wall_cell

from envpool._support.text import shown
from envpool.errors import ConfigError
from envpool.minigrid.observation import LARGEST_TILE
from envpool.minigrid.wrappers import BONUSES
from envpool.config.checks import check_range

COLOURS = {"": ANY, "red": 0, "green": 1, "blue": 2, "purple": 3, "yellow": 4, "grey": 5}
OBSTACLES = {"lava": LAVA_CELL, "wall": wall_cell()}
OBJECTS = {"key": KEY, "ball": BALL, "box": BOX}
VERBS = {"goto": GO_TO, "pickup": PICK_UP_OBJECT, "open": OPEN_DOOR, "putnext": PUT_NEXT}
FORMS = {"action": 0, "and": 1, "seq": 2}
MISSIONS = {"bytes": 0, "text": 0, "id": 1}
SELECTIONS = {"": 0, "color": 1, "loc": 2}


def one_of(options, name, allowed):
    """Return what an option that is one of several words stands for."""
    value = options[name]
    if value not in allowed:
        raise ConfigError(f"{name} must be {' or '.join(map(repr, allowed))}, got {shown(value)}")
    return allowed[value]


def several_of(options, name, allowed):
    """Return what an option stands for that is a list of words, separated by commas."""
    words = options[name].split(",")
    if not all(word in allowed for word in words) or len(words) > len(allowed):
        raise ConfigError(
            f"{name} must be at most {len(allowed)} words of {', '.join(map(repr, allowed))}, separated by commas, got "
            f"{shown(options[name])}"
        )
    return [allowed[word] for word in words]


def pair_of(options, name, none_allowed=True):
    """Return a pair of integers; (-1, -1) for None."""
    value = options[name]
    if value is None and none_allowed:
        return -1, -1
    try:
        x, y = map(operator.index, value)
    except (TypeError, ValueError):
        or_none = " or None" if none_allowed else ""
        raise ConfigError(f"{name} must be a pair of integers (column, row){or_none}, got {shown(value)}") from None
    return x, y


cdef int fill_params(Params* p, dict options) except -1:
    cdef int32_t i
    memset(p, 0, sizeof(Params))
    p.agent_x = p.goal_x = NOWHERE
    if options["agent_view_size"] % 2 == 0 or not 3 <= options["agent_view_size"] <= MAX_VIEW:
        raise ConfigError(
            f"agent_view_size must be odd and between 3 and {MAX_VIEW}, got {shown(options["agent_view_size"])}"
        )
    check_range("mission_bytes", options["mission_bytes"], 1, MAX_MISSION)
    p.agent_view_size = options["agent_view_size"]
    p.see_through_walls = options["see_through_walls"]
    p.mission_bytes = options["mission_bytes"]
    p.is_mission_id = one_of(options, "mission", MISSIONS)
    p.bonus = one_of(options, "bonus", {name: i for i, name in enumerate(BONUSES)})
    p.bonus_scale = options["bonus_scale"]
    check_range("obs_tile_size", options["obs_tile_size"], 1, LARGEST_TILE)
    p.obs_tile_size = options["obs_tile_size"]
    p.highlight = options["highlight"]
    p.agent_pov = options["agent_pov"]
    for prefix in ("agent_start_", "agent_"):
        if f"{prefix}pos" in options:
            p.agent_x, p.agent_y = pair_of(options, f"{prefix}pos")
    if "agent_start_dir" in options:
        check_range("agent_start_dir", options["agent_start_dir"], -1, 3)
        p.agent_dir = max(0, options["agent_start_dir"])
    if "goal_pos" in options:
        p.goal_x, p.goal_y = pair_of(options, "goal_pos")
    if "agent_room" in options:
        p.room_x, p.room_y = pair_of(options, "agent_room", none_allowed=False)
    if "obstacle_type" in options:
        p.obstacle = one_of(options, "obstacle_type", OBSTACLES)
    if "obj_type" in options:
        p.obj_kind = one_of(options, "obj_type", OBJECTS)
    if "select_by" in options:
        p.select_by = one_of(options, "select_by", SELECTIONS)
    p.first_colour = one_of(options, "first_color", COLOURS) if "first_color" in options else ANY
    p.second_colour = one_of(options, "second_color", COLOURS) if "second_color" in options else ANY
    if "action_kinds" in options:
        for i, verb in enumerate(several_of(options, "action_kinds", VERBS)):
            p.verbs[i] = verb
            p.num_verbs = i + 1
        for i, form in enumerate(several_of(options, "instr_kinds", FORMS)):
            p.forms[i] = form
            p.num_forms = i + 1
    if "locked_room_prob" in options:
        check_range("locked_room_prob", options["locked_room_prob"], 0, 1)
        p.locked_room_prob = options["locked_room_prob"]
    p.num_crossings = options.get("num_crossings", 0)
    p.strip2_row = options.get("strip2_row", 0)
    p.n_obstacles = options.get("n_obstacles", 0)
    p.num_objs = options.get("num_objs", 0)
    p.random_length = options.get("random_length", 0)
    p.room_size = options.get("room_size", 0)
    p.num_rows = options.get("num_rows", 0)
    p.num_cols = options.get("num_cols", 0)
    p.min_num_rooms = options.get("min_num_rooms", 0)
    p.max_num_rooms = options.get("max_num_rooms", 0)
    p.max_room_size = options.get("max_room_size", 0)
    p.key_in_box = options.get("key_in_box", 0)
    p.blocked = options.get("blocked", 0)
    p.num_quarters = options.get("num_quarters", 0)
    p.num_dists = options.get("num_dists", 0)
    p.locations = options.get("locations", 0)
    p.unblocking = options.get("unblocking", 0)
    p.implicit_unlock = options.get("implicit_unlock", 0)
    p.doors_open = options.get("doors_open", 0)
    p.is_strict = options.get("strict", 0) or options.get("debug", 0)
    p.num_doors = options.get("num_doors", 0)
    p.objs_per_room = options.get("objs_per_room", 0)
    p.start_carrying = options.get("start_carrying", 0)
    p.distractors = options.get("distractors", 0)
    return 0
