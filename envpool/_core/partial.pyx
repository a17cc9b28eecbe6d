"""Receiving some of the envs in flight, while the others stay there.

A block is handed out whole, when all its rows are written. So the first call that asks for certain envs, for a number
of them, or for what there is by a certain time, puts up the shelf: one block with a row for each env. What is sent from
then on is written there, one env at a time; each env that is done is announced, and its row is copied into the block
that is handed out. Rows that were on their way to blocks at that moment are moved to the shelf as they come, with those
that were claimed together with them.

The shelf stays until a plain recv() or step() has asked again for a whole batch and nothing is in flight. It costs a
claim, an announcement and a copy for each env, and the caller never works: a pool that does not need it never has it.

What must hold: an env is in flight (`busy`) from its send until its row is handed out, so its row on the shelf is never
written while somebody may read it, and there is room for all however long some of them take.
"""

import numpy as np

cimport cython
cimport numpy as cnp
from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t
from libc.stdlib cimport qsort
from libc.string cimport memset

from envpool._core.atomic cimport (
    ep_add_sc32, ep_cas64, ep_load_acq64, ep_load_rlx32, ep_load_rlx64, ep_now, ep_store_rlx64, ep_store_sc32,
    ep_swap_sc64,
)
from envpool._core.blocks cimport BatchBlock
from envpool._core.consumer cimport SLICE, enqueue, leave_to_workers, publish, wait_arrivals, written_rows
from envpool._core.engine cimport ENV_ID, Engine, NEVER, Span
from envpool._core.handle cimport Handle
from envpool._core.results cimport ResultTemplate

from envpool.errors import EnvIdError, EnvStepError, PoolStateError

cnp.import_array()

cdef enum:
    SEEN = 2        # in Engine.busy, while the ids of one call are checked


cdef int compare_sent(const void* a, const void* b) noexcept nogil:
    return 1 if (<const SendOrder*>a).sent_no > (<const SendOrder*>b).sent_no else -1


