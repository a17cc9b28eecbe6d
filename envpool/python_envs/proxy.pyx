# optimize: -Og
"""The env definition whose environments are in worker processes: it hands a chunk over, and waits for the answers.

A chunk is published in the rings of its workers at once, so that all of them work in parallel, and each is woken once.

Rows of DIRECT bytes and more are written by the workers into the block that will be handed out, if the chunk has all
envs of the pool; smaller rows, and those of async pools, whose place is not known in advance, are copied from the rows
in the arena.
"""

import contextlib
import pickle
import resource
import warnings

from cpython.exc cimport PyErr_SetInterrupt
from cpython.ref cimport Py_DECREF, PyObject
from libc.stdint cimport int32_t, int64_t, INT64_MAX
from libc.string cimport memcpy

from envpool._core.atomic cimport ep_load_rlx64
from envpool._core.failures cimport check_signals
from envpool.env cimport (
    ENVPOOL_MAX_BATCH, envpool_batch, envpool_env, envpool_rows, envpool_seeds, envpool_setup,
)
from envpool.python_envs.arena cimport (
    Arena, copy_report, EPY_COMMAND, epy_load, epy_load32, EPY_OPTIONS, epy_outcome, EPY_RESET, epy_store32, epy_wake,
    outcome_of, row_of, USED, View, WAITING,
)
from envpool.python_envs.base cimport EnvsBase, Header, capsule_of, open_envs, set_common, set_frames
from envpool.python_envs.blocks cimport Region, SharedBlocks, offset_of
from envpool.python_envs.exchange cimport ANSWERED, CLOSING, Exchange, INTERRUPTED, publish, wait_for

from envpool._support.text import shown
from envpool.errors import ConfigError, EnvStepError, PoolClosedError, advise
from envpool._support.machine import memory_limit
from envpool.python_envs.faults import LOST_TEXT, raise_remote
from envpool.python_envs.launch import dumps
from envpool.python_envs.supervisor import Supervisor

# Least bytes of a row that workers write into the block: copying a smaller one is not noticeable.
cdef int64_t DIRECT = 4096

# The most bytes of address space that a pool takes for blocks: many pools must fit into one process.
cdef int64_t MOST = 1LL << 36

cdef struct State:
    Header header               # of a Proxy
    Exchange x
    int32_t same_step           # whether the infos before a reset are handed out with those after it
    int32_t has_infos
    int32_t has_displaced       # whether `Proxy.displaced` contains anything
    int32_t num_envs
    const Region* region        # where blocks lie that workers can write to; NULL: they cannot


