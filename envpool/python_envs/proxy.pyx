"""The env definition whose environments are in worker processes: it hands a chunk over, and waits for the answers.

A chunk is published in the rings of its workers at once, so that all of them work in parallel, and each is woken once.
"""

import pickle
import warnings

from cpython.exc cimport PyErr_CheckSignals, PyErr_SetInterrupt
from cpython.ref cimport Py_DECREF, Py_INCREF, PyObject
from libc.stddef cimport size_t
from libc.stdint cimport INT32_MAX, int32_t, int64_t
from libc.string cimport memcpy, memset, strncpy

cimport numpy as cnp
from envpool.env cimport (
    ENVPOOL_MAX_BATCH, ENVPOOL_NO_MEMORY, envpool_batch, envpool_env, envpool_env_init, envpool_frames, envpool_rows,
    envpool_seeds, envpool_setup,
)
from envpool.python_envs.arena cimport Arena, EPY_COMMAND, EPY_RESET, View, epy_load, epy_ring, epy_store32
from envpool.python_envs.exchange cimport ANSWERED, CLOSING, Exchange, INTERRUPTED, publish, wait_for, wake_worker
from envpool.scaffold cimport envpool_config_bytes, envpool_template

from envpool.errors import EnvStepError, PoolStateError
from envpool.native import define
from envpool.python_envs.faults import LOST_TEXT, failure_of
from envpool.python_envs.launch import dumps
from envpool.python_envs.supervisor import Supervisor

cnp.import_array()

cdef struct Config:
    PyObject* source

cdef struct State:
    PyObject* proxy             # a Proxy
    Exchange x
    int32_t same_step           # whether the infos before a reset are handed out with those after it
    int32_t has_infos


cdef class Proxy:
    """The environments of one pool, in other processes; it has the methods of `envpool.python_envs.envs.Envs`.

    Parameters
    ----------
    source : envpool.python_envs.source.EnvSource
        Makes the environments.
    num_envs : int
        Number of environments.
    """

    cdef readonly object source
    cdef readonly Arena arena
    cdef readonly object supervisor
    cdef State state
    cdef list final             # by env: the infos and objects before its last reset, autoreset_mode="same_step"
    cdef list texts             # by env: texts of its last failures by code
    cdef int32_t last_code

    def __init__(self, source, int32_t num_envs):
        self.source = source
        self.final = [(None, None)] * num_envs
        self.texts = [{} for _ in range(num_envs)]
        self.arena = Arena(num_envs, source.processes.num_workers, *source.sizes(), source.window())
        self.state.x.v = self.arena.v
        self.state.same_step = source.same_step
        self.supervisor = Supervisor(self.arena, source)
        self.state.x.supervisor = <PyObject*>self.supervisor

    @property
    def has_extras(self):
        """Whether any env has had an info, or carries objects, so that `extras` must be asked."""
        return self.state.has_infos or self.source.observations.objects

    def extras(self, ids, bint of_final):
        """Return the infos and the object leaves of envs; see `Envs.extras`."""
        where = ids.tolist()
        found = [self.final[id] for id in where] if of_final else [self.load(id) for id in where]
        return [info for info, _ in found], [carried for _, carried in found]

    cdef tuple load(self, int32_t id):
        if self.arena.v.extra[id] == 0 or self.arena.v.failed[id]:
            return None, None
        try:
            return pickle.loads(self.arena.get(id))
        except Exception as error:      # the rest of the batch is valid
            text = f"the info of environment {id} was dropped, since it cannot be unpickled: {error!r}"
            warnings.warn(text, RuntimeWarning)
            return None, None

    def begin_close(self):
        """Let threads that wait for environments return; the pool is about to join them."""
        epy_store32(&self.state.x.is_closing, 1)
        cdef int32_t w
        for w in range(self.state.x.v.num_workers):
            epy_ring(&self.state.x.v.boxes[w].reply, &self.state.x.v.boxes[w].waiting)

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

    cdef list command(self, ids, method, arguments):
        """Lets the workers call a method of `Envs` for idle envs, and returns the results."""
        cdef int32_t id
        cdef int64_t at
        cdef int result
        commands = [dumps((method, args)) for args in arguments]
        for id, data in zip(ids, commands):
            self.arena.put(id, data)
            if publish(&self.state.x, id, EPY_COMMAND) == 0:
                raise EnvStepError({id: BUSY})
            wake_worker(&self.state.x, id % self.state.x.v.num_workers)
        results, first = [], None
        for id in ids:
            at = epy_load(&self.state.x.v.boxes[id % self.state.x.v.num_workers].head)
            result = INTERRUPTED
            while result == INTERRUPTED:
                PyErr_CheckSignals()    # it raises what has interrupted the wait
                with nogil:
                    result = wait_for(&self.state.x, id % self.state.x.v.num_workers, at)
            if result == CLOSING:
                raise PoolStateError("the pool is closed")
            if self.arena.v.failed[id] or self.arena.v.lost[id]:
                raise EnvStepError({id: "the process of the environment ended"})
            done, *rest = pickle.loads(self.arena.get(id))
            self.arena.v.extra[id] = 0
            if done:
                results.append(rest[0])
            elif first is None:
                first = rest
        if first is not None:
            text, error = first
            raise (RuntimeError(text) if error is None else error) from RemoteError(text)
        return results

    # ---- failures ----------------------------------------------------------------------------------------------------

    cdef int32_t note(self, int32_t id, text) noexcept:
        """Keeps the text of a failure and returns its code."""
        self.last_code = self.last_code % INT32_MAX + 1
        texts = self.texts[id]
        if len(texts) > 1:      # of rows that were dropped
            texts.clear()
        texts[self.last_code] = text
        return self.last_code

    cdef void write_text(self, int32_t id, int32_t code, char* text, size_t size) noexcept:
        found = self.texts[id].pop(code, "the environment failed").encode()
        strncpy(text, found[-(<Py_ssize_t>size - 1):], size - 1)

    cdef int32_t note_failed(self, int32_t id, int64_t at, int result) noexcept:
        """Notes why an env has no result, and returns the code."""
        if at and result == ANSWERED:
            text, last_words = self.arena.text(id), self.supervisor.last_words(id)
            return self.note(id, last_words or text if text == LOST_TEXT else text)
        return self.note(id, ENDINGS[result] if at else BUSY)

    cdef void keep_final(self, const envpool_batch* b) noexcept:
        """Keeps the infos and objects of envs that are about to reset."""
        cdef int32_t k
        for k in range(b.num_resets):
            self.final[b.ids[b.resets[k]]] = self.load(b.ids[b.resets[k]])

    cdef int draw(self, const envpool_frames* f) noexcept:
        cdef cnp.ndarray frame
        cdef int64_t size = <int64_t>f.height * f.width * 3
        cdef int32_t i
        cdef int failed = 0
        for i in range(f.n):
            try:
                frame = self.command([f.ids[i]], "frame", [(f.height, f.width)])[0]
                memcpy(f.pixels + i * size, cnp.PyArray_DATA(frame), size)
            except BaseException as error:
                if isinstance(error, KeyboardInterrupt):
                    PyErr_SetInterrupt()
                f.errors[i] = self.note(f.ids[i], failure_of(error))
                failed = 1
        return failed

    cdef void close(self) noexcept:
        """Ends the processes, and gives back the reference that the pool has."""
        try:
            self.supervisor.close()
        except KeyboardInterrupt:
            PyErr_SetInterrupt()        # the processes have ended; the caller raises it
        finally:
            Py_DECREF(self)


