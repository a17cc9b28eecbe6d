"""Failed envs: turning their error codes into exceptions, or into texts that belong to rows of a result."""

from cpython.exc cimport PyErr_CheckSignals
from cpython.pythread cimport PyThread_get_thread_ident
from libc.stdint cimport int32_t, int64_t

from envpool._core.atomic cimport ep_add_sc32, ep_load_rlx32
from envpool._core.calls cimport CreateFailure, TEXT_SIZE
from envpool._core.structs cimport Engine

from envpool.env cimport ENVPOOL_NO_MEMORY

from envpool.errors import EnvCreateError, EnvStepError, NEXT_EPISODES

cdef tuple MODES = tuple(NEXT_EPISODES)     # by the codes of the engine


cdef int raise_create_failure(str name, int32_t num_envs, const CreateFailure* failure) except -1:
    """Raises the exception for envs that could not be created."""
    if failure.status == ENVPOOL_NO_MEMORY:
        raise MemoryError(f"no memory for {num_envs} envs of {name}: ask for fewer envs")
    raise EnvCreateError(name, failure.status, (<bytes>failure.text).decode(errors="replace"))


cdef int raise_start_failure(int failed, int32_t started, int32_t num_threads) except -1:
    """Raises the exception for threads that could not be started; `failed` is an errno."""
    raise OSError(
        failed,
        f"only {started} threads of num_threads={num_threads} could be started: ask for fewer threads, or raise the "
        "limit (ulimit -u)",
    )


cdef object given = None        # see give_cause()
cdef object interruption = None         # see give_interruption()
cdef unsigned long interrupted = 0      # the thread of the interruption


cdef void give_interruption(object error) noexcept:
    """Lets check_signals() raise an exception in this thread, which an env that is Python code has waited in.

    Signal handlers run in such a wait, and the env can only report that it has failed.
    """
    global interruption, interrupted
    interruption, interrupted = error, PyThread_get_thread_ident()


cdef int check_signals() except -1:
    """Raises what a signal handler raises, or has raised in a wait of an env."""
    global interruption
    PyErr_CheckSignals()
    if interruption is not None and interrupted == PyThread_get_thread_ident():
        error, interruption = interruption, None
        raise error
    return 0


cdef void give_cause(object cause) noexcept:
    """Lets `error_text` of an env that is Python code pass on the exception behind a failure, or None.

    It must be the last thing that the function does with the GIL, so that no other code runs before failure_of() takes
    the exception.
    """
    global given
    given = cause


cdef tuple failure_of(const Engine* e, int32_t id, int32_t code):
    """Returns the env's own description of an error code, and the exception behind it, if there is one in this process.

    An exception keeps the frames that it left, so nobody keeps one for longer than needed.
    """
    global given
    cdef char text[TEXT_SIZE]
    cause = None
    text[0] = 0
    if e.env_def.error_text != NULL:
        e.env_def.error_text(e.state, id, code, text, sizeof(text))
        cause, given = given, None
        text[TEXT_SIZE - 1] = 0
    return (<bytes>text).decode(errors="replace") or f"error code {code}", cause


cdef str failure_text(const Engine* e, int32_t id, int32_t code):
    """Returns the env's own description of an error code."""
    return failure_of(e, id, code)[0]


cdef class FailureReports:
    """Reports of failed envs to the user of a pool.

    The code of a failure is turned into a text while the row is still in flight, since only then does nobody step the
    env. If a failure is not raised, its text stays here until the row is handed out, whatever happens in between.

    Parameters
    ----------
    restarts : bool
        If True, failures become texts in the results, else exceptions.
    raises_causes : bool
        If True, the exception of an env that is Python code in this process is raised itself, and not an EnvStepError.
    """

    def __init__(self, restarts, raises_causes):
        self.restarts, self.raises_causes = restarts, raises_causes
        self.texts = {}

    cdef bint note(self, Engine* e, const char* ids, size_t stride, int64_t n) except -1:
        """Notes, once per failure, which of n envs in flight have failed, and returns whether any has.

        Raises EnvStepError instead unless failures become texts. Its cause is the exception of the first env that
        failed with one in this process, so that a debugger reaches the frame. The ids are `stride` bytes apart. Making
        the texts may start the garbage collector, and so run any code.
        """
        cdef int64_t i
        cdef int32_t id
        if ep_load_rlx32(&e.failures) == 0:
            return False
        failures, cause = {}, None
        for i in range(n):
            id = (<const int32_t*>(ids + i * stride))[0]
            code = e.errors[id]
            if code:
                failures[id], its_cause = failure_of(e, id, code)
                cause = its_cause if cause is None else cause
        error = EnvStepError(failures, MODES[e.autoreset]) if failures and not self.restarts else None
        for id in failures:         # only now: an exception on the way here must not hide that the envs have failed
            if self.restarts:
                self.texts[id] = failures[id]
                self.is_any_noted = True
            if e.errors[id]:
                e.errors[id] = 0
                ep_add_sc32(&e.failures, -1)
        if error is not None:
            if self.raises_causes and cause is not None:
                raise cause
            error.__cause__ = cause
            raise error
        return len(failures) > 0

    cdef dict texts_of(self, const char* ids, size_t stride, int64_t n):
        """Returns the texts of n envs in flight, by position."""
        cdef int64_t i
        cdef int32_t id
        found = {}
        for i in range(n):
            id = (<const int32_t*>(ids + i * stride))[0]
            if id in self.texts:
                found[i] = self.texts[id]
        return found

    cdef void forget(self, const char* ids, size_t stride, int64_t n) noexcept:
        """Forgets the texts of n envs that have been handed out."""
        cdef int64_t i
        for i in range(n):
            self.texts.pop((<const int32_t*>(ids + i * stride))[0], None)
        self.is_any_noted = len(self.texts) > 0

    cdef void drop_all(self) noexcept:
        """Forgets the failures of rows that are dropped."""
        self.texts.clear()
        self.is_any_noted = False
