"""The env definitions of declared tasks, with Gymnasium's or dm_control's conventions.

The functions of a task are those of the conventions, with the tables of a Program in place of code. If a Python
function completes the steps, a thread that has stepped the environments of a chunk takes the GIL and calls it once for
all of them.
"""

import numpy as np

from cpython.exc cimport PyErr_SetInterrupt
from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.stddef cimport size_t
from libc.stdint cimport int32_t
from libc.stdio cimport snprintf
from libc.string cimport memcpy

from envpool._core.casts cimport fitted
from envpool._core.failures cimport give_cause
from envpool.env cimport ENVPOOL_CAPSULE_NAME, ENVPOOL_TRUNCATION_KEEPS_DISCOUNT, envpool_batch, envpool_env
from envpool.mujoco.base.calls cimport mj_forward, mj_rnePostConstraint, mj_step
from envpool.mujoco.base.definition cimport define_task
from envpool.mujoco.base.model cimport Model
from envpool.mujoco.base.model_params cimport resolved_model
from envpool.mujoco.base.mujoco cimport (
    mjDSBL_AUTORESET, mjWARN_BADQACC, mjWARN_BADQPOS, mjWARN_BADQVEL, mjWarningStat,
)
from envpool.mujoco.base.renderer cimport CameraView
from envpool.mujoco.base.simulation cimport ENV_DEF, Outcome, Sim, TaskFunctions, fail
from envpool.mujoco.base.structs cimport SimPool
from envpool.mujoco.base.views cimport gymnasium_view
from envpool.mujoco.declared.program cimport Program, conclude, evaluate, registers_of, run_resets
from envpool.mujoco.declared.tables cimport Tables
from envpool.mujoco.dmc.control cimport Episode, SuiteTask, physics_step, set_variants, suite_task, suite_view
from envpool.mujoco.gym.common cimport TaskState, is_valid, seed, simulate

from envpool._core.casts import CastError
from envpool._support.ending import release_at_exit
from envpool._support.text import shown
from envpool.errors import ConfigError
from envpool.mujoco.base.env_definition import OPTIONS, MujocoEnvDefinition
from envpool.mujoco.declared.compiler import compile_declaration
from envpool.mujoco.declared.declaration import Declaration
from envpool.mujoco.declared.sources import load_source, source_of
from envpool.mujoco.declared.tables import ModelIndex

FLOAT64 = np.dtype(np.float64)

cdef const char* UNSTABLE = (
    b"the simulation is unstable: a position, velocity or acceleration is not finite or above 1e10; use a smaller "
    b"timestep, or on_error='restart' to begin a new episode"
)


cdef inline const Program* program_of(const Sim* s) noexcept nogil:
    return <const Program*>s.options


cdef inline void set_controls(Sim* s, const double* action) noexcept nogil:
    cdef const Program* p = program_of(s)
    cdef int32_t k
    cdef double value
    for k in range(s.config.num_actions):
        value = action[k]
        if p.centers != NULL:
            value = p.centers[k] + value * p.halves[k]
        s.data.ctrl[p.controls[k] if p.controls != NULL else k] = value


cdef void observe(const Sim* s, double* out) noexcept nogil:
    memcpy(out, registers_of(s), program_of(s).observation_size * sizeof(double))


cdef inline int finish(Sim* s, const double* action, Outcome* out) noexcept nogil:
    """Ends a step: computes what is declared."""
    if program_of(s).reads_contact_forces:
        mj_rnePostConstraint(s.model, s.data)
    if evaluate(s, program_of(s), action):
        return -1
    conclude(s, program_of(s), out)
    return 0


# ---- Gymnasium's conventions -----------------------------------------------------------------------------------------

cdef inline int check_stable(Sim* s) noexcept nogil:
    """Fails if MuJoCo has replaced an unstable state with the initial one."""
    cdef const mjWarningStat* warnings = s.data.warning
    if s.model.opt.disableflags & mjDSBL_AUTORESET:
        return 0
    if warnings[mjWARN_BADQPOS].number or warnings[mjWARN_BADQVEL].number or warnings[mjWARN_BADQACC].number:
        return fail(s, UNSTABLE)
    return 0


