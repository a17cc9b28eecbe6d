"""The env definitions of declared tasks, with Gymnasium's or dm_control's conventions.

The functions of a task are those of the conventions, with the tables of a Program in place of code.
"""

from libc.stdint cimport int32_t
from libc.string cimport memcpy

from cpython.pycapsule cimport PyCapsule_GetPointer

from envpool.env cimport ENVPOOL_CAPSULE_NAME, ENVPOOL_TRUNCATION_KEEPS_DISCOUNT, envpool_env
from envpool.mujoco.base.calls cimport mj_forward, mj_rnePostConstraint, mj_step
from envpool.mujoco.base.definition cimport define_task
from envpool.mujoco.base.model cimport Model
from envpool.mujoco.base.model_params cimport resolved_model
from envpool.mujoco.base.renderer cimport CameraView
from envpool.mujoco.base.simulation cimport Outcome, Sim
from envpool.mujoco.base.views cimport gymnasium_view
from envpool.mujoco.declared.batch_function cimport FunctionCaller, step_many
from envpool.mujoco.declared.program cimport Program, Tables, conclude, evaluate, registers_of
from envpool.mujoco.declared.resets cimport run_resets
from envpool.mujoco.dmc.control cimport Episode, SuiteTask, physics_step, set_variants, suite_task, suite_view
from envpool.mujoco.gym.common cimport gym_task, simulate

from envpool.errors import ConfigError
from envpool.mujoco.base.env_definition import OPTIONS, MujocoEnvDefinition
from envpool.mujoco.declared.compiler import compile_declaration
from envpool.mujoco.declared.declaration import Declaration
from envpool.mujoco.declared.model_index import ModelIndex
from envpool.mujoco.declared.sources import load_source, source_of


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
    evaluate(s, program_of(s), action)
    conclude(s, program_of(s), out)
    return 0


# ---- Gymnasium's conventions -----------------------------------------------------------------------------------------

cdef int reset_gym(Sim* s) noexcept nogil:
    if run_resets(s, program_of(s)):
        return -1
    mj_forward(s.model, s.data)
    evaluate(s, program_of(s), NULL)
    return 0


cdef int step_gym(Sim* s, const double* action, Outcome* out) noexcept nogil:
    cdef int32_t _
    if program_of(s).controls == NULL and program_of(s).centers == NULL:
        simulate(s, action)
    else:
        set_controls(s, action)
        for _ in range(s.config.frame_skip):
            mj_step(s.model, s.data)
    return finish(s, action, out)


# ---- dm_control's conventions ----------------------------------------------------------------------------------------

cdef int initialize_suite(Sim* s) noexcept nogil:
    return run_resets(s, program_of(s))


cdef double no_reward(const Sim* s) noexcept nogil:
    return 0


cdef SuiteTask SUITE = suite_task(sizeof(Episode), initialize_suite, no_reward, observe)


cdef int reset_suite(Sim* s) noexcept nogil:
    if SUITE.base.reset(s):
        return -1
    evaluate(s, program_of(s), NULL)
    return 0


cdef int step_suite(Sim* s, const double* action, Outcome* out) noexcept nogil:
    set_controls(s, action)
    if physics_step(s, s.config.frame_skip):
        return -1
    return finish(s, action, out)


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
            self.functions.base = gym_task(reset_gym, step_gym, observe)
        p.registers = (self.functions.base.state_size + 15) // 16 * 16
        self.functions.base.state_size = p.registers + p.num_registers * sizeof(double)


cdef object define_declared(object config):
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
            f"declaration is {declaration!r}, allowed is the result of envpool.mujoco.declared.declare"
        )
    model = resolved_model(source_of(declaration))
    if model is None:
        model = load_source(declaration)
    code = compile_declaration(declaration, ModelIndex(model))
    tables = Tables(code)
    caller = None
    if declaration.function is not None:
        caller = FunctionCaller(declaration.function.function, code.inputs, code.outputs)
        tables.p.function = <void*>caller
    variants = set_variants(model, &tables.p.head)
    task = Task(tables)
    view = suite_view(model.m) if tables.p.is_suite else gymnasium_view(model, {})
    options = (<const char*>&tables.p)[:sizeof(Program)]
    capsule = define_task("Declared", &task.functions.base, model, config, code.observations, code.info,
                          code.action_range, options, &view, (), (tables, task, variants, caller),
                          ENVPOOL_TRUNCATION_KEEPS_DISCOUNT if tables.p.is_suite else 0)
    if caller is not None:
        made = <envpool_env*>PyCapsule_GetPointer(capsule, ENVPOOL_CAPSULE_NAME)
        made.step_many = step_many
        made.run_many = NULL
        made.lanes = config.num_envs        # large chunks, since each costs a call of the function
    return capsule


class Declared(MujocoEnvDefinition):
    """A task that `envpool.make_mujoco` makes of a model and a declaration, with Gymnasium's conventions.

    Options
    -------
    declaration : Declaration
        What is observed, rewarded and so on, see `envpool.mujoco.declared.declaration.Declaration`.
    """

    options = OPTIONS | {"frame_skip": 1, "declaration": None}

    @staticmethod
    def build(config):
        return define_declared(config)


class DeclaredSuite(Declared):
    """A task that `envpool.make_mujoco` makes of a model and a declaration, with dm_control's conventions."""

    refuses_nan = False         # The step fails with a PhysicsError.
