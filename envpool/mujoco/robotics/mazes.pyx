"""Goals in a maze; mazes.pxd documents the functions.

Source of the rules: ``gymnasium_robotics.envs.maze.maze_v4``, and ``maze`` for AntMaze-v3.
"""

import numpy as np

from cpython.bytes cimport PyBytes_AS_STRING
from libc.math cimport sqrt
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memset

from envpool.env cimport envpool_params
from envpool.mujoco.base.model cimport Model
from envpool.mujoco.base.model_params cimport resolved_model
from envpool.mujoco.base.mujoco cimport mjData, mjOBJ_SITE
from envpool.mujoco.base.own_models cimport get_params, set_params
from envpool.mujoco.base.simulation cimport fail
from envpool.mujoco.base.structs cimport Outcome, Sim, SimPool
from envpool.mujoco.robotics.goals cimport is_sparse, with_reset_options
from envpool.numerics.numpy_exact cimport np_exp, np_norm
from envpool.numerics.rng cimport ep_integers, ep_pcg64_is_valid, ep_uniform

from envpool.errors import ConfigError
from envpool.mujoco.base.model import load_text
from envpool.mujoco.robotics import maze_rewards
from envpool.mujoco.robotics.maze_models import MAX_CELLS as MOST_CELLS
from envpool.mujoco.robotics.maze_models import Maze, read_map
from envpool.mujoco.robotics.maze_rewards import RESET_OPTIONS

cdef double REACHED = maze_rewards.REACHED
cdef int32_t MAX_CELLS = MOST_CELLS

cdef enum:
    MAX_DRAWS = 10000           # of a cell in which an episode begins


# ---- options ---------------------------------------------------------------------------------------------------------

#: The options of a maze, besides its scaling and the height of its walls.
MAZE_OPTIONS = {
    "maze_map": None, "reward_type": "sparse", "continuing_task": True, "reset_target": False,
    "position_noise_range": 0.25,
}


cdef double between(object config, str name, double low, double high) except *:
    """Returns the value of an option, or raises ConfigError."""
    value = getattr(config, name)
    if not low <= value <= high:
        raise ConfigError(f"{name} must be between {low} and {high}, got {value}")
    return value


cdef tuple load_maze(MazeOptions* o, object config, object robot):
    cdef Model model
    # Goals are reached from 0.45 m on, so smaller cells or more noise could leave no other goal to draw.
    o.scaling = between(config, "maze_size_scaling", 1.0, 100.0)
    o.noise = between(config, "position_noise_range", 0.0, 0.45)
    maze = Maze(read_map(config.maze_map), o.scaling, between(config, "maze_height", 0.01, 100.0))
    goals, starts = [np.array(places, np.float64).tobytes() for places in maze.places()]
    o.goals, o.num_goals = <const double*>PyBytes_AS_STRING(goals), len(goals) // 16
    o.starts, o.num_starts = <const double*>PyBytes_AS_STRING(starts), len(starts) // 16
    o.rows, o.columns = <int32_t>len(maze.map), <int32_t>len(maze.map[0])
    o.clearance = 0.5 * o.scaling
    o.target_height = maze.height / 2 * o.scaling
    o.is_dense = not is_sparse(config)
    o.is_continuing, o.moves_goal, o.moves_early = config.continuing_task, config.reset_target, False
    o.info = 0
    source = f"{robot.name} in {maze.source}"
    model = resolved_model(source)
    if model is None:
        model = load_text(maze.xml(robot), {}, source)
    o.target = model.find(mjOBJ_SITE, "target")
    return model, (goals, starts)


# ---- goals -----------------------------------------------------------------------------------------------------------

cdef bint is_valid(const void* task_state) noexcept nogil:
    cdef const MazeState* state = <const MazeState*>task_state
    cdef int32_t i
    for i in range(2):
        if not (0 <= state.goal_cell[i] <= MAX_CELLS and 0 <= state.reset_cell[i] <= MAX_CELLS):
            return False
    return ep_pcg64_is_valid(&state.rng)


cdef inline double distance(const double* a, const double* b) noexcept nogil:
    """Returns np.linalg.norm(a - b) of two points."""
    cdef double[2] difference
    difference[0], difference[1] = a[0] - b[0], a[1] - b[1]
    return np_norm(difference, 2)


cdef void add_noise(Sim* s, const MazeOptions* o, double* point) noexcept nogil:
    cdef double x = ep_uniform(&maze_state(s).rng, -o.noise, o.noise) * o.scaling
    cdef double y = ep_uniform(&maze_state(s).rng, -o.noise, o.noise) * o.scaling
    point[0] += x
    point[1] += y


cdef inline void draw_cell(Sim* s, const double* cells, int32_t n, double* point) noexcept nogil:
    cdef int32_t k = <int32_t>ep_integers(&maze_state(s).rng, 0, n)
    point[0], point[1] = cells[2 * k], cells[2 * k + 1]


