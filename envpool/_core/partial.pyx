"""Receiving some of the envs in flight, while the others stay there.

A whole batch is one block, handed out when all its rows are written. The first call that asks for certain envs, for a
number of envs, or for the envs that are ready by some time, therefore switches to another mode: there is one block with
a row for each env, and every env that is sent from then on is written there and announced on its own. The rows of
announced envs are copied into the block that is handed out. Rows that were on their way to blocks of whole batches at
that moment are moved as they arrive, together with the rows that were claimed with them. A consumer that cannot accept
this waits for no env (`need` is 0) before it sends: while nothing is in flight, this only switches the mode.

The mode ends when a plain recv() or step() has asked for a whole batch again and nothing is in flight. It costs a
claim, an announcement and a copy for each env, and the consumer never works; pools that do not need it never enter it.

Invariants: an env is in flight (`busy`) from its send until its row is handed out. So its row of the block is never
written while it is being copied, and the block has room for all envs however long some of them take.
"""

import numpy as np

cimport numpy as cnp
from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t
from libc.stdlib cimport qsort
from libc.string cimport memset

from envpool._core.atomic cimport (
    ep_cas64, ep_load_acq64, ep_load_rlx64, ep_load_sc64, ep_now, ep_store_rlx64, ep_store_sc32, ep_swap_sc64,
)
from envpool._core.batches cimport Batches, check_can_fill, finalize_rows
from envpool._core.blocks cimport BatchBlock, BlockMemory, BlockStore, copy_row
from envpool._core.guard cimport Guard
from envpool._core.inputs cimport as_count, as_ids, as_nanoseconds, holding_call, in_flight_ids
from envpool._core.policy cimport LAST_SLICE, interval
from envpool._core.results cimport ResultTemplate
from envpool._core.scheduler cimport leave_to_workers, publish, wait_arrivals, written_rows
from envpool._core.statistics cimport entries_of
from envpool._core.structs cimport Block, Engine, ENV_ID, NEVER, Queue, Span
from envpool._core.watch cimport check_progress

from envpool.errors import EnvIdError, PoolStateError

cnp.import_array()


cdef int compare_send_orders(const void* a, const void* b) noexcept nogil:
    return 1 if (<const SendOrder*>a).sent_no > (<const SendOrder*>b).sent_no else -1


