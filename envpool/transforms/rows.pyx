"""The rows of a wrapped env definition: elapsed steps are appended, rows are stacked, and values are cast.

A definition does not know how often a row is written, so a step only marks its envs (`fresh`). The writer of the row
of a marked env puts its observation on the stack first; a row that is written again shows the same stack. A row is
always written before its env is stepped again, except for an env that failed, which is reset next and whose stack
starts again.

The observations of the inner definition go to memory by env id, so that the rows of consecutive ids are written with
one call.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uintptr_t
from libc.string cimport memcpy, memmove, memset

from envpool.env cimport ENVPOOL_FLOAT32, envpool_batch, envpool_rows
from envpool.transforms.layout cimport FieldPlan, frame_items, MAX_FIELDS, RESET, stack_bytes, State, STEPPED, WRITTEN

cdef extern from "envpool/_core/dtypes.h" nogil:
    void ep_cast_items(int32_t dtype, const void* x, int64_t n, float* y)


cdef inline int64_t row_bytes(const FieldPlan* p) noexcept nogil:
    """Returns the size of a row of an env, or of a player, that is handed out."""
    return p.depth * frame_items(p) * (4 if p.casts else p.item_bytes)


cdef void note_steps(State* s, const envpool_batch* batch) noexcept nogil:
    cdef int32_t i, id
    for i in range(batch.n):
        id = batch.ids[i]
        s.elapsed[id] = 0 if batch.reset[i] else s.elapsed[id] + 1
        s.fresh[id] = RESET if batch.reset[i] else STEPPED
        if s.num_players:
            note_players(s, batch, id, batch.reset[i] != 0)


cdef void note_players(State* s, const envpool_batch* batch, int64_t id, bint is_reset) noexcept nogil:
    """Marks the rows of the players of an env: the row of a player that joins begins its stack, as a reset does."""
    cdef int64_t k
    cdef bint is_present
    for k in range(id * s.num_players, (id + 1) * s.num_players):
        is_present = batch.player_present[k] != 0
        if not is_present:
            s.player_fresh[k] = WRITTEN
        elif is_reset or not s.player_acts[k]:
            s.player_fresh[k] = RESET
        else:
            s.player_fresh[k] = STEPPED
        s.player_acts[k] = is_present and (is_reset or not (batch.player_terminated[k] | batch.player_truncated[k]))


cdef void* const* targets_of(State* s, const envpool_rows* rows, void** fields) noexcept nogil:
    """Returns the arrays to which the inner definition writes; NULL for fields that are not passed through."""
    cdef int32_t k
    for k in range(s.config.num_fields):
        fields[k] = rows.fields[s.config.fields[k].target] if s.config.fields[k].passes else NULL
    return <void* const*>fields


cdef void copy_items(const FieldPlan* p, const char* x, int64_t n, char* y) noexcept nogil:
    """Copies elements to an array of the target's dtype."""
    if not p.casts:
        memcpy(y, x, n * p.item_bytes)
    else:
        ep_cast_items(p.dtype, x, n, <float*>y)


cdef void put_time(const FieldPlan* p, bint as_float, int32_t elapsed, char* y) noexcept nogil:
    cdef double time = elapsed / p.time_scale
    if as_float:
        (<float*>y)[0] = <float>time
    else:
        (<double*>y)[0] = time


cdef inline int64_t place_of_time(State* s, const FieldPlan* p, int64_t player) noexcept nogil:
    """Returns the element of a row before which elapsed steps are inserted."""
    return p.items if p.time_places < 0 else <int64_t>s.config.numbers[p.time_places + player]


cdef void push(State* s, int32_t k, int32_t id, int64_t player, uint8_t fresh) noexcept nogil:
    """Puts the last row of an env or player on its stack; all of the stack, if the row begins an episode."""
    cdef const FieldPlan* p = &s.config.fields[k]
    cdef int64_t at = <int64_t>id * p.rows + player, frame = frame_items(p) * p.item_bytes, head
    cdef const char* row = s.rows[k] + at * p.items * p.item_bytes
    cdef char* stack = s.stacks[k] + at * p.depth * frame
    cdef char* newest = stack + (p.depth - 1) * frame
    cdef int32_t d
    if fresh == STEPPED:
        memmove(stack, stack + frame, (p.depth - 1) * frame)
    if p.has_time:
        head = place_of_time(s, p, player) * p.item_bytes
        memcpy(newest, row, head)
        put_time(p, p.dtype == ENVPOOL_FLOAT32, s.elapsed[id], newest + head)
        if p.time_places >= 0:
            memcpy(newest + head + p.item_bytes, row + head, p.items * p.item_bytes - head)
    else:
        memcpy(newest, row, frame)
    if fresh == RESET:
        for d in range(p.depth - 1):
            memcpy(stack + d * frame, newest, frame)


