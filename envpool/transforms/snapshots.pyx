"""Snapshots of a wrapped env definition: the snapshot of the inner definition, then elapsed steps, the players that act
next, and stacks."""

from libc.stdint cimport int32_t, int64_t
from libc.string cimport memcpy, memset

from envpool.env cimport ENVPOOL_BAD_SNAPSHOT, ENVPOOL_MAX_BATCH, envpool_copies, envpool_env, envpool_snapshots
from envpool.transforms.layout cimport State, WRITTEN, stacks_bytes


cdef int64_t state_size(void* state) noexcept nogil:
    cdef State* s = <State*>state
    return s.inner.env.state_size(s.inner.state) + s.own_bytes


cdef int64_t snapshot_size(void* state, int32_t id) noexcept nogil:
    cdef State* s = <State*>state
    return s.inner.env.snapshot_size(s.inner.state, id) + s.own_bytes


cdef void save_own(State* s, int32_t id, char* at) noexcept nogil:
    """Writes what this definition keeps of an env, own_bytes."""
    cdef int64_t size
    cdef int32_t k
    memcpy(at, &s.elapsed[id], sizeof(int32_t))
    at += sizeof(int32_t)
    if s.num_players:
        memcpy(at, s.player_acts + <int64_t>id * s.num_players, s.num_players)
        at += s.num_players
    for k in range(s.config.num_fields):
        if s.stacks[k] != NULL:
            size = stacks_bytes(&s.config.fields[k])
            memcpy(at, s.stacks[k] + id * size, size)
            at += size


cdef void restore_own(State* s, int32_t id, const char* at) noexcept nogil:
    """Reads what save_own() has written."""
    cdef int64_t size
    cdef int32_t k
    memcpy(&s.elapsed[id], at, sizeof(int32_t))
    s.fresh[id] = WRITTEN
    at += sizeof(int32_t)
    if s.num_players:
        memcpy(s.player_acts + <int64_t>id * s.num_players, at, s.num_players)
        memset(s.player_fresh + <int64_t>id * s.num_players, WRITTEN, s.num_players)
        at += s.num_players
    for k in range(s.config.num_fields):
        if s.stacks[k] != NULL:
            size = stacks_bytes(&s.config.fields[k])
            memcpy(s.stacks[k] + id * size, at, size)
            at += size


cdef int get_state(void* state, const envpool_snapshots* snapshots) noexcept nogil:
    cdef State* s = <State*>state
    cdef int status = s.inner.env.get_state(s.inner.state, snapshots)
    cdef int32_t i
    if s.keeps and status == 0:
        for i in range(snapshots.n):
            if snapshots.errors[i] == 0:
                save_own(s, snapshots.ids[i], <char*>snapshots.bytes[i] + snapshots.sizes[i])
                snapshots.sizes[i] += s.own_bytes
    return status


cdef bint are_flags(const char* at, int64_t n) noexcept nogil:
    cdef int64_t p
    for p in range(n):
        if at[p] != 0 and at[p] != 1:
            return False
    return True


cdef int set_state(void* state, const envpool_snapshots* snapshots) noexcept nogil:
    cdef State* s = <State*>state
    cdef envpool_snapshots inner = snapshots[0]
    cdef int64_t sizes[ENVPOOL_MAX_BATCH]
    cdef int32_t i, elapsed
    cdef bint is_bad = False
    cdef int status
    if not s.keeps:
        return s.inner.env.set_state(s.inner.state, snapshots)
    for i in range(snapshots.n):
        sizes[i] = snapshots.sizes[i] - s.own_bytes
        elapsed = -1
        if sizes[i] >= 0:
            memcpy(&elapsed, <const char*>snapshots.bytes[i] + sizes[i], sizeof(int32_t))
        if elapsed < 0 or not are_flags(<const char*>snapshots.bytes[i] + sizes[i] + sizeof(int32_t), s.num_players):
            snapshots.errors[i] = ENVPOOL_BAD_SNAPSHOT
            is_bad = True
    if is_bad:
        return ENVPOOL_BAD_SNAPSHOT
    inner.sizes = sizes
    status = s.inner.env.set_state(s.inner.state, &inner)
    if status == 0 and not snapshots.only_checks:
        for i in range(snapshots.n):
            if snapshots.errors[i] == 0:
                restore_own(s, snapshots.ids[i], <const char*>snapshots.bytes[i] + sizes[i])
    return status


cdef int copy_state(void* state, const envpool_copies* copies) noexcept nogil:
    cdef State* s = <State*>state
    cdef int status = s.inner.env.copy_state(s.inner.state, copies)
    cdef int64_t size, source, target
    cdef int32_t i, k
    for i in range(copies.n if s.keeps and status == 0 else 0):
        source, target = copies.sources[i], copies.targets[i]
        if copies.errors[i]:
            continue
        s.elapsed[target], s.fresh[target] = s.elapsed[source], WRITTEN
        if s.num_players:
            memcpy(s.player_acts + target * s.num_players, s.player_acts + source * s.num_players, s.num_players)
            memset(s.player_fresh + target * s.num_players, WRITTEN, s.num_players)
        for k in range(s.config.num_fields):
            if s.stacks[k] != NULL:
                size = stacks_bytes(&s.config.fields[k])
                memcpy(s.stacks[k] + target * size, s.stacks[k] + source * size, size)
    return status


cdef void with_snapshots(envpool_env* env_def, const envpool_env* inner) noexcept:
    if inner.get_state != NULL:
        env_def.state_size, env_def.copy_state = state_size, copy_state
        env_def.get_state, env_def.set_state = get_state, set_state
    if inner.snapshot_size != NULL:
        env_def.snapshot_size = snapshot_size
