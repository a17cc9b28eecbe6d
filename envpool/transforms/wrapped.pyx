"""An env definition around another one, the inner definition, which transforms single rows and actions.

Observations: the elapsed steps of the episode are appended, rows are stacked, and values are cast, in this order; see
rows.pyx. Actions: they are clipped, then rescaled to the bounds of the env. Everything else is passed on. So a pool
without such transforms does nothing for them.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.stdlib cimport calloc, free

from cpython.pycapsule cimport PyCapsule_GetPointer

from envpool.env cimport (
    ENVPOOL_CAPSULE_NAME, ENVPOOL_FLOAT64, ENVPOOL_NO_MEMORY, ENVPOOL_PLAYERS, envpool_batch, envpool_env,
    envpool_rows, envpool_setup,
)
from envpool.transforms.inner cimport create_inner, pass_on
from envpool.transforms.rows cimport note_steps, targets_of, write_many
from envpool.transforms.snapshots cimport with_snapshots
from envpool.transforms.layout cimport ActionPlan, Config, FieldPlan, MAX_FIELDS, stacks_bytes, State

from envpool._core.definition import DTYPES, define, describe


# ---- life cycle ------------------------------------------------------------------------------------------------------

cdef void destroy(void* state) noexcept nogil:
    cdef State* s = <State*>state
    cdef int32_t k
    if s.inner.state != NULL:
        s.inner.env.destroy(s.inner.state)
    for k in range(MAX_FIELDS):
        free(s.rows[k])
        free(s.stacks[k])
        free(s.actions[k])
    free(s.elapsed)
    free(s.fresh)
    free(s.player_fresh)
    free(s.player_acts)
    free(s)


cdef int create(const envpool_setup* setup, void** state) noexcept nogil:
    cdef State* s = <State*>calloc(1, sizeof(State))
    cdef int status
    if s == NULL:
        return ENVPOOL_NO_MEMORY
    s.config = <const Config*>setup.config
    s.inner.env = s.config.inner
    status = create_inner(&s.inner, setup) if allocate(s, setup.num_envs) else ENVPOOL_NO_MEMORY
    if status != 0:
        destroy(s)
        return status
    state[0] = s
    return 0


cdef bint allocate(State* s, int64_t n) noexcept nogil:
    cdef const Config* c = s.config
    cdef const FieldPlan* p
    cdef const ActionPlan* a
    cdef int32_t k
    s.passes = 1
    s.elapsed = <int32_t*>calloc(n, sizeof(int32_t))
    s.fresh = <uint8_t*>calloc(n, 1)
    if s.elapsed == NULL or s.fresh == NULL:
        return False
    if c.inner.required_flags & ENVPOOL_PLAYERS:
        s.num_players = c.inner.max_num_players
        s.player_fresh = <uint8_t*>calloc(n, s.num_players)
        s.player_acts = <uint8_t*>calloc(n, s.num_players)
        if s.player_fresh == NULL or s.player_acts == NULL:
            return False
    for k in range(c.num_fields):
        p = &c.fields[k]
        if p.passes:
            continue
        s.passes = 0
        s.rows[k] = <char*>calloc(n, p.rows * p.items * p.item_bytes)
        if s.rows[k] == NULL:
            return False
        if p.has_time or p.depth > 1:
            s.keeps = 1
        if p.depth > 1:
            s.stacks[k] = <char*>calloc(n, stacks_bytes(p))
            if s.stacks[k] == NULL:
                return False
            s.own_bytes += stacks_bytes(p)
    if s.keeps:
        s.own_bytes += <int64_t>sizeof(int32_t) + s.num_players
    for k in range(c.num_actions):
        a = &c.actions[k]
        if a.clips or a.rescales:
            s.actions[k] = calloc(n, a.items * (8 if a.dtype == ENVPOOL_FLOAT64 else 4))
            if s.actions[k] == NULL:
                return False
    return True


# ---- actions ---------------------------------------------------------------------------------------------------------

ctypedef fused real:
    float
    double


cdef inline void transform_action(const ActionPlan* a, const double* numbers, const real* x, real* y) noexcept nogil:
    """Clips as np.clip and rescales as gymnasium's RescaleAction, in the dtype of the action."""
    cdef const double* low = numbers + a.numbers
    cdef const double* high = low + a.items
    cdef const double* intercept = high + a.items
    cdef const double* gradient = intercept + a.items
    cdef real value
    cdef int64_t k
    for k in range(a.items):
        value = x[k]
        if a.clips and value == value:
            value = value if value > <real>low[k] else <real>low[k]
            value = value if value < <real>high[k] else <real>high[k]
        if a.rescales:
            value = (value - <real>intercept[k]) / <real>gradient[k]
        y[k] = value


