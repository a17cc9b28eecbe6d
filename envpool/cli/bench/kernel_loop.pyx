"""The limit of a benchmark: one thread calls the kernels of an env in a loop, without ring, threads or Python.

A pool with T threads on as many cores can at best be T times as fast as this loop. The loop does what the ABI requires
of any caller and no more: it seeds the envs, passes actions that were drawn in advance, counts elapsed steps, and flags
the envs whose next step starts an episode (auto-reset mode NEXT_STEP).
"""

import numpy as np

cimport numpy as cnp
from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport INT64_MAX, int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memset

from envpool._core.atomic cimport ep_now
from envpool._core.calls cimport (
    CreateFailure, TEXT_SIZE, begin_batch, create_state, fill_rows, seed_envs, has_failures,
)
from envpool._core.definition cimport env_of
from envpool._core.flags cimport ep_find_flags
from envpool._core.failures cimport raise_create_failure
from envpool._core.policy cimport SLICE
from envpool.env cimport ENVPOOL_MAX_BATCH, ENVPOOL_MAX_FIELDS, envpool_batch, envpool_env, envpool_rows

from envpool._core.definition import describe
from envpool.errors import ConfigError, EnvPoolError, PoolStateError

cnp.import_array()

cdef extern from *:
    """
    #if defined(__clang__)
    #define EP_COMPILER "clang " __clang_version__
    #elif defined(__GNUC__)
    #define EP_COMPILER "gcc " __VERSION__
    #else
    #define EP_COMPILER ""
    #endif
    """
    const char* EP_COMPILER

#: The compiler that built this package, e.g. "gcc 12.2.0"; empty if unknown.
COMPILER = EP_COMPILER.decode()

cdef int64_t BURST = 20000          # time between two clock reads, ns


class KernelLoopError(EnvPoolError, RuntimeError):
    """An env failed in a kernel loop."""


