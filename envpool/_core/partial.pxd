"""Receiving some of the envs in flight: see partial.pyx."""

cimport numpy as cnp
from libc.stdint cimport int32_t, int64_t, uint8_t

from envpool._core.batches cimport Batches
from envpool._core.blocks cimport BlockMemory, BlockStore
from envpool._core.guard cimport Guard
from envpool._core.results cimport ResultTemplate
from envpool._core.structs cimport Block, Engine

cdef enum:      # PartialMode
    WHOLE           # rows go to the blocks of whole batches
    PARTIAL         # rows go to the block of partial batches
    ENDING          # as PARTIAL, until nothing is in flight: the last call asked for a whole batch

cdef struct SendOrder:
    int64_t sent_no
    int32_t id

cdef struct RecvRequest:        # what a call wants to receive
    const int32_t* ids          # these envs, each once (num_ids); NULL: any envs
    int64_t num_ids
    int64_t need                # the number of envs that suffices; negative: a whole batch
    int64_t timeout_ns          # the time after which the ready envs suffice; negative: no limit

cdef class PartialBatches:
    cdef Engine* engine
    cdef Guard guard
    cdef Batches batches
    cdef int mode                   # PartialMode
    cdef BlockStore store           # of blocks with a row for each env; None until they are needed
    cdef BlockMemory block_memory   # of the block to which the engine writes; None until it is needed
    cdef cnp.ndarray memory         # behind the arrays below
    cdef int64_t* sent_no           # by env: increases with each env that is sent
    cdef int32_t* arrived           # ids of the envs that can be handed out, in order of arrival (num_arrived)
    cdef uint8_t* has_arrived       # by env: whether it is among `arrived`
    cdef uint8_t* is_completed      # by env in flight: whether a call that raised has completed its row
    cdef int32_t num_completed      # number of these envs
    cdef SendOrder* chosen          # envs to hand out (num_chosen)
    cdef int32_t num_arrived
    cdef int32_t num_chosen
    cdef int64_t first_in_blocks    # position (see Engine.spans) of the first row in flight when the mode began
    cdef int64_t end_of_blocks      # position behind the last such row
    cdef int64_t rows_in_blocks     # number of rows in flight at that moment which go to blocks
    cdef int64_t rows_to_move       # number of these rows that have not been moved yet

    cdef bint is_computed(self) noexcept
    cdef void note_sent(self, const int32_t* ids, int32_t n) noexcept
    cdef object receive_some(self, ResultTemplate template, object min_ready, object timeout, object env_id)
    cdef object receive(self, ResultTemplate template, cnp.ndarray ids, int64_t need, int64_t timeout_ns,
                        int64_t expected)
    cdef int drop_in_flight(self) except -1
    cdef tuple block_counts(self)
    cdef void drop_memory(self) noexcept

    cdef int begin(self) except -1
    cdef int64_t take_unclaimed(self) noexcept
    cdef int drain(self) except -1
    cdef int make_blocks(self) except -1
    cdef void end(self) noexcept
    cdef void collect(self) noexcept
    cdef void move_from_blocks(self) noexcept
    cdef int check(self, const RecvRequest* request) except -1
    cdef int32_t choose(self, const RecvRequest* request) noexcept
    cdef object hand_out(self, ResultTemplate template)
    cdef int complete(self, Block* block, int32_t n) noexcept
    cdef void keep_completed(self, const Block* block, int32_t n) noexcept
    cdef void take_over_completed(self) noexcept
