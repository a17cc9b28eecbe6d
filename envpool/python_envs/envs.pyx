# optimize: -Og
"""The env definition whose environments are Python objects in this process: every function takes the GIL.

`Envs` holds the environments of one pool. The results of their last step stay there until the next one: observations as
arrays, to which `source` points so that rows are copied without the GIL, and infos and objects until the batch is
handed out. An env belongs to the thread that steps it, as in every env definition.
"""

import os

import numpy as np

cimport numpy as cnp
from cpython.exc cimport PyErr_SetInterrupt
from cpython.ref cimport Py_DECREF, PyObject
from libc.math cimport isinf
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcmp, memcpy, memset

from envpool._core.casts cimport fitted
from envpool._core.guard cimport fork_generation
from envpool._core.scheduler cimport is_worker_thread
from envpool.env cimport envpool_batch, envpool_env, envpool_rows, envpool_seeds, envpool_setup
from envpool.python_envs.base cimport EnvsBase, Header, capsule_of, open_envs, set_common, set_frames

from envpool._core.casts import CastError
from envpool._support.text import shown
from envpool.python_envs.access import get_attribute, set_attribute
from envpool.python_envs.adapters import arguments, needed
from envpool.python_envs.faults import restart_seed
from envpool.python_envs.infos import check_info, kept_copy, snapshot
from envpool.python_envs.returned import RESET, STEP, flag_of, part_of, values_of
from envpool.python_envs.space_checks import check_observation

cdef extern from "numpy/arrayobject.h":
    object PyArray_Scalar(void* data, cnp.dtype descr, object base)

cnp.import_array()

cdef cnp.dtype FLOAT64 = np.dtype(np.float64)
cdef tuple REALS = (float, int, np.floating, np.integer, np.bool_)


