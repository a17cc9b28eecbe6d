# optimize: -Og
"""Steps of a pool in the buffers of another library, and the sums of the rewards of episodes.

The workers write a step into the buffers themselves. If they cannot, since a buffer has another dtype or is not
contiguous, the array is copied into the buffer.
"""

import numpy as np

cimport cython
cimport numpy as cnp
from cpython.dict cimport PyDict_Copy, PyDict_Size
from cpython.list cimport PyList_New, PyList_SET_ITEM
from cpython.mem cimport PyMem_Free, PyMem_Malloc
from cpython.ref cimport Py_INCREF
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.string cimport memcpy

from envpool._core.blocks cimport PyList_GET_ITEM, is_held_elsewhere
from envpool._core.flags cimport ep_find_flags
from envpool._core.pool cimport Pool
from envpool.rollout.redirected cimport RedirectedSteps

from envpool.adapters.lazy import LazyRows
from envpool.errors import ConfigError, PoolStateError

cnp.import_array()

cdef enum:
    FEW = 8         # dicts that cost less than a list that makes them later
    DICTS = 4 * FEW  # dicts that are kept to be used again
    MOST_DIMS = 8   # of buffers that are copied to without NumPy

cdef dict EPISODE = {"episode_return": None, "episode_length": None}    # a copy of a dict costs less than a new one


cdef inline int fill(dict entry, double total, int64_t length) except -1:
    """Sets the items of the dict about an episode."""
    entry["episode_return"] = total
    entry["episode_length"] = length
    return 0


cdef struct Episode:
    double total                    # sum of the rewards
    int64_t length


@cython.final
cdef class Episodes:
    """Episodes that have ended in a step, and the dicts about them: a `RowMaker`.

    Parameters
    ----------
    count : int
        Number of episodes.
    """

    cdef int64_t count
    cdef Episode* found             # (count)

    def __cinit__(self, int64_t count):
        self.count = count
        self.found = <Episode*>PyMem_Malloc(count * sizeof(Episode))
        if self.found == NULL:
            raise MemoryError

    def __dealloc__(self):
        PyMem_Free(self.found)

    cdef dict dict_of(self, int64_t i):
        cdef dict entry = PyDict_Copy(EPISODE)
        fill(entry, self.found[i].total, self.found[i].length)
        return entry

    def row(self, int64_t i):
        """Return the dict of episode i, which must exist."""
        return self.dict_of(i)

    def rows(self):
        """Return the dicts of all episodes."""
        return [self.dict_of(i) for i in range(self.count)]


cdef extern from "envpool/_core/statistics.h" nogil:
    void ep_add_rewards(double* returns, const float* reward, int64_t n)


@cython.final
cdef class Target:
    """A buffer into which arrays of a pool are copied; what each step needs to know of it is determined once."""

    cdef object buffer
    cdef char* data                 # NULL: NumPy must convert
    cdef int ndim, typenum
    cdef cnp.npy_intp dims[MOST_DIMS]
    cdef int64_t num_bytes

    def __init__(self, buffer):
        cdef cnp.ndarray array
        self.buffer = buffer
        if type(buffer) is cnp.ndarray and cnp.PyArray_ISCARRAY(buffer) and cnp.PyArray_NDIM(buffer) <= MOST_DIMS:
            array = <cnp.ndarray>buffer
            self.data = <char*>cnp.PyArray_DATA(array)
            self.ndim, self.typenum = cnp.PyArray_NDIM(array), cnp.PyArray_TYPE(array)
            memcpy(self.dims, cnp.PyArray_DIMS(array), self.ndim * sizeof(cnp.npy_intp))
            self.num_bytes = cnp.PyArray_NBYTES(array)

    cdef int copy(self, object array) except -1:
        cdef cnp.ndarray source = <cnp.ndarray?>array
        if (self.data != NULL and cnp.PyArray_ISCARRAY_RO(source) and cnp.PyArray_TYPE(source) == self.typenum
                and cnp.PyArray_NDIM(source) == self.ndim
                and cnp.PyArray_CompareLists(cnp.PyArray_DIMS(source), self.dims, self.ndim)):
            if cnp.PyArray_DATA(source) != self.data:       # else the workers have written it
                memcpy(self.data, cnp.PyArray_DATA(source), self.num_bytes)
        else:
            self.buffer[...] = source
        return 0


cdef inline const void* column(object array, int typenum, int64_t n) except NULL:
    """Return the data of an argument that must be a column of a batch, with n numbers."""
    cdef cnp.ndarray found = <cnp.ndarray?>array
    if (not cnp.PyArray_ISCARRAY_RO(found) or cnp.PyArray_TYPE(found) != typenum or cnp.PyArray_NDIM(found) > 2
            or cnp.PyArray_SIZE(found) != n):
        raise ConfigError(f"arrays of a batch must be columns of {n} rows, got {found.dtype} {array.shape}")
    return cnp.PyArray_DATA(found)


