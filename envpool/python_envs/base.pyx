# optimize: -Og
"""The common part of the env definitions of Python environments, in this process or in others.

The state of both begins with a `Header`. Failures are kept as texts by env and code until the pool asks for them. Their
exceptions are kept with them in the process of the pool, until the next step of the env at the latest, since an
exception keeps the frames that it left.
"""

from cpython.exc cimport PyErr_SetInterrupt
from cpython.ref cimport Py_INCREF, PyObject
from libc.stddef cimport size_t
from libc.stdint cimport INT32_MAX, int32_t, int64_t
from libc.string cimport memcpy, strncpy

cimport numpy as cnp
from envpool._core.atomic cimport ep_store_rel64
from envpool._core.failures cimport give_cause
from envpool._core.inputs cimport ResetOptions
from envpool._core.structs cimport Engine
from envpool.env cimport ENVPOOL_NO_MEMORY, envpool_env, envpool_env_init, envpool_frames, envpool_setup
from envpool.scaffold cimport envpool_config_bytes, envpool_template

from envpool.errors import ConfigError
from envpool.native import define
from envpool.python_envs.faults import failure_of

cnp.import_array()

cdef struct Config:
    PyObject* source            # the EnvSource; the capsule keeps it


cdef class EnvsBase:
    """The environments of one pool; subclasses have ``frame(ids, height, width)``.

    Parameters
    ----------
    source : envpool.python_envs.source.EnvSource
        Makes the environments.
    num_envs : int
        Number of environments.
    """

    def __init__(self, source, int32_t num_envs):
        self.source = source
        self.texts = [{} for _ in range(num_envs)]
        self.causes = {}
        self.options = [None] * num_envs

    cdef Header* header(self) noexcept:
        """Returns the state of the definition."""
        return NULL

    def packed(self, options):
        """Return the options of a reset as `options` keeps them; ConfigError if they cannot be passed on."""
        return options

    cdef void close(self) noexcept:
        """Closes the environments, and gives back the reference that the pool has."""

    cdef int32_t note(self, int32_t id, text) noexcept:
        """Keeps the text of a failure and returns its code."""
        self.last_code = self.last_code % INT32_MAX + 1
        texts = self.texts[id]
        if len(texts) > 1:      # of rows that were dropped
            self.drop_causes(id)
            texts.clear()
        texts[self.last_code] = text
        return self.last_code

    cdef int32_t note_error(self, int32_t id, error, bint keeps_cause) noexcept:
        """Keeps the text of an exception, maybe also the exception; returns its code. The pool raises Ctrl-C later."""
        cdef int32_t code
        is_interrupt = isinstance(error, KeyboardInterrupt)
        try:
            text = failure_of(error)
        except BaseException as problem:
            is_interrupt |= isinstance(problem, KeyboardInterrupt)
            text = f"{type(error).__name__}, whose traceback could not be formatted: {type(problem).__name__}"
        code = self.note(id, text)
        if keeps_cause and self.keeps_causes:
            self.causes[code] = error
        if is_interrupt:
            PyErr_SetInterrupt()        # now: any Python code may raise it
        return code

    cdef void drop_causes(self, int32_t id) noexcept:
        """Forgets the exceptions of failures whose rows were dropped."""
        for code in list(self.texts[id]):
            self.causes.pop(code, None)


cdef class ObjectOptions(ResetOptions):
    """Options of the resets of Python environments.

    Parameters
    ----------
    envs : EnvsBase
        The environments of the pool.
    options : sequence
        The result of ``envs.packed()`` for each reset, None for a reset without options.
    """

    def __init__(self, EnvsBase envs, options):
        self.envs, self.options = envs, list(options)

    cdef int put(self, Engine* e, const int32_t* ids, int32_t n) except -1:
        cdef int32_t i
        if len(self.options) != n:
            raise ConfigError(
                f"options must have one entry for each of the {n} envs that are reset, got {len(self.options)}"
            )
        for i in range(n):
            self.envs.options[ids[i]] = self.options[i]
        ep_store_rel64(&self.envs.header().has_options, 1)
        return 0


cdef int open_envs(const envpool_setup* setup, void** state, type envs_class) noexcept:
    """Is `envpool_env.create`, for a class that is made from an EnvSource and the number of environments."""
    source = <object>(<const Config*>setup.config).source
    try:
        envs = envs_class(source, setup.num_envs)
        source.opened(envs)
    except MemoryError:
        return ENVPOOL_NO_MEMORY
    except BaseException as error:
        source.error = error
        strncpy(setup.text, failure_of(error).encode()[-(setup.text_size - 1):], setup.text_size - 1)
        return 1
    state[0] = (<EnvsBase>envs).header()
    (<Header*>state[0]).envs = <PyObject*>envs
    Py_INCREF(envs)
    return 0


cdef int draw(EnvsBase envs, const envpool_frames* f) noexcept:
    """Draws the frames of envs; nonzero if any could not be drawn."""
    cdef cnp.ndarray frame
    cdef int64_t size = <int64_t>f.height * f.width * 3
    cdef int32_t i
    cdef int failed = 0
    for i in range(f.n):
        try:
            frame = envs.frame([f.ids[i]], f.height, f.width)[0]
            memcpy(f.pixels + i * size, cnp.PyArray_DATA(frame), size)
        except BaseException as error:
            f.errors[i] = envs.note_error(f.ids[i], error, True)
            failed = 1
    return failed


cdef void write_text(EnvsBase envs, int32_t id, int32_t code, char* text, size_t size) noexcept:
    found = envs.texts[id].get(code, "the environment failed").encode()
    strncpy(text, found[-(<Py_ssize_t>size - 1):], size - 1)
    give_cause(envs.causes.pop(code, None))


cdef void destroy(void* state) noexcept nogil:
    with gil:
        (<EnvsBase>(<Header*>state).envs).close()


cdef int render_many(void* state, const envpool_frames* f) noexcept nogil:
    with gil:
        return draw(<EnvsBase>(<Header*>state).envs, f)


cdef void error_text(void* state, int32_t id, int32_t code, char* text, size_t size) noexcept nogil:
    with gil:
        write_text(<EnvsBase>(<Header*>state).envs, id, code, text, size)


cdef void set_common(envpool_env* env) noexcept:
    """Sets the members of a definition that this module knows."""
    envpool_env_init(env, "Python")
    env.destroy = destroy
    env.error_text = error_text


cdef void set_frames(envpool_env* env) noexcept:
    """Lets the environments of a definition be drawn; the size of a frame is passed to `define`."""
    env.render_many = render_many
    env.frame_height = env.frame_width = 1


cdef object capsule_of(source, const envpool_env* env):
    """Returns the capsule of the environments of an EnvSource."""
    cdef Config c
    c.source = <PyObject*>source
    return define(
        envpool_template(env), source.observations.fields(), source.actions.fields(),
        envpool_config_bytes(&c, sizeof(c)), name=source.name, keep=source, frame_size=source.frame_size,
        max_num_players=source.num_players or None, turns=source.is_turn_based,
    )
