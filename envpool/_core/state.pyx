# optimize: -O1
"""Saving, restoring and copying the states of envs.

A saved state is a little-endian byte string: a Header and two names, a CoreState, the Sums of the env if its pool has
the option `episode_statistics`, pending parameters if there are any, the generator of parameters that are drawn for
each episode if there are any, the flags of its players, what they are owed and which moves are legal if they move in
turn and, beside Sums, their returns, the env's snapshot, zeros up to a multiple of eight bytes, and a checksum of
everything before it. All states of one pool begin with the same prefix except for Header.env_bytes, so comparing the
prefix tells whether a state belongs to the same task, options and version.

The checksum catches corruption, not tampering. Everything that is read from a state is therefore checked again before
it is used as a size or an index, here and by the env's set_state.

The calls hold the GIL from the check that the envs are idle to the end. Nobody else can send to the envs meanwhile,
since that takes the GIL, and threads that step other envs do not need it. Definitions that need long to restore
(ENVPOOL_SLOW_SNAPSHOTS) do so without the GIL; `Engine.held` keeps other calls away from the envs meanwhile.

Invariants:
- Between the check and the last change of an env no Python code runs, unless the envs are held: objects that the
  garbage collector tracks are made before.
- A state is checked completely, also by the env, before any env changes.
- An env's own functions are called only for envs that have been seeded. A state of an env that was never seeded
  consists of its seed and the parameters of its first episode; a target that was never seeded is seeded before it is
  restored.
"""

import numpy as np

cimport numpy as cnp
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcmp, memcpy, memset

from envpool._core.atomic cimport ep_add_sc32
from envpool._core.calls cimport has_failures, seed_envs
from envpool._core.draws cimport STREAM_BYTES, is_stream, keeps_stream, restore_stream, save_stream
from envpool._core.failures cimport failure_text
from envpool._core.guard cimport NOTHING_ELSE, enter
from envpool._core.inputs cimport check_disjoint, check_idle, checked_ids, hold, unhold
from envpool._core.params cimport are_allowed, params_size, restore_params, save_params
from envpool._core.players cimport ACTS, HAS_ROW, flags_of
from envpool._core.pool cimport Pool
from envpool._core.statistics cimport Sums, are_possible, player_returns, restore_sums, save_sums
from envpool._core.structs cimport DISABLED, Engine, PENDING, REFUSED, RESTORED, RUNNING
from envpool.env cimport (
    ENVPOOL_BAD_SNAPSHOT, ENVPOOL_MAX_BATCH, ENVPOOL_NO_MEMORY, ENVPOOL_SLOW_SNAPSHOTS, envpool_copies,
    envpool_snapshots,
)

from envpool._support.text import shown
from envpool.errors import EnvIdError, StateError

cnp.import_array()

cdef enum:
    FORMAT = 1                  # version of this layout
    CHECKSUM_BYTES = 8
    ENV_BYTES_AT = 16           # offset of Header.env_bytes, the only part of a prefix that varies
    OPTIONS_AT = 24

cdef bytes MAGIC = b"envpool\n"


# ---- the bytes of a state --------------------------------------------------------------------------------------------

cdef struct Header:             # the first bytes of a state; the name of the task and that of the env definition follow
    char magic[8]               # MAGIC
    uint32_t format
    uint32_t prefix_bytes       # of the header and the names, filled up with zeros to a multiple of 16
    int64_t env_bytes           # of everything between the CoreState and the zeros before the checksum
    uint8_t options[16]         # digest of the options on which the dynamics and the snapshot depend
    uint32_t state_version      # of the env definition
    uint32_t task_bytes
    uint32_t name_bytes
    uint32_t reserved

cdef struct CoreState:          # what the core keeps of an env, between the prefix and the env's snapshot
    uint64_t seed               # the last seed, which is still to be applied if seed_pending
    int32_t elapsed
    uint8_t reset               # Reset
    uint8_t seed_pending        # 1: the env is not seeded yet, and has no snapshot
    uint8_t has_sums            # 1: the Sums of its statistics follow
    uint8_t has_stream          # 1: a generator follows the parameters
    uint32_t param_bytes        # size of the pending parameters, which follow: all parameters, or 0
    uint32_t zeros[3]

cdef struct Parts:              # where the parts after a CoreState begin, in bytes from it
    int64_t sums
    int64_t params
    int64_t stream
    int64_t players
    int64_t snapshot


