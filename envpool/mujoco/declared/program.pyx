"""The program of a compiled declaration: the instructions of each step, and the parts of each reset.

program.pxd describes the tables. Draws of resets are those of the generator of the conventions, in the order of the
declaration.
"""

from libc.math cimport cos, fabs, pow, sin, sqrt
from libc.stddef cimport size_t
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.stdio cimport snprintf
from libc.string cimport memcpy, memset

from envpool.mujoco.base.calls cimport mj_objectVelocity, mj_step
from envpool.mujoco.base.mujoco cimport mjData, mjModel
from envpool.mujoco.base.simulation cimport Outcome, Sim
from envpool.mujoco.dmc.control cimport physics_step, random_of, randomize_joints
from envpool.mujoco.dmc.rewards cimport outside
from envpool.mujoco.gym.common cimport clip, dt, rng_of
from envpool.numerics.numpy_exact cimport np_exp, np_norm, np_sum
from envpool.numerics.rng cimport ep_integers, ep_standard_normal, ep_uniform
from envpool.numerics.rng_legacy cimport ep_legacy_randint, ep_legacy_standard_normal, ep_legacy_uniform

cdef extern from "model_arrays.h" nogil:
    int ep_contacts(const mjData* d, const uint8_t* sides)
    void ep_set_keyframe(const mjModel* m, mjData* d, int64_t key)

# Operations without operands.
#   CONSTANT            constants from index `a` on
#   LOAD                n numbers of the array `member` from index `a` on
#   GATHER              the numbers of the array `member` at the places that the indices from `a` on list
#   ACTION              the action; zero after a reset
#   TIME, DURATION      time in the episode (s), and of a step (s)
#   CENTER_OF_MASS      of the whole model (3)
#   OBJECT_VELOCITY     of object `a` of type `count` (6), in its own frame if `flag`
#   CONTACTS            number of contacts; `a` is the index of its sides
# Operations on one operand of n numbers, on two, and on one of `count` numbers; SQUARE is pow() if `flag`.
# PREVIOUS is the operand of the step before; `b` is the first of n registers that keep it.
# OUTSIDE is 1 unless all of `count` numbers are between x[0] and x[1], inclusively if `flag`.
# ALIVE is 1 if none of the `count` flags from register `a` on is set.
# NATIVE is the native term `b`; its inputs are the `count` registers from `a` on.
# A tolerance is that of a scalar if `flag`; x is (lower, upper, margin, scale).
cpdef enum Op:
    CONSTANT, LOAD, GATHER, ACTION, TIME, DURATION, CENTER_OF_MASS, OBJECT_VELOCITY, CONTACTS,
    COPY, COS, SIN, SQRT, ABS, EXP, SQUARE, CLIP, PREVIOUS,
    GAUSSIAN, LINEAR, QUADRATIC, LONG_TAIL, RECIPROCAL,
    ADD, SUBTRACT, MULTIPLY, DIVIDE, MINIMUM, MAXIMUM,
    SUM, MEAN, LOWEST, HIGHEST, NORM, OUTSIDE, ALIVE, NATIVE

#: The operations by name, for the compiler.
OPS = {name.lower(): op for name, op in Op.__members__.items()}
OPS |= {"+": ADD, "-": SUBTRACT, "*": MULTIPLY, "/": DIVIDE}


# ---- single operations -----------------------------------------------------------------------------------------------

cdef inline const double* array_of(const Sim* s, size_t member) noexcept nogil:
    return (<double**>(<char*>s.data + member))[0]


cdef inline void center_of_mass(const Sim* s, double* out) noexcept nogil:
    cdef double mass = np_sum(s.model.body_mass, s.model.nbody)
    cdef int32_t i, k
    out[0] = out[1] = out[2] = 0
    for i in range(<int32_t>s.model.nbody):
        for k in range(3):
            out[k] += s.model.body_mass[i] * s.data.xipos[3 * i + k]
    for k in range(3):
        out[k] /= mass


