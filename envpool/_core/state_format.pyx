# optimize: -O1
"""The bytes of a saved state of one env: a header, what the core keeps of the env, the env's part, a checksum.

A state is a little-endian byte string: a Header and two names, a CoreState, the Sums of the env if its pool has the
option `episode_statistics`, pending parameters if there are any, the env's snapshot, zeros up to a multiple of eight
bytes, and a checksum of everything before it. All states of one pool begin with the same prefix except for
Header.env_bytes, so comparing the prefix tells whether a state belongs to the same task, options and version.

The checksum finds mistakes, not forgeries: whoever forges a state can compute it. Everything that is read from a state
is therefore checked again before it is used as a size or an index, here, in state.pyx, and by the env's set_state.
"""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.string cimport memcmp, memcpy, memset

from envpool._core.statistics cimport Sums
from envpool._core.structs cimport Engine

from envpool.errors import StateError

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

cdef enum:
    FORMAT = 1                  # version of this layout
    CHECKSUM_BYTES = 8
    ENV_BYTES_AT = 16           # offset of Header.env_bytes, the only part of a prefix that varies
    OPTIONS_AT = 24

cdef bytes MAGIC = b"envpool\n"


cdef bytes make_prefix(Engine* e, str task, bytes options):
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


# ---- reading ---------------------------------------------------------------------------------------------------------

cdef Header header_of(const char* state) noexcept:
    cdef Header header
    memcpy(&header, state, sizeof(Header))
    return header


cdef const CoreState* core_part(bytes state) noexcept:
    """Returns what the core keeps, of a state that check_state() has accepted."""
    return <const CoreState*>(PyBytes_AS_STRING(state) + header_of(PyBytes_AS_STRING(state)).prefix_bytes)


cdef const Sums* sums_part(bytes state) noexcept:
    """Returns the sums of an env's statistics, of a state that check_state() has accepted; NULL if it has none."""
    return <const Sums*>(core_part(state) + 1) if core_part(state).has_sums else NULL


cdef const char* params_part(bytes state) noexcept:
    """Returns the pending parameters, of a state that check_state() has accepted: core.param_bytes bytes."""
    return <const char*>(core_part(state) + 1) + (sizeof(Sums) if core_part(state).has_sums else 0)


cdef const char* env_part(bytes state) noexcept:
    """Returns the env's snapshot, of a state that check_state() has accepted."""
    return params_part(state) + core_part(state).param_bytes


cdef int64_t env_part_bytes(bytes state) noexcept:
    """Returns the size of the env's snapshot, of a state that check_state() has accepted; negative if it is forged."""
    cdef int64_t sums = sizeof(Sums) if core_part(state).has_sums else 0
    return header_of(PyBytes_AS_STRING(state)).env_bytes - sums - core_part(state).param_bytes


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
            f"{where} was saved by a pool of {task!r} with other options: make the pool with the same options; only "
            "the numbers of envs and threads, the seeds and the API style may differ"
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