cdef extern from *:
    """
    #include <stddef.h>
    #include <stdint.h>
    #include <string.h>

    /* Returns a checksum of n bytes, n a multiple of 8. Each word enters one of four lanes through a bijection, so that
     * any change of a single word changes the result; four lanes hide the latency of the multiplications. */
    static uint64_t ep_checksum(const char *bytes, size_t n) {
      const uint64_t odd = UINT64_C(0x9e3779b97f4a7c15);
      uint64_t lane[4] = {1, 2, 3, 4}, sum = n, word;
      size_t i = 0;
      for (; i + 32 <= n; i += 32)
        for (int k = 0; k < 4; k++) {
          memcpy(&word, bytes + i + 8 * k, 8);
          lane[k] = (lane[k] ^ word) * odd;
          lane[k] ^= lane[k] >> 29;
        }
      for (int k = 0; i < n; i += 8, k++) {
        memcpy(&word, bytes + i, 8);
        lane[k] = (lane[k] ^ word) * odd;
        lane[k] ^= lane[k] >> 29;
      }
      for (int k = 0; k < 4; k++) {
        sum = (sum ^ lane[k]) * odd;
        sum ^= sum >> 32;
      }
      return sum;
    }
    """
    uint64_t ep_checksum(const char* bytes, size_t n) nogil


cdef bytes make_prefix(const Engine* e, str task, bytes options):
    """Returns the bytes with which all states of a pool begin; `options` is a digest of 16 bytes."""
    cdef Header header
    cdef bytes task_name = task.encode(), env_name = e.env_def.name
    cdef bytes names = task_name + env_name
    memset(&header, 0, sizeof(Header))
    memcpy(header.magic, PyBytes_AS_STRING(MAGIC), 8)
    memcpy(header.options, PyBytes_AS_STRING(options), 16)
    header.format = FORMAT
    header.prefix_bytes = <uint32_t>((sizeof(Header) + len(names) + 15) & ~<size_t>15)
    header.state_version = e.env_def.state_version
    header.task_bytes = <uint32_t>len(task_name)
    header.name_bytes = <uint32_t>len(env_name)
    return ((<const char*>&header)[:sizeof(Header)] + names).ljust(header.prefix_bytes, b"\0")


cdef int64_t state_bytes(int64_t prefix_bytes, int64_t env_bytes) noexcept:
    """Returns the size of a state whose parts after its CoreState have `env_bytes`."""
    return prefix_bytes + <int64_t>sizeof(CoreState) + ((env_bytes + 7) & ~<int64_t>7) + CHECKSUM_BYTES


cdef void seal(char* state, int64_t prefix_bytes, int64_t env_bytes) noexcept:
    """Completes a state whose parts are in their places; those after its CoreState have `env_bytes`."""
    cdef int64_t end = prefix_bytes + <int64_t>sizeof(CoreState) + env_bytes
    cdef int64_t size = state_bytes(prefix_bytes, env_bytes) - CHECKSUM_BYTES
    cdef uint64_t checksum
    memcpy(state + ENV_BYTES_AT, &env_bytes, sizeof(int64_t))
    memset(state + end, 0, size - end)
    checksum = ep_checksum(state, size)
    memcpy(state + size, &checksum, CHECKSUM_BYTES)


cdef Header header_of(const char* state) noexcept:
    cdef Header header
    memcpy(&header, state, sizeof(Header))
    return header


cdef const CoreState* core_part(bytes state) noexcept:
    """Returns what the core keeps, of a state that check_state() has accepted."""
    return <const CoreState*>(PyBytes_AS_STRING(state) + header_of(PyBytes_AS_STRING(state)).prefix_bytes)


cdef inline int64_t turn_bytes(const Engine* e) noexcept:
    return e.num_players * <int64_t>sizeof(float) + e.turns.num_moves if e.turns != NULL else 0


cdef Parts parts_of(const Engine* e, const CoreState* core) noexcept:
    cdef Parts at
    at.sums = sizeof(CoreState)
    at.params = at.sums + (<int64_t>sizeof(Sums) if core.has_sums else 0)
    at.stream = at.params + core.param_bytes
    at.players = at.stream + (STREAM_BYTES if core.has_stream else 0)
    at.snapshot = at.players + e.num_players * (1 + (<int64_t>sizeof(double) if core.has_sums else 0)) + turn_bytes(e)
    return at


cdef int64_t snapshot_bytes(const Engine* e, bytes state) noexcept:
    """Returns the size of the env's snapshot, of a state that check_state() has accepted; negative if it is forged."""
    cdef int64_t env_bytes = header_of(PyBytes_AS_STRING(state)).env_bytes
    return <int64_t>sizeof(CoreState) + env_bytes - parts_of(e, core_part(state)).snapshot