cdef int reset_gym(Sim* s) noexcept nogil:
    if run_resets(s, program_of(s)) or check_stable(s):
        return -1
    mj_forward(s.model, s.data)
    return evaluate(s, program_of(s), NULL)


cdef int step_gym(Sim* s, const double* action, Outcome* out) noexcept nogil:
    cdef int32_t _
    if program_of(s).controls == NULL and program_of(s).centers == NULL:
        simulate(s, action)
    else:
        set_controls(s, action)
        for _ in range(s.config.frame_skip):
            mj_step(s.model, s.data)
    if check_stable(s):
        return -1
    return finish(s, action, out)


cdef TaskFunctions GYM = TaskFunctions(sizeof(TaskState), seed, reset_gym, step_gym, observe, is_valid, NULL, NULL)


# ---- dm_control's conventions ----------------------------------------------------------------------------------------

cdef int initialize_suite(Sim* s) noexcept nogil:
    return run_resets(s, program_of(s))


cdef double no_reward(const Sim* s) noexcept nogil:
    return 0


cdef SuiteTask SUITE = suite_task(sizeof(Episode), initialize_suite, no_reward, observe)


cdef int reset_suite(Sim* s) noexcept nogil:
    if SUITE.base.reset(s):
        return -1
    return evaluate(s, program_of(s), NULL)


cdef int step_suite(Sim* s, const double* action, Outcome* out) noexcept nogil:
    set_controls(s, action)
    if physics_step(s, s.config.frame_skip):
        return -1
    return finish(s, action, out)


# ---- Python functions ------------------------------------------------------------------------------------------------

#: Results of a function that are not parts of the observation.
REWARD, TERMINATED = "reward", "terminated"


cdef bytes described(object error):
    """Returns type and text of an exception, even if the text cannot be made or encoded."""
    try:
        text = str(error)
    except BaseException as problem:
        text = "<no text>"
        if isinstance(problem, KeyboardInterrupt):
            PyErr_SetInterrupt()        # for the consumer, as in call_function()
    return f"{type(error).__name__}: {text}".encode(errors="replace")


cdef void refresh_stack(Sim* s, bint fill) noexcept nogil:
    """Observes again where the stack has the observation from before the call of the function."""
    cdef size_t size = s.config.observation_size
    cdef int32_t k
    s.config.task.observe(s, s.stack + s.newest * size)
    for k in range(s.config.frame_stack if fill else 0):
        if k != s.newest:
            memcpy(s.stack + k * size, s.stack + s.newest * size, size * sizeof(double))


