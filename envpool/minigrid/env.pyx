"""Environment definitions of levels: seeds, steps, observations, saved states and frames.

Source of the rules: minigrid 3.2.0 (Chevalier-Boisvert et al., Minigrid & Miniworld, 2023; BabyAI, 2019).

An environment equals a new environment of upstream whose first reset has its seed: all random numbers come from
``Generator(PCG64(seed))``, and the next episodes continue its stream.
"""

import numpy as np

from libc.stddef cimport size_t
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t
from libc.stdio cimport snprintf
from libc.string cimport memcpy, memset

from envpool.env cimport envpool_env, envpool_frames
from envpool.minigrid.observation cimport FLAT, WorldCopy, settled, write_image
from envpool.minigrid.painter cimport Atlas, Picture, paint, paint_scaled, picture_view, picture_world
from envpool.minigrid.params cimport fill_params
from envpool.minigrid.structs cimport (
    BOX, CLOSED, DONE, DOOR, DROP, EMPTY, ENDLESS, FORWARD, GOAL, IMPOSSIBLE, KEY, LAST_MISSION, LAVA, LOCKED,
    MAX_MISSION, MAX_OBJECTS, MAX_SIDE, NO_GOAL, NOWHERE, NUM_COLOURS, NUM_KINDS, OPEN, PICK_UP, SUCCESS, TOGGLE,
    TOO_MANY_OBJECTS, TURN_LEFT, TURN_RIGHT, Instruction, Level, Outcome, Params, World,
)
from envpool.minigrid.world cimport (
    EMPTY_CELL, begin, can_overlap, can_pick_up, cells_of, clear, colour_of, dx_of, dy_of, fail, get, kind_of,
    number_of, put, reward_now, set_agent, state_of, with_state,
)
from envpool.minigrid.wrappers cimport bonus_of, find_goal, goal_direction, num_counts, reseed
from envpool.records cimport (
    envpool_new_records_env, envpool_outcome, envpool_pixels, envpool_records, envpool_records_config, envpool_template,
)

from envpool.errors import ConfigError
from envpool.minigrid.observation import FORMS, LARGEST_TILE, fields_of, form_of, image_field, tiles_for
from envpool.minigrid.wrappers import check_direction, direction_table, seed_table
from envpool.native import Field, define
from envpool.config.checks import check_range


cdef size_t size_for(const void* config) noexcept nogil:
    cdef const Params* p = <const Params*>config
    cdef size_t size = sizeof(World) + (p.width * p.height + num_counts(p)) * sizeof(uint32_t)
    return (size + 7) // 8 * 8


# ---- steps -----------------------------------------------------------------------------------------------------------


cdef int reset(void* record, const void* config) noexcept nogil:
    cdef World* w = <World*>record
    cdef const Params* p = <const Params*>config
    reseed(w, p)
    w.width, w.height = p.width, p.height
    w.failure = SUCCESS
    w.draws = 0
    w.max_steps = max(1, p.max_steps)
    w.step_count = 0
    w.carrying = EMPTY_CELL
    memset(w.where, 0xff, sizeof(w.where))
    clear(w)
    begin(w)
    set_agent(w, -1, -1, 0)
    p.level.generate(w, p)
    if w.failure == SUCCESS and not can_overlap(get(w, w.x, w.y)):
        fail(w, IMPOSSIBLE)
    if p.num_directions and find_goal(w) < 0:
        fail(w, NO_GOAL)
    if w.failure != SUCCESS:
        clear(w)                # a world that everything else can work with
        set_agent(w, 1, 1, 0)
    return w.failure


cdef void toggle(World* w, int32_t x, int32_t y, uint32_t cell) noexcept nogil:
    cdef uint32_t key
    if kind_of(cell) == BOX:
        w.where[number_of(cell)] = NOWHERE
        put(w, x, y, w.contents[number_of(cell)] or EMPTY_CELL)
    elif kind_of(cell) == DOOR:
        if state_of(cell) == LOCKED:
            key = w.carrying
            if kind_of(key) == KEY and colour_of(key) == colour_of(cell):
                put(w, x, y, with_state(cell, OPEN))
        else:
            put(w, x, y, with_state(cell, OPEN if state_of(cell) != OPEN else CLOSED))