cdef class Proxy(EnvsBase):
    """The environments of one pool, in other processes; it has the methods of `envpool.python_envs.envs.Envs`."""

    cdef readonly Arena arena
    cdef readonly SharedBlocks blocks       # the memory of the pool's batches; None: ordinary memory
    cdef readonly object supervisor
    cdef State state
    cdef list final             # by env: what pickled() returned before its last reset, autoreset_mode="same_step"
    cdef dict displaced         # by env id: its window before the first command since its last step; b"": it was empty

    def __init__(self, source, int32_t num_envs):
        super().__init__(source, num_envs)
        self.final, self.displaced = [b""] * num_envs, {}
        self.arena = Arena(num_envs, source.processes.num_workers, *source.sizes(), source.window(),
                           source.num_players)
        is_whole = source.processes.is_sync and num_envs <= ENVPOOL_MAX_BATCH and not source.num_players
        if is_whole and max(source.sizes()[1]) >= DIRECT:
            with contextlib.suppress(OSError):      # a limit of this process forbids it: rows are copied
                self.blocks = SharedBlocks(self.arena, room_for_blocks())
                self.state.region = &self.blocks.region
        self.state.x.v = self.arena.v
        self.state.x.pace.yields_until = 0 if source.processes.keeps_cpus else INT64_MAX
        self.state.same_step, self.state.num_envs = source.same_step, num_envs
        self.supervisor = Supervisor(self.arena, source)
        self.state.x.supervisor = <PyObject*>self.supervisor

    @property
    def has_extras(self):
        """Whether any env has had an info, or carries objects, so that `extras` must be asked."""
        return epy_load32(&self.state.has_infos) or self.source.observations.objects

    def extras(self, ids, bint of_final):
        """Return the infos and the object leaves of envs; see `Envs.extras`."""
        where = ids.tolist()
        found = [self.load(id, of_final) for id in where]
        return [info for info, _ in found], [carried for _, carried in found]

    def drop_info(self, int32_t id, bint of_final):
        """Forget the info of an env in flight, which cannot be handed out; see `Envs.drop_info`."""
        _, carried = self.load(id, of_final)
        data = pickle.dumps((None, carried), 5)
        if of_final:
            self.final[id] = data
        elif id in self.displaced:
            self.displaced[id] = data
        else:
            self.arena.put(id, data)

    cdef bytes pickled(self, int32_t id):
        """Returns the pickled info and objects of an env's last step, b"" if it has none. It runs no other code."""
        cdef bytes data = self.displaced.get(id)
        return self.window_of(id) if data is None else data

    cdef tuple load(self, int32_t id, bint of_final):
        """Returns the info and the objects of an env; see `extras`."""
        data = self.final[id] if of_final else self.pickled(id)
        if not data:
            return None, None
        try:
            return pickle.loads(data)
        except Exception as error:      # the rest of the batch is valid
            if of_final:                # first: a filter may turn the warning into an exception
                self.final[id] = b""
            elif id in self.displaced:
                self.displaced[id] = b""
            else:
                outcome_of(&self.arena.v, id).extra = 0
            text = f"the info of environment {id} was dropped, since it cannot be unpickled: {shown(error)}"
            warnings.warn(text, RuntimeWarning)
            return None, None

    cdef bytes window_of(self, int32_t id):
        """Returns the pickled infos and objects of an env; b"" if it has none."""
        cdef const epy_outcome* outcome = outcome_of(&self.arena.v, id)
        return b"" if outcome.failed else self.arena.get(id)

    cdef void forget_displaced(self, const envpool_batch* b) noexcept:
        """Forgets the windows of envs that are about to be stepped."""
        cdef int32_t i
        for i in range(b.n):
            self.displaced.pop(b.ids[i], None)
        epy_store32(&self.state.has_displaced, len(self.displaced) > 0)

    def begin_close(self):
        """Let threads that wait for environments return; the pool is about to join them."""
        epy_store32(&self.state.x.is_closing, 1)
        cdef int32_t w
        for w in range(self.state.x.v.num_workers):
            epy_wake(&self.state.x.v.boxes[w].reply, &self.state.x.v.boxes[w].waiting)

    # ---- access ------------------------------------------------------------------------------------------------------

    def call(self, ids, name, args, kwargs):
        """Call a method of idle envs; see `Envs.call`."""
        return self.command(ids, "call", [(name, args, kwargs)] * len(ids))

    def get_attr(self, ids, name):
        """Return an attribute of idle envs; see `Envs.get_attr`."""
        return self.command(ids, "get_attr", [(name,)] * len(ids))

    def set_attr(self, ids, name, values):
        """Set an attribute of idle envs; see `Envs.set_attr`."""
        self.command(ids, "put_attr", [(name, value) for value in values])

    def visit(self, ids, function, args):
        """Return the results of a function of idle envs; see `Envs.visit`. The function is pickled."""
        return self.command(ids, "visit", [(function, args)] * len(ids))

    def frame(self, ids, height, width):
        """Return frames of idle envs; see `Envs.frame`."""
        return self.command(ids, "frame", [(height, width)] * len(ids))

    cdef list command(self, ids, method, arguments):
        """Lets the workers call a method of `Envs` for idle envs, and returns the results.

        The caller holds the envs. A command and its result are in the window of its env, whose infos may not have been
        handed out yet: they are kept in `displaced`, also after a call that was interrupted.
        """
        cdef int64_t last[ENVPOOL_MAX_BATCH]
        cdef int64_t at
        cdef int32_t id, entry
        commands = [self.fitting("the arguments of a call", args, (method, args)) for args in arguments]
        # Entries that a Ctrl-C has left in the rings still write to the windows.
        for worker in {i % self.arena.v.num_workers for i in ids}:
            self.await_answers(worker, epy_load(&self.arena.v.boxes[<int32_t>worker].head))
        places = []
        for id, data in zip(ids, commands):
            self.displaced.setdefault(id, self.window_of(id))
            epy_store32(&self.state.has_displaced, 1)
            self.arena.put(id, data)
            entry = id | EPY_COMMAND
            publish(&self.state.x, &entry, 1, &at, last)
            places.append(at)
        results, first = [], None
        for id, at in zip(ids, places):
            if at == 0:
                raise EnvStepError({id: BUSY})
            self.await_answers(id % self.arena.v.num_workers, at)
            if outcome_of(&self.arena.v, id).failed or self.arena.v.lost[id]:
                raise self.loss(id)
            done, *rest = pickle.loads(self.arena.get(id))
            if done:
                results.append(rest[0])
            elif first is None:
                first = rest
        if first is not None:
            raise_remote(*first)
        return results

    cdef object loss(self, int32_t id):
        """Returns the error of a command whose env is lost. Nothing is in flight, and no batch is left."""
        text = self.arena.text(id) if outcome_of(&self.arena.v, id).failed else LOST_TEXT
        error = EnvStepError({id: self.explained(id, text)})
        advise(error, "reset() starts a new episode of the env")
        return error

    cdef object explained(self, int32_t id, text):
        """Returns the text of a failure of an env; if its process ended, how it ended."""
        return self.supervisor.last_words(id) if text == LOST_TEXT else text

    cdef int await_answers(self, int32_t worker, int64_t at) except -1:
        """Waits until a worker has answered all entries before a position of its ring."""
        cdef int result = INTERRUPTED
        while result == INTERRUPTED:
            check_signals()             # it raises what has interrupted the wait
            with nogil:
                result = wait_for(&self.state.x, worker, at)
        if result == CLOSING:
            raise PoolClosedError("the pool was closed during the call: make a new one")
        return 0

    # ---- failures ----------------------------------------------------------------------------------------------------

    cdef int32_t note_failed(self, int32_t id, int64_t at, int result) noexcept:
        """Notes why an env has no result, and returns the code."""
        try:
            if at and result == ANSWERED:
                return self.note(id, self.explained(id, self.arena.text(id)))
            return self.note(id, ENDINGS[result] if at else BUSY)
        except BaseException as error:
            return self.note_error(id, error, False)

    def packed(self, options):
        """Return the pickled options of a reset; see `EnvsBase.packed`."""
        return self.fitting("the options of a reset", options, options)

    cdef bytes fitting(self, name, given, value):
        """Returns a value, which contains what the user has given, pickled for a window, or raises ConfigError."""
        try:
            data = dumps(value)
        except Exception as error:
            raise ConfigError(
                f"{name} must be picklable for environments in other processes, got {shown(given)}: {error}"
            ) from error
        if len(data) > self.arena.window:
            raise ConfigError(
                f"{name} take {len(data)} bytes when pickled, but an environment in another process has "
                f"{self.arena.window} bytes for them: pass less, or use workers='inline'"
            )
        return data

    cdef int put_options(self, const envpool_batch* b, int32_t* entries) noexcept:
        """Writes the options of envs that are about to reset into their windows, and marks the entries of these envs.

        The window of an env that is still busy with a step, whose wait Ctrl-C has ended, is free after that step.
        Returns nonzero if an env stays busy; its row fails.
        """
        cdef int32_t i, k, id, w
        cdef int64_t head
        cdef int result, failed = 0
        for k in range(b.num_resets):
            i = b.resets[k]
            id, w = b.ids[i], b.ids[i] % self.state.x.v.num_workers
            options, self.options[id] = self.options[id], None
            if options is None:
                continue
            result = ANSWERED
            if id in self.arena.unfinished(w):
                head = epy_load(&self.state.x.v.boxes[w].head)
                with nogil:
                    result = wait_for(&self.state.x, w, head)
            if result == ANSWERED:
                self.arena.put(id, options)
                entries[i] |= EPY_OPTIONS
            else:
                b.errors[i] = self.note(id, ENDINGS[result])
                failed = 1
        return failed

    cdef void keep_final(self, const envpool_batch* b) noexcept:
        """Keeps the infos and objects of envs that are about to reset."""
        cdef int32_t k
        for k in range(b.num_resets):
            self.final[b.ids[b.resets[k]]] = self.pickled(b.ids[b.resets[k]])

    cdef Header* header(self) noexcept:
        return <Header*>&self.state

    cdef void close(self) noexcept:
        try:
            self.supervisor.close()
        except KeyboardInterrupt:
            PyErr_SetInterrupt()        # the processes have ended; the caller raises it
        finally:
            Py_DECREF(self)