cdef class Envs(EnvsBase):
    """The environments of one pool.

    Parameters
    ----------
    source : envpool.python_envs.source.EnvSource
        Makes environments, and knows their spaces.
    num_envs : int
        Number of environments.
    ids : sequence of int, optional
        The environments that this process has; by default all.
    is_successor : bool
        If True, the environments are made at their first reset, since the environments of another process were lost.
    """

    def __init__(self, source, int32_t num_envs, ids=None, bint is_successor=False):
        super().__init__(source, num_envs)
        self.generation = fork_generation()
        layout, count = source.observations, len(source.observations.fields())
        self.fields = [(leaf.space.dtype, leaf.space.shape, leaf.path) for leaf in layout.arrays]
        self.is_single = layout.is_single and len(self.fields) == 1
        self.objects = [(leaf, leaf.space.dtype if leaf.is_array else None) for leaf in layout.objects]
        self.action_leaves = tuple((leaf.space.dtype, leaf.space.shape) for leaf in source.actions.leaves)
        if source.actions.is_single and not self.action_leaves[0][1]:
            self.number = self.action_leaves[0][0]
        self.rebuilds = source.rebuilds
        self.keeps_causes = ids is None and not is_successor
        self.has_discounts = source.has_discounts
        self.num_players = source.num_players
        self.rewards = [f"reward of agent {agent!r}" for agent in source.agents]
        # Environments with players check observations themselves.
        self.observation_space = source.observation_space if source.debug and not source.num_players else None
        self.kept = [None] * (num_envs * count)
        self.needs = [None] * num_envs
        self.seeds, self.last_seeds = [None] * num_envs, [None] * num_envs
        self.infos, self.final_infos = [None] * num_envs, [None] * num_envs
        self.carried, self.final_carried = [None] * num_envs, [None] * num_envs
        self.broken, self.restarts = np.zeros(num_envs, np.uint8), np.zeros(num_envs, np.int32)
        self.state.num_fields = <int32_t>count
        self.state.source = <void**>calloc(num_envs * count, sizeof(void*))
        self.state.row_bytes = <int64_t*>calloc(count, sizeof(int64_t))
        self.scalars = <int64_t*>calloc(num_envs * count, sizeof(int64_t))
        self.types = <ArrayType*>calloc(count, sizeof(ArrayType))
        if self.state.source == NULL or self.state.row_bytes == NULL or self.scalars == NULL or self.types == NULL:
            raise MemoryError
        for k, (dtype, shape, _) in enumerate(self.fields):
            set_array_type(&self.types[<int>k], dtype, shape)
        for k, size in enumerate(layout.row_bytes()):
            self.state.row_bytes[<int>k] = size
        if is_successor:
            self.envs = [None] * num_envs
            self.broken[:] = 1
        else:
            self.envs = source.open(num_envs, range(num_envs) if ids is None else ids)
            self.needs = [None if env is None else needed(env.reset) for env in self.envs]

    def __dealloc__(self):
        free(self.state.source)
        free(self.state.row_bytes)
        free(self.scalars)
        free(self.types)

    cdef Header* header(self) noexcept:
        return <Header*>&self.state

    cdef void close(self) noexcept:
        try:
            self.source.close_envs(self.envs)
        except KeyboardInterrupt:
            PyErr_SetInterrupt()        # the caller raises it
        finally:
            for kept in (self.envs, self.infos, self.final_infos, self.carried, self.final_carried, self.causes):
                kept.clear()        # the garbage collector does not see through the pool
            Py_DECREF(self)

    cdef void seed(self, const envpool_seeds* s) noexcept:
        cdef int32_t i
        for i in range(s.n):
            self.seeds[s.ids[i]] = int(s.seeds[i])

    # ---- one step ----------------------------------------------------------------------------------------------------

    cdef int step(self, const envpool_batch* b) noexcept:
        """Steps or resets the envs of a batch; nonzero if any failed."""
        cdef int32_t i
        cdef int failed = 0
        if self.causes:
            for i in range(b.n):
                if not b.reset[i]:      # with same_step, a reset follows the failure before the pool asks about it
                    self.drop_causes(b.ids[i])
        for i in range(b.n):
            try:
                if b.reset[i]:
                    self.reset_env(b, b.ids[i])
                else:
                    self.step_env(b, i, b.ids[i])
            except BaseException as error:
                b.errors[i] = self.fail(b.ids[i], error)
                failed = 1
        if fork_generation() != self.generation and is_worker_thread():
            end_copy(self.generation)
        return failed

    cdef int reset_env(self, const envpool_batch* b, int32_t id) except -1:
        cdef bint is_fresh = self.broken[id]
        options, self.options[id] = self.options[id], None
        if self.source.same_step:       # the environment may reuse its dicts and arrays, and both are handed out later
            self.final_infos[id], self.final_carried[id] = kept_copy(self.infos[id]), kept_copy(self.carried[id])
        self.infos[id] = None
        if is_fresh:
            self.rebuild(id)
        env, seed = self.envs[id], self.seeds[id]
        if is_fresh and seed is None and self.last_seeds[id] is not None:
            seed = restart_seed(self.last_seeds[id], self.restarts[id])
        if options is not None or self.needs[id] is not None:
            out = self.reset_with(id, seed, options)
        elif seed is None:
            out = env.reset()
        else:
            out = env.reset(seed=seed)
        if seed is not None:
            self.last_seeds[id], self.seeds[id] = seed, None
        if type(out) is not tuple or len(<tuple>out) != 2:
            out = values_of("reset", out, RESET)
        obs, info = <tuple>out
        self.keep(id, obs, info)
        if self.num_players:
            self.report_players(b, id, env)
        return 0

    cdef object reset_with(self, int32_t id, object seed, object options):
        """Resets an env with the arguments that are given, or that it needs."""
        return self.envs[id].reset(**arguments(self.needs[id], seed, options))

    cdef int step_env(self, const envpool_batch* b, int32_t i, int32_t id) except -1:
        cdef int64_t at = <int64_t>id * self.num_players
        cdef int32_t p
        env = self.envs[id]
        out = env.step(self.action(b, id))
        if type(out) is not tuple or len(<tuple>out) != 5:
            out = values_of("step", out, STEP)
        obs, reward, terminated, truncated, info = <tuple>out
        if self.num_players:
            self.report_players(b, id, env)
            for p in range(self.num_players):
                if b.player_present[at + p]:
                    b.player_reward[at + p] = as_float(self.rewards[p], reward[p])
        else:
            b.reward[i] = as_float("reward", reward)
        b.terminated[i] = as_flag("terminated", terminated)
        b.truncated[i] = as_flag("truncated", truncated)
        if self.has_discounts and b.discount != NULL:
            b.discount[i] = as_float("discount", env.discount)
        self.keep(id, obs, info)
        return 0

    cdef int report_players(self, const envpool_batch* b, int32_t id, object env) except -1:
        """Passes on who is present in an env after a call, and whose own episodes have ended."""
        cdef int64_t at = <int64_t>id * self.num_players
        copy_flags(<char*>b.player_present + at, env.present, self.num_players)
        copy_flags(<char*>b.player_terminated + at, env.ended, self.num_players)
        copy_flags(<char*>b.player_truncated + at, env.cut, self.num_players)
        return 0

    cdef object action(self, const envpool_batch* b, int32_t id):
        """Returns the action of an env: a fresh value of its action space."""
        cdef int k
        if self.number is not None:
            return PyArray_Scalar(<char*>b.actions[0] + id * <int64_t>self.number.itemsize, self.number, None)
        if self.source.actions.is_single:
            return self.action_leaf(b, id, 0)
        leaves = iter([self.action_leaf(b, id, k) for k in range(len(self.action_leaves))])
        return self.source.actions.nest(lambda leaf: next(leaves))

    cdef object action_leaf(self, const envpool_batch* b, int32_t id, int k):
        cdef cnp.ndarray out
        cdef int64_t size
        dtype, shape = self.action_leaves[k]
        if not shape:
            return PyArray_Scalar(<char*>b.actions[k] + id * <int64_t>dtype.itemsize, dtype, None)
        out = np.empty(shape, dtype)
        size = cnp.PyArray_NBYTES(out)
        memcpy(cnp.PyArray_DATA(out), <const char*>b.actions[k] + id * size, size)
        return out

    cdef int keep(self, int32_t id, object obs, object info) except -1:
        """Keeps what a step or a reset returned."""
        cdef int32_t k
        if self.is_single:
            self.keep_field(id, 0, obs)
        else:
            for k in range(len(self.fields)):
                self.keep_field(id, k, part(obs, self.fields[k][2]))
        if self.objects:
            carried = []
            for leaf, dtype in self.objects:
                value = part(obs, leaf.path)
                carried.append(value if dtype is None else as_array(value, dtype, leaf.space.shape, leaf.path))
            self.carried[id] = carried
        if self.observation_space is not None:
            check_observation(self.observation_space, obs)
        if type(info) is not dict and info is not None:
            check_info(info)
        if info:
            self.infos[id] = snapshot(info)
            self.has_infos = True
        else:
            self.infos[id] = None
        return 0

    cdef int keep_field(self, int32_t id, int32_t k, object value) except -1:
        cdef int64_t at = <int64_t>id * self.state.num_fields + k
        cdef cnp.ndarray array
        if cnp.PyArray_CheckExact(value) and is_of_type(<cnp.ndarray>value, &self.types[k]):
            array = <cnp.ndarray>value
        else:
            dtype, shape, path = self.fields[k]
            if not shape and isinstance(value, (int, np.int64)) and dtype.num == cnp.NPY_INT64:
                try:
                    self.scalars[at] = value
                    self.state.source[at] = &self.scalars[at]
                    return 0
                except OverflowError:       # as_array() says what is wrong
                    pass
            array = as_array(value, dtype, shape, path)
        self.kept[at] = array
        self.state.source[at] = cnp.PyArray_DATA(array)
        return 0

    # ---- failures ----------------------------------------------------------------------------------------------------

    cdef int32_t fail(self, int32_t id, object error) noexcept:
        """Notes that a step or a reset failed and returns the code of the failure."""
        self.infos[id] = self.carried[id] = None
        self.broken[id] = self.rebuilds
        return self.note_error(id, error, not self.rebuilds)

    cdef int rebuild(self, int32_t id) except -1:
        """Replaces an env that failed; it stays broken if that fails as well."""
        old, self.envs[id] = self.envs[id], None
        self.restarts[id] += 1
        self.source.close_env(old)
        self.envs[id] = self.source.replacement(id)
        self.needs[id] = needed(self.envs[id].reset)
        self.broken[id] = False
        return 0

    # ---- access ------------------------------------------------------------------------------------------------------

    def call(self, ids, name, args, kwargs):
        """Call a method of idle envs, or read an attribute that is not callable; one result per env."""
        found = self.get_attr(ids, name)
        return [value(*args, **kwargs) if callable(value) else value for value in found]

    def get_attr(self, ids, name):
        """Return an attribute of idle envs, one value per env."""
        return [get_attribute(self.envs[id], name) for id in ids]

    def set_attr(self, ids, name, values):
        """Set an attribute of idle envs; `values` has one value per env."""
        for id, value in zip(ids, values, strict=True):
            set_attribute(self.envs[id], name, value)

    def put_attr(self, ids, name, value):
        """Set an attribute of idle envs to one value; a list with None per env."""
        return [set_attribute(self.envs[id], name, value) for id in ids]

    def visit(self, ids, function, args):
        """Return ``function(env, *args)`` of idle envs, one result per env."""
        return [function(self.envs[id], *args) for id in ids]

    def frame(self, ids, height, width):
        """Return frames of idle envs, uint8 (height, width, 3) each."""
        return [self.source.frame_of(self.envs[id], height, width) for id in ids]

    # ---- handing out -------------------------------------------------------------------------------------------------

    @property
    def has_extras(self):
        """Whether any env has had an info, or carries objects, so that `extras` must be asked."""
        return self.has_infos or self.objects

    def drop_info(self, int32_t id, bint of_final):
        """Forget the info of an env in flight, which cannot be handed out; see `extras`."""
        (self.final_infos if of_final else self.infos)[id] = None

    def extras(self, ids, bint of_final):
        """Return the infos and the object leaves of envs whose rows are handed out.

        Parameters
        ----------
        ids : numpy.ndarray
            int32 (B,) ids.
        of_final : bool
            If True, those before the last reset of each env.

        Returns
        -------
        infos, carried : list
            (B,) each: a dict or None, and a list of objects or None, which the environments cannot change.
        """
        infos, carried = (self.final_infos, self.final_carried) if of_final else (self.infos, self.carried)
        where = ids.tolist()
        return [infos[id] for id in where], [kept_copy(carried[id]) for id in where]


