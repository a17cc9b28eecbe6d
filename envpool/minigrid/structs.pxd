"""The data of a level: cells, the world of one environment, the options of a level, and the functions of a level."""

from libc.stdint cimport int8_t, int16_t, int32_t, uint32_t, uint64_t

from envpool.numerics.rng cimport ep_pcg64

cdef enum:
    MAX_SIDE = 64               # rows and columns of a grid
    MAX_CELLS = MAX_SIDE * MAX_SIDE
    MAX_VIEW = 31               # rows and columns of what the agent sees; a row is a mask of 32 bits
    MAX_OBJECTS = 128           # objects of an episode have the numbers 1 to 127; 0 stands for none
    MAX_ROOMS = 64
    MAX_MISSION = 512           # bytes of a sentence, with a zero at the end
    NOWHERE = -1                # in place of the index of a cell
    LAST_MISSION = 1024         # EnvPool's bound of mission_id

# Kinds of things, by upstream's numbers.
cdef enum Kind:
    UNSEEN, EMPTY, WALL, FLOOR, DOOR, KEY, BALL, BOX, GOAL, LAVA, AGENT, NUM_KINDS

# Colours, by upstream's numbers.
cdef enum Colour:
    RED, GREEN, BLUE, PURPLE, YELLOW, GREY, NUM_COLOURS

cdef enum DoorState:
    OPEN, CLOSED, LOCKED

cdef enum Direction:
    RIGHTWARD, DOWNWARD, LEFTWARD, UPWARD

cdef enum Action:
    TURN_LEFT, TURN_RIGHT, FORWARD, PICK_UP, DROP, TOGGLE, DONE, NUM_ACTIONS

# A cell is 32 bits: kind, colour and state in bytes 0 to 2, as observations show them; above them the number of the
# object, 7 bits, which tells objects of the same look apart; and in the last bit whether the agent cannot see past it.
cdef enum:
    COLOUR_SHIFT = 8
    STATE_SHIFT = 16
    NUMBER_SHIFT = 24
    OPAQUE_SHIFT = 31

# ---- BabyAI's instructions -------------------------------------------------------------------------------------------

cdef enum:
    ANY = -1                    # kind or colour that a description leaves open
    ANYWHERE = -1               # location that a description leaves open

# Where something is, seen from the agent, in upstream's order.
cdef enum Location:
    ON_LEFT, ON_RIGHT, IN_FRONT, BEHIND

# A description of objects, and the numbers of the objects that it fits at the beginning of the episode.
cdef struct Description:
    int8_t kind                 # BOX, BALL, KEY, DOOR or ANY
    int8_t colour               # or ANY
    int8_t location             # or ANYWHERE
    int32_t count               # of things that it fits, walls included
    uint64_t objects[2]         # a bit for each number

cdef enum Verb:
    GO_TO, PICK_UP_OBJECT, OPEN_DOOR, PUT_NEXT

cdef struct Task:
    int32_t verb
    int32_t is_strict           # whether the same action on another object fails
    int32_t carried             # number of the object that was carried after the step before, as far as the task saw it
    Description what            # the object of the verb
    Description fixed           # PUT_NEXT: what to put it next to

# One task, or two in any order.
cdef struct Clause:
    int32_t count
    int32_t is_done[2]
    Task tasks[2]

# One clause, or two; clause `first` must be done before the other.
cdef struct Instruction:
    int32_t count
    int32_t first               # index of the clause to be done first
    int32_t is_first_done
    Clause clauses[2]

# ---- worlds ----------------------------------------------------------------------------------------------------------

# The state of one environment. Its cells (width * height), row by row, follow directly, then the counts of its bonus.
cdef struct World:
    ep_pcg64 rng
    int32_t width, height
    int32_t x, y                # of the agent; -1, -1 before it is placed
    int32_t direction           # a Direction
    uint32_t carrying           # cell of the object that the agent carries, or an empty cell
    int32_t step_count
    int32_t max_steps           # of this episode, at least 1
    int32_t failure             # a Failure: why the last generation failed
    int32_t draws               # random draws of the last generation or step
    int32_t num_objects         # objects so far
    int32_t targets[6]          # what a level remembers
    int32_t mission_id          # number of the mission among the level's missions, -1 if it has none
    int32_t mission_length
    char mission[MAX_MISSION]   # zeros behind it
    int16_t where[MAX_OBJECTS]      # by number: index of the cell, or NOWHERE
    int16_t tracked[MAX_OBJECTS]    # `where` at the beginning or after the last DROP, as BabyAI's tasks know it
    uint32_t contents[MAX_OBJECTS]  # by number: cell of what a box contains, or 0
    Instruction instruction
    int32_t next_seed           # index of the option reset_seeds

