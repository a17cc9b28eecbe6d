"""The rows of a wrapped env definition: elapsed steps are appended, rows are stacked, and values are cast.

A definition does not know how often a row is written, so a step only marks its envs (`fresh`). Whoever writes the row
of a marked env puts its observation on the stack first; a row that is written again shows the same stack. A row is
always written before its env is stepped again, except for an env that failed, which is reset next and whose stack
begins anew.

The observations of the inner definition go to memory by env id, so that the rows of consecutive ids are written with
one call.
"""

from libc.stdint cimport int32_t, int64_t, uintptr_t
from libc.string cimport memcpy, memmove, memset

from envpool.env cimport ENVPOOL_FLOAT32, envpool_batch, envpool_rows
from envpool.transforms.layout cimport FieldPlan, frame_items, MAX_FIELDS, RESET, State, STEPPED, WRITTEN

cdef extern from "envpool/_core/dtypes.h" nogil:
    void ep_cast_items(int32_t dtype, const void* x, int64_t n, float* y)


cdef inline int64_t target_bytes(const FieldPlan* p) noexcept nogil:
    """Returns the size of a row that is handed out."""
    return p.depth * frame_items(p) * (4 if p.casts else p.item_bytes)


cdef void note_steps(State* s, const envpool_batch* batch) noexcept nogil:
    cdef int32_t i, id
    for i in range(batch.n):
        id = batch.ids[i]
        s.elapsed[id] = 0 if batch.reset[i] else s.elapsed[id] + 1
        s.fresh[id] = RESET if batch.reset[i] else STEPPED


cdef void* const* targets_of(State* s, const envpool_rows* rows, void** fields) noexcept nogil:
    """Returns the arrays to which the inner definition writes; those of fields that are not passed through are NULL."""
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


cdef void push(State* s, int32_t k, int32_t id) noexcept nogil:
    """Puts the last row of an env on its stack; all of the stack, if the row begins an episode."""
    cdef const FieldPlan* p = &s.config.fields[k]
    cdef int64_t size = p.items * p.item_bytes, frame = frame_items(p) * p.item_bytes
    cdef char* stack = s.stacks[k] + id * p.depth * frame
    cdef char* newest = stack + (p.depth - 1) * frame
    cdef int32_t d
    if s.fresh[id] == STEPPED:
        memmove(stack, stack + frame, (p.depth - 1) * frame)
    memcpy(newest, s.rows[k] + id * size, size)
    if p.has_time:
        put_time(p, p.dtype == ENVPOOL_FLOAT32, s.elapsed[id], newest + size)
    if s.fresh[id] == RESET:
        for d in range(p.depth - 1):
            memcpy(stack + d * frame, newest, frame)


cdef void write_row(State* s, int32_t k, int32_t id, char* target) noexcept nogil:
    """Writes one field of an env whose row of the inner definition is in `rows`."""
    cdef const FieldPlan* p = &s.config.fields[k]
    cdef int64_t bytes_of_item = 4 if p.casts else p.item_bytes
    if s.stacks[k] != NULL:
        if s.fresh[id] != WRITTEN:
            push(s, k, id)
        copy_items(p, s.stacks[k] + id * p.depth * frame_items(p) * p.item_bytes, p.depth * frame_items(p), target)
        return
    copy_items(p, s.rows[k] + id * p.items * p.item_bytes, p.items, target)
    if p.has_time:
        put_time(p, bytes_of_item == 4, s.elapsed[id], target + p.items * bytes_of_item)


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
            shift = (first - row0) * s.config.fields[k].items * s.config.fields[k].item_bytes
            fields[k] = <void*>(<uintptr_t>s.rows[k] + <uintptr_t>shift)
    s.inner.env.write_many(s.inner.state, &inner)
    for k in range(s.config.num_fields):
        if s.rows[k] != NULL:
            p = &s.config.fields[k]
            for i in range(n):
                write_row(s, k, first + i, <char*>rows.fields[p.target] + (row0 + i) * target_bytes(p))
    memset(s.fresh + first, WRITTEN, n)


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