cdef int64_t whole_bytes(const char* state, int64_t left) noexcept:
    """Returns the size that the header at `state` names, or -1 if the header is impossible or `left` bytes are less."""
    cdef Header header
    cdef int64_t size
    if left < <int64_t>sizeof(Header):
        return -1
    header = header_of(state)
    if memcmp(header.magic, PyBytes_AS_STRING(MAGIC), 8) or header.format != FORMAT or header.prefix_bytes % 16:
        return -1
    if header.prefix_bytes < sizeof(Header) or not 0 <= header.env_bytes < left:    # so that the sum cannot overflow
        return -1
    size = state_bytes(header.prefix_bytes, header.env_bytes)
    return size if size <= left else -1


cdef object size_error(const char* state, int64_t left, str where):
    """Returns the exception for `left` bytes in which no whole state begins."""
    cdef Header header
    if left == 0 or memcmp(state, PyBytes_AS_STRING(MAGIC), min(left, 8)):
        return StateError(f"{where} is not a saved state of an env: pass what get_state() has returned")
    if left >= <int64_t>sizeof(Header):
        header = header_of(state)
        if header.format != FORMAT:
            return StateError(
                f"{where} was saved in version {header.format} of the format, but this envpool reads version {FORMAT}: "
                "restore it with the version of envpool that saved it"
            )
        if header.env_bytes < 0 or header.prefix_bytes < sizeof(Header) or header.prefix_bytes % 16:
            return corrupt(where)
    return StateError(f"{where} is truncated after {left} bytes: save it again, or read all of the file")


cdef object corrupt(str where):
    return StateError(f"{where} is corrupt, since its checksum does not match: save it again, or read the file again")


cdef int check_state(bytes state, bytes prefix, Py_ssize_t at) except -1:
    """Raises StateError unless a state is complete and unchanged, and belongs to a pool with this prefix.

    `at` is the index of the state, for messages. The function runs no Python code before it raises.
    """
    cdef const char* given = PyBytes_AS_STRING(state)
    cdef const char* own = PyBytes_AS_STRING(prefix)
    cdef int64_t size = PyBytes_GET_SIZE(state), prefix_bytes = PyBytes_GET_SIZE(prefix)
    cdef int64_t whole = whole_bytes(given, size)
    cdef uint64_t checksum
    if whole < 0:
        raise size_error(given, size, f"states[{at}]")
    if whole != size:
        raise StateError(
            f"states[{at}] has {size} bytes, but its header names {whole}: split a byte string of several states with "
            "EnvStates.from_bytes()"
        )
    memcpy(&checksum, given + size - CHECKSUM_BYTES, CHECKSUM_BYTES)
    if ep_checksum(given, size - CHECKSUM_BYTES) != checksum:
        raise corrupt(f"states[{at}]")
    if (size < prefix_bytes or memcmp(given, own, ENV_BYTES_AT)
            or memcmp(given + OPTIONS_AT, own + OPTIONS_AT, prefix_bytes - OPTIONS_AT)):
        raise prefix_error(state, prefix, f"states[{at}]")
    return 0


cdef tuple names_of(bytes prefix):
    """Returns the names of the task and of the env definition."""
    cdef Header header = header_of(PyBytes_AS_STRING(prefix))
    names = prefix[sizeof(Header):header.prefix_bytes]
    end = header.task_bytes + header.name_bytes
    return names[:header.task_bytes].decode(errors="replace"), names[header.task_bytes:end].decode(errors="replace")


cdef object prefix_error(bytes state, bytes prefix, str where):
    """Returns the exception for an intact state of another pool."""
    cdef Header given = header_of(PyBytes_AS_STRING(state)), own = header_of(PyBytes_AS_STRING(prefix))
    task, name = names_of(state)
    own_task, own_name = names_of(prefix)
    if (task, name) != (own_task, own_name):
        return StateError(
            f"{where} is of the task {task!r} ({name}), but the pool has {own_task!r} ({own_name}): restore it in a "
            "pool of its own task"
        )
    if given.state_version != own.state_version:
        return StateError(
            f"{where} was saved by version {given.state_version} of {name}, but this is version {own.state_version}: "
            "restore it with the version of envpool that saved it"
        )
    if memcmp(given.options, own.options, sizeof(given.options)):
        return StateError(
            f"{where} was saved by a pool of {task!r} with other options: make the pool with the same options of the "
            "task, above all autoreset_mode, max_episode_steps, controlled and what changes observations. Parameters, "
            "numbers of envs and threads, seeds, the API style, rendering and episode_statistics may differ"
        )
    return corrupt(where)