cdef class FunctionCaller:
    """Calls a function with the values of expressions, and puts its results into the observation and the batch.

    Parameters
    ----------
    function : BatchFunction
        It has the function of the user.
    inputs, outputs : list of tuple
        Name, first register, number of numbers, and whether they are a scalar, of each argument and of each part of
        the observation that the function returns.
    """

    cdef object function
    cdef list inputs
    cdef list outputs
    cdef dict causes            # by state and env: exceptions of failures that nobody has asked about

    def __init__(self, function, list inputs, list outputs):
        self.function, self.inputs, self.outputs = function, inputs, outputs
        self.causes = {}
        release_at_exit(function)

    cdef void drop_causes(self, SimPool* all, const envpool_batch* b) noexcept:
        """Forgets exceptions of dropped rows: their envs were stepped again, or have failed otherwise."""
        cdef int32_t i
        for i in range(b.n):
            if not b.reset[i] or b.errors[i]:
                self.causes.pop((<size_t>all, b.ids[i]), None)

    cdef dict arguments(self, SimPool* all, list ids):
        """Returns the arguments: arrays (n) of scalars and (n, numbers) of vectors."""
        cdef double[:, ::1] rows
        cdef Py_ssize_t i, first, size
        found = {}
        for name, first, size, is_scalar in self.inputs:
            values = np.empty((len(ids), size))
            rows = values
            for i in range(len(ids)):
                memcpy(&rows[i, 0], registers_of(&all.sims[<int32_t>ids[i]]) + first, size * sizeof(double))
            found[name] = values[:, 0] if is_scalar else values
        return found

    cdef object array_of(self, dict results, str name, tuple shape):
        """Returns a result as float64 of a shape, or raises an error that says what is wrong."""
        cdef object values
        if name not in results:
            raise ValueError(f"the function must return {shown(name)}, which the observation needs")
        try:
            values = fitted(results[name], FLOAT64)
        except CastError as error:
            raise ValueError(f"the function has returned {shown(name)} with {error}") from None
        if values.shape != shape:
            raise ValueError(
                f"{shown(name)}, which the function returns, must have the shape {shape}, got {values.shape}"
            )
        return values

    cdef int run(self, SimPool* all, const envpool_batch* b) except -1:
        """Calls the function for the rows of a batch that have not failed."""
        cdef const double[::1] added
        cdef const double[:, ::1] rows
        cdef Py_ssize_t i, k, first, size
        cdef tuple shape
        cdef Sim* s
        cdef const Program* p
        good = [i for i in range(b.n) if not b.errors[i]]
        ids = [b.ids[i] for i in good]
        n = len(good)
        if not n:
            return 0
        results = self.function.function(**self.arguments(all, ids))
        if not isinstance(results, dict):
            raise TypeError(f"the function must return a dict, got {type(results).__name__}")
        known = {REWARD, TERMINATED, *[output[0] for output in self.outputs]}
        if unknown := results.keys() - known:
            wrong = min(map(repr, unknown))
            raise ValueError(f"the function must return only {', '.join(sorted(known))}, got {wrong}")
        parts = []
        for name, first, size, is_scalar in self.outputs:
            shape = (n, size)
            parts.append((first, self.array_of(results, name, shape[:1] if is_scalar else shape).reshape(shape)))
        reward = self.array_of(results, REWARD, (n,)) if REWARD in results else np.zeros(n)
        ends = self.array_of(results, TERMINATED, (n,)) if TERMINATED in results else np.zeros(n)
        for first, values in parts:
            rows = values
            for k in range(n):
                memcpy(registers_of(&all.sims[<int32_t>ids[k]]) + first, &rows[k, 0], rows.shape[1] * sizeof(double))
        added = reward
        for k in range(n):
            i = good[k]
            s = &all.sims[b.ids[i]]
            p = <const Program*>s.options
            if s.stack != NULL:
                refresh_stack(s, b.reset[i])
            if not b.reset[i]:
                b.reward[i] = <float>(registers_of(s)[p.total] + added[k])
                if ends[k]:
                    b.terminated[i] = True
        return 0


cdef inline FunctionCaller caller_of(SimPool* all):
    return <FunctionCaller>(<const Program*>all.sims[0].options).function


cdef int call_function(SimPool* all, const envpool_batch* b) noexcept with gil:
    """Calls the function; if it raises an exception, all environments of the chunk fail with its text."""
    cdef FunctionCaller caller = caller_of(all)
    cdef bytes text
    cdef int32_t i
    if caller.causes:
        caller.drop_causes(all, b)
    try:
        return caller.run(all, b)
    except BaseException as error:
        text, cause = described(error), error
        if isinstance(error, KeyboardInterrupt):
            PyErr_SetInterrupt()        # for the consumer, which has not seen it
    for i in range(b.n):
        if not b.errors[i]:
            snprintf(all.sims[b.ids[i]].error, sizeof(all.sims[0].error), b"%s", <const char*>text)
            all.sims[b.ids[i]].failed = 1
            b.errors[i] = 1
            caller.causes[<size_t>all, b.ids[i]] = cause
    return 1


cdef int step_many(void* state, const envpool_batch* b) noexcept nogil:
    cdef int failures = ENV_DEF.step_many(state, b)
    return failures | call_function(<SimPool*>state, b)