cdef class PartialBatches:
    """The envs of a pool that can be received one by one.

    Parameters
    ----------
    guard : Guard
        The guard of the pool.
    batches : Batches
        The whole batches of the pool.
    """

    def __init__(self, Guard guard, Batches batches):
        self.guard = guard
        self.batches = batches

    cdef bint is_computed(self) noexcept:
        """Whether every env in flight has been stepped and its row written."""
        cdef Engine* e = self.engine
        cdef int64_t rows = written_rows(e), arrived
        if self.mode == WHOLE:
            return rows == e.outstanding
        arrived = self.num_arrived + (ep_load_sc64(&e.arrivals) >> 32)
        return rows == self.rows_in_blocks and arrived + self.rows_to_move == e.outstanding

    cdef tuple block_counts(self):
        """Returns how many blocks were made and how many recycled, those of whole batches included."""
        cdef BlockStore whole = self.batches.store, store = self.store
        if store is None or store is whole:
            return whole.allocated, whole.reused
        return whole.allocated + store.allocated, whole.reused + store.reused

    cdef void drop_memory(self) noexcept:
        """Frees the blocks that nobody holds, those of whole batches as well. The engine must be gone."""
        self.batches.drop_memory()
        self.block_memory = None
        if self.store is not None:
            self.store.drop_all()

    # ---- entering and leaving the mode -------------------------------------------------------------------------------

    cdef int make_blocks(self) except -1:
        """Allocates the block of the engine and the arrays."""
        cdef int64_t n = self.engine.num_envs
        cdef BlockStore store = self.batches.store if self.engine.is_sync else self.batches.store.resized(n)
        cdef BlockMemory block_memory = store.new_memory()
        memory = np.zeros(n * (sizeof(SendOrder) + sizeof(int64_t) + sizeof(int32_t) + 2 * sizeof(uint8_t)), np.uint8)
        self.store, self.block_memory, self.memory = store, block_memory, memory
        self.chosen = <SendOrder*>cnp.PyArray_DATA(self.memory)
        self.sent_no = <int64_t*>(self.chosen + n)
        self.arrived = <int32_t*>(self.sent_no + n)
        self.has_arrived = <uint8_t*>(self.arrived + n)
        self.is_completed = self.has_arrived + n
        self.engine.partial_block = <Block*>self.block_memory.base
        self.engine.partial_block.clears_final = 1      # its rows are written over and over
        return 0

    cdef int begin(self) except -1:
        """Makes envs that are sent from now on arrive one by one; the rows in flight are moved as they arrive."""
        cdef Engine* e = self.engine
        cdef int64_t n
        cdef int32_t k
        if self.block_memory is None:
            self.make_blocks()
            self.guard.check_open()     # allocating may start the garbage collector, and so run any code
        if self.batches.displaced is not None:
            raise PoolStateError(
                "a step of a rollout is in flight, or of an adapter, and must be received whole: call recv() of the "
                "rollout, or of the adapter's pool without arguments"
            )
        self.mode = PARTIAL
        self.take_over_completed()
        self.first_in_blocks = e.base if e.is_sync else e.next_block * e.batch_size
        n = self.take_unclaimed()       # nobody has claimed these envs, so they can still be redirected
        self.rows_in_blocks = self.rows_to_move = e.outstanding - n
        self.end_of_blocks = self.first_in_blocks + (e.outstanding if e.is_sync else self.rows_in_blocks)
        if e.is_sync:
            ep_store_rlx64(&e.expected, self.rows_in_blocks)
        ep_store_sc32(&e.is_moving, self.rows_to_move > 0)
        for k in range(e.num_queues):
            ep_store_rlx64(&e.queues[k].partial_from, e.queues[k].head)
        if n:
            publish(e, e.scratch, <int32_t>n, False)
        return 0

    cdef void take_over_completed(self) noexcept:
        """Notes the envs whose rows a call that raised has completed in the next block."""
        cdef const int32_t* ids
        cdef int64_t i
        if self.batches.num_completed:
            ids = <const int32_t*>self.batches.next_ids()
            for i in range(self.batches.num_completed):
                self.is_completed[ids[i]] = 1
            self.num_completed = <int32_t>self.batches.num_completed
        self.batches.forget_completed()

    cdef int64_t take_unclaimed(self) noexcept:
        """Claims every env that no thread has claimed, into Engine.scratch, and returns their number.

        In sync pools, the envs in flight are numbered in the order in which they were sent.
        """
        cdef Engine* e = self.engine
        cdef Queue* q
        cdef int64_t first, k, n = 0
        cdef int32_t i, id
        for i in range(e.num_queues):
            q = &e.queues[i]
            while True:
                first = ep_load_acq64(&q.claim)
                if first == q.head or ep_cas64(&q.claim, first, q.head):
                    break
            for k in range(q.base if e.is_sync else first, q.head):
                id = q.ring[k & e.mask]
                if e.is_sync:
                    self.sent_no[id] = e.base + (k - q.base if q.rows == NULL else q.rows[k & e.mask])
                if k >= first:
                    e.scratch[n] = id
                    n += 1
        return n

    cdef void note_sent(self, const int32_t* ids, int32_t n) noexcept:
        """Prepares for a send of n envs, which are not in the ring yet; leaves the mode if it is to end and can."""
        cdef int32_t i
        if self.mode == ENDING and self.engine.outstanding == 0:
            self.end()
        if self.mode != WHOLE:
            for i in range(n):
                self.sent_no[ids[i]] = self.engine.sent + i

    cdef void end(self) noexcept:
        """Leaves the mode. Nothing may be in flight; does nothing if a worker has yet to count its rows."""
        cdef int32_t k
        if written_rows(self.engine) != self.rows_in_blocks:
            return
        self.batches.empty_blocks()
        self.rows_in_blocks = 0
        for k in range(self.engine.num_queues):
            ep_store_rlx64(&self.engine.queues[k].partial_from, NEVER)
        self.mode = WHOLE

    # ---- arrivals ----------------------------------------------------------------------------------------------------

    cdef void collect(self) noexcept:
        """Appends the envs that have finished to `arrived`."""
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
        for k in range(self.num_arrived + n - 1, self.num_arrived - 1, -1):     # the last arrival is on top
            self.arrived[k] = id
            self.has_arrived[id] = 1
            id = e.next[id]
        self.num_arrived += n

    cdef void move_from_blocks(self) noexcept:
        """Copies the rows of chunks that have been written to blocks of whole batches."""
        cdef Engine* e = self.engine
        cdef Block* block
        cdef Span* span
        cdef int64_t position = self.first_in_blocks, end = self.end_of_blocks, i, row
        cdef int32_t id
        while position < end:
            span = &e.spans[position & e.span_mask]
            if ep_load_acq64(&span.first) != position + 1:
                position += 1
                continue
            block = self.batches.block_at(0 if e.is_sync else position // e.batch_size)
            row = position - e.base if e.is_sync else position % e.batch_size
            for i in range(row, row + span.rows):
                id = (<const int32_t*>block.core[ENV_ID])[i]
                copy_row(self.store, e.partial_block, id, self.batches.store, block, i)
                self.arrived[self.num_arrived] = id
                self.num_arrived += 1
                self.has_arrived[id] = 1
            ep_store_rlx64(&span.first, 0)
            self.rows_to_move -= span.rows
            position += span.rows
        if self.rows_to_move == 0:
            ep_store_sc32(&e.is_moving, 0)

    cdef int drain(self) except -1:
        """Waits until every env in flight has been stepped and its row written; the envs stay in flight."""
        cdef Engine* e = self.engine
        cdef int64_t rows, missing
        if self.mode == WHOLE:
            return self.batches.drain()
        while True:
            self.collect()
            rows = written_rows(e)
            missing = e.outstanding - self.num_arrived
            if missing == 0 and rows == self.rows_in_blocks:
                return 0
            leave_to_workers(e)
            with nogil:
                wait_arrivals(e, max(missing, 1), rows, interval(e) if missing else LAST_SLICE)
            PyErr_CheckSignals()
            self.guard.check_open()
            check_progress(e, NULL, 0, e.outstanding)

    cdef int drop_in_flight(self) except -1:
        """Waits until every env in flight has been stepped, drops the rows, and makes the envs idle."""
        cdef int32_t id = 0
        if not self.engine.num_held:
            self.drain()
        if self.engine.num_held:        # maybe since a moment ago: a wait lets other threads run
            while not self.engine.held[id]:
                id += 1
            raise EnvIdError(
                f"the pool cannot be reset: it has env {id}, which {holding_call(self.engine, id)}; nothing was sent"
            )
        if self.mode != WHOLE:
            memset(self.has_arrived, 0, self.engine.num_envs)
            memset(self.is_completed, 0, self.engine.num_envs)
            self.num_arrived = self.num_completed = 0
            self.rows_in_blocks = 0
            self.mode = ENDING
        self.batches.drop_all()
        return 0

    # ---- receiving ---------------------------------------------------------------------------------------------------

    cdef int check(self, const RecvRequest* request) except -1:
        """Raises for a wait that could never end. Every iteration asks, since a signal handler may use the pool."""
        cdef Engine* e = self.engine
        cdef int64_t i
        if request.ids != NULL:
            for i in range(request.num_ids):
                if not e.busy[request.ids[i]]:
                    raise EnvIdError(f"env_id[{i}] is {request.ids[i]}, which is no longer in flight")
        elif request.need > e.outstanding:
            raise PoolStateError(
                f"recv(min_ready={request.need}) would wait forever, because {e.outstanding} envs are in flight: send "
                "to more envs first"
            )
        elif request.need < 0 and request.timeout_ns < 0:
            check_can_fill(e)
        return 0

    cdef int32_t choose(self, const RecvRequest* request) noexcept:
        """Fills `chosen` with the envs that can be handed out now.

        If the request names ids, these are the ones that have arrived, in the order of the request. Otherwise they are
        all arrivals, in order of arrival (sync pools: of sending), but not more than a batch if one was asked for.
        Returns their number if it suffices, else the number of missing envs, as a negative number.
        """
        cdef Engine* e = self.engine
        cdef int64_t i, enough = request.need
        cdef int32_t count = 0
        if request.ids != NULL:
            for i in range(request.num_ids):
                if self.has_arrived[request.ids[i]]:
                    self.chosen[count].id = request.ids[i]
                    count += 1
        else:
            if enough < 0:
                enough = e.outstanding if e.is_sync else min(<int64_t>e.batch_size, e.outstanding)
            count = self.num_arrived
            if request.need < 0 and not e.is_sync:
                count = <int32_t>min(<int64_t>count, enough)
            for i in range(count):
                self.chosen[i].id = self.arrived[i]
                self.chosen[i].sent_no = self.sent_no[self.arrived[i]]
            if e.is_sync:
                qsort(self.chosen, count, sizeof(SendOrder), compare_send_orders)
        self.num_chosen = count
        return count if count >= enough else <int32_t>(count - enough)

    cdef object receive_some(self, ResultTemplate template, object min_ready, object timeout, object env_id):
        """Returns some of the envs in flight; see Pool.recv()."""
        cdef Engine* e = self.engine
        cdef cnp.ndarray ids = None
        cdef int64_t need = -1, limit = -1, n
        if timeout is not None:
            limit = as_nanoseconds("timeout", timeout)
        env_id = as_ids(env_id)
        if min_ready is not None:
            need = as_count("min_ready", min_ready, e.num_envs)
        self.guard.check_open()
        if env_id is not None:
            ids = in_flight_ids(e, env_id)
            n = ids.shape[0]
            if need > n:
                raise PoolStateError(
                    f"recv(min_ready={need}) would wait forever, because env_id has {n} entries: pass more ids"
                )
            if n == 0:
                return self.batches.empty(template)
            if need < 0:
                need = n
        elif e.outstanding == 0 and need != 0:
            check_can_fill(e)
        return self.receive(template, ids, need, limit, -1)

    cdef object receive(self, ResultTemplate template, cnp.ndarray ids, int64_t need, int64_t timeout_ns,
                        int64_t expected):
        """Waits for envs in flight and hands out those that have arrived, once they suffice or the time is over.

        `ids` is a result of in_flight_ids() or None; `need` and `timeout_ns` are those of a RecvRequest. With another
        number of rows than `expected`, unless that is negative, they stay in flight, and the result is None.
        """
        cdef Engine* e = self.engine
        cdef RecvRequest request
        cdef int64_t rows, left, deadline = 0
        cdef int32_t missing
        request.ids = <const int32_t*>(NULL if ids is None else cnp.PyArray_DATA(ids))
        request.num_ids = 0 if ids is None else ids.shape[0]
        request.need = need
        request.timeout_ns = timeout_ns
        if timeout_ns >= 0:
            deadline = ep_now() + timeout_ns
        e.sent_at = 0
        while True:
            # Also when all envs are there: an exception that Python raises as the call returns would lose the rows.
            PyErr_CheckSignals()
            self.guard.check_open()
            self.check(&request)
            if self.mode == WHOLE or self.store.ready is None:
                if self.mode == WHOLE:
                    self.begin()
                self.store.prepare()
                continue        # allocating may start the garbage collector, and so run any code
            leave_to_workers(e)
            rows = written_rows(e)
            self.collect()
            missing = -self.choose(&request)
            left = interval(e) if timeout_ns < 0 else min(deadline - ep_now(), interval(e))
            if missing <= 0 or left <= 0:
                if missing > 0 and self.num_chosen == 0:
                    check_progress(e, request.ids, request.num_ids, 1)
                if self.batches.failures.note(e, <char*>&self.chosen[0].id, sizeof(SendOrder), self.num_chosen):
                    continue    # noting failures may run any code as well
                break
            with nogil:
                wait_arrivals(e, missing, rows, left)
            if timeout_ns < 0:
                check_progress(e, request.ids, request.num_ids, missing + self.num_chosen)
        if 0 <= expected != self.num_chosen:
            return None
        self.mode = ENDING if ids is None and need < 0 and timeout_ns < 0 else PARTIAL
        return self.hand_out(template)

    cdef int complete(self, Block* block, int32_t n) noexcept:
        """Completes the rows of the chosen envs, once each; returns which entries of episodes they have."""
        cdef int entries = 0
        cdef int32_t i
        if self.num_completed == 0:
            return finalize_rows(self.batches, block, 0, n)
        for i in range(n):
            if self.is_completed[self.chosen[i].id]:
                entries |= entries_of(block, i)
            else:
                entries |= finalize_rows(self.batches, block, i, i + 1)
        return entries

    cdef void keep_completed(self, const Block* block, int32_t n) noexcept:
        """Keeps the rows of the chosen envs, which were completed, since making their result has raised."""
        cdef int32_t i, id
        for i in range(n):
            id = self.chosen[i].id
            copy_row(self.store, self.engine.partial_block, id, self.store, block, i)
            self.num_completed += not self.is_completed[id]
            self.is_completed[id] = 1
        self.store.ready = None     # the traceback may refer to its arrays

    cdef object hand_out(self, ResultTemplate template):
        """Hands out the chosen envs, which stay in flight until the result is complete: making it may run any code."""
        cdef Engine* e = self.engine
        cdef int32_t i, id, n = self.num_chosen, kept = 0
        cdef BatchBlock batch = self.store.ready
        cdef Block* replacement = NULL      # none is needed: the engine writes to another block
        for i in range(n):
            copy_row(self.store, batch.block, i, self.store, e.partial_block, self.chosen[i].id)
        entries = self.complete(batch.block, n)
        try:
            errors = self.batches.failures.texts_of(<char*>&self.chosen[0].id, sizeof(SendOrder), n)
            result = template.build_failed(self.batches.first_rows(batch, n), entries, errors, n)
            PyErr_CheckSignals()    # here: an exception that Python raises as the call returns would lose the rows
        except BaseException:
            self.keep_completed(batch.block, n)
            raise
        self.store.exchange(batch, &replacement)
        for i in range(n):
            id = self.chosen[i].id
            self.has_arrived[id] = 0
            self.num_completed -= self.is_completed[id]
            self.is_completed[id] = 0
            e.busy[id] = 0
        for i in range(self.num_arrived):
            if self.has_arrived[self.arrived[i]]:
                self.arrived[kept] = self.arrived[i]
                kept += 1
        self.num_arrived = kept
        if self.batches.failures.is_any_noted:
            self.batches.failures.forget(<char*>&self.chosen[0].id, sizeof(SendOrder), n)
        e.outstanding -= n
        return result