def split_states(bytes data):
    """Split a concatenation of states.

    Parameters
    ----------
    data : bytes
        Saved states, one after the other.

    Returns
    -------
    tuple of bytes
        The states.

    Raises
    ------
    StateError
        `data` is truncated, or not made of states.
    """
    cdef const char* start = PyBytes_AS_STRING(data)
    cdef int64_t at = 0, size
    states = []
    while at < PyBytes_GET_SIZE(data):
        size = whole_bytes(start + at, PyBytes_GET_SIZE(data) - at)
        if size < 0:
            raise size_error(start + at, PyBytes_GET_SIZE(data) - at, f"states[{len(states)}]")
        states.append(PyBytes_FromStringAndSize(start + at, size))
        at += size
    return tuple(states)


# ---- what the core keeps of an env: a CoreState, the sums of its statistics, pending parameters, a generator ---------

cdef void save_players(const Engine* e, int32_t id, char* at) noexcept:
    memcpy(at, flags_of(e, id), e.num_players)
    at += e.num_players
    if e.turns != NULL:
        memcpy(at, e.turns.owed + <int64_t>id * e.num_players, e.num_players * sizeof(float))
        memcpy(at + e.num_players * sizeof(float), e.turns.legal + <int64_t>id * e.turns.num_moves, e.turns.num_moves)
        at += turn_bytes(e)
    if e.tally != NULL:
        memcpy(at, player_returns(e.tally, id), e.num_players * sizeof(double))


cdef void restore_players(Engine* e, int32_t id, const char* at, bint has_returns) noexcept:
    memcpy(flags_of(e, id), at, e.num_players)
    at += e.num_players
    if e.turns != NULL:
        memcpy(e.turns.owed + <int64_t>id * e.num_players, at, e.num_players * sizeof(float))
        memcpy(e.turns.legal + <int64_t>id * e.turns.num_moves, at + e.num_players * sizeof(float), e.turns.num_moves)
        at += turn_bytes(e)
    if e.tally != NULL and has_returns:
        memcpy(player_returns(e.tally, id), at, e.num_players * sizeof(double))


cdef bint are_flags(const Engine* e, const char* at) noexcept:
    """Whether save_players() may have written these flags: only a player with a row acts, and only one in its turn."""
    cdef int32_t p, acting = 0
    for p in range(e.num_players):
        if at[p] not in (0, HAS_ROW, HAS_ROW | ACTS):
            return False
        acting += at[p] == (HAS_ROW | ACTS)
    return acting <= 1 or e.turns == NULL


cdef CoreState core_of(const Engine* e, int32_t id) noexcept:
    cdef CoreState core
    memset(&core, 0, sizeof(CoreState))
    core.elapsed = e.elapsed[id]
    core.reset = e.reset[id]
    core.seed_pending = e.seed_pending[id]
    core.seed = e.seeds[id]
    core.has_sums = e.tally != NULL
    # The snapshot has the parameters in force; an env that was never seeded has none.
    core.param_bytes = <uint32_t>params_size(e) if e.param_pending[id] or e.seed_pending[id] else 0
    core.has_stream = keeps_stream(e, id)
    return core


cdef int save_core(Engine* e, int32_t id, char* saved) except -1:
    """Writes what the core keeps of an env: everything before its snapshot."""
    cdef CoreState core = core_of(e, id)
    cdef Parts at = parts_of(e, &core)
    memcpy(saved, &core, sizeof(CoreState))
    if core.has_sums:
        save_sums(e, id, <Sums*>(saved + at.sums))
    if core.param_bytes:
        save_params(e, id, saved + at.params)
    if core.has_stream:
        save_stream(e, id, saved + at.stream)
    if e.num_players:
        save_players(e, id, saved + at.players)
    return 0


cdef int check_core(const Engine* e, bytes state, Py_ssize_t at) except -1:
    """Raises StateError for values that the core does not produce, of a state that check_state() has accepted."""
    cdef const CoreState* core = core_part(state)
    cdef const char* saved = <const char*>core
    cdef Parts parts = parts_of(e, core)
    cdef int64_t env_bytes = snapshot_bytes(e, state), param_bytes = core.param_bytes
    cdef uint8_t ended = REFUSED if e.autoreset == DISABLED else PENDING
    cdef bint is_possible = (
        env_bytes >= 0
        and 0 <= core.elapsed <= e.max_episode_steps
        and (core.reset == ended or (core.reset == RUNNING and core.elapsed < e.max_episode_steps))
        and core.seed_pending <= 1 and core.has_sums <= 1 and core.has_stream <= 1
        and (not core.seed_pending or (core.reset == ended and env_bytes == 0))
        and (not core.has_sums or are_possible(<const Sums*>(saved + parts.sums)))
        and (param_bytes == params_size(e) or (param_bytes == 0 and not core.seed_pending))
        and (param_bytes == 0 or are_allowed(e, saved + parts.params))
        and (not core.has_stream or (not core.seed_pending and is_stream(saved + parts.stream)))
        and are_flags(e, saved + parts.players)
    )
    if not is_possible:
        raise StateError(f"states[{at}] has values that get_state() does not return; nothing was restored")
    return 0


