"""FrankaKitchen: a robot arm opens, turns, switches and moves things in a kitchen (Gupta, Kumar et al., 2019).

Source of the dynamics: ``gymnasium_robotics.envs.franka_kitchen``. The controls of a step are computed from the
positions that were observed before it, which have noise, so the generator advances in every step.
"""

import numpy as np

from libc.math cimport isfinite
from libc.stdint cimport int32_t

from envpool.mujoco.base.definition cimport define_task
from envpool.mujoco.base.model cimport leave_out_visual_geoms
from envpool.mujoco.base.renderer cimport CameraView
from envpool.mujoco.base.views cimport gymnasium_view
from envpool.mujoco.robotics.goals cimport (
    Model, Outcome, Sim, TaskFunctions, clip, ep_pcg64, ep_uniform, load_robotics_model, mj_forward, mj_step, put, seed,
)
from envpool.numerics.numpy_exact cimport np_norm
from envpool.numerics.rng cimport ep_pcg64_is_valid

from envpool.errors import ConfigError
from envpool.mujoco.base.env_definition import OPTIONS, MujocoEnvDefinition
from envpool.mujoco.gym.options import scale
from envpool.mujoco.robotics.kitchen_config import START, TASKS, read_joints, read_tasks

cdef enum:
    POSITIONS = 30
    JOINTS = 29                 # velocities
    ROBOT = 9                   # joints of the robot, which come first; also the number of controls
    OBSERVED = POSITIONS + JOINTS
    MAX_GOAL = 7                # numbers in the goal of a task
    ALL_TASKS = 7

# One task: which positions must come close to which goal.
cdef struct Task:
    int32_t first               # of the positions, which are adjacent
    int32_t size
    double goal[MAX_GOAL]
    int32_t index               # of the task among all tasks

cdef struct Options:
    Task tasks[ALL_TASKS]
    int32_t num_tasks
    bint terminates             # when all tasks were completed
    bint removes                # completed tasks
    double start[POSITIONS]
    double noise[OBSERVED]      # amplitudes, in the order of the observation
    double bounds[ROBOT][2]     # of the controls
    double speeds[ROBOT][2]     # limits of the velocities that actions ask for

# Sim.task_state, which begins as a TaskState.
cdef struct KitchenState:
    ep_pcg64 rng
    double observed[OBSERVED]   # with noise: positions and velocities of the robot, then those of the objects

# The entries of Sim.info, ALL_TASKS numbers each, 0 or 1.
cdef enum:
    OPEN = 0
    STEP = ALL_TASKS
    EPISODE = 2 * ALL_TASKS

INFO = {
    "tasks_to_complete": (OPEN, ALL_TASKS), "step_task_completions": (STEP, ALL_TASKS),
    "episode_task_completions": (EPISODE, ALL_TASKS),
}
cdef double THRESHOLD = 0.3     # distance from its goal below which a task is complete


cdef inline KitchenState* kitchen_state(const Sim* s) noexcept nogil:
    return <KitchenState*>s.task_state


cdef bint is_valid(const void* task_state) noexcept nogil:
    cdef const KitchenState* state = <const KitchenState*>task_state
    cdef int32_t i
    for i in range(OBSERVED):
        if not isfinite(state.observed[i]):
            return False
    return ep_pcg64_is_valid(&state.rng)


cdef void draw_observation(Sim* s) noexcept nogil:
    """Adds noise to the positions and velocities."""
    cdef const Options* o = <const Options*>s.options
    cdef KitchenState* state = kitchen_state(s)
    cdef double* to = put(put(state.observed, s.data.qpos, ROBOT), s.data.qvel, ROBOT)
    cdef int32_t i
    put(put(to, s.data.qpos + ROBOT, POSITIONS - ROBOT), s.data.qvel + ROBOT, JOINTS - ROBOT)
    for i in range(OBSERVED):
        state.observed[i] += o.noise[i] * ep_uniform(&state.rng, -1.0, 1.0)


cdef int reset(Sim* s) noexcept nogil:
    cdef const Options* o = <const Options*>s.options
    cdef int32_t k
    put(s.data.qpos, o.start, POSITIONS)
    mj_forward(s.model, s.data)
    draw_observation(s)
    for k in range(o.num_tasks):
        s.info[OPEN + o.tasks[k].index] = 1
    return 0


cdef inline bint is_complete(const Sim* s, const Task* task) noexcept nogil:
    cdef double away[MAX_GOAL]
    cdef int32_t i
    for i in range(task.size):
        away[i] = s.data.qpos[task.first + i] - task.goal[i]
    return np_norm(away, task.size) < THRESHOLD


cdef int step(Sim* s, const double* action, Outcome* out) noexcept nogil:
    cdef const Options* o = <const Options*>s.options
    cdef double dt = s.model.opt.timestep * s.config.frame_skip, speed
    cdef int32_t completed = 0, index, i, _k
    for i in range(ROBOT):
        speed = clip(0.0 + clip(action[i], -1.0, 1.0) * 2.0, o.speeds[i][0], o.speeds[i][1])
        s.data.ctrl[i] = clip(kitchen_state(s).observed[i] + speed * dt, o.bounds[i][0], o.bounds[i][1])
    for _k in range(s.config.frame_skip):
        mj_step(s.model, s.data)
    draw_observation(s)
    out.reward = 0.0
    for i in range(o.num_tasks):
        index = o.tasks[i].index
        s.info[STEP + index] = s.info[OPEN + index] != 0 and is_complete(s, &o.tasks[i])
        out.reward += s.info[STEP + index]
        if s.info[STEP + index]:
            s.info[EPISODE + index] = 1
            s.info[OPEN + index] = not o.removes
        completed += s.info[EPISODE + index] != 0
    out.terminated = o.terminates and completed == o.num_tasks
    return 0