def room_for_blocks():
    """Return the bytes of the region for blocks; 0 if RLIMIT_AS limits mappings, which the program needs itself."""
    if resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY:
        return 0
    return min(memory_limit()[0], MOST)


BUSY = "the environment is still busy with a step that was interrupted"
ENDINGS = {INTERRUPTED: "the step was interrupted by a signal, such as Ctrl-C", CLOSING: "the pool is being closed"}


# ---- the functions of the definition ---------------------------------------------------------------------------------

cdef int create(const envpool_setup* setup, void** state) noexcept nogil:
    with gil:
        return open_envs(setup, state, Proxy)


cdef int seed_many(void* state, const envpool_seeds* call) noexcept nogil:
    cdef View* v = &(<State*>state).x.v
    cdef int32_t i
    for i in range(call.n):
        v.seeds[call.ids[i]] = <int64_t>call.seeds[i]
        v.has_seed[call.ids[i]] = WAITING
    return 0


cdef void load_actions(State* s, const envpool_batch* b) noexcept nogil:
    cdef int32_t i, k
    cdef int64_t size
    for k in range(s.x.v.num_actions):
        size = s.x.v.action_bytes[k]
        if b.contiguous:
            memcpy(<char*>s.x.v.actions[k] + b.ids[0] * size, <const char*>b.actions[k] + b.ids[0] * size, b.n * size)
            continue
        for i in range(b.n):
            memcpy(<char*>s.x.v.actions[k] + b.ids[i] * size, <const char*>b.actions[k] + b.ids[i] * size, size)