cdef inline void act(World* w, int32_t action, Outcome* outcome) noexcept nogil:
    """Take an action, before the rules of the level."""
    cdef int32_t x = w.x + dx_of(w.direction), y = w.y + dy_of(w.direction), kind
    cdef uint32_t cell = get(w, x, y)
    outcome.reward = 0
    outcome.is_terminated = 0
    outcome.carried = w.carrying
    w.step_count += 1
    if action == TURN_LEFT:
        w.direction = (w.direction + 3) & 3
    elif action == TURN_RIGHT:
        w.direction = (w.direction + 1) & 3
    elif action == FORWARD:
        kind = kind_of(cell)
        if can_overlap(cell):
            w.x = x
            w.y = y
        if kind == GOAL:
            outcome.reward = reward_now(w)
        outcome.is_terminated = kind == GOAL or kind == LAVA
    elif action == PICK_UP:
        if can_pick_up(cell) and kind_of(w.carrying) == EMPTY:
            w.carrying = cell
            w.where[number_of(cell)] = NOWHERE
            put(w, x, y, EMPTY_CELL)
    elif action == DROP:
        if kind_of(cell) == EMPTY and kind_of(w.carrying) != EMPTY:
            put(w, x, y, w.carrying)
            w.carrying = EMPTY_CELL
    elif action == TOGGLE:
        toggle(w, x, y, cell)


cdef int step(void* record, const void* config, const void* const* actions, int32_t id,
              envpool_outcome* out) noexcept nogil:
    cdef World* w = <World*>record
    cdef const Params* p = <const Params*>config
    cdef int32_t taken = (<const int32_t*>actions[0])[id], action = taken
    cdef Outcome outcome
    if p.level.prepare != NULL:
        action = p.level.prepare(w, p, action)
    act(w, action, &outcome)
    if p.level.judge != NULL:
        p.level.judge(w, p, action, &outcome)
    if p.bonus:
        outcome.reward += bonus_of(w, p, taken)
    out.reward = outcome.reward
    out.terminated = outcome.is_terminated
    out.truncated = w.step_count >= w.max_steps
    return 0


cdef void write(const void* record, const void* config, void* const* fields, int64_t row) noexcept nogil:
    """Write a row: direction, image, mission, perhaps the direction of the goal, agent_pos, mission_id. A flat
    observation replaces what precedes agent_pos."""
    cdef const Params* p = <const Params*>config
    cdef const World* w = <const World*>record
    cdef int32_t field = 1
    if p.form != FLAT:
        (<int32_t*>fields[0])[row] = w.direction
        if p.is_mission_id:
            (<int32_t*>fields[2])[row] = w.mission_id
        else:
            memcpy(<uint8_t*>fields[2] + p.options.mission_bytes * row, w.mission, p.options.mission_bytes)
        field = 3
        if p.num_directions:
            (<double*>fields[3])[row] = goal_direction(w, p)
            field = 4
    write_image(w, p, fields[0 if p.form == FLAT else 1], row)
    (<int32_t*>fields[field])[2 * row] = w.x
    (<int32_t*>fields[field])[2 * row + 1] = w.y
    (<int32_t*>fields[field + 1])[row] = w.mission_id


cdef void error_text(void* state, int32_t id, int32_t code, char* text, size_t size) noexcept nogil:
    cdef const char* reason = b"the sampling of its level was rejected"
    if code == IMPOSSIBLE:
        reason = b"its level does not fit into the grid"
    elif code == ENDLESS:
        reason = b"its level was not complete after 4 million random draws"
    elif code == TOO_MANY_OBJECTS:
        reason = b"its level has more than 127 objects"
    elif code == NO_GOAL:
        snprintf(text, size, b"its level has no goal: leave out goal_direction")
        return
    snprintf(text, size, b"%s: choose a larger grid, or fewer objects or rooms", reason)


# ---- frames ----------------------------------------------------------------------------------------------------------


cdef int draw(const void* record, const void* config, const envpool_frames* f, int32_t i) noexcept nogil:
    """The assets are tiles, behind their size."""
    cdef const Params* p = <const Params*>config
    cdef const World* w
    cdef WorldCopy copy
    cdef Atlas atlas
    cdef Picture picture
    atlas.size = (<const int32_t*>f.assets)[0]
    atlas.tiles = <const uint8_t*>f.assets + sizeof(int32_t)
    w = settled(<const World*>record, p, &copy)
    if p.options.agent_pov:
        picture_view(w, p, &atlas, &picture)
    else:
        picture_world(w, p, &atlas, &picture)
    if f.height == picture.rows * atlas.size and f.width == picture.columns * atlas.size:
        paint(&picture, atlas.size, envpool_pixels(f, i))
    else:
        paint_scaled(&picture, atlas.size, f.height, f.width, envpool_pixels(f, i))
    return 0