cdef inline double tolerance(double x, const Instruction* i) noexcept nogil:
    """Returns dm_control's tolerance, with NumPy's squares of scalars (pow) and of elements of arrays."""
    cdef double y, square
    if i.x[0] <= x and x <= i.x[1]:
        return 1.0
    if i.x[2] == 0:
        return 0.0
    y = outside(x, i.x[0], i.x[1], i.x[2])
    if i.op == RECIPROCAL:
        return 1 / (fabs(y) * i.x[3] + 1)
    y *= i.x[3]
    if i.op == LINEAR:
        return 1 - y if fabs(y) < 1 else 0.0
    square = pow(y, 2.0) if i.flag else y * y
    if i.op == QUADRATIC:
        return 1 - square if fabs(y) < 1 else 0.0
    if i.op == LONG_TAIL:
        return 1 / (square + 1)
    y = -0.5 * square
    np_exp(&y, &y, 1)
    return y


cdef inline double extreme(const double* x, int32_t n, bint lowest) noexcept nogil:
    """Returns np.min(x) or np.max(x); NaN if x contains NaN."""
    cdef double found = x[0]
    cdef int32_t k
    for k in range(1, n):
        if x[k] != x[k] or (x[k] < found if lowest else x[k] > found):
            found = x[k]
    return found


cdef inline bint is_outside(const double* x, const Instruction* i) noexcept nogil:
    cdef int32_t k
    for k in range(i.count):
        if not (i.x[0] <= x[k] <= i.x[1] if i.flag else i.x[0] < x[k] < i.x[1]):
            return True
    return False


cdef inline bint is_alive(const double* flags, int32_t n) noexcept nogil:
    cdef int32_t k
    for k in range(n):
        if flags[k]:
            return False
    return True


# ---- the program -----------------------------------------------------------------------------------------------------

cdef inline void run_source(Sim* s, const Program* p, const Instruction* i, const double* action,
                            double* out) noexcept nogil:
    """Runs an operation without operands."""
    cdef const double* array
    cdef const int32_t* indices
    cdef int32_t k
    if i.op == LOAD:
        array = array_of(s, i.member) + i.a
        if i.n == 1:
            out[0] = array[0]
        else:
            memcpy(out, array, i.n * sizeof(double))
    elif i.op == GATHER:
        array = array_of(s, i.member)
        indices = p.indices + i.a
        for k in range(i.n):
            out[k] = array[indices[k]]
    elif i.op == CONSTANT:
        memcpy(out, p.constants + i.a, i.n * sizeof(double))
    elif i.op == ACTION:
        if action == NULL:
            memset(out, 0, i.n * sizeof(double))
        else:
            memcpy(out, action, i.n * sizeof(double))
    elif i.op == TIME:
        out[0] = s.data.time
    elif i.op == DURATION:
        out[0] = dt(s)
    elif i.op == CENTER_OF_MASS:
        center_of_mass(s, out)
    elif i.op == OBJECT_VELOCITY:
        mj_objectVelocity(s.model, s.data, i.count, i.a, out, i.flag)
    elif i.op == CONTACTS:
        out[0] = ep_contacts(s.data, p.sides + i.a)


cdef inline void run_unary(const Instruction* i, const double* a, double* kept, bint is_reset,
                           double* out) noexcept nogil:
    """Runs an operation on one operand of n numbers."""
    cdef int32_t k
    cdef double value
    if i.op == PREVIOUS:
        for k in range(i.n):
            value = a[k]                        # the result may not overwrite it
            out[k] = value if is_reset else kept[k]
            kept[k] = value
    elif i.op == CLIP:
        for k in range(i.n):
            out[k] = clip(a[k], i.x[0], i.x[1])
    elif i.op == SQUARE:
        for k in range(i.n):
            out[k] = pow(a[k], 2.0) if i.flag else a[k] * a[k]
    elif i.op == COS:
        for k in range(i.n):
            out[k] = cos(a[k])
    elif i.op == SIN:
        for k in range(i.n):
            out[k] = sin(a[k])
    elif i.op == SQRT:
        for k in range(i.n):
            out[k] = sqrt(a[k])
    elif i.op == ABS:
        for k in range(i.n):
            out[k] = fabs(a[k])
    elif i.op == EXP:
        np_exp(a, out, i.n)
    elif i.op == COPY:
        memcpy(out, a, i.n * sizeof(double))
    else:
        for k in range(i.n):
            out[k] = tolerance(a[k], i)