cdef int64_t aim(State* s, const envpool_batch* b, const envpool_rows* rows) noexcept nogil:
    """Decides where workers write the large fields. Returns where the block lies in the region; 0: not there."""
    cdef View* v = &s.x.v
    cdef int64_t place, found = 0
    cdef int32_t f, i
    for f in range(v.num_fields):
        if v.row_bytes[f] < DIRECT:
            continue
        place = 0
        if rows != NULL and b.n == s.num_envs:      # nobody else writes to the block, so it can be abandoned
            place = offset_of(s.region, <char*>rows.fields[f] + rows.row0 * v.row_bytes[f])
            found = place or found
        for i in range(b.n):
            v.targets[<int64_t>f * s.num_envs + b.ids[i]] = place + i * v.row_bytes[f] if place else 0
    return found


cdef int step_into(State* s, const envpool_batch* b, const envpool_rows* rows) noexcept nogil:
    """Steps envs; `rows`, unless NULL, is where their rows belong: afterwards, rows of large fields may be there."""
    cdef int32_t entries[ENVPOOL_MAX_BATCH]
    cdef int64_t at[ENVPOOL_MAX_BATCH]
    cdef int64_t last[ENVPOOL_MAX_BATCH]
    cdef int32_t i, w
    cdef int64_t place = 0 if s.region == NULL else aim(s, b, rows)
    cdef int result = ANSWERED, failed = 0
    cdef bint is_complete = True
    if s.same_step and b.num_resets:
        with gil:
            (<Proxy>s.header.envs).keep_final(b)
    if epy_load32(&s.has_displaced):
        with gil:
            (<Proxy>s.header.envs).forget_displaced(b)
    load_actions(s, b)
    for i in range(b.n):
        entries[i] = b.ids[i] | EPY_RESET if b.reset[i] else b.ids[i]
    if b.num_resets and ep_load_rlx64(&s.header.has_options):
        with gil:
            failed = (<Proxy>s.header.envs).put_options(b, entries)
    publish(&s.x, entries, b.n, at, last)
    for i in range(b.n):
        is_complete &= at[i] != 0
    for w in range(s.x.v.num_workers):
        if last[w] and result == ANSWERED:
            result = wait_for(&s.x, w, last[w])
    is_complete &= result == ANSWERED
    if place and not is_complete:
        with gil:
            (<Proxy>s.header.envs).blocks.abandon(place)
    for i in range(b.n):
        failed |= collect(s, b, i, is_complete, at[i], result)
    return failed