cdef void restore_core(Engine* e, int32_t id, const char* saved) noexcept:
    """Restores what save_core() has written, or a state has that check_core() has accepted."""
    cdef const CoreState* core = <const CoreState*>saved
    cdef Parts at = parts_of(e, core)
    e.seeds[id] = core.seed
    if core.seed_pending != e.seed_pending[id]:
        e.seed_pending[id] = core.seed_pending
        ep_add_sc32(&e.seeds_pending, 1 if core.seed_pending else -1)
    e.elapsed[id] = core.elapsed
    e.reset[id] = core.reset
    e.broken[id] = 0
    if e.tally != NULL:
        restore_sums(e, id, <const Sums*>(saved + at.sums if core.has_sums else NULL))
    restore_params(e, id, saved + at.params if core.param_bytes else NULL)
    restore_stream(e, id, saved + at.stream if core.has_stream else NULL)
    if e.num_players:
        restore_players(e, id, saved + at.players, core.has_sums)


cdef bytes make_core_scratch(const Engine* e):
    """Returns memory for what save_core() writes of any env."""
    cdef CoreState core
    memset(&core, 0, sizeof(CoreState))
    core.has_sums = core.has_stream = 1
    core.param_bytes = <uint32_t>params_size(e)
    return PyBytes_FromStringAndSize(NULL, parts_of(e, &core).snapshot)


cdef int check_supported(const Engine* e, str task) except -1:
    """Raises StateError for an env definition without snapshots."""
    if e.env_def.get_state == NULL:
        raise StateError(
            f"the states of {task!r} cannot be saved, restored or copied: its env definition "
            f"{e.env_def.name.decode()} has no snapshots. The way back to a state is to reset with the same seed and "
            "to repeat the actions"
        )
    return 0


cdef str text_of(const Engine* e, int32_t id, int32_t code):
    """Returns the description of an error code of an env."""
    if code == ENVPOOL_BAD_SNAPSHOT:
        return "it has values that get_state() does not return"
    return "there is not enough memory" if code == ENVPOOL_NO_MEMORY else failure_text(e, id, code)


cdef inline const int32_t* data_of(cnp.ndarray ids) noexcept:
    return <const int32_t*>cnp.PyArray_DATA(ids)


# ---- states with another part ----------------------------------------------------------------------------------------

def with_parts(states, parts):
    """Return states with further bytes, one byte string for each, which `split_parts` takes off again.

    Parameters
    ----------
    states : sequence of bytes
        Results of `save_states`.
    parts : sequence of bytes
        As many byte strings.
    """
    cdef bytes state, part, whole
    cdef Header header
    cdef int64_t end, size
    made = []
    for state, part in zip(states, parts, strict=True):
        header = header_of(PyBytes_AS_STRING(state))
        end = header.prefix_bytes + <int64_t>sizeof(CoreState) + header.env_bytes
        size = header.env_bytes + PyBytes_GET_SIZE(part)
        whole = PyBytes_FromStringAndSize(NULL, state_bytes(header.prefix_bytes, size))
        memcpy(PyBytes_AS_STRING(whole), PyBytes_AS_STRING(state), end)
        memcpy(PyBytes_AS_STRING(whole) + end, PyBytes_AS_STRING(part), PyBytes_GET_SIZE(part))
        seal(PyBytes_AS_STRING(whole), header.prefix_bytes, size)
        made.append(whole)
    return tuple(made)


def split_parts(Pool pool, str task, bytes options, states, int64_t size):
    """Return the states and the parts of which `with_parts` made states, whose parts have `size` bytes each.

    Parameters
    ----------
    pool, task, options
        See `save_states`.
    states : sequence of bytes
        Results of `with_parts`.
    size : int
        Size of each part.

    Raises
    ------
    StateError
        A state is truncated or corrupt, or belongs to another pool.
    """
    cdef bytes state, inner, prefix
    cdef int64_t start, env_bytes
    pool.guard.check_open()
    prefix = make_prefix(pool.engine, task, options)
    made, parts = [], []
    for at, state in enumerate(states):
        check_state(state, prefix, at)
        env_bytes = header_of(PyBytes_AS_STRING(state)).env_bytes - size
        if env_bytes < 0:
            raise corrupt(f"states[{at}]")
        start = PyBytes_GET_SIZE(prefix) + <int64_t>sizeof(CoreState) + env_bytes
        inner = PyBytes_FromStringAndSize(NULL, state_bytes(PyBytes_GET_SIZE(prefix), env_bytes))
        memcpy(PyBytes_AS_STRING(inner), PyBytes_AS_STRING(state), start)
        seal(PyBytes_AS_STRING(inner), PyBytes_GET_SIZE(prefix), env_bytes)
        made.append(inner)
        parts.append(state[start : start + size])
    return tuple(made), parts


