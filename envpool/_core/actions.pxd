"""Moving actions from the user's arrays into the slots of the engine: see actions.pyx."""

cimport numpy as cnp
from libc.stdint cimport int32_t, int64_t

from envpool._core.structs cimport Engine

ctypedef fused real_t:
    float
    double

cdef enum:      # results of ActionField.store() besides the row with a bad value
    STORED = -1
    MISFIT = -2

cdef enum:      # floats that are refused
    NO_FLOAT = 0
    NAN = 1
    NOT_FINITE = 2

cdef object unbiased(values)


cdef inline bint has_refused(const real_t* row, int64_t items, bint only_nan) noexcept:
    """Returns whether a value is NaN; without only_nan, whether one is not finite."""
    cdef int64_t k
    cdef int bad = 0
    for k in range(items):      # x - x is NaN for an infinite x
        bad |= row[k] != row[k] if only_nan else row[k] - row[k] != 0
    return bad


cdef class ActionField:
    cdef object name
    cdef object dtype
    cdef tuple shape            # of one row
    cdef int ndim
    cdef int typenum
    cdef int64_t itemsize
    cdef bint is_signed
    cdef bint is_biased         # uint64: values and bounds are less by `bias` until they are stored
    cdef object bias            # 2**63 or 0
    cdef int64_t items          # number of elements of one env
    cdef bint is_bounded        # an integer field with both bounds
    cdef bint is_uniform        # the bounds are those of every element
    cdef bint is_quick          # `low` and `high` are the bounds of every element
    cdef int64_t low            # the smallest lower bound, at least -2**62
    cdef int64_t high           # the largest upper bound, at most 2**62
    cdef int64_t* lows          # bounds by element (items); NULL unless is_bounded
    cdef int64_t* highs
    cdef int refused            # values that a field of floats must not have, see actions.pyx
    cdef int32_t players        # rows of one env, one per player; 0: one row of the env

    cdef int set_bounds(self, field) except -1
    cdef cnp.ndarray to_int64(self, action)
    cdef cnp.ndarray convert(self, object action, int64_t rows, bint may_cast)
    cdef int64_t store(self, Engine* e, int index, cnp.ndarray a, const int32_t* ids, int32_t n) noexcept
    cdef int64_t first_refused(self, const Engine* e, int index, const int32_t* ids, int32_t n) noexcept
    cdef int64_t repair(self, Engine* e, int index, cnp.ndarray a, const int32_t* ids, int32_t n) noexcept
    cdef int check_exact(self, action) except -1
    cdef int check_numbers(self, action) except -1
    cdef str hint(self, action)
    cdef void put(self, int64_t value, char* slot) noexcept
    cdef object refusal(self, const Engine* e, int index, cnp.ndarray a, int64_t row, int32_t id, object passed=*)
    cdef object as_passed(self, values, passed)
    cdef object refusal_of_values(self, str whose, int64_t first, object got)

cdef class ActionTable:
    cdef readonly tuple fields  # of ActionField
    cdef int32_t num_players    # places for players in each env; 0: the envs have none, see player_actions.pxd
    cdef object flatten_action  # makes an action in the form of load() of what the user passes; usually None

    cdef int32_t load(self, Engine* e, object action, object env_id, const int32_t** ids) except -1
    cdef int32_t load_dict(self, Engine* e, dict action, object env_id, const int32_t** ids) except -1
    cdef int check_players(self, players, env_id) except -1
    cdef int check_keys(self, dict action, str others) except -1
    cdef list names(self)