cdef void error_text(void* state, int32_t id, int32_t code, char* text, size_t size) noexcept nogil:
    ENV_DEF.error_text(state, id, code, text, size)
    with gil:
        give_cause(caller_of(<SimPool*>state).causes.pop((<size_t>state, id), None))


cdef void destroy(void* state) noexcept nogil:
    with gil:
        forget_state(caller_of(<SimPool*>state), <size_t>state)
    ENV_DEF.destroy(state)


cdef void forget_state(FunctionCaller caller, size_t state) noexcept:
    """Forgets the exceptions of the envs of a pool that ends."""
    for key in [key for key in caller.causes if key[0] == state]:
        caller.causes.pop(key, None)


# ---- the env definition ----------------------------------------------------------------------------------------------

cdef class Task:
    """Owns the table of functions of a task, whose state contains the registers."""

    cdef SuiteTask functions

    def __cinit__(self, Tables tables):
        cdef Program* p = &tables.p
        self.functions = SUITE
        if p.is_suite:
            self.functions.base.reset, self.functions.base.step = reset_suite, step_suite
        else:
            self.functions.base = GYM
        p.registers = (self.functions.base.state_size + 15) // 16 * 16
        self.functions.base.state_size = p.registers + p.num_registers * sizeof(double)


cdef object define_declared(object config, str conventions):
    """Returns the capsule of a declared task."""
    cdef Model model
    cdef CameraView view
    cdef Tables tables
    cdef Task task
    cdef envpool_env* made
    declaration = config.declaration
    if declaration is None:
        raise ConfigError("a declared task cannot be made by its id: use envpool.make_mujoco")
    if not isinstance(declaration, Declaration):
        raise ConfigError(
            f"declaration must be the result of envpool.mujoco.declared.declare, got {shown(declaration)}"
        )
    if declaration.conventions != conventions:
        raise ConfigError(
            f"conventions of this declaration must be {conventions!r}, got {declaration.conventions!r}: the class for "
            "'gymnasium' is Declared, the one for 'dm_control' is DeclaredSuite"
        )
    model = resolved_model(source_of(declaration))
    if model is None:
        model = load_source(declaration)
    code = compile_declaration(declaration, ModelIndex(model))
    tables = Tables(code)
    caller = None
    if declaration.function is not None:
        caller = FunctionCaller(declaration.function, code.inputs, code.outputs)
        tables.p.function = <void*>caller
    variants = set_variants(model, &tables.p.head)
    task = Task(tables)
    view = suite_view(model.m) if tables.p.is_suite else gymnasium_view(model, {})
    options = (<const char*>&tables.p)[:sizeof(Program)]
    capsule = define_task("Declared", &task.functions.base, model, config, code.observations, code.info,
                          code.action_range, options, &view, (), (tables, task, variants, caller),
                          ENVPOOL_TRUNCATION_KEEPS_DISCOUNT if tables.p.is_suite else 0, NULL, True)
    if caller is not None:
        made = <envpool_env*>PyCapsule_GetPointer(capsule, ENVPOOL_CAPSULE_NAME)
        made.step_many, made.error_text, made.destroy = step_many, error_text, destroy
        made.run_many = NULL
        made.lanes = config.num_envs        # large chunks, since each costs a call of the function
    return capsule


class Declared(MujocoEnvDefinition):
    """A task that `envpool.make_mujoco` makes of a model and a declaration, with Gymnasium's conventions.

    Options
    -------
    declaration : Declaration
        Observations, rewards and so on, see `envpool.mujoco.declared.declaration.Declaration`.
    """

    options = OPTIONS | {"frame_skip": 1, "declaration": None}

    @staticmethod
    def build(config):
        return define_declared(config, "gymnasium")


class DeclaredSuite(Declared):
    """A task that `envpool.make_mujoco` makes of a model and a declaration, with dm_control's conventions."""

    continues_after_end = False             # dm_control resets the environment instead.
    refuses_nan = False         # The step fails with a PhysicsError.

    @staticmethod
    def build(config):
        return define_declared(config, "dm_control")

    @staticmethod
    def max_seed(config):
        """Return the largest seed of a RandomState."""
        return 2**32 - 1