cdef cnp.ndarray as_array(object value, cnp.dtype dtype, tuple shape, tuple path):
    """Returns a leaf of an observation in the dtype of its space, or raises ValueError."""
    cdef cnp.ndarray array
    try:
        array = fitted(value, dtype)
    except CastError as error:
        raise ValueError(
            f"the observation{where(path)} contains {error}: return values that the observation space has, or declare "
            "a space of another dtype"
        ) from None
    if (<object>array).shape != shape:
        raise ValueError(
            f"the observation{where(path)} must have shape {shape} as the observation space says, got "
            f"{(<object>array).shape}"
        )
    return array


cdef str where(tuple path):
    return f" at {path!r}" if path else ""


cdef float as_float(str name, object value) except? -1:
    """Returns a reward or a discount, or raises an error if float32 cannot hold it."""
    cdef double wide
    if isinstance(value, REALS):
        wide = value
    else:
        try:
            array = fitted(value, FLOAT64)
        except CastError as error:
            raise TypeError(f"the {name} must be a real number, got {error}") from None
        if array.size != 1:
            raise TypeError(f"the {name} must be a real number, got an array of shape {np.shape(array)}")
        wide = array.item()
    if isinf(<float>wide) and not isinf(wide):
        raise ValueError(f"the {name} must be in the range of float32, got {shown(value)}: scale it")
    return <float>wide