cdef inline void run_binary(const Instruction* i, const double* a, const double* b, double* out) noexcept nogil:
    """Runs an operation on two operands."""
    cdef int32_t k
    cdef double x, y
    for k in range(i.n):
        x, y = a[k * i.step_a], b[k * i.step_b]
        if i.op == ADD:
            out[k] = x + y
        elif i.op == SUBTRACT:
            out[k] = x - y
        elif i.op == MULTIPLY:
            out[k] = x * y
        elif i.op == DIVIDE:
            out[k] = x / y
        elif x != x or y != y:                  # np.minimum and np.maximum return NaN
            out[k] = x + y
        elif i.op == MINIMUM:
            out[k] = x if x < y else y
        else:
            out[k] = x if x > y else y


cdef inline double reduced(const Instruction* i, const double* a) noexcept nogil:
    """Returns the result of an operation that reduces its operand to one number."""
    if i.op == SUM:
        return np_sum(a, i.count)
    if i.op == MEAN:
        return np_sum(a, i.count) / i.count
    if i.op == NORM:
        return np_norm(a, i.count)
    if i.op == OUTSIDE:
        return is_outside(a, i)
    if i.op == ALIVE:
        return is_alive(a, i.count)
    return extreme(a, i.count, i.op == LOWEST)


cdef int run_native(Sim* s, const Program* p, const Instruction* i, bint is_reset) noexcept nogil:
    """Runs a native term; returns 0, or -1 with its text in Sim.error."""
    cdef const envpool_mujoco_term* term = p.terms[i.b]
    cdef double* r = registers_of(s)
    cdef char[256] text
    cdef envpool_mujoco_call call
    cdef int32_t code
    call.struct_size, call.is_reset, call.model, call.data = sizeof(envpool_mujoco_call), is_reset, s.model, s.data
    call.inputs, call.num_inputs, call.out = r + i.a, i.count, r + i.out
    call.text, call.text_size, text[0] = text, sizeof(text), 0
    memset(call.out, 0, i.n * sizeof(double))
    code = term.compute(&call)
    if code == 0:
        return 0
    text[sizeof(text) - 1] = 0
    if text[0] == 0:
        snprintf(text, sizeof(text), b"code %d", code)
    snprintf(s.error, sizeof(s.error), b"the native term '%s' failed: %s", term.name, text)
    return -1


cdef int evaluate(Sim* s, const Program* p, const double* action) noexcept nogil:
    cdef double* r = registers_of(s)
    cdef const Instruction* i
    cdef bint is_reset = action == NULL
    cdef int32_t k
    for k in range(0 if is_reset else p.num_constant, p.num_instructions):
        i = &p.instructions[k]
        if i.op <= CONTACTS:
            run_source(s, p, i, action, r + i.out)
        elif i.op <= RECIPROCAL:
            run_unary(i, r + i.a, r + i.b, is_reset, r + i.out)
        elif i.op <= MAXIMUM:
            run_binary(i, r + i.a, r + i.b, r + i.out)
        elif i.op <= ALIVE:
            r[i.out] = reduced(i, r + i.a)
        elif run_native(s, p, i, is_reset):
            return -1
    for k in range(p.num_reports):
        memcpy(s.info + p.reports[k].info, r + p.reports[k].first, p.reports[k].n * sizeof(double))
    return 0


cdef inline double sum_of(Sim* s, const RewardTerm* terms, int32_t n, double sign) noexcept nogil:
    """Returns the weighted terms, summed from left to right; the reported values have the sign."""
    cdef const double* r = registers_of(s)
    cdef double total = 0, value
    cdef int32_t k
    for k in range(n):
        value = terms[k].weight * r[terms[k].value]
        total = total + value if k else value
        if terms[k].info >= 0:
            s.info[terms[k].info] = sign * value
    return total


