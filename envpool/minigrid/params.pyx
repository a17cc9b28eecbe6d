# optimize: -Og
"""Turns the options of a task into the struct that its level reads."""

import operator
from collections import defaultdict

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
    p.is_mission_id = one_of(options, "mission", MISSIONS)
    p.bonus = one_of(options, "bonus", {name: i for i, name in enumerate(BONUSES)})
    check_range("obs_tile_size", options["obs_tile_size"], 1, LARGEST_TILE)
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
    p.options = defaultdict(int, options)
    p.is_strict = p.options.strict or p.options.debug
    return 0