# ---- saving ----------------------------------------------------------------------------------------------------------

cdef int check_not_broken(const Engine* e, int32_t id) except -1:
    """Raises StateError if nobody may look at the state of an env."""
    if e.broken[id] and not e.seed_pending[id]:
        raise StateError(
            f"env {id} has no state, since its last step failed: reset it, or let its next step reset it"
        )
    return 0


cdef bytes save_env(Engine* e, bytes prefix, int32_t id, char* scratch):
    """Returns the state of an idle env. `scratch` has room for its snapshot, whose size is not known before."""
    cdef CoreState core = core_of(e, id)
    cdef int64_t prefix_bytes = PyBytes_GET_SIZE(prefix), start = parts_of(e, &core).snapshot, size = 0, env_bytes
    cdef bytes state
    cdef char* saved
    cdef void* snapshot = scratch
    cdef envpool_snapshots call
    cdef int32_t error = 0
    check_not_broken(e, id)
    if not e.seed_pending[id]:
        begin_snapshots(&call)
        call.n = 1
        call.ids = &id
        call.bytes = &snapshot
        call.sizes = &size
        call.errors = &error
        if has_failures(e.env_def.get_state(e.state, &call), &error, 1):
            raise StateError(f"env {id} could not be saved: {text_of(e, id, error)}")
    env_bytes = start - <int64_t>sizeof(CoreState) + size
    state = PyBytes_FromStringAndSize(NULL, state_bytes(prefix_bytes, env_bytes))
    saved = PyBytes_AS_STRING(state) + prefix_bytes
    memcpy(PyBytes_AS_STRING(state), PyBytes_AS_STRING(prefix), prefix_bytes)
    save_core(e, id, saved)
    memcpy(saved + start, scratch, size)
    seal(PyBytes_AS_STRING(state), prefix_bytes, env_bytes)
    return state


cdef bytes make_scratch(const Engine* e, const int32_t* ids, Py_ssize_t n):
    """Returns memory for the snapshot of any of these envs: none if all of them have never been seeded."""
    cdef int64_t limit = -1
    cdef Py_ssize_t i
    for i in range(n):
        if e.seed_pending[ids[i]]:
            continue
        if e.env_def.snapshot_size == NULL:
            limit = e.env_def.state_size(e.state)
            break
        limit = max(limit, e.env_def.snapshot_size(e.state, ids[i]))
    return PyBytes_FromStringAndSize(NULL, limit + 1) if limit >= 0 else b""      # empty bytes would be shared


cdef void begin_snapshots(envpool_snapshots* call) noexcept:
    memset(call, 0, sizeof(envpool_snapshots))
    call.struct_size = sizeof(envpool_snapshots)


def save_states(Pool pool, str task, bytes options, env_id):
    """Return the states of idle envs; see ``EnvPool.get_state`` for ids and errors.

    Parameters
    ----------
    pool : Pool
        The pool.
    task : str
        Name of the task, by which a state is recognised.
    options : bytes
        Digest of the options, 16 bytes, by which a state is recognised.
    env_id : array_like of int or None
        (n,) ids; None for all envs.

    Returns
    -------
    tuple of bytes
        One state per id.
    """
    cdef int visit = enter(pool.guard, NOTHING_ELSE, b"get_state")
    cdef Engine* e = pool.engine
    cdef cnp.ndarray ids
    cdef Py_ssize_t i
    cdef bytes scratch
    try:
        check_supported(e, task)
        ids = checked_ids(e, env_id)
        prefix = make_prefix(e, task, options)
        states = [None] * ids.shape[0]
        pool.guard.check_open()
        check_idle(e, data_of(ids), ids.shape[0], False)
        scratch = make_scratch(e, data_of(ids), ids.shape[0])
        for i in range(ids.shape[0]):
            states[i] = save_env(e, prefix, data_of(ids)[i], PyBytes_AS_STRING(scratch))
        return tuple(states)
    finally:
        pool.end_visit(visit)


# ---- restoring -------------------------------------------------------------------------------------------------------

cdef inline bint is_slow(const Engine* e) noexcept:
    return e.env_def.flags & ENVPOOL_SLOW_SNAPSHOTS