# ---- saved states ----------------------------------------------------------------------------------------------------


cdef inline bint is_cell(uint32_t cell) noexcept nogil:
    return 1 <= kind_of(cell) < NUM_KINDS and colour_of(cell) < NUM_COLOURS and state_of(cell) <= LOCKED


cdef bint is_mission(const World* w) noexcept nogil:
    """Return whether all letters of the mission are lower-case, blanks or commas."""
    cdef int32_t i
    if not (0 <= w.mission_length < MAX_MISSION and -1 <= w.mission_id <= LAST_MISSION):
        return False
    for i in range(w.mission_length):
        if not (c'a' <= w.mission[i] <= c'z' or w.mission[i] == c' ' or w.mission[i] == c','):
            return False
    return True


cdef bint is_instruction(const Instruction* instruction) noexcept nogil:
    cdef int32_t i
    for i in range(4):
        if not 0 <= instruction.clauses[i // 2].tasks[i % 2].carried < MAX_OBJECTS:
            return False
    return 0 <= instruction.first <= 1


cdef int is_valid(const void* record, const void* config, int32_t resets) noexcept nogil:
    cdef const Params* p = <const Params*>config
    cdef const World* w = <const World*>record
    cdef int32_t i, count = p.width * p.height
    if not (
        w.width == p.width and w.height == p.height and 0 <= w.x < w.width and 0 <= w.y < w.height
        and 0 <= w.direction <= 3 and is_cell(w.carrying) and 0 <= w.step_count <= w.max_steps and w.max_steps > 0
        and 0 <= w.num_objects < MAX_OBJECTS and is_mission(w) and is_instruction(&w.instruction)
        and 0 <= w.next_seed < max(1, p.num_reset_seeds)
    ):
        return 0
    for i in range(count):
        if not is_cell(cells_of(<World*>w)[i]):
            return 0
    for i in range(MAX_OBJECTS):
        if not (NOWHERE <= w.where[i] < count and (w.contents[i] == 0 or is_cell(w.contents[i]))):
            return 0
    for i in range(6):
        if not NOWHERE <= w.targets[i] < count:
            return 0
    return 1


# ---- definitions -----------------------------------------------------------------------------------------------------

cdef envpool_records WORLDS
WORLDS.size_for, WORLDS.reset, WORLDS.step, WORLDS.write, WORLDS.draw = size_for, reset, step, write, draw
WORLDS.is_valid = is_valid
cdef envpool_env ENV_DEF = envpool_new_records_env("MiniGrid", &WORLDS)
ENV_DEF.frame_height = ENV_DEF.frame_width = 32     # of a tile; `build` determines the size for the grid
ENV_DEF.error_text = error_text


cdef object define_level(const Level* level, object config, int width, int height, int max_steps,
                         int last_action=DONE, dict fixed=None):
    cdef Params p
    check_range("max_steps", config.max_steps, 0)
    for name, length in (("width", width), ("height", height)):
        if length > MAX_SIDE:
            raise ConfigError(f"the {name} of the grid must be at most {MAX_SIDE}, got {length} with these options")
    fill_params(&p, (fixed or {}) | config._asdict())
    p.level = level[0]
    p.width = width
    p.height = height
    p.max_steps = config.max_steps or max_steps
    p.form = list(FORMS).index(form_of(config))
    seeds = seed_table(config.reset_seeds)
    directions = direction_table(check_direction(config, form_of(config)), width, height)
    p.num_reset_seeds, p.num_directions = len(seeds), len(directions)
    image, p.image_size = image_field(config, width, height)
    check_range("tile_size", config.tile_size, 1, LARGEST_TILE)
    fields = fields_of(config, image, width, height)
    actions = [Field("action", np.int32, (-1,), 0, last_action)]
    size = (config.agent_view_size,) * 2 if config.agent_pov else (height, width)
    return define(
        envpool_template(&ENV_DEF), fields, actions,
        envpool_records_config(&WORLDS, &p, sizeof(p)) + seeds.tobytes() + directions.tobytes() + tiles_for(config),
        frame_size=tuple(length * config.tile_size for length in size),
    )
