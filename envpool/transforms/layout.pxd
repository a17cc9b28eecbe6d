"""The plan and the state of a wrapped env definition: see wrapped.pyx."""

from libc.stdint cimport int32_t, int64_t, uint8_t

from envpool.env cimport envpool_env
from envpool.transforms.inner cimport Inner

cdef enum:
    MAX_FIELDS = 64             # ENVPOOL_MAX_FIELDS

cdef struct FieldPlan:          # what becomes of one field of the inner definition
    int32_t target              # the field of this definition
    int32_t dtype               # an envpool_dtype
    int32_t passes              # nonzero: rows are written to the target as they are
    int32_t has_time
    int32_t depth               # rows of a stack, at least 1
    int32_t casts               # nonzero: the target is float32
    double time_scale           # what elapsed steps are divided by
    int64_t items               # elements of a row of the inner definition
    int64_t item_bytes
    int32_t has_players         # nonzero: there is a row for each place of a player
    int32_t rows                # rows of an env: 1, or the places for players
    int32_t time_places         # position in `numbers` of the element, by player, before which time is inserted; or -1

cdef struct ActionPlan:         # what becomes of one action field
    int32_t dtype
    int32_t clips
    int32_t rescales
    int32_t reserved
    int64_t items
    int64_t numbers             # position of its numbers in `numbers`: low, high, intercept, gradient (items each)

cdef struct Config:
    const envpool_env* inner
    int32_t num_fields
    int32_t num_actions
    FieldPlan fields[MAX_FIELDS]
    ActionPlan actions[MAX_FIELDS]
    double numbers[1]           # as many as the actions and the time of players need

cdef struct State:
    Inner inner                 # first, see inner.pxd
    const Config* config
    int32_t passes              # nonzero: all fields are passed through
    int32_t keeps               # nonzero: envs have elapsed steps and stacks
    int32_t* elapsed            # by env: steps of the episode
    uint8_t* fresh              # by env: Fresh
    int32_t num_players         # places for players in an env; 0: it has none
    uint8_t* player_fresh       # by env and player: Fresh, WRITTEN for those that are not present; NULL without players
    uint8_t* player_acts        # by env and player: nonzero: the next row continues the stack; NULL without players
    char* rows[MAX_FIELDS]      # by field: rows of the inner definition, by env (and player); NULL: passed through
    char* stacks[MAX_FIELDS]    # by field: the last rows, with time, the oldest first, likewise; NULL: not stacked
    void* actions[MAX_FIELDS]   # by action field: what the inner definition gets, by env; NULL: passed through
    int64_t own_bytes           # of one env's elapsed steps, player_acts and stacks in a snapshot

cdef enum:      # Fresh
    WRITTEN         # the row of the last step has been written
    STEPPED
    RESET


cdef inline int64_t frame_items(const FieldPlan* p) noexcept nogil:
    """Returns the elements of one row of a stack."""
    return p.items + p.has_time


cdef inline int64_t stack_bytes(const FieldPlan* p) noexcept nogil:
    """Returns the size of the stack of one row."""
    return p.depth * frame_items(p) * p.item_bytes


cdef inline int64_t stacks_bytes(const FieldPlan* p) noexcept nogil:
    """Returns the size of the stacks of one env."""
    return p.rows * stack_bytes(p)
