"""The simulations of a pool and the functions of a task; simulation.pxd explains how a task uses them."""

from libc.stddef cimport size_t
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t

from envpool.env cimport ENVPOOL_MAX_FIELDS
from envpool.mujoco.base.mujoco cimport mjData, mjModel
from envpool.mujoco.base.renderer cimport CameraView, GLRenderer, LookAt

# The result of a step. The task must set `reward` and `terminated`; `truncated` is zero unless the task sets it.
cdef struct Outcome:
    double reward
    uint8_t terminated
    uint8_t truncated

# One env.
cdef struct Sim:
    const SimConfig* config
    const void* options         # the struct of options that the task passed to define_task()
    mjModel* model              # the model of the pool, which is constant; or the env's own, see own_models.pyx
    mjData* data                # when `reset` is called: as mj_resetData() leaves it, unless it outlives episodes
    void* task_state            # TaskFunctions.state_size bytes for the task, zero at first, 16-byte aligned
    double* info                # the info arrays, at the offsets passed to define_task(); zero when `reset` is called
    double* stack               # ring of the last frame_stack observations; NULL if they need not be kept
    uint8_t* pixel_stack        # ring of the last frame_stack frames if frames are observed, otherwise NULL
    int32_t newest              # index of the newest entry of the ring
    int64_t episodes            # number of episodes that have begun
    int32_t failed              # nonzero: `data` is unusable and will be replaced before the next reset
    int32_t is_new              # 1: no step since the last reset, otherwise 0
    GLRenderer* renderer        # of the pool
    LookAt look_at
    char* own                   # SimConfig.own_size bytes for a model of its own; NULL if there are none
    int32_t has_params          # 1: a parameter differs from the pool's model, otherwise 0
    char error[400]             # why the env failed

# The functions of a task, which work on one env. They run without the GIL on any thread. `reset` and `step` return 0,
# or the result of fail(). Where they may call MuJoCo, an error of MuJoCo ends the function and makes the env fail.
cdef struct TaskFunctions:
    size_t state_size                                                                   # bytes of Sim.task_state
    void (*seed)(Sim* s, uint64_t seed) noexcept nogil                                  # must not call MuJoCo
    int (*reset)(Sim* s) noexcept nogil
    int (*step)(Sim* s, const double* action, Outcome* out) noexcept nogil
    # Where an observation consists of one array, it must not call MuJoCo; otherwise it may.
    void (*observe)(const Sim* s, double* out) noexcept nogil
    # Whether a restored Sim.task_state is safe, so that every later call ends.
    bint (*is_valid)(const void* task_state) noexcept nogil
    # NULL: steps and frames read the arrays of mjData that depend on positions and velocities as the last mj_step()
    # left them, so snapshots contain these arrays. Otherwise it computes these arrays again, after mj_setState().
    void (*recompute)(Sim* s) noexcept nogil
    # NULL: frames show mjData as it is. Otherwise it prepares what a frame shows, in a copy of mjData, so that it may
    # move goals and call MuJoCo.
    void (*show)(const Sim* s, mjData* shown) noexcept nogil

# Works on a new mjData, with the model of the pool.
ctypedef void (*PrepareFunction)(const mjModel* shared, mjData* d) noexcept nogil

# An array of mjModel. Each env has a copy of it, so that its task may change a part. Seeding restores the original.
cdef struct PrivateArray:
    size_t member               # offset of the array's pointer in mjModel
    size_t size                 # bytes
    size_t first                # the part that the task changes, in bytes: first, and one past the last
    size_t last
    size_t itemsize             # 8: doubles, 4: floats
    size_t offset               # of the env's copy in Sim.own

# A parameter: numbers in mjModel that may differ among envs.
cdef struct ModelParam:
    size_t member               # offset in mjModel of the numbers; of the pointer to their array, if `is_array`
    bint is_array
    int32_t rows
    int32_t columns             # the parameter consists of the first `columns` numbers of each row
    int32_t stride              # numbers in a row of mjModel
    size_t offset               # of the env's array in Sim.own; 0: no array, or one that is a PrivateArray
    double low                  # every number is finite and in [low, high]
    double high

cdef enum:
    MAX_PRIVATE_ARRAYS = 8
    MAX_PARAMS = 16
    MAX_FLOAT_ACTIONS = 64

# The slice of a field in an observation, or in Sim.info.
cdef struct FieldSlice:
    int32_t offset
    int32_t size

# The config that create() gets. The task's struct of options follows it in memory.
cdef struct SimConfig:
    const TaskFunctions* task
    # NULL: mj_resetData() precedes each reset. Otherwise mjData outlives episodes, as upstream's does, and this
    # function is called once for each new mjData.
    PrepareFunction prepare
    mjModel* model
    uint64_t model_digest       # Model.digest
    PrivateArray private_arrays[MAX_PRIVATE_ARRAYS]
    int32_t num_private_arrays
    ModelParam params[MAX_PARAMS]
    int32_t num_params
    int32_t num_param_values    # numbers in all parameters of one env
    size_t own_size             # bytes of Sim.own: an mjModel, its private arrays, and its arrays with parameters
    size_t subtree_place        # offset in Sim.own of a body_subtreemass that follows body_mass; 0: it stays constant
    const double* initial       # the parameters of new envs (num_param_values); NULL: those of `model`
    int32_t frame_skip          # calls of mj_step() in a step
    int32_t frame_stack
    int32_t num_actions
    bint has_float_actions      # users send float32 (at most MAX_FLOAT_ACTIONS); tasks get the same values as double
    int32_t num_observations    # fields of the observation, which come before those of info
    int32_t num_fields
    int32_t observation_size    # numbers in one observation
    int32_t info_size           # numbers in Sim.info
    int32_t initial_state       # offset in Sim.info of the state after the reset; -1: it is not reported
    FieldSlice fields[ENVPOOL_MAX_FIELDS]
    CameraView view
    bint has_own_terrain        # each env has height fields of its own
    int32_t pixel_height        # size of an observed frame; 0: numbers are observed
    int32_t pixel_width
    int32_t pixel_camera

# The envs of a pool. The arrays of all envs are in one block of memory, with a cache line between envs. Sim.own is in
# it if the task has private arrays.
cdef struct SimPool:
    const SimConfig* config
    int32_t n
    Sim* sims                   # (n)
    char* arrays
    GLRenderer* renderer