cdef inline int32_t envs_per_call(const Engine* e) noexcept:
    """Returns how many envs set_state and copy_state of the definition get at once. Slow ones look for signals after as
    many as are simulated in the time of one."""
    return min(max(e.env_def.lanes, 1), <int32_t>ENVPOOL_MAX_BATCH) if is_slow(e) else ENVPOOL_MAX_BATCH


cdef int after_call(Pool pool) except -1:
    """Lets signals in between two calls of a slow definition, and raises if the pool was closed."""
    if is_slow(pool.engine):
        PyErr_CheckSignals()
        pool.guard.check_open()
    return 0


cdef void give_up(Engine* e, int32_t id) noexcept:
    """Lets the next step of an env start an episode, since a change of its state has failed half-way."""
    e.reset[id] = REFUSED if e.autoreset == DISABLED else PENDING
    e.elapsed[id] = 0
    e.broken[id] = 1


cdef int seed_target(Engine* e, int32_t id) except -1:
    """Seeds an env that was never seeded, so that its state exists; its seed remains pending until it is restored."""
    cdef uint64_t seed = e.seeds[id]
    cdef int32_t error = 0
    if e.seed_pending[id] and seed_envs(e.env_def, e.state, &id, 1, &seed, &error):
        raise StateError(f"env {id} could not be seeded: {text_of(e, id, error)}; nothing was restored")
    return 0


cdef int set_some(Engine* e, list states, const int32_t* ids, int32_t first, int32_t n, bint only_checks) except -1:
    """Checks or restores the envs of states[first:first + n], n <= ENVPOOL_MAX_BATCH."""
    cdef envpool_snapshots call
    cdef int32_t some[ENVPOOL_MAX_BATCH]
    cdef int32_t errors[ENVPOOL_MAX_BATCH]
    cdef int32_t where[ENVPOOL_MAX_BATCH]
    cdef void* snapshots[ENVPOOL_MAX_BATCH]
    cdef int64_t sizes[ENVPOOL_MAX_BATCH]
    cdef uint8_t resets[ENVPOOL_MAX_BATCH]
    cdef int32_t i, k = 0, failed = -1
    cdef bint has_failed
    cdef bytes state
    for i in range(first, first + n):
        state = states[i]
        if not only_checks:
            restore_core(e, ids[i], <const char*>core_part(state))
        if core_part(state).seed_pending:
            continue
        some[k] = ids[i]
        where[k] = i
        snapshots[k] = <char*>core_part(state) + parts_of(e, core_part(state)).snapshot
        sizes[k] = snapshot_bytes(e, state)
        resets[k] = core_part(state).reset
        k += 1
    if k == 0:
        return 0
    memset(errors, 0, k * sizeof(int32_t))
    begin_snapshots(&call)
    call.n = k
    call.ids = some
    call.bytes = snapshots
    call.sizes = sizes
    call.errors = errors
    call.resets = resets
    call.only_checks = only_checks
    if only_checks or not is_slow(e):
        has_failed = has_failures(e.env_def.set_state(e.state, &call), errors, k)
    else:
        with nogil:
            has_failed = has_failures(e.env_def.set_state(e.state, &call), errors, k)
    if not has_failed:
        return 0
    for i in range(k):
        if errors[i]:
            failed = i
            if not only_checks:
                give_up(e, some[i])
    text = text_of(e, some[failed], errors[failed])
    if only_checks:
        raise StateError(f"states[{where[failed]}] cannot be restored: {text}; nothing was restored")
    raise StateError(f"env {some[failed]} could not be restored, and its next step starts an episode: {text}")


def restore_states(Pool pool, str task, bytes options, states, env_id):
    """Restore idle envs from the results of `save_states`; see ``EnvPool.set_state``.

    Parameters
    ----------
    pool, task, options, env_id
        See `save_states`.
    states : sequence of bytes
        (n,) one state per id.
    """
    cdef int visit = enter(pool.guard, NOTHING_ELSE, b"set_state")
    cdef Engine* e = pool.engine
    cdef cnp.ndarray ids
    cdef const int32_t* id = NULL
    cdef list given
    cdef bytes state, prefix
    cdef int32_t i, n = 0
    cdef bint is_holding = False
    try:
        check_supported(e, task)
        ids = checked_ids(e, env_id)
        prefix = make_prefix(e, task, options)
        given = list(states)
        id, n = data_of(ids), <int32_t>ids.shape[0]
        for i in range(<int32_t>len(given)):
            if type(given[i]) is not bytes:
                raise TypeError(f"states[{i}] must be bytes, got {shown(given[i])}")
        if len(given) != n:
            raise StateError(f"{len(given)} states cannot be restored to {n} envs: pass one state per env")
        pool.guard.check_open()
        check_idle(e, id, n, False)
        for i in range(n):
            state = given[i]
            check_state(state, prefix, i)
            check_core(e, state, i)
        for i in range(n):
            if not core_part(<bytes>given[i]).seed_pending:
                seed_target(e, id[i])
        for i in range(0, n, ENVPOOL_MAX_BATCH):
            set_some(e, given, id, i, min(n - i, <int32_t>ENVPOOL_MAX_BATCH), True)
        if is_slow(e):
            hold(e, id, n, RESTORED)
            is_holding = True
        for i in range(0, n, envs_per_call(e)):
            set_some(e, given, id, i, min(n - i, envs_per_call(e)), False)
            after_call(pool)
    finally:
        if is_holding:
            unhold(e, id, n)
        pool.end_visit(visit)