BUSY = "the environment is still busy with a step that was interrupted"
ENDINGS = {INTERRUPTED: "the step was interrupted by Ctrl-C", CLOSING: "the pool is being closed"}


class RemoteError(Exception):
    """The traceback of an exception in another process."""

    def __str__(self):
        return "\n" + self.args[0]


# ---- the functions of the definition ---------------------------------------------------------------------------------

cdef int open_proxy(const envpool_setup* setup, void** state) noexcept:
    source = <object>(<const Config*>setup.config).source
    try:
        proxy = Proxy(source, setup.num_envs)
        source.opened(proxy)
    except MemoryError:
        return ENVPOOL_NO_MEMORY
    except BaseException as error:
        source.error = error
        strncpy(setup.text, failure_of(error).encode()[-(setup.text_size - 1):], setup.text_size - 1)
        return 1
    (<Proxy>proxy).state.proxy = <PyObject*>proxy
    Py_INCREF(proxy)
    state[0] = &(<Proxy>proxy).state
    return 0


cdef int create(const envpool_setup* setup, void** state) noexcept nogil:
    with gil:
        return open_proxy(setup, state)


cdef void destroy(void* state) noexcept nogil:
    with gil:
        (<Proxy>(<State*>state).proxy).close()


cdef int seed_many(void* state, const envpool_seeds* call) noexcept nogil:
    cdef View* v = &(<State*>state).x.v
    cdef int32_t i
    for i in range(call.n):
        v.seeds[call.ids[i]] = <int64_t>call.seeds[i]
        v.has_seed[call.ids[i]] = 1
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