cdef void conclude(Sim* s, const Program* p, Outcome* out) noexcept nogil:
    cdef const double* flags = registers_of(s) + p.first_flag
    cdef double costs
    out.reward = sum_of(s, p.rewards, p.num_rewards, 1.0)
    if p.num_costs:
        costs = sum_of(s, p.rewards + p.num_rewards, p.num_costs, -1.0)
        out.reward = out.reward - costs if p.num_rewards else -costs
    if p.function != NULL:
        registers_of(s)[p.total] = out.reward
    out.terminated = not is_alive(flags, p.num_flags)
    if p.flags_info >= 0:
        memcpy(s.info + p.flags_info, flags, p.num_flags * sizeof(double))


# ---- resets ----------------------------------------------------------------------------------------------------------

# The meaning of the two numbers (low, high) of each target:
#   ASSIGN              high is the value
#   UNIFORM             the ends of the interval
#   UNIFORM_NOISE       the ends of the interval of what is added
#   NORMAL              mean and standard deviation
#   NORMAL_NOISE        high is the standard deviation of what is added
#   DISC                two numbers, uniform in the disc with the radius `high` around 0, by rejection from its square
# Others: KEYFRAME sets one of n keyframes, whose ids are the targets; RANDOM_JOINTS is dm_control's randomizer; SETTLE
# simulates n steps of MuJoCo and sets the time to zero.
cpdef enum ResetOp:
    ASSIGN, UNIFORM, UNIFORM_NOISE, NORMAL, NORMAL_NOISE, DISC, KEYFRAME, RANDOM_JOINTS, SETTLE

#: The operations of resets by name.
RESET_OPS = {name.lower(): op for name, op in ResetOp.__members__.items()}


cdef inline double uniform(Sim* s, const Program* p, double low, double high) noexcept nogil:
    return ep_legacy_uniform(random_of(s), low, high) if p.is_suite else ep_uniform(rng_of(s), low, high)


cdef inline double normal(Sim* s, const Program* p) noexcept nogil:
    return ep_legacy_standard_normal(random_of(s)) if p.is_suite else ep_standard_normal(rng_of(s))


cdef inline int64_t choice(Sim* s, const Program* p, int64_t n) noexcept nogil:
    return ep_legacy_randint(random_of(s), 0, n) if p.is_suite else ep_integers(rng_of(s), 0, n)


cdef inline int settle(Sim* s, const Program* p, int32_t n) noexcept nogil:
    cdef int32_t _
    if p.is_suite:
        if physics_step(s, n):
            return -1
    else:
        for _ in range(n):
            mj_step(s.model, s.data)
    s.data.time = 0
    return 0


cdef void sample_disc(Sim* s, const Program* p, double radius, double* x, double* y) noexcept nogil:
    cdef double[2] point
    while True:
        point[0] = uniform(s, p, -radius, radius)
        point[1] = uniform(s, p, -radius, radius)
        if np_norm(point, 2) < radius:
            break
    x[0], y[0] = point[0], point[1]


cdef inline double drawn(Sim* s, const Program* p, int32_t op, double old, double low, double high) noexcept nogil:
    """Returns the new value of a number."""
    if op == UNIFORM:
        return uniform(s, p, low, high)
    if op == UNIFORM_NOISE:
        return old + uniform(s, p, low, high)
    if op == NORMAL:
        return low + high * normal(s, p)
    if op == NORMAL_NOISE:
        return old + high * normal(s, p)
    return high


cdef int run_resets(Sim* s, const Program* p) noexcept nogil:
    cdef const ResetRow* row
    cdef const int32_t* targets
    cdef double* array
    cdef int32_t i, k
    for i in range(p.num_resets):
        row = &p.resets[i]
        targets = p.indices + row.targets
        array = registers_of(s) if row.is_register else (<double**>(<char*>s.data + row.member))[0]
        if row.op == SETTLE:
            if settle(s, p, row.n):
                return -1
        elif row.op == KEYFRAME:
            ep_set_keyframe(s.model, s.data, targets[choice(s, p, row.n) if row.n > 1 else 0])
        elif row.op == RANDOM_JOINTS:
            randomize_joints(s)
        elif row.op == DISC:
            sample_disc(s, p, p.constants[row.high], array + targets[0], array + targets[1])
        else:
            for k in range(row.n):
                array[targets[k]] = drawn(
                    s, p, row.op, array[targets[k]], p.constants[row.low + k], p.constants[row.high + k]
                )
    return 0