cdef int step_many(void* state, const envpool_batch* b) noexcept nogil:
    return step_into(<State*>state, b, NULL)


cdef int run_many(void* state, const envpool_batch* b, const envpool_rows* rows) noexcept nogil:
    cdef int failed = step_into(<State*>state, b, rows)
    write_many(state, rows)
    return failed


cdef inline bint collect(State* s, const envpool_batch* b, int32_t i, bint is_answered, int64_t at,
                         int result) noexcept nogil:
    """Copies what the step of an env returned, except for its row. True: it failed."""
    cdef int32_t id = b.ids[i]
    cdef const epy_outcome* outcome = outcome_of(&s.x.v, id)
    if not is_answered:
        is_answered = at and epy_load(&s.x.v.boxes[id % s.x.v.num_workers].tail) >= at
    if not is_answered or outcome.failed:
        with gil:
            b.errors[i] = (<Proxy>s.header.envs).note_failed(id, at, result)
        return True
    if s.x.v.num_players:
        copy_report(&s.x.v, b, id, False)
    else:
        b.reward[i] = outcome.reward
    b.terminated[i] = outcome.terminated
    b.truncated[i] = outcome.truncated
    if b.discount != NULL:
        b.discount[i] = outcome.discount
    if b.reset[i] and s.x.v.has_seed[id]:
        s.x.v.has_seed[id] = USED
    if outcome.extra:
        epy_store32(&s.has_infos, 1)
    return False


cdef void write_many(void* state, const envpool_rows* rows) noexcept nogil:
    cdef State* s = <State*>state
    cdef View* v = &s.x.v
    cdef int32_t i, f, n = rows.n
    cdef int64_t size
    cdef char* to
    for f in range(v.num_fields):
        size = v.row_bytes[f]
        to = <char*>rows.fields[f] + rows.row0 * size
        if s.region != NULL and size >= DIRECT:
            copy_rows(s, rows, f, to)
            continue
        if v.num_workers == 1 and rows.ids[n - 1] - rows.ids[0] == n - 1 and is_ascending(rows.ids, n):
            memcpy(to, row_of(v, f, rows.ids[0]), n * size)
            continue
        for i in range(n):
            memcpy(to + i * size, row_of(v, f, rows.ids[i]), size)


cdef void copy_rows(State* s, const envpool_rows* rows, int32_t f, char* to) noexcept nogil:
    """Copies the rows of a large field from where the workers have written them, unless that is their place."""
    cdef View* v = &s.x.v
    cdef int64_t size = v.row_bytes[f], target
    cdef const char* row
    cdef int32_t i
    for i in range(rows.n):
        target = v.targets[<int64_t>f * s.num_envs + rows.ids[i]]
        row = v.region + target if target else row_of(v, f, rows.ids[i])
        if row != to + i * size:
            memcpy(to + i * size, row, size)


cdef inline bint is_ascending(const int32_t* ids, int32_t n) noexcept nogil:
    cdef int32_t i
    for i in range(n):
        if ids[i] != ids[0] + i:
            return False
    return True


cdef envpool_env ENV_DEF
set_common(&ENV_DEF)
ENV_DEF.create = create
ENV_DEF.seed_many = seed_many
ENV_DEF.step_many = step_many
ENV_DEF.write_many = write_many

cdef envpool_env WITH_FRAMES = ENV_DEF
set_frames(&WITH_FRAMES)

# The same for sync pools: one call gets all envs, since the workers step them at the same time.
cdef envpool_env WHOLE = ENV_DEF
WHOLE.lanes = ENVPOOL_MAX_BATCH
WHOLE.run_many = run_many

cdef envpool_env WHOLE_WITH_FRAMES = WHOLE
set_frames(&WHOLE_WITH_FRAMES)


def build(source):
    """Return the capsule of the environments of an `EnvSource` in other processes."""
    if source.processes.is_sync:
        return capsule_of(source, &WHOLE if source.frame_size is None else &WHOLE_WITH_FRAMES)
    return capsule_of(source, &ENV_DEF if source.frame_size is None else &WITH_FRAMES)
