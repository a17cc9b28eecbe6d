"""Simulating a claimed chunk and writing its rows into blocks.

This module does everything that an environment does not know about: pending seeds, auto-reset, elapsed steps, the time
limit, step types, discounts, and the rows of envs that failed.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from envpool._core.atomic cimport (
    ep_add_sc32, ep_add_sc64, ep_cas64, ep_futex_wake, ep_load_rlx32, ep_load_rlx64, ep_load_sc32, ep_now,
    ep_store_rel64, ep_store_rlx32, ep_use_parking_lot,
)
from envpool._core.calls cimport begin_batch, has_failures, fill_rows, is_contiguous, write_envs
from envpool._core.flags cimport ep_find_flags
from envpool._core.pending cimport apply_params, apply_seeds
from envpool._core.players cimport (
    FIRST, LAST, begin_players, end_players, forget_turn, write_players, write_rows_of_players,
)
from envpool._core.policy cimport TRIVIAL
from envpool._core.statistics cimport clear_entries, count_rewards, mark_ends_of_episodes
from envpool._core.structs cimport (
    Block, CUT, DISABLED, DISCOUNT, DONE, ELAPSED_STEP, Engine, ENV_ID, EPISODE_MASK, PENDING, REFUSED, REWARD, RUNNING,
    SAME_STEP, Span, STEP_TYPE, TERMINATED, TRUNCATED, Worker,
)
from envpool._core.watch cimport note_end, note_start
from envpool.env cimport (
    ENVPOOL_MAX_BATCH, ENVPOOL_MAX_FIELDS, ENVPOOL_TRUNCATION_KEEPS_DISCOUNT, envpool_batch, envpool_rows,
)

ep_use_parking_lot()

cdef struct Outcome:            # results of one step, by position
    float* reward
    uint8_t* terminated
    uint8_t* truncated
    int32_t* elapsed
    float* discount             # NULL unless the API style asks for it
    int64_t started             # when the execution began, ns; 0 if it was not measured
    int players                 # which of Engine.players gets those of the players; used only if there are any

cdef struct Steps:              # outcomes of n <= ENVPOOL_MAX_BATCH steps
    int32_t ids[ENVPOOL_MAX_BATCH]
    float reward[ENVPOOL_MAX_BATCH]
    uint8_t terminated[ENVPOOL_MAX_BATCH]
    uint8_t truncated[ENVPOOL_MAX_BATCH]
    int32_t elapsed[ENVPOOL_MAX_BATCH]
    float discount[ENVPOOL_MAX_BATCH]


cdef inline Outcome outcome_of(Steps* steps, int64_t started, int players) noexcept nogil:
    cdef Outcome out
    out.reward = steps.reward
    out.terminated = steps.terminated
    out.truncated = steps.truncated
    out.elapsed = steps.elapsed
    out.discount = steps.discount
    out.started = started
    out.players = players
    return out


cdef inline Outcome outcome_from(const Outcome* out, int64_t i) noexcept nogil:
    """Returns the outcome of the envs from position i on."""
    cdef Outcome rest = out[0]
    rest.reward += i
    rest.terminated += i
    rest.truncated += i
    rest.elapsed += i
    if rest.discount != NULL:
        rest.discount += i
    return rest


cdef inline Outcome outcome_in(const Block* b, int64_t row, int64_t started) noexcept nogil:
    """Returns an outcome in the rows of a block from `row` on."""
    cdef Outcome out
    out.reward = <float*>b.core[REWARD] + row
    out.terminated = <uint8_t*>b.core[TERMINATED] + row
    out.truncated = <uint8_t*>b.core[TRUNCATED] + row
    out.elapsed = <int32_t*>b.core[ELAPSED_STEP] + row
    out.discount = <float*>b.core[DISCOUNT] + row if b.core[DISCOUNT] != NULL else NULL
    out.started = started
    out.players = LAST
    return out


cdef void record_failures(Engine* e, const int32_t* ids, int32_t n, const int32_t* errors,
                          const Outcome* out) noexcept nogil:
    """Truncates the episodes of failed envs with a reward of zero; the next step of these envs resets them."""
    cdef int32_t i
    for i in range(n):
        if errors[i]:
            if not e.errors[ids[i]]:
                ep_add_sc32(&e.failures, 1)
            e.errors[ids[i]] = errors[i]
            e.broken[ids[i]] = 1
            out.reward[i] = 0
            out.terminated[i] = 0
            out.truncated[i] = 1


cdef void simulate_seeded(Engine* e, const int32_t* ids, int32_t n, const int32_t* errors, const Outcome* out,
                          void** fused, int64_t row) noexcept nogil:
    """Simulates one env at a time, where `errors` (n) is zero; the others were not seeded, which counts as a failed
    reset: nobody may step them."""
    cdef Outcome one
    cdef int32_t i
    for i in range(n):
        one = outcome_from(out, i)
        if errors[i] == 0:
            simulate(e, ids + i, 1, &one, fused, row + i)
            continue
        record_failures(e, ids + i, 1, errors + i, &one)
        e.elapsed[ids[i]] = one.elapsed[0] = 0
        e.reset[ids[i]] = REFUSED if e.autoreset == DISABLED else PENDING
        if one.discount != NULL:
            one.discount[0] = 1
        if e.num_players:
            end_players(e, out.players, ids + i, 1, NULL, errors + i, one.reward, one.terminated, one.truncated)


cdef void simulate(Engine* e, const int32_t* ids, int32_t n, const Outcome* out, void** fused,
                   int64_t row) noexcept nogil:
    """Steps n <= ENVPOOL_MAX_BATCH envs into `out`; unless `fused` is NULL, run_many writes the rows from `row` on."""
    cdef envpool_batch batch
    cdef envpool_rows rows
    cdef uint8_t reset[ENVPOOL_MAX_BATCH]
    cdef int32_t errors[ENVPOOL_MAX_BATCH]
    cdef uint8_t* flags
    cdef uint8_t* terminated = out.terminated
    cdef uint8_t* truncated = out.truncated
    cdef int32_t* elapsed
    cdef int32_t resets[ENVPOOL_MAX_BATCH]
    cdef uint8_t ended = REFUSED if e.autoreset == DISABLED else PENDING
    cdef int32_t refusals[ENVPOOL_MAX_BATCH]
    cdef int32_t i, k, num_resets, limit = e.max_episode_steps
    cdef int status
    cdef bint has_refusals = False
    cdef bint contiguous = is_contiguous(ids, n)
    if ep_load_rlx32(&e.seeds_pending) > 0 and apply_seeds(e, ids, n, errors):
        simulate_seeded(e, ids, n, errors, out, fused, row)
        return
    if contiguous:
        memcpy(reset, e.reset + ids[0], n)
    else:
        for i in range(n):
            reset[i] = e.reset[ids[i]]
    num_resets = ep_find_flags(reset, n, resets)
    if num_resets and ep_load_rlx32(&e.params_pending) > 0:
        has_refusals = apply_params(e, ids, n, resets, num_resets, refusals)
    memset(out.truncated, 0, n)
    memset(errors, 0, n * sizeof(int32_t))
    begin_batch(&batch)
    batch.ids = ids
    batch.n = n
    batch.contiguous = contiguous
    batch.reset = reset
    batch.resets = resets
    batch.num_resets = num_resets
    batch.actions = <const void* const*>e.actions
    batch.reward = out.reward
    batch.terminated = out.terminated
    batch.truncated = out.truncated
    batch.errors = errors
    batch.discount = out.discount
    if out.discount != NULL:
        for i in range(n):
            out.discount[i] = 1
    if e.num_players:
        begin_players(e, out.players, ids, n, &batch)
    if fused != NULL:
        fill_rows(&rows, ids, n, fused, row)
        status = e.env_def.run_many(e.state, &batch, &rows)
    else:
        status = e.env_def.step_many(e.state, &batch)
    for k in range(num_resets):
        out.reward[resets[k]] = 0
        out.terminated[resets[k]] = 0
        out.truncated[resets[k]] = 0
        if out.discount != NULL:
            out.discount[resets[k]] = 1
    if has_refusals:
        for i in range(n):
            errors[i] = errors[i] or refusals[i]
    if has_failures(status, errors, n):
        record_failures(e, ids, n, errors, out)
    # The loops over contiguous ids are separate and branch-free, so that the compiler vectorises them.
    if contiguous:
        elapsed = e.elapsed + ids[0]
        flags = e.reset + ids[0]
        for i in range(n):
            elapsed[i] += 1
        memcpy(out.elapsed, elapsed, n * sizeof(int32_t))
        for i in range(n):
            truncated[i] |= elapsed[i] >= limit
        for i in range(n):
            flags[i] = ended if terminated[i] | truncated[i] else 0
    else:
        for i in range(n):
            e.elapsed[ids[i]] += 1
            out.elapsed[i] = e.elapsed[ids[i]]
            truncated[i] |= out.elapsed[i] >= limit
            e.reset[ids[i]] = ended if terminated[i] | truncated[i] else RUNNING
    for k in range(num_resets):
        i = resets[k]
        e.elapsed[ids[i]] = 0
        e.broken[ids[i]] = errors[i] != 0
        out.elapsed[i] = 0
        out.truncated[i] = errors[i] != 0
        e.reset[ids[i]] = ended if errors[i] else RUNNING
    if e.num_players:
        end_players(e, out.players, ids, n, reset, errors, out.reward, terminated, truncated)
    if e.tally != NULL:
        count_rewards(e, ids, n, contiguous, out.reward, resets, num_resets, out.started)


cdef void clear_row(const Engine* e, void** fields, int64_t row, int64_t n) noexcept nogil:
    cdef int32_t f
    for f in range(e.env_def.num_fields):
        memset(<char*>fields[f] + row * e.field_bytes[f], 0, n * e.field_bytes[f])


cdef inline void write_sound(Engine* e, const int32_t* ids, int32_t n, void** fields, int64_t row,
                             int players) noexcept nogil:
    """Writes the fields of n envs that have not failed."""
    if e.num_players == 0:
        write_envs(e.env_def, e.state, ids, n, fields, row)
        return
    write_rows_of_players(e, players, ids, n, fields, row)


cdef void write_rows(Engine* e, const int32_t* ids, int32_t n, void** fields, int64_t row,
                     int players) noexcept nogil:
    """Writes the fields of n envs. The row of a failed env is zero: nobody may look at its state.

    `players` says which of Engine.players belongs to these fields.
    """
    cdef int32_t i
    if ep_load_rlx32(&e.failures) == 0:
        write_sound(e, ids, n, fields, row, players)
        return
    for i in range(n):
        if e.errors[ids[i]]:
            clear_row(e, fields, row + i, 1)
            if e.num_players:
                forget_turn(e, fields, row + i)
        else:
            write_sound(e, ids + i, 1, fields, row + i, players)


cdef void reset_ended(Engine* e, Block* b, const int32_t* ids, int32_t n, int64_t row) noexcept nogil:
    """SAME_STEP: writes the last rows of ended episodes to the final arrays, and starts the next episodes."""
    cdef uint8_t* terminated = <uint8_t*>b.core[TERMINATED] + row
    cdef uint8_t* truncated = <uint8_t*>b.core[TRUNCATED] + row
    cdef int32_t* elapsed = <int32_t*>b.core[ELAPSED_STEP] + row
    cdef uint8_t has_ended[ENVPOOL_MAX_BATCH]
    cdef int32_t ended[ENVPOOL_MAX_BATCH]
    cdef int32_t chosen[ENVPOOL_MAX_BATCH]
    cdef int32_t codes[ENVPOOL_MAX_BATCH]
    cdef int32_t i, k, num_ended
    if b.clears_final:
        if b.final != NULL:
            clear_row(e, b.final, row, n)
        memset(b.final_mask + row, 0, n)
        memset(b.final_elapsed + row, 0, n * sizeof(int32_t))
    for i in range(n):
        has_ended[i] = terminated[i] | truncated[i]
    num_ended = ep_find_flags(has_ended, n, ended)
    if num_ended == 0:
        return
    for k in range(num_ended):
        i = ended[k]
        b.final_mask[row + i] = 1
        b.final_elapsed[row + i] = elapsed[i]
        elapsed[i] = 0
        chosen[k] = ids[i]
        if b.final != NULL:
            write_rows(e, ids + i, 1, b.final, row + i, LAST)
    start_episodes(e, chosen, num_ended, codes)
    for k in range(num_ended):
        write_rows(e, chosen + k, 1, b.fields, row + ended[k], FIRST)
    restore_codes(e, chosen, num_ended, codes)


cdef void start_episodes(Engine* e, const int32_t* ids, int32_t n, int32_t* codes) noexcept nogil:
    """SAME_STEP: resets n envs whose episodes have ended. Their first rows are to be written next.

    A failure of the step is still to be reported, but must not hide the row of a reset that succeeded: its code goes to
    `codes` until then, for restore_codes().
    """
    cdef Steps unused
    cdef Outcome out = outcome_of(&unused, 0, FIRST)
    cdef int32_t i
    out.discount = NULL
    for i in range(n):
        codes[i] = e.errors[ids[i]]
        e.errors[ids[i]] = 0
    simulate(e, ids, n, &out, NULL, 0)


cdef void restore_codes(Engine* e, const int32_t* ids, int32_t n, const int32_t* codes) noexcept nogil:
    cdef int32_t i
    for i in range(n):
        if codes[i]:
            if e.errors[ids[i]]:
                ep_add_sc32(&e.failures, -1)
            e.errors[ids[i]] = codes[i]


cdef void finish_rows(Engine* e, Block* b, const int32_t* ids, int32_t n, int64_t row) noexcept nogil:
    """Fills what follows from the outcome and the fields of rows, and with SAME_STEP resets the envs that have ended.
    """
    describe_rows(e, b, ids, n, row, b.fields, row)
    if b.final_mask != NULL:
        reset_ended(e, b, ids, n, row)
    if e.num_players:
        write_players(e, b, ids, n, row)


cdef inline void describe_rows(Engine* e, Block* b, const int32_t* ids, int32_t n, int64_t row, void** fields,
                               int64_t field_row) noexcept nogil:
    """Fills the arrays that follow from the outcome: env ids and optional arrays.

    `fields`, from `field_row` on, are the fields of the env as the steps left them.
    """
    cdef uint8_t* terminated = <uint8_t*>b.core[TERMINATED] + row
    cdef uint8_t* truncated = <uint8_t*>b.core[TRUNCATED] + row
    cdef int32_t* elapsed = <int32_t*>b.core[ELAPSED_STEP] + row
    cdef uint8_t* done
    cdef uint8_t* cut
    cdef float* discount
    cdef int32_t* step_type
    cdef int32_t i
    cdef bint keeps_discount = e.env_def.flags & ENVPOOL_TRUNCATION_KEEPS_DISCOUNT
    memcpy(<int32_t*>b.core[ENV_ID] + row, ids, n * sizeof(int32_t))
    if b.core[DONE] != NULL:
        done = <uint8_t*>b.core[DONE] + row
        for i in range(n):
            done[i] = terminated[i] | truncated[i]
    if b.core[CUT] != NULL:
        cut = <uint8_t*>b.core[CUT] + row
        for i in range(n):
            cut[i] = truncated[i] & (1 - terminated[i])
    if b.core[STEP_TYPE] != NULL:
        discount = <float*>b.core[DISCOUNT] + row
        step_type = <int32_t*>b.core[STEP_TYPE] + row
        for i in range(n):
            discount[i] *= truncated[i] | (1 - terminated[i]) if keeps_discount else 1 - (terminated[i] | truncated[i])
            step_type[i] = 2 if terminated[i] | truncated[i] else elapsed[i] > 0
    if b.core[EPISODE_MASK] != NULL:
        mark_ends_of_episodes(e, b, ids, n, row, fields, field_row)


cdef void wake_consumer(Engine* e) noexcept nogil:
    ep_add_sc32(&e.recv_word, 1)
    ep_futex_wake(&e.recv_word, 1)


cdef void announce_rows(Engine* e, Block* b, int64_t position, int64_t n) noexcept nogil:
    """Records the rows of a chunk, counts them, and wakes the consumer with the last row of the block.

    `expected` is read after the count is raised: a send that raises `expected` in between adds rows, whose writer looks
    again. A relaxed read suffices, since the thread that counts the last row has seen all other counts, and with them
    the send.
    """
    cdef int64_t written
    cdef Span* span = &e.spans[position & e.span_mask]
    span.rows = n
    ep_store_rel64(&span.first, position + 1)       # before the count: the block may be gone after it
    written = ep_add_sc64(&b.written, n) + n
    if written == ep_load_rlx64(&e.expected) or ep_load_sc32(&e.is_moving):
        if ep_load_sc32(&e.recv_waiting):
            wake_consumer(e)


cdef void arrive(Engine* e, int32_t id) noexcept nogil:
    """Announces an env whose row is written, and wakes the consumer if that has been waiting for this many arrivals.

    `recv_waiting` is read before `awaited`, which the consumer stores first.
    """
    cdef int64_t below, word
    while True:
        below = ep_load_rlx64(&e.arrivals)
        e.next[id] = <int32_t><uint32_t>below - 1
        word = (((below >> 32) + 1) << 32) | (<int64_t>id + 1)
        if ep_cas64(&e.arrivals, below, word):
            break
    if ep_load_sc32(&e.recv_waiting) and word >> 32 >= ep_load_rlx32(&e.awaited):
        wake_consumer(e)


cdef void execute_partial(Engine* e, const int32_t* id, int64_t started) noexcept nogil:
    """Steps one env into its row of the block of partial batches."""
    execute_in_place(e, e.partial_block, id, 1, id[0], started)
    arrive(e, id[0])


cdef void execute_sync(Engine* e, const int32_t* ids, int64_t n, int64_t row, int64_t started) noexcept nogil:
    """Steps envs into the only block in flight, from `row` on."""
    cdef Block* b = e.blocks[0]
    execute_in_place(e, b, ids, n, row, started)
    if b.after_rows != NULL:
        b.after_rows(b.after_data, row, n)
    announce_rows(e, b, e.base + row, n)


cdef void execute_in_place(Engine* e, Block* b, const int32_t* ids, int64_t n, int64_t row,
                           int64_t started) noexcept nogil:
    """Steps envs whose rows are fixed: env ids[i] has the row `row + i` of the block."""
    cdef Outcome out
    cdef int64_t start = 0, r
    cdef int32_t k, i
    cdef void** fused = b.fields if e.env_def.run_many != NULL and e.num_players == 0 else NULL
    if b.core[EPISODE_MASK] != NULL:
        clear_entries(b, row, n)
    while start < n:
        k = <int32_t>min(n - start, ENVPOOL_MAX_BATCH)
        r = row + start
        out = outcome_in(b, r, started)
        simulate(e, ids + start, k, &out, fused, r)
        if fused == NULL:
            write_rows(e, ids + start, k, b.fields, r, LAST)
        elif ep_load_rlx32(&e.failures) > 0:
            for i in range(k):
                if e.errors[ids[start + i]]:
                    clear_row(e, b.fields, r + i, 1)
        finish_rows(e, b, ids + start, k, r)
        start += k


# ---- async pools -----------------------------------------------------------------------------------------------------

cdef enum:
    SMALL = 512                 # most last rows that are kept on the stack, in numbers of 8 bytes


cdef void execute_async(Engine* e, const int32_t* ids, int32_t n, int64_t started, Worker* watched) noexcept nogil:
    """Steps n <= ENVPOOL_MAX_BATCH envs, then allocates the next free rows for them.

    With SAME_STEP, envs whose episodes have ended get theirs after they have been reset, since a row that is allocated
    holds its block: a slow reset delays no other env. Trivial envs are not parted.
    """
    cdef Steps steps, ended
    cdef Outcome out = outcome_of(&steps, started, LAST)
    cdef int32_t num_ended = 0
    cdef int64_t cost = ep_load_rlx64(&e.ns_per_env)
    simulate(e, ids, n, &out, NULL, 0)
    if e.autoreset == SAME_STEP and (cost == 0 or cost >= TRIVIAL):
        num_ended = take_ended(&steps, ids, n, &ended)
    if num_ended == 0:
        write_steps(e, ids, &steps, n, NULL, NULL)
        return
    if num_ended < n:
        write_steps(e, steps.ids, &steps, n - num_ended, NULL, NULL)
        if watched != NULL:
            note_rest(watched, ended.ids, num_ended)
    reset_and_write(e, &ended, num_ended)


cdef int32_t take_ended(Steps* steps, const int32_t* ids, int32_t n, Steps* ended) noexcept nogil:
    """Moves steps that ended an episode to another struct, and returns their number; the others move up. Sets the ids
    of both, unless the number is 0."""
    cdef uint8_t has_ended[ENVPOOL_MAX_BATCH]
    cdef int32_t positions[ENVPOOL_MAX_BATCH]
    cdef int32_t i, k, to, count
    for i in range(n):
        has_ended[i] = steps.terminated[i] | steps.truncated[i]
    count = ep_find_flags(has_ended, n, positions)
    if count == 0:
        return 0
    memcpy(steps.ids, ids, n * sizeof(int32_t))
    for k in range(count):
        move_step(ended, k, steps, positions[k])
    to = positions[0]
    for i in range(to, n):
        if not has_ended[i]:
            move_step(steps, to, steps, i)
            to += 1
    return count


cdef inline void move_step(Steps* to, int32_t k, const Steps* source, int32_t i) noexcept nogil:
    to.ids[k] = source.ids[i]
    to.reward[k] = source.reward[i]
    to.terminated[k] = source.terminated[i]
    to.truncated[k] = source.truncated[i]
    to.elapsed[k] = source.elapsed[i]
    to.discount[k] = source.discount[i]


cdef void note_rest(Worker* w, const int32_t* ids, int32_t n) noexcept nogil:
    """Notes that a worker continues with some envs of its chunk only; the others may be in flight again at once."""
    cdef int32_t i
    note_end(w)
    for i in range(n):
        ep_store_rlx32(&w.copied[i], ids[i])
    note_start(w, w.copied, n, ep_now())


cdef inline void write_outcome(Block* b, int64_t row, const Steps* steps, int32_t first, int32_t n) noexcept nogil:
    memcpy(<float*>b.core[REWARD] + row, steps.reward + first, n * sizeof(float))
    memcpy(<uint8_t*>b.core[TERMINATED] + row, steps.terminated + first, n)
    memcpy(<uint8_t*>b.core[TRUNCATED] + row, steps.truncated + first, n)
    memcpy(<int32_t*>b.core[ELAPSED_STEP] + row, steps.elapsed + first, n * sizeof(int32_t))
    if b.core[DISCOUNT] != NULL:
        memcpy(<float*>b.core[DISCOUNT] + row, steps.discount + first, n * sizeof(float))
    if b.core[EPISODE_MASK] != NULL:
        clear_entries(b, row, n)


cdef void write_steps(Engine* e, const int32_t* ids, const Steps* steps, int32_t n, void** last,
                      const int32_t* codes) noexcept nogil:
    """Allocates the next free rows for n steps and writes them, across blocks if need be.

    `last` is NULL, or has the fields that the steps have left of envs that were reset since then, whose codes are in
    `codes`, see start_episodes().
    """
    cdef Block* b
    cdef int64_t position = ep_add_sc64(&e.alloc, n), row
    cdef int32_t k, start = 0
    while start < n:
        b = e.blocks[((position + start) // e.batch_size) % e.num_blocks]
        row = (position + start) % e.batch_size
        k = <int32_t>min(e.batch_size - row, n - start)
        write_outcome(b, row, steps, start, k)
        write_rows(e, ids + start, k, b.fields, row, LAST if last == NULL else FIRST)
        if last == NULL:
            finish_rows(e, b, ids + start, k, row)
        else:
            restore_codes(e, ids + start, k, codes + start)
            finish_reset_rows(e, b, ids + start, k, row, last, start)
        announce_rows(e, b, position + start, k)
        start += k


cdef void finish_reset_rows(Engine* e, Block* b, const int32_t* ids, int32_t n, int64_t row, void** last,
                            int64_t last_row) noexcept nogil:
    """Finishes rows like finish_rows(), for envs that were reset already: `last`, from `last_row` on, has the fields
    before the reset."""
    cdef int32_t* elapsed = <int32_t*>b.core[ELAPSED_STEP] + row
    cdef int64_t size
    cdef int32_t f
    describe_rows(e, b, ids, n, row, last, last_row)
    memcpy(b.final_elapsed + row, elapsed, n * sizeof(int32_t))
    memset(elapsed, 0, n * sizeof(int32_t))
    memset(b.final_mask + row, 1, n)
    for f in range(e.env_def.num_fields if b.final != NULL else 0):
        size = e.field_bytes[f]
        memcpy(<char*>b.final[f] + row * size, <char*>last[f] + last_row * size, n * size)
    if e.num_players:
        write_players(e, b, ids, n, row)


cdef void reset_and_write(Engine* e, Steps* steps, int32_t n) noexcept nogil:
    """Writes n steps that ended an episode, like write_steps(), but allocates the rows after the resets."""
    cdef double on_stack[SMALL]
    cdef char* memory = <char*>on_stack
    cdef void* last[ENVPOOL_MAX_FIELDS]
    cdef int32_t codes[ENVPOOL_MAX_BATCH]
    cdef int64_t size
    if e.has_final or e.tally != NULL:
        size = lay_out_fields(e, n, NULL, last)
        if size > <int64_t>sizeof(on_stack):
            memory = <char*>malloc(size)
            if memory == NULL:
                write_steps(e, steps.ids, steps, n, NULL, NULL)
                return
        lay_out_fields(e, n, memory, last)
        write_rows(e, steps.ids, n, last, 0, LAST)
    start_episodes(e, steps.ids, n, codes)
    write_steps(e, steps.ids, steps, n, last, codes)
    if memory != <char*>on_stack:
        free(memory)


cdef int64_t lay_out_fields(const Engine* e, int32_t n, char* memory, void** fields) noexcept nogil:
    """Lays out n rows of all fields; returns the bytes that they need. Without memory, only counts."""
    cdef int64_t size = 0
    cdef int32_t f
    for f in range(e.env_def.num_fields):
        fields[f] = memory + size if memory != NULL else NULL
        size += (n * e.field_bytes[f] + 15) & ~<int64_t>15
    return size
