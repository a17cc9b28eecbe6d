"""Python environments in one process: see envs.pyx."""

from cpython.ref cimport PyObject
from libc.stdint cimport int32_t, int64_t, uint8_t

cimport numpy as cnp
from envpool.env cimport ENVPOOL_MAX_DIMS, envpool_batch, envpool_seeds
from envpool.python_envs.base cimport EnvsBase, Header

cdef struct State:
    Header header
    void** source               # (num_envs, num_fields): the value of each field; NULL before the first reset
    int64_t* row_bytes          # (num_fields)
    int32_t num_fields

cdef struct ArrayType:          # what the arrays of a field must be
    PyObject* dtype             # a dtype, which `Envs.fields` keeps
    int ndim
    cnp.npy_intp shape[ENVPOOL_MAX_DIMS]

cdef class Envs(EnvsBase):
    cdef readonly list envs
    cdef State state
    cdef ArrayType* types       # (num_fields)
    cdef list kept              # (num_envs, num_fields): the arrays that State.source points to
    cdef int64_t* scalars       # (num_envs, num_fields): values of fields that are one integer
    cdef list fields            # dtype, shape and path of each field
    cdef bint is_single         # whether an observation is one array
    cdef tuple action_leaves    # dtype and shape of each leaf
    cdef cnp.dtype number       # dtype of an action that is one number; None if it is none
    cdef list objects           # leaves that are carried as objects, each with its dtype; None: any object
    cdef list needs             # by env: the arguments that its reset() must get; None if it may be called without any
    cdef list seeds             # by env: the seed for its next reset, or None
    cdef list last_seeds        # by env: the seed that it got last, or None
    cdef list infos             # by env: the info of its last step, None if it was empty
    cdef list final_infos       # by env: the info before its last reset
    cdef list carried           # by env: its object leaves, None if it failed
    cdef list final_carried
    cdef uint8_t[::1] broken    # by env: nonzero: it is rebuilt before its next reset
    cdef int32_t[::1] restarts  # by env: how often it was rebuilt
    cdef bint rebuilds, has_infos, has_discounts
    cdef readonly int32_t num_players       # places for players; 0: the envs have one player
    cdef list rewards           # by player: what texts call its reward
    cdef object observation_space   # what observations are checked against; None: they are not
    cdef int64_t generation     # fork_generation() of this process

    cdef void seed(self, const envpool_seeds* s) noexcept
    cdef int step(self, const envpool_batch* b) noexcept
    cdef int reset_env(self, const envpool_batch* b, int32_t id) except -1
    cdef object reset_with(self, int32_t id, object seed, object options)
    cdef int step_env(self, const envpool_batch* b, int32_t i, int32_t id) except -1
    cdef int report_players(self, const envpool_batch* b, int32_t id, object env) except -1
    cdef object action(self, const envpool_batch* b, int32_t id)
    cdef object action_leaf(self, const envpool_batch* b, int32_t id, int k)
    cdef int keep(self, int32_t id, object obs, object info) except -1
    cdef int keep_field(self, int32_t id, int32_t k, object value) except -1
    cdef int32_t fail(self, int32_t id, object error) noexcept
    cdef int rebuild(self, int32_t id) except -1

cdef int end_copy(int64_t generation) except -1
