"""Shared code of PointMaze and AntMaze: goals in a maze (``gymnasium_robotics.envs.maze``), and where episodes begin.

A module of a task keeps a `MazeState` in Sim.task_state and a `MazeOptions` in its struct of options. Its `reset` calls
begin_episode() and places the robot at MazeState.start; its `step` calls finish_step() after the simulation.
"""

from libc.stdint cimport int32_t

from envpool.mujoco.base.mujoco cimport mjData
from envpool.mujoco.base.structs cimport Outcome, Sim
from envpool.mujoco.gym.common cimport seed
from envpool.numerics.rng cimport ep_pcg64

# Sim.task_state, which begins as a TaskState.
cdef struct MazeState:
    ep_pcg64 rng
    double goal[2]              # of the next step (m)
    double observed_goal[2]     # of the step before (m)
    double start[2]             # where the episode begins (m)
    int32_t goal_cell[2]        # options of the next reset: 1 + row and 1 + column of the goal's cell; 0: it is drawn
    int32_t reset_cell[2]       # the same for the cell in which the episode begins

cdef struct MazeOptions:
    const double* goals         # centres of the cells (num_goals x 2)
    const double* starts        # (num_starts x 2)
    int32_t num_goals
    int32_t num_starts
    double scaling              # side of a cell (m)
    double noise                # largest distance of goals and starts from the centres of cells, in cells, per axis
    double clearance            # an episode begins farther from its goal than this (m)
    double target_height        # z of the site that marks the goal (m)
    int32_t target              # id of this site
    int32_t rows                # of the map
    int32_t columns
    int32_t info                # index in Sim.info of success; the distance from the goal (m) follows it
    bint is_dense
    bint is_continuing          # episodes do not terminate
    bint moves_goal             # a goal that is reached is replaced by another one, if episodes do not terminate
    bint moves_early            # and before the reward is computed (v3)

# Fills the struct from the options of a pool; returns the compiled model of a robot in the maze, and an object that
# must live as long as the struct. Raises ConfigError.
cdef tuple load_maze(MazeOptions* o, object config, object robot)

# Adds the options of resets to the definition of a task.
cdef object with_cell_options(object capsule)

# Draws a goal and a start, or puts them into the cells that the options of the reset name. Returns 0, or fail() if no
# start is far enough from the goal.
cdef int begin_episode(Sim* s, const MazeOptions* o) noexcept nogil
# Writes the goal that is observed, and the info arrays, after a reset or a step.
cdef void report(Sim* s, const MazeOptions* o) noexcept nogil
# Computes reward and termination, and replaces the goal.
cdef void finish_step(Sim* s, const MazeOptions* o, Outcome* out) noexcept nogil

# Moves the site that marks the goal in frames; for TaskFunctions.show. Upstream moves it in the model, so that a frame
# shows the goal of the step before.
cdef void show_goal(const Sim* s, const MazeOptions* o, mjData* shown) noexcept nogil

# TaskFunctions.is_valid.
cdef bint is_valid(const void* task_state) noexcept nogil


cdef inline MazeState* maze_state(const Sim* s) noexcept nogil:
    return <MazeState*>s.task_state


cdef inline void put_goals(double* to, const Sim* s) noexcept nogil:
    """Writes achieved_goal (2) and desired_goal (2)."""
    cdef int32_t i
    for i in range(2):
        to[i] = s.data.qpos[i]
        to[2 + i] = maze_state(s).observed_goal[i]
