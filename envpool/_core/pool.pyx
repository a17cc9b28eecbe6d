"""The pool as Python sees it: batches out; what goes in is in sending.pyx.

Everything in these classes runs with the GIL, apart from the waits; so one call at a time changes the pool, and one
thread may send while another waits in recv. What must hold between calls:
- `outstanding` rows were sent and not handed out; `busy` marks their envs, and only those.
- A call that raises before it publishes has changed nothing but action slots of idle envs.
- A wait that is interrupted (Ctrl-C) leaves its batch where it is: the next recv returns it.
"""

import numpy as np

cimport cython
cimport numpy as cnp
from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memset

from envpool._core.atomic cimport ep_load_rlx32, ep_now, ep_store_rlx64
from envpool._core.blocks cimport BatchBlock
from envpool._core.consumer cimport CLOSED, READY, SLICE, is_ready, run_if_quick, wait_ready
from envpool._core.engine cimport ENV_ID, Engine
from envpool._core.inputs cimport as_count, as_ids, as_nanoseconds
from envpool._core.results cimport ResultTemplate
from envpool._core.sending cimport Sender
from envpool._core.partial cimport RecvRequest

from envpool.errors import PoolStateError

cnp.import_array()


@cython.no_gc     # as for Handle
cdef class Pool(Sender):
    """A pool: what was made by Handle, and the calls that step it."""

    cdef int wait(self) except -1:
        """Waits for the next batch. Raises for a signal, a closed pool, failed envs; the batch stays in all cases.

        0: the shelf is in use now, so there are no batches.
        """
        cdef Engine* e = self.engine
        cdef BatchBlock block
        cdef int result
        if self.sent_at:
            e.absence += (ep_now() - self.sent_at - e.absence) >> 2
            self.sent_at = 0
        while True:
            result = READY
            if not run_if_quick(e):
                self.waiting += 1
                with nogil:
                    result = wait_ready(e, SLICE)
                self.waiting -= 1
            # Also when ready: an exception that Python raises as the call returns would take the batch with it.
            PyErr_CheckSignals()
            if self.engine == NULL or result == CLOSED:     # by another thread, or by a signal handler
                raise PoolStateError("the pool was closed while recv() waited")
            self.check_outstanding()
            if self.is_shelved:
                return 0
            if result == READY and is_ready(e):     # again: another thread, or a handler, may have used the pool since
                break
        if ep_load_rlx32(&e.failures) > 0:
            block = <BatchBlock>self.in_flight[e.next_block % e.num_blocks]
            self.raise_failures(
                <const char*>block.c.core[ENV_ID], sizeof(int32_t), self.outstanding if e.is_sync else e.batch_size
            )
        return 1

    cdef object deliver(self, ResultTemplate form):
        """Hands out the ready batch and puts a fresh block in its place; None: it is not ready any more."""
        cdef Engine* e = self.engine
        cdef int64_t slot = e.next_block % e.num_blocks, i, n
        cdef BatchBlock block = <BatchBlock>self.in_flight[slot]
        cdef BatchBlock fresh = self.store.exchange(block)
        if self.engine == NULL:         # making a block may start the garbage collector, and that anything
            raise PoolStateError("the pool was closed while recv() waited")
        if self.is_shelved or <BatchBlock>self.in_flight[slot] is not block:
            self.store.undo(block, fresh)
            raise PoolStateError("another thread received this batch at the same moment: let one thread receive")
        if not is_ready(e):             # another thread has sent more to this block, or dropped it, meanwhile
            self.store.undo(block, fresh)
            return None
        n = self.outstanding if e.is_sync else e.batch_size
        cdef const int32_t* ids = <const int32_t*>block.c.core[ENV_ID]
        if n == e.num_envs:
            memset(e.busy, 0, n)
        else:
            for i in range(n):
                e.busy[ids[i]] = 0
        e.blocks[slot] = &fresh.c
        self.in_flight[slot] = fresh
        self.outstanding -= n
        if e.is_sync:
            e.base = e.head
            ep_store_rlx64(&e.expected, 0)
        else:
            e.next_block += 1
        if n == e.batch_size:
            return form.build(block.arrays)
        return form.build([a[:n] for a in block.arrays])

    cdef object empty(self, ResultTemplate form):
        """A batch without rows."""
        return form.build([np.empty((0, *s), d) for s, d in zip(self.store.shapes, self.store.dtypes)])

    cdef object get(self, ResultTemplate form, bint may_be_empty):
        self.check_open()
        self.check_alone()
        if may_be_empty and self.outstanding == 0:
            return self.empty(form)
        self.check_outstanding()
        while not self.is_shelved and self.wait():
            batch = self.deliver(form)
            if batch is not None:
                return batch
        self.keeps_shelf = False
        return self.pick_some(form, None, -1, -1)

    cdef object pick_some(self, ResultTemplate form, cnp.ndarray ids, int64_t need, int64_t timeout_ns):
        """See Shelf.pick; ids as take_wanted gives them, or None."""
        cdef RecvRequest wish
        wish.ids = NULL
        wish.num_ids = 0
        if ids is not None:
            wish.ids = <const int32_t*>cnp.PyArray_DATA(ids)
            wish.num_ids = ids.shape[0]
        wish.need = need
        wish.timeout_ns = timeout_ns
        return self.pick(form, &wish)

    cdef object get_some(self, ResultTemplate form, object min_ready, object timeout, object env_ids):
        """recv() with a wish."""
        cdef int64_t need = -1, limit = -1, n
        if timeout is not None:
            limit = as_nanoseconds("timeout", timeout)
        env_ids = as_ids(env_ids, "env_ids")
        self.check_open()
        if min_ready is not None:
            need = as_count("min_ready", min_ready, self.engine.num_envs)
        self.check_open()       # __index__ is anybody's code
        self.check_alone()
        if env_ids is not None:
            env_ids = self.take_wanted(env_ids)
            n = env_ids.shape[0]
            if need > n:
                raise PoolStateError(f"recv(min_ready={need}) would wait for ever: env_ids has {n} entries")
            if n == 0:
                return self.empty(form)
            if need < 0:
                need = n
        elif self.outstanding == 0:
            if need == 0:
                return self.empty(form)
            self.check_outstanding()
        self.keeps_shelf = True
        return self.pick_some(form, env_ids, need, limit)

    def recv(self, bint reset=False, bint return_info=True, *, min_ready=None, timeout=None, env_ids=None):
        """Waits for the next batch; or for certain envs, for a number of them, or for some time.

        Parameters
        ----------
        reset : bool
            Give the batch the form that reset() returns.
        return_info : bool
            Unused; EnvPool's signature.
        min_ready : int, optional
            Wait for so many envs only, and return all that have come by then.
        timeout : float, optional
            Wait so many seconds at most, and return what has come by then, be it nothing.
        env_ids : array_like of int, optional
            (n,) ids of envs in flight, each once: wait for these and return no others.

        Returns
        -------
        tuple or TimeStep
            As step(), or as reset(). Fresh arrays, yours to keep and to write. With env_ids rows in that order, else,
            in a sync pool, in the order of sending. Envs that are not in it stay in flight.

        Raises
        ------
        PoolStateError
            Fewer envs in flight than a batch or min_ready needs, closed, or used after a fork.
        EnvIdError
            Ids out of range, repeated, or not in flight.
        ConfigError, TypeError
            A bad min_ready or timeout.
        EnvStepError
            Envs failed; the next recv() returns the batch.
        """
        cdef ResultTemplate form = self.reset_form if reset else self.step_form
        if min_ready is None and timeout is None and env_ids is None:
            return self.get(form, False)
        return self.get_some(form, min_ready, timeout, env_ids)

    def step(self, action, env_id=None):
        """Sends actions and waits for the next batch: ``send(action, env_id)``, then ``recv()``.

        Parameters
        ----------
        action : array_like or dict
            See send().
        env_id : array_like of int, optional
            See send().

        Returns
        -------
        tuple or TimeStep
            Sync: the rows of env_id, in that order. Async: the next batch_size rows that are done.

        Raises
        ------
        ActionError, EnvIdError, PoolStateError, EnvStepError
            See send() and recv().
        """
        return self.get(self.step_form, self.put(action, env_id, True) == 0)

    def recv_reset(self, env_id=None):
        """Waits for envs that reset, and for no others; without env_id for the next batch. In the form of reset()."""
        self.check_open()
        self.check_alone()
        if env_id is None:
            return self.get(self.reset_form, False)
        ids = self.take_wanted(env_id)
        if ids.shape[0] == 0:
            return self.empty(self.reset_form)
        if self.engine.is_sync and self.outstanding == ids.shape[0] and not self.is_shelved:
            return self.get(self.reset_form, False)
        self.keeps_shelf = True
        return self.pick_some(self.reset_form, ids, ids.shape[0], -1)
