"""Copying the steps of a pool into buffers of another library, and summing up the rewards of episodes."""

import numpy as np

cimport cython
cimport numpy as cnp
from cpython.dict cimport PyDict_Copy
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.string cimport memcpy

from envpool._core.flags cimport ep_find_flags

from envpool.adapters.lazy import LazyRows

cnp.import_array()

cdef enum:
    FEW = 8         # dicts that cost less than a list that makes them later
    MOST_DIMS = 8   # of buffers that are copied to without NumPy

cdef dict EPISODE = {"episode_return": None, "episode_length": None}    # a copy of a dict costs less than a new one


cdef dict about(double total, int64_t length):
    """Returns the dict about an episode."""
    cdef dict entry = PyDict_Copy(EPISODE)
    entry["episode_return"] = total
    entry["episode_length"] = length
    return entry


cdef class Episodes:
    """Episodes that have ended in a step, and the dicts about them.

    Parameters
    ----------
    count : int
        Number of episodes.
    """

    cdef int64_t count
    cdef cnp.ndarray memory         # (2 count): returns as float64, lengths as int64
    cdef double* returns
    cdef int64_t* lengths

    def __init__(self, int64_t count):
        self.count = count
        self.memory = np.empty(2 * count)
        self.returns = <double*>cnp.PyArray_DATA(self.memory)
        self.lengths = <int64_t*>(self.returns + count)

    cdef dict dict_of(self, int64_t i):
        return about(self.returns[i], self.lengths[i])

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
    cdef char* data                 # NULL: NumPy has to convert
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
            memcpy(self.data, cnp.PyArray_DATA(source), self.num_bytes)
        else:
            self.buffer[...] = source
        return 0


cdef inline cnp.ndarray column(object array, int typenum, int64_t n):
    """Returns an argument that must be a column of a batch."""
    cdef cnp.ndarray found = <cnp.ndarray?>array
    if (not cnp.PyArray_ISCARRAY_RO(found) or cnp.PyArray_TYPE(found) != typenum or cnp.PyArray_NDIM(found) != 1
            or cnp.PyArray_DIM(found, 0) != n):
        raise ValueError(f"expected a column of {n} rows of a batch, got {found.dtype} {array.shape}")
    return found


cdef class StepBuffers:
    """The returns of running episodes, and the copying of steps.

    Parameters
    ----------
    num_envs : int
        Number of rows of each step.
    """

    cdef int64_t n
    cdef cnp.ndarray memory
    cdef double* returns            # by environment
    cdef cnp.ndarray numbers
    cdef int32_t* ended             # rows that have ended an episode, and room for as many as there are
    cdef object pool_step
    cdef Target observations, rewards, terminals, truncations

    def __init__(self, int64_t num_envs):
        self.n = num_envs
        self.memory = np.zeros(num_envs)
        self.returns = <double*>cnp.PyArray_DATA(self.memory)
        self.numbers = np.empty(num_envs, np.int32)
        self.ended = <int32_t*>cnp.PyArray_DATA(self.numbers)

    def bind(self, pool_step, observations, rewards, terminals, truncations):
        """Set where steps come from and where they go.

        Parameters
        ----------
        pool_step : callable
            ``pool_step(actions)`` is a result of a pool of the style "arrays": obs, reward, terminated, truncated,
            ended, lengths.
        observations, rewards, terminals, truncations : numpy.ndarray
            The buffers, each of the shape of the array in the step.
        """
        self.pool_step = pool_step
        self.observations, self.rewards = Target(observations), Target(rewards)
        self.terminals, self.truncations = Target(terminals), Target(truncations)

    def reset(self):
        """Forget the rewards, since new episodes begin."""
        self.memory[...] = 0

    def step(self, actions):
        """Step the pool and copy the step into the buffers.

        Returns
        -------
        observations, rewards, terminals, truncations : numpy.ndarray
            The buffers.
        infos : list of dict
            ``episode_return`` and ``episode_length`` of the episodes that have ended, in the order of the rows. Many
            of them are a `LazyRows`.
        """
        infos = self.store(<tuple?>self.pool_step(actions))
        return (self.observations.buffer, self.rewards.buffer, self.terminals.buffer, self.truncations.buffer, infos)

    cdef object store(self, tuple step):
        """Copies a step into the buffers, and returns the dicts about the episodes that have ended."""
        obs, reward, terminated, truncated, ended, lengths = step
        cdef const float* gained = <const float*>cnp.PyArray_DATA(column(reward, cnp.NPY_FLOAT32, self.n))
        cdef const uint8_t* flags = <const uint8_t*>cnp.PyArray_DATA(column(ended, cnp.NPY_BOOL, self.n))
        cdef const int32_t* length = <const int32_t*>cnp.PyArray_DATA(column(lengths, cnp.NPY_INT32, self.n))
        cdef int64_t i
        cdef int32_t k, count
        cdef Episodes episodes
        self.observations.copy(obs)
        self.rewards.copy(reward)
        self.terminals.copy(terminated)
        self.truncations.copy(truncated)
        ep_add_rewards(self.returns, gained, self.n)
        count = ep_find_flags(flags, self.n, self.ended)
        if count > FEW:
            episodes = Episodes(count)
            for k in range(count):
                i = self.ended[k]
                episodes.returns[k], episodes.lengths[k] = self.returns[i], length[i]
                self.returns[i] = 0
            return LazyRows(count, episodes.row, episodes.rows)
        infos = []
        for k in range(count):
            i = self.ended[k]
            infos.append(about(self.returns[i], length[i]))
            self.returns[i] = 0
        return infos