@cython.no_gc     # as for Handle
cdef class Shelf(Handle):
    """A pool's receiving side for some of the envs in flight."""

    cdef int check_alone(self) except -1:
        if self.waiting:
            raise PoolStateError(
                "another thread is waiting in recv(), reset() or step() of this pool: let one thread receive"
            )
        return 0

    cdef str failure_text(self, int32_t id, int32_t code):
        cdef Engine* e = self.engine
        cdef char text[256]
        text[0] = 0
        if e.kind.error_text != NULL:
            e.kind.error_text(e.state, id, code, text, sizeof(text))
        return (<bytes>text).decode(errors="replace") or f"error code {code}"

    cdef int raise_failures(self, const char* ids, size_t stride, int64_t n) except -1:
        """Raises EnvStepError for the failed ones of n envs that are ready, if any; once. An id each `stride` bytes."""
        cdef Engine* e = self.engine
        cdef int64_t i
        cdef int32_t id
        failures = {}
        for i in range(n):
            id = (<const int32_t*>(ids + i * stride))[0]
            code = e.errors[id]
            if code:
                failures[id] = self.failure_text(id, code)
                e.errors[id] = 0
        if failures:
            ep_add_sc32(&e.failures, -<int32_t>len(failures))
            raise EnvStepError(failures)
        return 0

    # ---- putting it up and taking it down ----------------------------------------------------------------------------

    cdef int begin_shelf(self) except -1:
        """Sends to the shelf from now on; what is in flight is moved there when it comes."""
        cdef Engine* e = self.engine
        cdef int64_t k, n = e.num_envs, unclaimed
        cdef int32_t* ids
        if self.shelf is None:
            store = self.store if e.is_sync else self.store.resized(n)
            shelf, spare = store.new_block(), store.new_block()
            memory = np.zeros(n * (sizeof(SendOrder) + sizeof(int64_t) + sizeof(int32_t) + sizeof(uint8_t)), np.uint8)
            self.check_open()       # taking memory may start the garbage collector, and that anything
            self.check_alone()
            if self.is_shelved:
                return 0
            self.shelf_store, self.shelf, self.spare, self.memory = store, shelf, spare, memory
            self.chosen = <SendOrder*>cnp.PyArray_DATA(self.memory)
            self.sent_no = <int64_t*>(self.chosen + n)
            self.arrived = <int32_t*>(self.sent_no + n)
            self.is_there = <uint8_t*>(self.arrived + n)
            e.shelf = &self.shelf.c
        self.is_shelved = True
        # What nobody has claimed can still go to the shelf: it is claimed here, and sent again.
        while True:
            unclaimed = ep_load_acq64(&e.claim)
            if unclaimed == e.head or ep_cas64(&e.claim, unclaimed, e.head):
                break
        n = e.head - unclaimed
        self.first_in_blocks = e.base if e.is_sync else e.next_block * e.batch_size
        self.rows_in_blocks = self.rows_to_move = self.outstanding - n
        if e.is_sync:
            ep_store_rlx64(&e.expected, self.rows_in_blocks)
            for k in range(self.rows_in_blocks):
                self.sent_no[e.ring[(e.base + k) & e.mask]] = e.base + k
        ep_store_sc32(&e.is_moving, self.rows_to_move > 0)
        ep_store_rlx64(&e.shelf_from, e.head)
        if n:
            ids = <int32_t*>self.chosen     # not in use at this moment
            for k in range(n):
                ids[k] = e.ring[(unclaimed + k) & e.mask]
            self.note_sent(ids, <int32_t>n)
            enqueue(e, ids, <int32_t>n)
            publish(e, <int32_t>n, False)
        return 0

    cdef void note_sent(self, const int32_t* ids, int32_t n) noexcept:
        """Called before n envs are put into the ring, while shelved."""
        cdef int32_t i
        for i in range(n):
            self.sent_no[ids[i]] = self.engine.head + i

    cdef void end_shelf(self) noexcept:
        """Sends to blocks again, with nothing in flight; does nothing while a worker has yet to count its rows."""
        if written_rows(self.engine) != self.rows_in_blocks:
            return
        self.empty_blocks()
        ep_store_rlx64(&self.engine.shelf_from, NEVER)
        self.is_shelved = False

    cdef void empty_blocks(self) noexcept:
        """Makes the blocks ready for the next send; called when no worker writes to them."""
        cdef Engine* e = self.engine
        cdef int64_t k
        for k in range(e.num_blocks):
            e.blocks[k].written = 0
        if e.is_sync:
            e.base = e.head
            ep_store_rlx64(&e.expected, 0)
        else:       # positions are never used twice: spans are told apart by them
            e.next_block = (e.alloc + e.batch_size - 1) // e.batch_size
            e.alloc = e.next_block * e.batch_size
        self.rows_in_blocks = 0

    # ---- arrivals ----------------------------------------------------------------------------------------------------

    cdef void collect(self) noexcept:
        """Takes down who has arrived."""
        cdef Engine* e = self.engine
        cdef int64_t word
        cdef int32_t n, k, id
        if self.rows_to_move:
            self.move_from_blocks()
        if ep_load_rlx64(&e.arrivals) == 0:
            return
        word = ep_swap_sc64(&e.arrivals, 0)
        n = <int32_t>(word >> 32)
        id = <int32_t><uint32_t>word - 1
        for k in range(self.num_arrived + n - 1, self.num_arrived - 1, -1):     # the last one lies on top
            self.arrived[k] = id
            self.is_there[id] = 1
            id = e.next[id]
        self.num_arrived += n

    cdef void move_from_blocks(self) noexcept:
        """Copies the rows of chunks that have been written to blocks."""
        cdef Engine* e = self.engine
        cdef BatchBlock block
        cdef Span* span
        cdef int64_t position = self.first_in_blocks, end = position + self.rows_in_blocks, i, row
        cdef int32_t id
        while position < end:
            span = &e.spans[position & e.mask]
            if ep_load_acq64(&span.first) != position + 1:
                position += 1
                continue
            if e.is_sync:
                block = <BatchBlock>self.in_flight[0]
                row = position - e.base
            else:
                block = <BatchBlock>self.in_flight[position // e.batch_size % e.num_blocks]
                row = position % e.batch_size
            for i in range(row, row + span.rows):
                id = (<const int32_t*>block.c.core[ENV_ID])[i]
                self.shelf.copy_row(id, block, i)
                self.arrived[self.num_arrived] = id
                self.num_arrived += 1
                self.is_there[id] = 1
            ep_store_rlx64(&span.first, 0)
            self.rows_to_move -= span.rows
            position += span.rows
        if self.rows_to_move == 0:
            ep_store_sc32(&e.is_moving, 0)

    cdef int drop_arrivals(self) except -1:
        """Waits until nothing is in flight and drops the rows nobody has received."""
        cdef Engine* e = self.engine
        cdef int64_t rows, missing
        while True:
            PyErr_CheckSignals()
            self.check_open()
            self.collect()
            rows = written_rows(e)
            missing = self.outstanding - self.num_arrived
            if missing == 0 and rows == self.rows_in_blocks and not self.is_sending:
                break
            leave_to_workers(e)
            self.waiting += 1
            with nogil:
                wait_arrivals(e, max(missing, 1), rows, SLICE if missing else 1000)
            self.waiting -= 1
        memset(self.is_there, 0, e.num_envs)
        self.num_arrived = 0
        return 0

    # ---- receiving ---------------------------------------------------------------------------------------------------

    cdef object take_wanted(self, object env_ids):
        """The ids of a call to recv() or reset() (see as_ids) in memory that nobody else can change, checked."""
        cdef Engine* e = self.engine
        cdef cnp.ndarray wide = np.ascontiguousarray(env_ids, np.int64)
        cdef cnp.ndarray ids = np.empty(wide.shape[0], np.int32)
        cdef const int64_t* given = <const int64_t*>cnp.PyArray_DATA(wide)
        cdef int32_t* taken = <int32_t*>cnp.PyArray_DATA(ids)
        cdef int64_t i, n = ids.shape[0], bad = -1
        for i in range(n):
            if given[i] < 0 or given[i] >= e.num_envs or e.busy[given[i]] != 1:
                bad = i
                break
            taken[i] = <int32_t>given[i]
            e.busy[taken[i]] |= SEEN
        for i in range(n if bad < 0 else bad):
            e.busy[taken[i]] &= ~SEEN
        if bad >= 0:
            id = int(env_ids[bad])
            if not 0 <= id < e.num_envs:
                raise EnvIdError(f"env_ids[{bad}] is {id}, allowed are 0 to {e.num_envs - 1}")
            if id in env_ids[:bad].tolist():
                raise EnvIdError(f"env_ids[{bad}] is {id}, which appears twice")
            raise EnvIdError(f"env_ids[{bad}] is {id}, which is not in flight: send to it first")
        return ids

    cdef int check_outstanding(self) except -1:
        """Refuses a wait that could never end."""
        cdef Engine* e = self.engine
        if self.outstanding == 0:
            raise PoolStateError(
                "recv() would wait for ever: nothing is in flight, call send(), async_reset() or step() first"
            )
        if not e.is_sync and self.outstanding < e.batch_size:
            raise PoolStateError(
                f"recv() would wait for ever: {self.outstanding} envs are in flight and a batch needs {e.batch_size}: "
                f"send to {e.batch_size - self.outstanding} more envs first"
            )
        return 0

    cdef int check_wish(self, const RecvRequest* wish) except -1:
        """Refuses a wait that could never end. Looks anew each time, since anything may have used the pool."""
        cdef int64_t i
        if wish.ids != NULL:
            for i in range(wish.num_ids):
                if not self.engine.busy[wish.ids[i]]:
                    raise EnvIdError(f"env_ids[{i}] is {wish.ids[i]}, which is not in flight any more")
        elif wish.need > self.outstanding:
            raise PoolStateError(
                f"recv(min_ready={wish.need}) would wait for ever: {self.outstanding} envs are in flight"
            )
        elif wish.need < 0 and wish.timeout_ns < 0:
            self.check_outstanding()
        return 0

    cdef int32_t choose(self, const RecvRequest* wish) noexcept:
        """Puts who would be handed out into `chosen`: of certain ids those that have arrived, in the order asked for;
        else who has, in the order of arriving (sync: of sending), and of a whole batch no more than fit.

        Returns how many they are if that is enough, else how many are missing, as a negative number.
        """
        cdef Engine* e = self.engine
        cdef int64_t i, enough = wish.need
        cdef int32_t count = 0
        if wish.ids != NULL:
            for i in range(wish.num_ids):
                if self.is_there[wish.ids[i]]:
                    self.chosen[count].id = wish.ids[i]
                    count += 1
        else:
            if enough < 0:
                enough = self.outstanding if e.is_sync else min(<int64_t>e.batch_size, self.outstanding)
            count = self.num_arrived
            if wish.need < 0 and not e.is_sync:
                count = <int32_t>min(<int64_t>count, enough)
            for i in range(count):
                self.chosen[i].id = self.arrived[i]
                self.chosen[i].sent_no = self.sent_no[self.arrived[i]]
            if e.is_sync:
                qsort(self.chosen, count, sizeof(SendOrder), compare_sent)
        self.num_chosen = count
        return count if count >= enough else <int32_t>(count - enough)

    cdef object pick(self, ResultTemplate form, const RecvRequest* wish):
        """Waits for envs in flight and hands out those that have come, when they are enough or the time is up."""
        cdef Engine* e
        cdef int64_t rows, left, deadline = 0
        cdef int32_t missing
        if wish.timeout_ns >= 0:
            deadline = ep_now() + wish.timeout_ns
        self.sent_at = 0
        while True:
            # Also when all is there: an exception that Python raises as the call returns would take the rows with it.
            PyErr_CheckSignals()
            if self.engine == NULL or self.is_closing:
                raise PoolStateError("the pool was closed while recv() waited")
            self.check_alone()
            self.check_wish(wish)
            if not self.is_shelved or self.is_spare_out:
                self.prepare()
                continue        # taking memory may start the garbage collector, and that anything
            e = self.engine
            leave_to_workers(e)
            rows = written_rows(e)
            self.collect()
            missing = -self.choose(wish)
            left = SLICE if wish.timeout_ns < 0 else min(deadline - ep_now(), SLICE)
            if missing <= 0 or left <= 0:
                break
            self.waiting += 1
            with nogil:
                wait_arrivals(e, missing, rows, left)
            self.waiting -= 1
        if ep_load_rlx32(&e.failures) > 0:
            self.raise_failures(<const char*>&self.chosen[0].id, sizeof(SendOrder), self.num_chosen)
        return self.hand_out(form)

    cdef int prepare(self) except -1:
        """Puts up the shelf, and a block to hand out that nobody sees."""
        if not self.is_shelved:
            self.begin_shelf()
        if self.is_spare_out:
            self.spare = self.shelf_store.exchange(self.spare)
            self.is_spare_out = False
        return 0

    cdef object hand_out(self, ResultTemplate form):
        """Takes the chosen envs from the shelf."""
        cdef Engine* e = self.engine
        cdef int32_t i, id, n = self.num_chosen, kept = 0
        for i in range(n):
            id = self.chosen[i].id
            self.spare.copy_row(i, self.shelf, id)
            self.is_there[id] = 0
            e.busy[id] = 0
        for i in range(self.num_arrived):
            if self.is_there[self.arrived[i]]:
                self.arrived[kept] = self.arrived[i]
                kept += 1
        self.num_arrived = kept
        self.outstanding -= n
        self.is_spare_out = True
        return form.build([a[:n] for a in self.spare.arrays])
