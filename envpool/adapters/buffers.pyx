"""Copying the steps of a pool into buffers of another library, and summing up the rewards of episodes."""

import numpy as np

cimport numpy as cnp
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memcpy

from envpool.adapters.lazy import LazyRows

cnp.import_array()

cdef enum:
    FEW = 8     # dicts that cost less than a list that makes them later


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
        return {"episode_return": self.returns[i], "episode_length": self.lengths[i]}

    def row(self, int64_t i):
        """Return the dict of episode i, which must exist."""
        return self.dict_of(i)

    def rows(self):
        """Return the dicts of all episodes."""
        return [self.dict_of(i) for i in range(self.count)]


cdef extern from "envpool/_core/statistics.h" nogil:
    void ep_add_rewards(double* returns, const float* reward, int64_t n)
    uint64_t ep_bits_of(const uint8_t* flags, int64_t n)

cdef extern from *:
    int ctz "__builtin_ctzll"(unsigned long long word) nogil
    int popcount "__builtin_popcountll"(unsigned long long word) nogil


cdef inline int copy(object to, cnp.ndarray source) except -1:
    """Copies an array of a pool, which is C-contiguous, into a buffer of the same shape."""
    cdef cnp.ndarray buffer
    if type(to) is cnp.ndarray:
        buffer = <cnp.ndarray>to
        if (cnp.PyArray_ISCARRAY(buffer) and cnp.PyArray_ISCARRAY_RO(source)
                and cnp.PyArray_TYPE(buffer) == cnp.PyArray_TYPE(source)
                and cnp.PyArray_NBYTES(buffer) == cnp.PyArray_NBYTES(source)):
            memcpy(cnp.PyArray_DATA(buffer), cnp.PyArray_DATA(source), cnp.PyArray_NBYTES(source))
            return 0
    to[...] = source
    return 0


cdef inline cnp.ndarray column(object array, int typenum, int64_t n):
    """Returns an argument that must be a column of a batch."""
    cdef cnp.ndarray found = <cnp.ndarray?>array
    if not cnp.PyArray_ISCARRAY_RO(found) or cnp.PyArray_TYPE(found) != typenum or cnp.PyArray_SIZE(found) != n:
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

    def __init__(self, int64_t num_envs):
        self.n = num_envs
        self.memory = np.zeros(num_envs)
        self.returns = <double*>cnp.PyArray_DATA(self.memory)

    def reset(self):
        """Forget the rewards, since new episodes begin."""
        self.memory[...] = 0

    def store(self, tuple step, observations, rewards, terminals, truncations):
        """Copy a step into buffers.

        Parameters
        ----------
        step : tuple of numpy.ndarray
            A result of a pool of the style "arrays": obs, reward, terminated, truncated, ended, lengths.
        observations, rewards, terminals, truncations : numpy.ndarray
            The buffers, each of the shape of the array in the step.

        Returns
        -------
        list of dict
            ``episode_return`` and ``episode_length`` of the episodes that have ended, in the order of the rows. Many
            of them are a `LazyRows`.
        """
        obs, reward, terminated, truncated, ended, lengths = step
        cdef const float* gained = <const float*>cnp.PyArray_DATA(column(reward, cnp.NPY_FLOAT32, self.n))
        cdef const uint8_t* flags = <const uint8_t*>cnp.PyArray_DATA(column(ended, cnp.NPY_BOOL, self.n))
        cdef const int32_t* length = <const int32_t*>cnp.PyArray_DATA(column(lengths, cnp.NPY_INT32, self.n))
        cdef int64_t start, i, k = 0, count = 0
        cdef uint64_t bits
        cdef Episodes episodes
        copy(observations, <cnp.ndarray?>obs)
        copy(rewards, reward)
        copy(terminals, <cnp.ndarray?>terminated)
        copy(truncations, <cnp.ndarray?>truncated)
        ep_add_rewards(self.returns, gained, self.n)
        for start in range(0, self.n, 64):
            count += popcount(ep_bits_of(flags + start, min(self.n - start, 64)))
        infos = []
        episodes = Episodes(count) if count > FEW else None
        for start in range(0, self.n if count else 0, 64):
            bits = ep_bits_of(flags + start, min(self.n - start, 64))
            while bits:
                i = start + ctz(bits)
                bits &= bits - 1
                if episodes is None:
                    infos.append({"episode_return": self.returns[i], "episode_length": length[i]})
                elif k < count:     # the flags belong to the user, who may change them meanwhile
                    episodes.returns[k], episodes.lengths[k] = self.returns[i], length[i]
                    k += 1
                self.returns[i] = 0
        return infos if episodes is None else LazyRows(count, episodes.row, episodes.rows)