cdef enum Failure:
    SUCCESS = 0
    REJECTED = 1                # the sampling of a mission was rejected; BabyAI begins again
    IMPOSSIBLE = 2              # the level does not fit into its grid
    ENDLESS = 3                 # the level was not complete after MAX_DRAWS draws
    TOO_MANY_OBJECTS = 4
    NO_GOAL = 5                 # the level has no goal, so its direction cannot be observed

cdef struct Room:
    int32_t x, y                # upper left corner, which is a wall
    int32_t doors[4]            # by Direction: index of the cell of a door, NO_DOOR or NO_WALL
    int32_t door_x[4]           # where a door would be; there is none in a wall of the grid
    int32_t door_y[4]
    int32_t is_locked

cdef enum:
    NO_DOOR = -1
    NO_WALL = -2

# Rooms of a level while it is generated.
cdef struct Rooms:
    World* world
    int32_t size                # of a room with its walls
    int32_t rows, columns
    int32_t locked              # LevelGen's locked room, or -1
    int32_t looks[NUM_KINDS]    # by kind: a bit for each colour of the objects that were placed
    Room rooms[MAX_ROOMS]       # row by row

# How a step ended.
cdef struct Outcome:
    double reward
    int32_t is_terminated
    uint32_t carried            # cell of what the agent carried before the step

cdef struct Params

# A level. Every function may be NULL but `generate`.
cdef struct Level:
    # Fills a grid of empty cells, places the agent and says the mission. It may set World.failure.
    void (*generate)(World* world, const Params* p) noexcept nogil
    # BabyAI: fills a grid of rooms, places the agent, and sets World.instruction instead of the mission.
    void (*plan)(Rooms* rooms, const Params* p) noexcept nogil
    # Called before a step; returns the action to take.
    int32_t (*prepare)(World* world, const Params* p, int32_t action) noexcept nogil
    # Called after a step, whose outcome it may change.
    void (*judge)(World* world, const Params* p, int32_t action, Outcome* outcome) noexcept nogil

# Options by their own names; those that a level does not have are 0.
cdef struct Options:
    int32_t agent_view_size
    int32_t see_through_walls
    int32_t mission_bytes
    int32_t obs_tile_size       # if observations are painted
    double bonus_scale
    int32_t highlight, agent_pov    # of frames: whether what is seen is lighter; whether there is nothing else
    int32_t num_crossings, strip2_row, n_obstacles, num_objs, random_length
    int32_t room_size, num_rows, num_cols
    int32_t min_num_rooms, max_num_rooms, max_room_size
    int32_t key_in_box, blocked, num_quarters
    double locked_room_prob
    int32_t num_dists, locations, unblocking, implicit_unlock, doors_open, strict, debug
    int32_t num_doors, objs_per_room, start_carrying, distractors

# The configuration of a task, which is the beginning of the config of its definition.
cdef struct Params:
    Level level
    Options options
    int32_t width, height
    int32_t max_steps           # 0: BabyAI's rule
    int32_t is_mission_id       # whether observations have the number of the mission instead of its text
    int32_t form                # of observations
    int32_t image_size          # bytes of an image, or of a whole observation that is flat
    int32_t bonus               # a Bonus
    int32_t num_reset_seeds, num_directions     # entries of the tables that follow the options, see wrappers.pxd
    int32_t agent_x, agent_y, agent_dir     # where the agent starts; agent_x is NOWHERE for a random place
    int32_t goal_x, goal_y      # goal_x is NOWHERE for a random place
    uint32_t obstacle           # a cell
    int32_t obj_kind, room_x, room_y, is_strict, select_by
    int32_t verbs[4]
    int32_t num_verbs
    int32_t forms[3]
    int32_t num_forms
    int32_t first_colour, second_colour