cdef inline bint take_cell(int32_t* cell, const MazeOptions* o, double* point) noexcept nogil:
    """Returns the centre of a cell that an option names, and forgets the option; False: none is named."""
    cdef double row = cell[0] - 1, column = cell[1] - 1
    if cell[0] == 0 or cell[1] == 0:
        return False
    point[0] = (column + 0.5) * o.scaling - o.columns / 2.0 * o.scaling
    point[1] = o.rows / 2.0 * o.scaling - (row + 0.5) * o.scaling
    cell[0] = cell[1] = 0
    return True


cdef inline void draw_goal(Sim* s, const MazeOptions* o) noexcept nogil:
    cdef double* goal = maze_state(s).goal
    draw_cell(s, o.goals, o.num_goals, goal)
    add_noise(s, o, goal)


cdef inline int draw_start(Sim* s, const MazeOptions* o) noexcept nogil:
    """Draws the cell in which the episode begins, away from its goal; returns 0, or fail().

    At most one cell is too close to the goal, so a draw succeeds with a probability of at least 1/2 if there are two.
    """
    cdef MazeState* state = maze_state(s)
    cdef int32_t _k
    for _k in range(MAX_DRAWS):
        draw_cell(s, o.starts, o.num_starts, state.start)
        if not distance(state.start, state.goal) <= o.clearance:
            return 0
    return fail(s, b"no cell in which the episode can begin is far enough from its goal")


cdef int begin_episode(Sim* s, const MazeOptions* o) noexcept nogil:
    cdef MazeState* state = maze_state(s)
    if take_cell(state.goal_cell, o, state.goal):
        add_noise(s, o, state.goal)
    else:
        draw_goal(s, o)
    if not take_cell(state.reset_cell, o, state.start) and draw_start(s, o) != 0:
        return -1
    add_noise(s, o, state.start)
    return 0


cdef void report(Sim* s, const MazeOptions* o) noexcept nogil:
    cdef MazeState* state = maze_state(s)
    state.observed_goal[0], state.observed_goal[1] = state.goal[0], state.goal[1]
    s.info[o.info + 1] = distance(s.data.qpos, state.goal)
    s.info[o.info] = s.info[o.info + 1] <= REACHED


cdef inline double reward_of(const Sim* s, const MazeOptions* o) noexcept nogil:
    """Returns the reward; its distance is a norm along an axis, which sums without a fused multiplication."""
    cdef const double* goal = maze_state(s).goal
    cdef double x = s.data.qpos[0] - goal[0], y = s.data.qpos[1] - goal[1]
    cdef double value = sqrt(x * x + y * y)
    if not o.is_dense:
        return value <= REACHED
    value = -value
    np_exp(&value, &value, 1)
    return value


cdef void finish_step(Sim* s, const MazeOptions* o, Outcome* out) noexcept nogil:
    cdef bint is_reached, moves
    report(s, o)
    is_reached = s.info[o.info] != 0
    moves = is_reached and o.is_continuing and o.moves_goal and o.num_goals > 1
    if moves and o.moves_early:
        draw_goal(s, o)
    out.reward = reward_of(s, o)
    out.terminated = is_reached and not o.is_continuing
    while moves and not o.moves_early and distance(s.data.qpos, maze_state(s).goal) <= REACHED:
        draw_goal(s, o)


cdef void show_goal(const Sim* s, const MazeOptions* o, mjData* shown) noexcept nogil:
    cdef double* site = shown.site_xpos + 3 * o.target
    cdef const double* goal = maze_state(s).observed_goal
    site[0], site[1], site[2] = goal[0], goal[1], o.target_height


# ---- options of resets -----------------------------------------------------------------------------------------------

cdef int get_params_and_cells(void* state, const envpool_params* call) noexcept nogil:
    cdef const SimPool* all = <const SimPool*>state
    cdef int32_t i, k
    for k in range(all.config.num_params, all.config.num_params + 2):
        for i in range(call.n):
            memset(<int64_t*>call.values[k] + 2 * call.ids[i], 0xff, 2 * sizeof(int64_t))      # -1: no cell
    return get_params(state, call)


cdef int set_params_and_cells(void* state, const envpool_params* call) noexcept nogil:
    cdef const SimPool* all = <const SimPool*>state
    cdef const int64_t* goals = <const int64_t*>call.values[all.config.num_params]
    cdef const int64_t* starts = <const int64_t*>call.values[all.config.num_params + 1]
    cdef MazeState* maze
    cdef int32_t i, k
    cdef int status = set_params(state, call)
    for i in range(call.n):
        maze = maze_state(&all.sims[call.ids[i]])
        for k in range(2):
            maze.goal_cell[k] = <int32_t>goals[2 * call.ids[i] + k] + 1
            maze.reset_cell[k] = <int32_t>starts[2 * call.ids[i] + k] + 1
    return status


cdef object with_cell_options(object capsule):
    return with_reset_options(capsule, RESET_OPTIONS, get_params_and_cells, set_params_and_cells)
