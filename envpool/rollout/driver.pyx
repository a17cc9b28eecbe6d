"""Driving a pool: the common part of the recorders of rollouts and of replay buffers.

One call at a time is inside a recorder, and it enters the guard of its pool. `known` is the number of actions and
resets that the pool has been sent. If the pool has been sent more, it was stepped without the recorder, and the next
action does not answer the observations of the recorder.
"""

import numpy as np

cimport numpy as cnp
from libc.stdint cimport int32_t, int64_t

from envpool._core.guard cimport NOTHING_ELSE, enter
from envpool._core.inputs cimport checked_ids
from envpool._core.pool cimport Pool, SendPart
from envpool._core.results cimport ResultTemplate
from envpool._core.structs cimport DISABLED, REFUSED

from envpool.errors import ConfigError, EnvIdError, PoolStateError

cnp.import_array()


cdef class PoolDriver(SendPart):
    """Base class of the recorders.

    Parameters
    ----------
    pool : Pool
        The pool, which is open.
    what : str
        Name of the recorder in error texts.
    names : tuple of str
        The arrays of a batch, without those that the recorder adds.
    view : object, optional
        The view of the players through which the pool returns its batches, or None.
    """

    def __init__(self, Pool pool, str what, tuple names, object view=None):
        whole = names
        self.pool, self.what = pool, what
        self.num_envs, self.autoreset = pool.engine.num_envs, pool.engine.autoreset
        self.failed = set()
        self.add_errors = pool.step_template.add_errors
        if view is not None:
            whole, names = view.whole, view.names
        self.reset_template = ResultTemplate((pool.reset_template.nest, whole), names, self._note_errors)
        self.step_template = ResultTemplate((pool.step_template.nest, whole), names, self._note_errors)

    cdef int64_t sent_by_pool(self) noexcept:
        return self.pool.statistics.steps + self.pool.statistics.resets

    # ---- calls -------------------------------------------------------------------------------------------------------

    cdef int begin_call(self) except -1:
        """Enters the recorder, or raises if a call is inside, for instance of another thread."""
        if self.is_busy:
            raise PoolStateError(
                f"another call is inside this {self.what}: use it from one thread, one call at a time"
            )
        self.is_busy = True
        return 0

    cdef int enter_pool(self, int activities, const char* call) except -1:
        """Enters the recorder and its pool. Returns the number of the visit, for leave_pool()."""
        self.begin_call()
        try:
            return enter(self.pool.guard, NOTHING_ELSE if self.is_entered_again else activities, call)
        except BaseException:
            self.is_busy = False
            raise

    cdef void leave_pool(self, int visit) noexcept:
        self.is_busy = False
        self.pool.end_visit(visit)

    def _note_errors(self, pair, dict errors, count):
        """Add the texts of failed envs to a result, and note the envs."""
        self._note_failed(pair, errors, count)
        if self.add_errors is not None:
            self.add_errors(pair[0], errors, count)

    def _note_failed(self, pair, dict errors, count):
        """Note the failed envs of a result."""
        self.failed.update(int(pair[1][self.env_id][row]) for row in errors)

    # ---- checks ------------------------------------------------------------------------------------------------------

    cdef int check_begun(self) except -1:
        """Raises PoolStateError if the recorder has no observations that actions could answer."""
        raise NotImplementedError

    cdef int check_known(self, str rest) except -1:
        """Raises PoolStateError if the pool was stepped without the recorder."""
        if self.sent_by_pool() != self.known:
            raise self.outdated(rest)
        return 0

    cdef object outdated(self, str rest):
        """Returns the exception for a pool that was stepped without the recorder."""
        return PoolStateError(
            f"the pool was stepped or reset without the {self.what}, whose observations are outdated: begin again with "
            f"reset() or begin(){rest}"
        )

    cdef int check_pool_idle(self) except -1:
        """Raises PoolStateError unless begin() may take observations that the pool returned to another caller."""
        self.pool.guard.check_open()
        if self.pool.num_outstanding:
            raise PoolStateError(
                f"begin() needs an idle pool, but {self.pool.num_outstanding} envs are in flight: receive them first"
            )
        return 0

    cdef bint are_all_envs(self, const int32_t* ids, int32_t n) noexcept:
        """Returns whether a send is to all envs, in order."""
        cdef int32_t i
        for i in range(0 if ids == self.pool.engine.all_ids else n):
            if ids[i] != i:
                return False
        return n == self.num_envs

    cdef bint may_reset(self, int32_t id) noexcept:
        """Returns whether the episode of an env has ended, and its next one waits for reset()."""
        return self.pool.engine.reset[id] == REFUSED

    cdef cnp.ndarray check_ended(self, object env_id):
        """Returns ids of envs that may be reset alone: their episodes have ended and nobody else resets them."""
        cdef cnp.ndarray ids
        cdef int64_t i
        cdef int32_t id
        if self.autoreset != DISABLED:
            raise ConfigError(
                f"reset(env_id=...) of a {self.what} needs autoreset_mode='disabled', since the pool resets ended "
                "episodes itself in other modes: leave env_id out to reset all envs"
            )
        self.check_begun()
        self.check_known("")
        ids = np.array(checked_ids(self.pool.engine, env_id), np.int32)
        for i in range(ids.shape[0]):
            id = (<const int32_t*>cnp.PyArray_DATA(ids))[i]
            if not self.may_reset(id):
                raise EnvIdError(
                    f"the episode of env {id} has not ended in a row that the {self.what} received: reset ended "
                    "episodes, or all envs"
                )
        return ids