@cython.final
cdef class StepBuffers:
    """The returns of running episodes, and the steps.

    Parameters
    ----------
    num_envs : int
        Number of environments.
    places : int
        Rows of each environment: the places for its players, or 1.
    """

    cdef int64_t n, places          # rows of each step, and of an environment
    cdef cnp.ndarray memory
    cdef double* returns            # by row
    cdef cnp.ndarray numbers
    cdef int32_t* ended             # environments that have ended an episode, and room for as many as there are
    cdef list dicts                 # about single episodes; used again once no user holds them
    cdef int turn                   # position of the one to look at next
    cdef RedirectedSteps steps      # None before bind()
    cdef bint has_mask              # the step has a mask of players
    cdef const float* reward        # of steps that are wholly where `steps` lets the workers write them
    cdef const uint8_t* has_ended
    cdef const int32_t* lengths
    cdef Target observations, rewards, terminals, truncations, masks

    def __init__(self, int64_t num_envs, int64_t places=1):
        self.n, self.places = num_envs * places, places
        self.memory = np.zeros(self.n)
        self.returns = <double*>cnp.PyArray_DATA(self.memory)
        self.numbers = np.empty(num_envs, np.int32)
        self.ended = <int32_t*>cnp.PyArray_DATA(self.numbers)
        self.dicts = [PyDict_Copy(EPISODE) for _ in range(DICTS)]

    def bind(self, Pool pool not None, *buffers):
        """Set where steps come from and where they go.

        Parameters
        ----------
        pool : EnvPool
            The pool, of the style "arrays": its steps are obs, reward, terminated, truncated, ended, lengths; with
            players, the mask of the players follows truncated.
        *buffers : numpy.ndarray
            Buffers for observations, rewards, terminals, truncations and, with players, masks, each of the shape of the
            array in the step. Contiguous arrays of its dtype are written by the threads of the pool, until the
            next call of this method.
        """
        cdef RedirectedSteps steps = RedirectedSteps(pool, buffers)
        cdef int64_t num_envs = self.n // self.places
        cdef int after = <int>len(buffers)
        self.observations, self.rewards, self.terminals, self.truncations = map(Target, buffers[:4])
        self.has_mask = after == 5
        self.masks = Target(buffers[4]) if self.has_mask else None
        self.reward = <const float*>column(steps.column(1), cnp.NPY_FLOAT32, self.n)
        self.has_ended = <const uint8_t*>column(steps.column(after), cnp.NPY_BOOL, num_envs)
        self.lengths = <const int32_t*>column(steps.column(after + 1), cnp.NPY_INT32, num_envs)
        self.steps = steps

    def reset(self):
        """Forget the rewards, since new episodes begin."""
        self.memory[...] = 0

    def step(self, actions):
        """Step the pool; the step is in the buffers afterwards.

        Returns
        -------
        observations, rewards, terminals, truncations : numpy.ndarray
            The buffers.
        infos : list of dict
            ``episode_return`` and ``episode_length`` of the episodes that have ended, in the order of the rows; those
            of all players of an environment end with its episode. Many of them are a `LazyRows`.
        """
        if self.steps is None:
            raise PoolStateError("no pool is bound to these buffers: call bind() first")
        step = self.steps.step(actions)
        infos = self.sum_up(self.reward, self.has_ended, self.lengths) if step is None else self.store(step)
        return (self.observations.buffer, self.rewards.buffer, self.terminals.buffer, self.truncations.buffer, infos)

    def store(self, tuple step not None):
        """Copy the parts of a step into the buffers that are not there yet.

        Parameters
        ----------
        step : tuple of numpy.ndarray
            A step of a pool of the style "arrays".

        Returns
        -------
        list of dict
            See `step`.
        """
        obs, reward, terminated, truncated, *masks, ended, lengths = step
        cdef int64_t num_envs = self.n // self.places
        cdef const float* gained = <const float*>column(reward, cnp.NPY_FLOAT32, self.n)
        cdef const uint8_t* flags = <const uint8_t*>column(ended, cnp.NPY_BOOL, num_envs)
        cdef const int32_t* length = <const int32_t*>column(lengths, cnp.NPY_INT32, num_envs)
        self.observations.copy(obs)
        self.rewards.copy(reward)
        self.terminals.copy(terminated)
        self.truncations.copy(truncated)
        if self.has_mask:
            self.masks.copy(masks[0])
        return self.sum_up(gained, flags, length)

    cdef object sum_up(self, const float* reward, const uint8_t* has_ended, const int32_t* lengths):
        """Adds the rewards of a step, and returns the dicts about the episodes that have ended."""
        cdef int64_t i, k, count, env
        cdef Episodes episodes
        ep_add_rewards(self.returns, reward, self.n)
        count = ep_find_flags(has_ended, self.n // self.places, self.ended) * self.places
        if count > FEW:
            episodes = Episodes(count)
            for k in range(count):
                env = self.ended[k // self.places]
                i = env * self.places + k % self.places
                episodes.found[k].total, episodes.found[k].length = self.returns[i], lengths[env]
                self.returns[i] = 0
            return LazyRows(count, episodes)
        infos = PyList_New(count)
        for k in range(count):
            env = self.ended[k // self.places]
            i = env * self.places + k % self.places
            entry = self.about(self.returns[i], lengths[env])
            Py_INCREF(entry)
            PyList_SET_ITEM(infos, k, entry)        # it takes over a reference
            self.returns[i] = 0
        return infos

    cdef dict about(self, double total, int64_t length):
        """Return a dict about an episode that no user holds: filling an old one costs less than making one."""
        cdef dict entry
        self.turn = <unsigned int>(self.turn + 1) % DICTS
        if not is_held_elsewhere(self.dicts, self.turn):
            entry = <dict>PyList_GET_ITEM(self.dicts, self.turn)
            fill(entry, total, length)
            if PyDict_Size(entry) == 2:     # else the user has added items
                return entry
        entry = PyDict_Copy(EPISODE)
        fill(entry, total, length)
        self.dicts[self.turn] = entry
        return entry