cdef int step_many(void* state, const envpool_batch* b) noexcept nogil:
    cdef State* s = <State*>state
    cdef int64_t at[ENVPOOL_MAX_BATCH]
    cdef int64_t last[ENVPOOL_MAX_BATCH]        # by worker: the tail at which all of its envs are answered
    cdef int32_t i, w
    cdef int result = ANSWERED, failed = 0
    if s.same_step and b.num_resets:
        with gil:
            (<Proxy>s.proxy).keep_final(b)
    load_actions(s, b)
    memset(last, 0, s.x.v.num_workers * sizeof(int64_t))
    for i in range(b.n):
        at[i] = publish(&s.x, b.ids[i], EPY_RESET if b.reset[i] else 0)
        if at[i]:
            last[b.ids[i] % s.x.v.num_workers] = at[i]
    for w in range(s.x.v.num_workers):
        if last[w]:
            wake_worker(&s.x, w)
    for w in range(s.x.v.num_workers):
        if last[w] and result == ANSWERED and epy_load(&s.x.v.boxes[w].tail) < last[w]:
            result = wait_for(&s.x, w, last[w])
    for i in range(b.n):
        failed |= collect(s, b, i, at[i], result)
    return failed


cdef bint collect(State* s, const envpool_batch* b, int32_t i, int64_t at, int result) noexcept nogil:
    """Copies what the step of an env returned, except for its row. True: it failed."""
    cdef int32_t id = b.ids[i]
    if at == 0 or epy_load(&s.x.v.boxes[id % s.x.v.num_workers].tail) < at or s.x.v.failed[id]:
        with gil:
            b.errors[i] = (<Proxy>s.proxy).note_failed(id, at, result)
        return True
    b.reward[i] = s.x.v.reward[id]
    b.terminated[i] = s.x.v.terminated[id]
    b.truncated[i] = s.x.v.truncated[id]
    if b.discount != NULL:
        b.discount[i] = s.x.v.discount[id]
    if b.reset[i]:
        s.x.v.has_seed[id] = 0
    if s.x.v.extra[id]:
        epy_store32(&s.has_infos, 1)
    return False


cdef void write_many(void* state, const envpool_rows* rows) noexcept nogil:
    cdef View* v = &(<State*>state).x.v
    cdef int32_t i, f, n = rows.n
    cdef int64_t size
    cdef char* to
    for f in range(v.num_fields):
        size = v.row_bytes[f]
        to = <char*>rows.fields[f] + rows.row0 * size
        if rows.ids[n - 1] - rows.ids[0] == n - 1 and is_ascending(rows.ids, n):
            memcpy(to, <const char*>v.rows[f] + rows.ids[0] * size, n * size)
            continue
        for i in range(n):
            memcpy(to + i * size, <const char*>v.rows[f] + rows.ids[i] * size, size)


cdef inline bint is_ascending(const int32_t* ids, int32_t n) noexcept nogil:
    cdef int32_t i
    for i in range(n):
        if ids[i] != ids[0] + i:
            return False
    return True


cdef int render_many(void* state, const envpool_frames* f) noexcept nogil:
    with gil:
        return (<Proxy>(<State*>state).proxy).draw(f)


cdef void error_text(void* state, int32_t id, int32_t code, char* text, size_t size) noexcept nogil:
    with gil:
        (<Proxy>(<State*>state).proxy).write_text(id, code, text, size)


cdef envpool_env ENV_DEF
envpool_env_init(&ENV_DEF, "Python")
ENV_DEF.create = create
ENV_DEF.destroy = destroy
ENV_DEF.seed_many = seed_many
ENV_DEF.step_many = step_many
ENV_DEF.write_many = write_many
ENV_DEF.error_text = error_text

cdef envpool_env WITH_FRAMES = ENV_DEF
WITH_FRAMES.render_many = render_many
WITH_FRAMES.frame_height = WITH_FRAMES.frame_width = 1

# The same for sync pools: one call gets all envs, since the workers step them at the same time.
cdef envpool_env WHOLE = ENV_DEF
WHOLE.lanes = ENVPOOL_MAX_BATCH
cdef envpool_env WHOLE_WITH_FRAMES = WITH_FRAMES
WHOLE_WITH_FRAMES.lanes = ENVPOOL_MAX_BATCH


def build(source, bint is_sync):
    """Return the capsule of the environments of an `EnvSource` in other processes."""
    cdef Config c
    cdef envpool_env* env
    c.source = <PyObject*>source
    if source.frame_size is None:
        env = &WHOLE if is_sync else &ENV_DEF
    else:
        env = &WHOLE_WITH_FRAMES if is_sync else &WITH_FRAMES
    return define(
        envpool_template(env), source.observations.fields(), source.actions.fields(),
        envpool_config_bytes(&c, sizeof(c)), name=source.name, keep=source, frame_size=source.frame_size,
    )
