"""The recorder of a pool's steps: see recorder.pyx."""

cimport numpy as cnp
from libc.stdint cimport int32_t, int64_t, uint8_t

from envpool._core.blocks cimport BatchBlock, BlockStore
from envpool._core.inputs cimport ResetOptions
from envpool._core.results cimport ResultTemplate
from envpool.rollout.driver cimport PoolDriver
from envpool.rollout.frames cimport FrameStore
from envpool.rollout.layout cimport RolloutLayout, RolloutMemory, Track, row_of, slot_of
from envpool.rollout.networks cimport Answers

cdef class Recorder(PoolDriver):
    cdef RolloutLayout layout
    cdef ResultTemplate bare_template       # of steps whose results nobody sees
    cdef tuple extra_names
    cdef object spread
    cdef cnp.ndarray shown                  # of a pool with opponents; else None
    cdef cnp.ndarray begun                  # of a pool with opponents; else None
    cdef int32_t num_places                 # for players: all of them, or those that the user controls
    cdef list memories                      # of this rollout and of earlier ones
    cdef RolloutMemory memory               # of this rollout; None before the first reset
    cdef bint is_sync
    cdef bint writes_in_place               # the workers write to the memory of the rollout
    cdef FrameStore frames                  # None unless each frame of stacked observations is stored once
    cdef int64_t num_steps
    cdef int64_t num_slots
    cdef bint is_finished                   # finish() was called: the next call begins the next rollout
    cdef readonly int64_t recorded          # steps of envs in this rollout
    cdef int64_t longest                    # largest entry of `lengths`
    cdef int64_t in_flight                  # envs that were sent and not received
    cdef readonly int64_t _num_ahead        # steps for whose observations the threads computed what a policy answers
    cdef public object _unanswered          # what collect() has received and its policy not answered yet; or None
    cdef readonly object received           # async: env ids of the last batch, int32; None: of all envs, in order
    # Of the send that is being made.
    cdef tuple values                       # the extras
    cdef BatchBlock block                   # the block for Pool.redirect(), or None
    cdef Answers ahead                      # the threads compute its outputs for the next observations; or None
    cdef int ahead_reads                    # number of the array of these observations
    # By env; in `words`.
    cdef cnp.ndarray words
    cdef int64_t* lengths                   # steps in this rollout: the observation of the env has this slot
    cdef int64_t* target                    # scratch: by row of a batch, the slot of its observation
    cdef uint8_t* has_observation           # the slot is filled
    cdef uint8_t* is_sent                   # the env was sent an action and not received
    # Numbers of arrays.
    cdef int elapsed
    cdef int terminated
    cdef int truncated
    cdef int first                          # bool: the observation of the slot is the first of an episode
    cdef int valid                          # bool: the step of the slot is a transition
    cdef int done                           # bool: terminated or truncated
    cdef int acts                           # bool (players): who acts on the observation of the slot; -1: no players
    cdef int legal                          # bool (moves): legal moves of who acts; -1: they are not known
    cdef int players                        # int32 (places): their players, if there are opponents; else -1
    cdef int first_action
    cdef int num_actions
    cdef int first_extra

    cdef list frame_arrays(self, BlockStore store, int64_t depth)
    cdef void find_arrays(self)
    cdef int check_begun(self) except -1
    cdef int check_has_room(self) except -1
    cdef RolloutMemory take_memory(self, bint fresh)
    cdef int begin_next(self) except -1
    cdef bint has_first(self, const Track* track) noexcept
    cdef void carry(self, RolloutMemory source, RolloutMemory target) noexcept
    cdef cnp.ndarray as_extra(self, int k, object value, object env_id, object action)
    cdef object count_rows(self, object env_id, object action)
    cdef tuple as_extras(self, dict extras, bint all_of_them, object env_id=*, object action=*)
    cdef int begin_send(self) except -1
    cdef int send_now(self, object action, object env_id, tuple values, int visit, int activities) except -1
    cdef int compute_ahead(self, BatchBlock block) except -1
    cdef int record_sent(self, const int32_t* ids, int32_t n, list sources) except -1
    cdef int check(self, const int32_t* ids, int32_t n, bint receives) except -1
    cdef int check_unchanged(self, int k, cnp.ndarray a) except -1
    cdef void commit(self, const int32_t* ids, int32_t n) noexcept
    cdef object receive_now(self, ResultTemplate template)
    cdef object store(self, tuple pair)
    cdef list take_failed(self, const int32_t* ids, int64_t n)
    cdef void copy_columns(self, tuple arrays, const int32_t* ids, int64_t n) noexcept
    cdef void mark_players(self, const int32_t* ids, int64_t n) noexcept
    cdef void mark_slot(self, int64_t slot) noexcept
    cdef int64_t mark_rows(self, const int32_t* ids, int64_t n) noexcept
    cdef void keep_final(self, const int32_t* ids, int64_t n) noexcept
    cdef int end_tracks(self) except -1
    cdef object receive_step(self, ResultTemplate template)
    cdef void clear_observations(self, RolloutMemory memory) noexcept
    cdef void start_over(self, RolloutMemory memory) noexcept
    cdef object reset_all(self, object seeds, ResetOptions options, int visit)
    cdef object reset_some(self, object env_id, object seeds, ResetOptions options, int visit)
    cdef int send_resets(self, object env_id, object seeds, ResetOptions options, int visit) except -1
    cdef object receive_resets(self, object env_id)
    cdef bint may_reset(self, int32_t id) noexcept
    cdef int check_complete(self, tuple values) except -1

cdef inline char* row(Recorder r, int k, int64_t slot, int64_t env) noexcept:
    """Returns where array k has the row of an env in a slot."""
    return row_of(&r.layout.tracks[k], r.memory, slot, env)


cdef inline char* column(Recorder r, int k, int64_t slot) noexcept:
    """Returns where array k has a slot."""
    return slot_of(&r.layout.tracks[k], r.memory, slot)