cdef int copy_flags(char* to, cnp.ndarray flags, int32_t count) except -1:
    """Copies one flag per player."""
    if not (cnp.PyArray_ISCARRAY_RO(flags) and cnp.PyArray_TYPE(flags) == cnp.NPY_BOOL and flags.size == count):
        raise TypeError(f"flags of players must be a bool array of {count} elements, got {shown(flags)}")
    memcpy(to, cnp.PyArray_DATA(flags), count)
    return 0


cdef int as_flag(str name, object value) except -1:
    return value if isinstance(value, bool) else flag_of(name, value)


cdef object part(object obs, tuple path):
    """Returns the part of an observation to which keys and positions lead."""
    value = obs
    try:
        for key in path:
            value = value[key]
        return value
    except Exception:
        return part_of(obs, path)       # says what is wrong


cdef int end_copy(int64_t generation) except -1:
    """Ends this process if it is a fork of the one that had this fork_generation().

    An env has forked it and returned in it. The threads and the rings of the pool belong to the other process.
    """
    if fork_generation() != generation:
        try:
            os.write(2, COPY_TEXT % os.getpid())
        finally:
            os._exit(1)
    return 0


cdef bytes COPY_TEXT = (
    b"envpool: process %d ends, since an environment has forked it and returned in it: call os._exit() there\n"
)