cdef const void* const* transform_actions(State* s, const envpool_batch* batch, const void** actions) noexcept nogil:
    """Returns the action arrays for the inner definition."""
    cdef const Config* c = s.config
    cdef const ActionPlan* a
    cdef int64_t i, at
    cdef int32_t k
    for k in range(c.num_actions):
        a = &c.actions[k]
        actions[k] = batch.actions[k]
        if s.actions[k] == NULL:
            continue
        for i in range(batch.n):
            at = batch.ids[i] * a.items
            if a.dtype == ENVPOOL_FLOAT64:
                transform_action(a, c.numbers, <const double*>actions[k] + at, <double*>s.actions[k] + at)
            else:
                transform_action(a, c.numbers, <const float*>actions[k] + at, <float*>s.actions[k] + at)
        actions[k] = s.actions[k]
    return <const void* const*>actions


cdef int step_many(void* state, const envpool_batch* batch) noexcept nogil:
    cdef State* s = <State*>state
    cdef envpool_batch inner = batch[0]
    cdef const void* actions[MAX_FIELDS]
    cdef int status
    inner.actions = transform_actions(s, batch, actions)
    status = s.inner.env.step_many(s.inner.state, &inner)
    if s.keeps:
        note_steps(s, batch)
    return status


cdef int run_many(void* state, const envpool_batch* batch, const envpool_rows* rows) noexcept nogil:
    """Only if all fields are passed through."""
    cdef State* s = <State*>state
    cdef envpool_batch inner = batch[0]
    cdef envpool_rows inner_rows = rows[0]
    cdef const void* actions[MAX_FIELDS]
    cdef void* fields[MAX_FIELDS]
    inner.actions = transform_actions(s, batch, actions)
    inner_rows.fields = targets_of(s, rows, fields)
    return s.inner.env.run_many(s.inner.state, &inner, &inner_rows)


# ---- making a definition ---------------------------------------------------------------------------------------------

def wrap(capsule, fields, actions, field_plans, action_plans):
    """Return a definition that transforms the rows and actions of another one.

    Parameters
    ----------
    capsule : PyCapsule
        The definition to wrap, as `upgrade_capsule` returns it.
    fields, actions : sequence of Field
        The tables of the new definition.
    field_plans : sequence of FieldChange
        The transforms of each field of the inner definition, see ``envpool/transforms/observations.py``.
    action_plans : sequence of ActionChange or None
        The transforms of each action field, see ``envpool/transforms/actions.py``; None for a field without any.

    Returns
    -------
    PyCapsule
        The new definition, with the name, flags, parameters and frame size of the wrapped one. It keeps that alive.
    """
    cdef const envpool_env* inner = <const envpool_env*>PyCapsule_GetPointer(capsule, ENVPOOL_CAPSULE_NAME)
    cdef envpool_env* env
    cdef Config* c
    cdef FieldPlan* p
    cdef ActionPlan* a
    cdef int32_t k, d
    cdef bint passes = True
    about = describe(capsule)
    numbers = [float(x) for plan in action_plans if plan is not None for part in plan.numbers for x in part]
    places = [place for change in field_plans for place in change.time_places]
    memory = bytearray(sizeof(Config) + sizeof(double) * (len(numbers) + len(places)))
    c = <Config*><char*>memory
    c.inner, c.num_fields, c.num_actions = inner, inner.num_fields, inner.num_actions
    for k, (change, field) in enumerate(zip(field_plans, about.fields, strict=True)):
        p = &c.fields[k]
        p.target, p.passes = change.target, change.passes
        p.depth, p.has_time, p.time_scale, p.casts = change.depth, change.has_time, change.time_scale, change.casts
        p.dtype, p.items, p.item_bytes = DTYPES.index(field.dtype), change.items, field.dtype.itemsize
        p.rows, p.has_players, p.time_places = change.rows, change.has_players, -1
        if change.time_places:
            p.time_places = len(numbers)
            numbers.extend(change.time_places)
        passes = passes and change.passes
    at = 0
    for k, (plan, field) in enumerate(zip(action_plans, about.actions, strict=True)):
        if plan is not None:
            a = &c.actions[k]
            a.dtype, a.clips, a.rescales = DTYPES.index(field.dtype), plan.clips, plan.rescales
            a.items, a.numbers = len(plan.numbers[0]), at
            at += 4 * a.items
    for d in range(len(numbers)):
        c.numbers[d] = numbers[d]
    made = define(capsule, fields, actions, bytes(memory), params=about.params, keep=capsule)
    env = <envpool_env*>PyCapsule_GetPointer(made, ENVPOOL_CAPSULE_NAME)     # its memory belongs to the new capsule
    pass_on(env, inner)
    env.create, env.destroy = create, destroy
    env.step_many, env.write_many = step_many, write_many
    env.run_many = NULL
    if inner.run_many != NULL and passes:
        env.run_many = run_many
    with_snapshots(env, inner)
    return made