cdef void observe(const Sim* s, double* out) noexcept nogil:
    cdef const Options* o = <const Options*>s.options
    cdef int32_t k
    out = put(out, kitchen_state(s).observed, OBSERVED)
    for k in range(o.num_tasks):
        out = put(out, o.tasks[k].goal, o.tasks[k].size)
    for k in range(o.num_tasks):
        out = put(out, s.data.qpos + o.tasks[k].first, o.tasks[k].size)


cdef TaskFunctions TASK = TaskFunctions(sizeof(KitchenState), seed, reset, step, observe, is_valid, NULL, NULL)


cdef int read_options(Options* o, object config, list names) except -1:
    """Fills the struct from the options of a pool."""
    cdef Task* task
    robot, things = scale(config, "robot_noise_ratio"), scale(config, "object_noise_ratio")
    o.num_tasks, o.terminates = <int32_t>len(names), config.terminate_on_tasks_completed
    o.removes = config.remove_task_when_completed
    for k, name in enumerate(names):
        places, goal = TASKS[name]
        task = &o.tasks[k]
        task.first, task.size, task.index = places[0], <int32_t>len(places), list(TASKS).index(name)
        for i, x in enumerate(goal):
            task.goal[i] = x
    joints = read_joints(JOINTS)
    positions, velocities = joints["pos_noise_amp"], joints["vel_noise_amp"]
    # The objects have one more position than velocities, so upstream's amplitudes begin with that of the last finger.
    noise = [robot * positions[:ROBOT], robot * velocities[:ROBOT]]
    noise += [things * positions[ROBOT - 1:], things * velocities[ROBOT:]]
    for i, x in enumerate(np.concatenate(noise)):
        o.noise[i] = x
    for i, x in enumerate(START):
        o.start[i] = x
    for i in range(ROBOT):
        for k in range(2):
            o.bounds[i][k], o.speeds[i][k] = joints["pos_bound"][i, k], joints["vel_bound"][i, k]
    return 0


class FrankaKitchen(MujocoEnvDefinition):
    """An arm with two fingers in a kitchen with several tasks.

    Observations float64: observation (59,), noisy positions and velocities of the robot, then of the objects;
    desired_goal and achieved_goal, dicts with the positions (1,), (2,) or (7,) that each task concerns. Action float64
    (9,) in [-1, 1]: velocities of the joints. The reward is the number of tasks that the step completes.

    Options
    -------
    xml_file : str
        The model: a name in the folder of ``gymnasium_robotics``, or a path that starts with ".", "/" or "~".
    tasks_to_complete : sequence of str, optional
        The tasks of an episode. By default all: "bottom burner", "top burner", "light switch", "slide cabinet", "hinge
        cabinet", "microwave" and "kettle".
    terminate_on_tasks_completed : bool
        If True, the episode terminates when all of its tasks were completed.
    remove_task_when_completed : bool
        If True, a task is rewarded once in an episode; otherwise in each step in which it is complete.
    robot_noise_ratio : float
        Scale of the noise of the robot's observed positions and velocities, 0 to 1e100.
    object_noise_ratio : float
        Scale of the noise of the objects' observed positions and velocities, 0 to 1e100.
    """

    refuses_nan = False     # MuJoCo uses zeros when a control is not finite, and the reward does not charge the action.
    options = OPTIONS | {
        "frame_skip": 40, "xml_file": "kitchen_franka/kitchen_assets/kitchen_env_model.xml", "tasks_to_complete": None,
        "terminate_on_tasks_completed": True, "remove_task_when_completed": True, "robot_noise_ratio": 0.01,
        "object_noise_ratio": 0.0005,
    }

    @staticmethod
    def build(config):
        cdef Options o
        cdef CameraView view
        cdef Model model
        names = read_tasks(config.tasks_to_complete)
        read_options(&o, config, names)
        model = load_robotics_model(config)
        found = model.m.nq, model.m.nv, model.m.nu
        if found != (POSITIONS, JOINTS, ROBOT):
            raise ConfigError(
                f"{model.source} has {found[0]} positions, {found[1]} velocities and {found[2]} actuators, this task "
                f"needs {POSITIONS}, {JOINTS} and {ROBOT}"
            )
        leave_out_visual_geoms(model.m)
        view = gymnasium_view(
            model, {"distance": 2.2, "azimuth": 70.0, "elevation": -35.0, "lookat": (-0.2, 0.5, 2.0)}
        )
        observations = {"obs:observation": (OBSERVED,)}
        for kind in ("desired_goal", "achieved_goal"):
            observations |= {f"obs:{kind}.{name}": (len(TASKS[name][0]),) for name in names}
        actions = np.array([[-1.0] * ROBOT, [1.0] * ROBOT])
        return define_task("FrankaKitchen", &TASK, model, config, observations, INFO, actions, (<char*>&o)[:sizeof(o)],
                           &view)
