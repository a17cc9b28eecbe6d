"""Many simulations: the environment ABI (include/envpool/env.h) once for all MuJoCo tasks.

A task is a `Task`, a table of small functions that look after one env, and a class whose `build` ends with
`define_task`. Everything else is here: mjData of each env, made on the pool's threads; errors of MuJoCo; stacked
observations, or pictures in their place; info arrays.
"""

from libc.stddef cimport size_t
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t

from envpool.env cimport ENVPOOL_MAX_FIELDS
from envpool.mujoco.base.model cimport Model
from envpool.mujoco.base.mujoco cimport mjData, mjModel
from envpool.mujoco.base.renderer cimport Aim, GLRenderer, View

# What a step came to. `reward` and `terminated` must be set; `truncated` is zero unless the task has a rule of its own.
cdef struct Outcome:
    double reward
    uint8_t terminated
    uint8_t truncated

# One env.
cdef struct Sim:
    const Config* config
    const void* options         # the task's, as given to define_task
    mjModel* model              # shared by all envs and constant, unless define_task was told what changes
    mjData* data                # as mj_resetData left it when `reset` is called
    void* own                   # Task.own_size bytes for the task, zero at first, aligned to 16
    double* info                # values of the info arrays in the order of define_task; zero when `reset` is called
    double* frames              # the last observations, a ring of frame_stack; NULL: observed when written
    uint8_t* pixels             # the same of pictures, where they are what is observed; else NULL
    int32_t newest              # in `frames`
    int64_t episodes            # that have begun
    int32_t failed              # nonzero: `data` is unfit for use and is remade before the next reset
    GLRenderer* studio              # the pool's
    Aim aim
    char error[400]             # what failed

# What a task does for one env. Any function may call MuJoCo where it says so: an error there ends the function and
# becomes the env's failure. All run on any thread without the GIL. `reset` and `step` return 0, or fail().
cdef struct Task:
    size_t own_size                                                                     # bytes of Sim.own
    void (*seed)(Sim* s, uint64_t seed) noexcept nogil                                  # no calls of MuJoCo
    int (*reset)(Sim* s) noexcept nogil
    int (*step)(Sim* s, const double* action, Outcome* out) noexcept nogil
    void (*observe)(const Sim* s, double* out) noexcept nogil                           # no calls of MuJoCo

# An array of a model that each env has for itself, as new whenever the env is seeded.
cdef struct Change:
    size_t member               # offset of its pointer in mjModel
    size_t size                 # bytes

cdef enum:
    MAX_CHANGES = 8

# Where a field is in a row of observations, or in Sim.info.
cdef struct Part:
    int32_t offset
    int32_t size

# What create() gets; options follow it.
cdef struct Config:
    const Task* task
    mjModel* model
    Change changes[MAX_CHANGES]
    int32_t num_changes
    int32_t frame_skip          # mj_steps in a step
    int32_t frame_stack
    int32_t num_actions
    int32_t num_observations    # fields of the observation, which come first
    int32_t num_fields
    int32_t observation_size    # numbers in a row of observations
    int32_t info_size
    int32_t state0              # where the reset state is in Sim.info; -1: nowhere
    Part parts[ENVPOOL_MAX_FIELDS]
    View view
    bint changes_terrain        # whether envs have height fields of their own
    int32_t pixel_height        # of pictures that are observed; 0: numbers are
    int32_t pixel_width
    int32_t pixel_camera

# Sets the error text of an env; returns what `reset` and `step` have to return then.
cdef int fail(Sim* s, const char* text) noexcept nogil

# Makes the kind of env (see include/envpool/env.h) of a task.
#   config          the pool's; frame_skip, frame_stack and debug_info are read from it
#   observations    {name: shape}: "obs" or "obs:..." in the order in which Task.observe writes them
#   info            {name: index or (index, size)}: where each info array is in Sim.info. Names may share an index
#   action_range    float64 (2, actions): lowest and highest
#   options         the bytes of a struct, which Sim.options points to
#   view            how upstream looks at it
#   changes         what the task changes in the model, made by change(): each env gets an mjModel of its own then,
#                   which shares all other arrays
#   keep            what options points into
#   flags           of the kind, see env.h
cdef object define_task(str name, const Task* task, Model model, object config, dict observations, dict info,
                        object action_range, bytes options, const View* view, changes=*, object keep=*,
                        uint32_t flags=*)

# An entry of `changes`: an array of n doubles or floats, `member` being the place of its pointer in model.m.
cdef tuple change(Model model, double** member, size_t n)
cdef tuple change_floats(Model model, float** member, size_t n)