cdef class KernelLoop:
    """Many envs of one env definition, stepped by the calling thread alone.

    Parameters
    ----------
    capsule : PyCapsule
        The env definition (``include/envpool/env.h``).
    num_envs : int
        Number of envs.
    seeds : numpy.ndarray
        uint64 (num_envs,), one seed per env.
    max_episode_steps : int
        Time limit of an episode, in steps.
    actions : dict of str to numpy.ndarray
        For each action field, a C-contiguous array (rounds, num_envs, *row shape) of the field's dtype. Round k of the
        loop takes entry k modulo rounds. The arrays are not copied.

    Attributes
    ----------
    arrays : dict of str to numpy.ndarray
        The arrays (num_envs, ...) that every round overwrites: the fields of the env by name, "reward", "terminated"
        and "truncated".

    Raises
    ------
    ConfigError
        If sizes, seeds or actions do not fit the env.
    MemoryError
        If the envs do not fit into memory.
    EnvCreateError
        If the envs could not be created for another reason.
    RuntimeError
        If an env could not be seeded.
    """

    cdef const envpool_env* env
    cdef void* state
    cdef int32_t num_envs
    cdef int32_t limit
    cdef int64_t rounds             # number of entries of the action arrays
    cdef int64_t round              # number of rounds run so far
    cdef int64_t entry              # index of the next entry: round modulo rounds
    cdef int64_t burst              # rounds between two clock reads
    cdef bint is_running
    cdef const char* action_base[ENVPOOL_MAX_FIELDS]
    cdef int64_t action_stride[ENVPOOL_MAX_FIELDS]
    cdef const void* action[ENVPOOL_MAX_FIELDS]
    cdef void* fields[ENVPOOL_MAX_FIELDS]
    cdef float* reward
    cdef uint8_t* terminated
    cdef uint8_t* truncated
    cdef uint8_t* reset
    cdef int32_t* resets            # per span of ENVPOOL_MAX_BATCH envs: positions with a nonzero `reset`
    cdef int32_t* num_resets        # per span: number of these positions
    cdef int32_t* elapsed
    cdef int32_t* errors
    cdef const int32_t* ids
    cdef readonly dict arrays
    cdef object keep                # keeps alive what the pointers above point into

    def __cinit__(self, *args, **kwargs):
        self.state = NULL

    def __init__(self, capsule, int32_t num_envs, seeds, int32_t max_episode_steps, actions):
        cdef CreateFailure failure
        cdef int i
        if self.env != NULL:
            raise PoolStateError("this KernelLoop is already initialised: make a new one instead")
        for argument, value in (("num_envs", num_envs), ("max_episode_steps", max_episode_steps)):
            if value < 1:
                raise ConfigError(f"{argument} must be at least 1, got {value}")
        self.env = env_of(capsule)
        self.num_envs = num_envs
        self.limit = max_episode_steps
        self.burst = 1
        name, fields, action_fields = describe(capsule)[:3]
        self.arrays = {f.name: np.zeros((num_envs, *row_shape(f)), f.dtype) for f in fields}
        for i, f in enumerate(fields):
            self.fields[i] = cnp.PyArray_DATA(self.arrays[f.name])
        flags = np.zeros((2, num_envs), np.bool_)
        self.arrays |= {"reward": np.zeros(num_envs, np.float32), "terminated": flags[0], "truncated": flags[1]}
        self.reward = <float*>cnp.PyArray_DATA(self.arrays["reward"])
        self.terminated = <uint8_t*>cnp.PyArray_DATA(flags)
        self.truncated = self.terminated + num_envs
        reset = np.ones(num_envs, np.uint8)
        resets = np.arange(num_envs, dtype=np.int32) % ENVPOOL_MAX_BATCH
        num_resets = np.full(num_envs // ENVPOOL_MAX_BATCH + 1, ENVPOOL_MAX_BATCH, np.int32)
        num_resets[num_envs // ENVPOOL_MAX_BATCH] = num_envs % ENVPOOL_MAX_BATCH
        counters = np.zeros((2, num_envs), np.int32)
        ids = np.arange(num_envs, dtype=np.int32)
        self.reset = <uint8_t*>cnp.PyArray_DATA(reset)
        self.resets = <int32_t*>cnp.PyArray_DATA(resets)
        self.num_resets = <int32_t*>cnp.PyArray_DATA(num_resets)
        self.elapsed = <int32_t*>cnp.PyArray_DATA(counters)
        self.errors = self.elapsed + num_envs
        self.ids = <const int32_t*>cnp.PyArray_DATA(ids)
        self.keep = (capsule, dict(self.arrays), flags, reset, resets, num_resets, counters, ids, dict(actions))
        self.take_actions(action_fields, actions)
        self.state = create_state(self.env, num_envs, &failure)
        if self.state == NULL:
            raise_create_failure(name, num_envs, &failure)
        self.seed(np.ascontiguousarray(seeds, np.uint64))

    cdef int take_actions(self, action_fields, actions) except -1:
        cdef int i
        if sorted(actions) != sorted(f.name for f in action_fields):
            raise ConfigError(f"actions must have the keys {[f.name for f in action_fields]}, got {list(actions)}")
        self.rounds = len(actions[action_fields[0].name])
        for i, f in enumerate(action_fields):
            a = actions[f.name]
            expected = (self.rounds, self.num_envs, *row_shape(f))
            if self.rounds < 1 or a.shape != expected or a.dtype != f.dtype or not a.flags.c_contiguous:
                raise ConfigError(
                    f"actions[{f.name!r}] must be a C-contiguous {f.dtype} array of shape (rounds, {self.num_envs}, "
                    f"*{row_shape(f)}), with the same rounds >= 1 in all arrays, got {a.dtype} {a.shape}"
                )
            self.action_base[i] = <const char*>cnp.PyArray_DATA(a)
            self.action_stride[i] = a.strides[0] if self.rounds > 1 else 0
        return 0

    cdef int seed(self, cnp.ndarray seeds) except -1:
        cdef const uint64_t* values = <const uint64_t*>cnp.PyArray_DATA(seeds)
        cdef int32_t start = 0, n
        cdef bint ok = True
        if seeds.ndim != 1 or len(seeds) != self.num_envs:
            raise ConfigError(f"seeds must have one entry for each of {self.num_envs} envs, got {seeds.size} entries")
        with nogil:
            while ok and start < self.num_envs:
                n = min(self.num_envs - start, ENVPOOL_MAX_BATCH)
                ok = not seed_envs(self.env, self.state, self.ids + start, n, values + start, self.errors + start)
                start += n
        if not ok:
            self.fail()
        return 0

    def __dealloc__(self):
        self.destroy()

    cdef void destroy(self) noexcept:
        if self.state != NULL:
            self.env.destroy(self.state)
            self.state = NULL

    def close(self):
        """Frees the envs. Further calls do nothing; run() raises afterwards."""
        if self.is_running:
            raise PoolStateError("run() is running in another thread: call close() after it has returned")
        self.destroy()

    def run(self, double seconds, int64_t max_rounds=INT64_MAX):
        """Steps all envs repeatedly, starting where the previous call stopped. Releases the GIL.

        Parameters
        ----------
        seconds : float
            Time to run, in seconds. The round that is in progress at the end is finished.
        max_rounds : int
            Largest number of rounds to run; by default, there is no limit.

        Returns
        -------
        steps : int
            Number of rows written, including those of resets.
        seconds : float
            Elapsed time in seconds.

        Raises
        ------
        RuntimeError
            If an env failed. The loop is closed.
        PoolStateError
            If the loop is closed, or runs in another thread.
        """
        cdef int64_t began = ep_now(), first = self.round, left = max_rounds, now = began, end
        cdef bint ok = True
        if self.state == NULL or self.is_running:
            raise PoolStateError(f"the KernelLoop is {'closed' if self.state == NULL else 'running in another thread'}")
        end = began + <int64_t>(min(max(seconds, 0.0), 1e9) * 1e9)
        self.is_running = True
        try:
            while ok and left > 0 and (now < end or self.round == first):
                with nogil:
                    ok = self.run_until(min(end, now + SLICE), left)
                    now = ep_now()
                left = max_rounds - (self.round - first)
                PyErr_CheckSignals()
        finally:
            self.is_running = False
        if not ok:
            self.fail()
        return (self.round - first) * self.num_envs, (now - began) * 1e-9

    cdef bint run_until(self, int64_t end, int64_t max_rounds) noexcept nogil:
        """Runs rounds until `end`, at least one, at most `max_rounds`. Returns False if an env failed."""
        cdef int64_t began, now = ep_now(), n, stop, done = 0
        while done < max_rounds:
            began = now
            n = min(self.burst, max_rounds - done)
            stop = done + n
            while done < stop:
                if not self.run_round():
                    return False
                done += 1
            now = ep_now()
            if now >= end:
                break
            if n == self.burst and now - began < BURST:
                self.burst *= 2
        return True

    cdef bint run_round(self) noexcept nogil:
        """Steps every env once. Returns False if an env failed."""
        cdef envpool_batch batch
        cdef envpool_rows rows
        cdef int32_t start = 0, n, i
        cdef int failed
        for i in range(self.env.num_actions):
            self.action[i] = self.action_base[i] + self.entry * self.action_stride[i]
        begin_batch(&batch)
        batch.contiguous = 1
        batch.actions = self.action
        while start < self.num_envs:
            n = min(self.num_envs - start, ENVPOOL_MAX_BATCH)
            memset(self.truncated + start, 0, n)
            batch.ids = self.ids + start
            batch.n = n
            batch.reset = self.reset + start
            batch.resets = self.resets + start
            batch.num_resets = self.num_resets[start // ENVPOOL_MAX_BATCH]
            batch.reward = self.reward + start
            batch.terminated = self.terminated + start
            batch.truncated = self.truncated + start
            batch.errors = self.errors + start
            batch.discount = NULL
            fill_rows(&rows, batch.ids, n, self.fields, start)
            if self.env.run_many != NULL:
                failed = self.env.run_many(self.state, &batch, &rows)
            else:
                failed = self.env.step_many(self.state, &batch)
                self.env.write_many(self.state, &rows)
            if has_failures(failed, batch.errors, n):
                return False
            self.end_step(start, n)
            start += n
        self.round += 1
        self.entry += 1
        if self.entry == self.rounds:
            self.entry = 0
        return True

    cdef void end_step(self, int32_t start, int32_t n) noexcept nogil:
        """Counts elapsed steps, applies the time limit, and flags the envs whose next step starts an episode.

        The compiler vectorises the simple loops.
        """
        cdef float* reward = self.reward + start
        cdef uint8_t* terminated = self.terminated + start
        cdef uint8_t* truncated = self.truncated + start
        cdef uint8_t* reset = self.reset + start
        cdef int32_t* elapsed = self.elapsed + start
        cdef int32_t* resets = self.resets + start
        cdef int32_t i, k, limit = self.limit
        for k in range(self.num_resets[start // ENVPOOL_MAX_BATCH]):
            i = resets[k]
            reward[i] = 0
            terminated[i] = 0
            truncated[i] = 0
            elapsed[i] = -1
        for i in range(n):
            elapsed[i] += 1
        for i in range(n):
            truncated[i] |= elapsed[i] >= limit
        for i in range(n):
            reset[i] = terminated[i] | truncated[i]
        self.num_resets[start // ENVPOOL_MAX_BATCH] = ep_find_flags(reset, n, resets)

    cdef int fail(self) except -1:
        """Closes the loop and raises for the first env that failed."""
        cdef char text[TEXT_SIZE]
        cdef int32_t i = 0, code
        text[0] = 0
        for i in range(self.num_envs):
            if self.errors[i]:
                break
        code = self.errors[i]
        if self.env.error_text != NULL:
            self.env.error_text(self.state, i, code, text, sizeof(text))
        self.destroy()
        reason = (<bytes>text).decode(errors="replace") or f"error code {code}"
        raise KernelLoopError(f"env {i} failed in the kernel loop: {reason}")


cdef tuple row_shape(field):
    """Returns the shape of one env's row; the player dimension is left out."""
    return tuple(s for s in field.shape if s != -1)