cdef void write_row(State* s, int32_t k, int32_t id, int64_t player, uint8_t fresh, char* target) noexcept nogil:
    """Writes one row of a field, of an env or a player, whose row of the inner definition is in `rows`."""
    cdef const FieldPlan* p = &s.config.fields[k]
    cdef int64_t bytes_of_item = 4 if p.casts else p.item_bytes
    cdef int64_t at = <int64_t>id * p.rows + player, head
    cdef const char* row
    if s.stacks[k] != NULL:
        if fresh != WRITTEN:
            push(s, k, id, player, fresh)
        copy_items(p, s.stacks[k] + at * stack_bytes(p), p.depth * frame_items(p), target)
        return
    row = s.rows[k] + at * p.items * p.item_bytes
    if not p.has_time:
        copy_items(p, row, p.items, target)
        return
    head = place_of_time(s, p, player)
    copy_items(p, row, head, target)
    put_time(p, bytes_of_item == 4, s.elapsed[id], target + head * bytes_of_item)
    if p.time_places >= 0:
        copy_items(p, row + head * p.item_bytes, p.items - head, target + (head + 1) * bytes_of_item)


cdef void write_env(State* s, int32_t k, int32_t id, char* target) noexcept nogil:
    """Writes the rows of one field of an env."""
    cdef const FieldPlan* p = &s.config.fields[k]
    cdef const uint8_t* fresh = s.fresh + id
    cdef int64_t player
    if p.has_players:
        fresh = s.player_fresh + <int64_t>id * p.rows
    for player in range(p.rows):
        write_row(s, k, id, player, fresh[player], target + player * row_bytes(p))


cdef void write_run(State* s, const envpool_rows* rows, int32_t start, int32_t n) noexcept nogil:
    """Writes the rows of n envs with consecutive ids, from position `start` on."""
    cdef envpool_rows inner = rows[0]
    cdef const FieldPlan* p
    cdef void* fields[MAX_FIELDS]
    cdef int64_t row0 = rows.row0 + start, shift
    cdef int32_t k, i, first = rows.ids[start]
    inner.n, inner.ids, inner.row0 = n, rows.ids + start, row0
    if rows.player_rows != NULL:
        inner.player_rows = rows.player_rows + start
    inner.fields = targets_of(s, rows, fields)
    for k in range(s.config.num_fields):
        if s.rows[k] != NULL:       # env `first` has row `row0` there
            p = &s.config.fields[k]
            shift = (first - row0) * p.rows * p.items * p.item_bytes
            fields[k] = <void*>(<uintptr_t>s.rows[k] + <uintptr_t>shift)
    s.inner.env.write_many(s.inner.state, &inner)
    for k in range(s.config.num_fields):
        if s.rows[k] != NULL:
            p = &s.config.fields[k]
            for i in range(n):
                write_env(s, k, first + i, <char*>rows.fields[p.target] + (row0 + i) * p.rows * row_bytes(p))
    memset(s.fresh + first, WRITTEN, n)
    if s.num_players:
        memset(s.player_fresh + <int64_t>first * s.num_players, WRITTEN, <int64_t>n * s.num_players)


cdef void write_many(void* state, const envpool_rows* rows) noexcept nogil:
    cdef State* s = <State*>state
    cdef envpool_rows inner = rows[0]
    cdef void* fields[MAX_FIELDS]
    cdef int32_t start = 0, end
    if s.passes:
        inner.fields = targets_of(s, rows, fields)
        s.inner.env.write_many(s.inner.state, &inner)
        return
    while start < rows.n:
        end = start + 1
        while end < rows.n and rows.ids[end] == rows.ids[end - 1] + 1:
            end += 1
        write_run(s, rows, start, end - start)
        start = end