cdef void set_array_type(ArrayType* type, dtype, shape) noexcept:
    cdef int d
    type.dtype = <PyObject*>dtype
    type.ndim = len(shape)
    for d in range(type.ndim):
        type.shape[d] = shape[d]


cdef inline bint is_of_type(cnp.ndarray array, const ArrayType* type) noexcept:
    """Whether the rows of a field can be copied from an array as it is."""
    return (
        <PyObject*>cnp.PyArray_DESCR(array) == type.dtype
        and array.ndim == type.ndim
        and memcmp(cnp.PyArray_DIMS(array), type.shape, type.ndim * sizeof(cnp.npy_intp)) == 0
        and cnp.PyArray_ISCARRAY_RO(array)
    )


# ---- the functions of the definition ---------------------------------------------------------------------------------

cdef int create(const envpool_setup* setup, void** state) noexcept nogil:
    with gil:
        return open_envs(setup, state, Envs)


cdef int seed_many(void* state, const envpool_seeds* s) noexcept nogil:
    with gil:
        (<Envs>(<State*>state).header.envs).seed(s)
    return 0


cdef int step_many(void* state, const envpool_batch* b) noexcept nogil:
    with gil:
        return (<Envs>(<State*>state).header.envs).step(b)


cdef void write_many(void* state, const envpool_rows* rows) noexcept nogil:
    cdef const State* s = <const State*>state
    cdef int32_t i, f
    cdef int64_t size
    cdef const void* value
    for f in range(s.num_fields):
        size = s.row_bytes[f]
        for i in range(rows.n):
            value = s.source[<int64_t>rows.ids[i] * s.num_fields + f]
            if value != NULL:
                memcpy(<char*>rows.fields[f] + (rows.row0 + i) * size, value, size)
            else:
                memset(<char*>rows.fields[f] + (rows.row0 + i) * size, 0, size)


cdef envpool_env ENV_DEF
set_common(&ENV_DEF)
ENV_DEF.create = create
ENV_DEF.seed_many = seed_many
ENV_DEF.step_many = step_many
ENV_DEF.write_many = write_many

cdef envpool_env WITH_FRAMES = ENV_DEF
set_frames(&WITH_FRAMES)


def build(source):
    """Return the capsule of the environments of an `EnvSource`."""
    return capsule_of(source, &ENV_DEF if source.frame_size is None else &WITH_FRAMES)