# ---- copying ---------------------------------------------------------------------------------------------------------

cdef int copy_some(Engine* e, const int32_t* sources, const int32_t* targets, int32_t n, char* scratch) except -1:
    """Copies n <= ENVPOOL_MAX_BATCH envs; those whose source is the target stay as they are. `scratch` has room for
    what the core keeps of one."""
    cdef envpool_copies call
    cdef int32_t origins[ENVPOOL_MAX_BATCH]
    cdef int32_t copies[ENVPOOL_MAX_BATCH]
    cdef int32_t errors[ENVPOOL_MAX_BATCH]
    cdef int32_t i, k = 0, failed = 0
    cdef bint has_failed = False
    for i in range(n):
        origins[k] = sources[i]
        copies[k] = targets[i]
        k += sources[i] != targets[i] and not e.seed_pending[sources[i]]
    if k:
        memset(errors, 0, k * sizeof(int32_t))
        call.struct_size = sizeof(envpool_copies)
        call.n = k
        call.sources = origins
        call.targets = copies
        call.errors = errors
        if is_slow(e):
            with nogil:
                has_failed = has_failures(e.env_def.copy_state(e.state, &call), errors, k)
        else:
            has_failed = has_failures(e.env_def.copy_state(e.state, &call), errors, k)
    for i in range(n):
        if sources[i] != targets[i]:
            save_core(e, sources[i], scratch)
            restore_core(e, targets[i], scratch)
    if has_failed:
        for i in range(k):
            if errors[i]:
                failed = i
                give_up(e, copies[i])
        raise StateError(
            f"env {origins[failed]} could not be copied to env {copies[failed]}, whose next step starts an episode: "
            f"{text_of(e, copies[failed], errors[failed])}"
        )
    return 0


def copy_states(Pool pool, str task, source_ids, target_ids):
    """Copy the states of idle envs to other idle envs; see ``EnvPool.copy_state``.

    Parameters
    ----------
    pool : Pool
        The pool.
    task : str
        Name of the task, for messages.
    source_ids, target_ids : array_like of int
        (n,) ids.
    """
    cdef int visit = enter(pool.guard, NOTHING_ELSE, b"copy_state")
    cdef Engine* e = pool.engine
    cdef cnp.ndarray sources, targets
    cdef const int32_t* source = NULL
    cdef const int32_t* target = NULL
    cdef bytes scratch
    cdef int32_t i, n = 0
    cdef bint is_holding = False
    try:
        check_supported(e, task)
        sources = checked_ids(e, np.empty(0, np.int64) if source_ids is None else source_ids, "source_ids")
        targets = checked_ids(e, np.empty(0, np.int64) if target_ids is None else target_ids, "target_ids")
        source, target, n = data_of(sources), data_of(targets), <int32_t>targets.shape[0]
        if sources.shape[0] != n:
            raise EnvIdError(
                f"source_ids has {sources.shape[0]} entries and target_ids has {n}: pass one source per target"
            )
        scratch = make_core_scratch(e)
        pool.guard.check_open()
        check_idle(e, target, n, False, "target_ids")
        check_idle(e, source, n, True, "source_ids")
        check_disjoint(e, source, target, n)
        for i in range(n):
            check_not_broken(e, source[i])
        for i in range(n):
            if source[i] != target[i] and not e.seed_pending[source[i]]:
                seed_target(e, target[i])
        if is_slow(e):
            hold(e, source, n, RESTORED)
            hold(e, target, n, RESTORED)
            is_holding = True
        for i in range(0, n, envs_per_call(e)):
            copy_some(e, source + i, target + i, min(n - i, envs_per_call(e)), PyBytes_AS_STRING(scratch))
            after_call(pool)
    finally:
        if is_holding:
            unhold(e, source, n)
            unhold(e, target, n)
        pool.end_visit(visit)
