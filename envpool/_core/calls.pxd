"""The ABI of env definitions: entries of field tables and their sizes, structs that calls pass, and statuses."""

from libc.stdint cimport int32_t, int64_t, uint64_t

from envpool.env cimport (
    ENVPOOL_ABI_VERSION, ENVPOOL_FLOAT32, ENVPOOL_FLOAT64, ENVPOOL_INT16, ENVPOOL_INT32, ENVPOOL_INT64,
    ENVPOOL_MAX_BATCH, ENVPOOL_NO_MEMORY, ENVPOOL_PLAYERS, ENVPOOL_TURNS, ENVPOOL_UINT16, ENVPOOL_UINT32,
    ENVPOOL_UINT64, envpool_batch, envpool_env, envpool_field, envpool_params, envpool_rows, envpool_seeds,
    envpool_setup,
)

cdef enum:
    TEXT_SIZE = 4096            # bytes of the buffers for an env's texts, which may be tracebacks

cdef struct CreateFailure:      # why create() failed
    int status
    char text[TEXT_SIZE]


# ---- fields ----------------------------------------------------------------------------------------------------------

cdef inline const envpool_field* field_at(const envpool_env* env, const envpool_field* table, int32_t i) noexcept nogil:
    """Entry i of a field table of the env. An env that was built against a later header may have larger entries."""
    return <const envpool_field*>(<const char*>table + <size_t>i * env.field_size)


cdef inline int64_t item_bytes(int32_t dtype) noexcept nogil:
    if dtype == ENVPOOL_INT64 or dtype == ENVPOOL_FLOAT64 or dtype == ENVPOOL_UINT64:
        return 8
    if dtype == ENVPOOL_INT32 or dtype == ENVPOOL_FLOAT32 or dtype == ENVPOOL_UINT32:
        return 4
    return 2 if dtype == ENVPOOL_INT16 or dtype == ENVPOOL_UINT16 else 1


cdef inline int32_t num_players(const envpool_env* env) noexcept nogil:
    """Places for players in each env; 0: the envs have none."""
    return env.max_num_players if env.flags & ENVPOOL_PLAYERS else 0


cdef inline bint moves_in_turn(const envpool_env* env) noexcept nogil:
    """Whether the players of each env move in turn."""
    return num_players(env) > 0 and env.flags & ENVPOOL_TURNS != 0


cdef inline bint has_players(const envpool_env* env, const envpool_field* field) noexcept nogil:
    """Whether the env has players, and the field a row for each."""
    return num_players(env) > 0 and field.ndim > 0 and field.shape[0] < 0


cdef inline int64_t row_items(const envpool_env* env, const envpool_field* field) noexcept nogil:
    """Elements of one env's row; a leading -1 stands for its players, or for one."""
    cdef int64_t n = num_players(env) if has_players(env, field) else 1
    cdef int32_t d
    for d in range(field.ndim):
        if field.shape[d] >= 0:
            n *= field.shape[d]
    return n


cdef inline int64_t row_bytes(const envpool_env* env, const envpool_field* field) noexcept nogil:
    return row_items(env, field) * item_bytes(field.dtype)


# ---- calls -----------------------------------------------------------------------------------------------------------

cdef inline void* create_state(const envpool_env* env, int32_t num_envs, CreateFailure* failure) noexcept:
    """Returns the state of a pool; or NULL, and why."""
    cdef envpool_setup setup
    cdef void* state = NULL
    setup.struct_size = sizeof(envpool_setup)
    setup.abi_version = ENVPOOL_ABI_VERSION
    setup.config = env.config
    setup.text = failure.text
    setup.text_size = TEXT_SIZE
    setup.num_envs = num_envs
    failure.text[0] = 0
    failure.status = env.create(&setup, &state)
    failure.text[TEXT_SIZE - 1] = 0
    if failure.status == 0 and state == NULL:
        failure.status = ENVPOOL_NO_MEMORY
    return state if failure.status == 0 else NULL


cdef inline bint has_failures(int status, int32_t* errors, int32_t n) noexcept nogil:
    """Whether any of n envs of a call failed. A status of its own, without any error code, is the code of all."""
    cdef int32_t i, any_error = 0
    for i in range(n):
        any_error |= errors[i]
    if status and not any_error:
        for i in range(n):
            errors[i] = status
    return status or any_error


cdef inline bint seed_envs(const envpool_env* env, void* state, const int32_t* ids, int32_t n, const uint64_t* seeds,
                           int32_t* errors) noexcept nogil:
    """Seeds n <= ENVPOOL_MAX_BATCH envs. Returns whether any failed; `errors` (n) must be zero and gets their codes."""
    cdef envpool_seeds call
    call.struct_size = sizeof(envpool_seeds)
    call.n = n
    call.ids = ids
    call.seeds = seeds
    call.errors = errors
    return has_failures(env.seed_many(state, &call), errors, n)


cdef inline bint is_contiguous(const int32_t* ids, int32_t n) noexcept nogil:
    cdef int32_t i, first = ids[0], off = 0
    if ids[n - 1] - first != n - 1:
        return False
    for i in range(n):
        off |= ids[i] - first - i
    return off == 0


cdef inline void begin_batch(envpool_batch* batch) noexcept nogil:
    """Sets the members that are the same for every batch; begin_players() sets those of players."""
    batch.struct_size = sizeof(envpool_batch)
    batch.player_present = NULL
    batch.player_reward = NULL
    batch.player_terminated = NULL
    batch.player_truncated = NULL


cdef inline void fill_rows(envpool_rows* rows, const int32_t* ids, int32_t n, void** fields,
                           int64_t row0) noexcept nogil:
    rows.struct_size = sizeof(envpool_rows)
    rows.n = n
    rows.ids = ids
    rows.fields = fields
    rows.row0 = row0
    rows.player_rows = NULL


cdef inline void write_envs(const envpool_env* env, void* state, const int32_t* ids, int32_t n, void** fields,
                            int64_t row0) noexcept nogil:
    """Writes the fields of n <= ENVPOOL_MAX_BATCH envs into the rows from row0 on."""
    cdef envpool_rows rows
    fill_rows(&rows, ids, n, fields, row0)
    env.write_many(state, &rows)


cdef inline void write_envs_of_players(const envpool_env* env, void* state, const int32_t* ids, int32_t n,
                                       void** fields, int64_t row0) noexcept nogil:
    """Writes rows like write_envs(), for an env with players."""
    cdef envpool_rows rows
    cdef int64_t player_rows[ENVPOOL_MAX_BATCH]
    cdef int32_t i
    for i in range(n):
        player_rows[i] = (row0 + i) * num_players(env)
    fill_rows(&rows, ids, n, fields, row0)
    rows.player_rows = player_rows
    env.write_many(state, &rows)


cdef inline void begin_params(envpool_params* call, const int32_t* ids, int32_t n, void** values,
                              int32_t* errors) noexcept nogil:
    call.struct_size = sizeof(envpool_params)
    call.n = n
    call.ids = ids
    call.values = values
    call.errors = errors
