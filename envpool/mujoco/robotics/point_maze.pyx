"""PointMaze: a ball in a plane that is pushed to a goal in a maze (Fu, Kumar, Nachum, Tucker and Levine, 2020).

Source of the dynamics: ``gymnasium_robotics.envs.maze.point_maze`` and ``point``. Upstream calls mj_forward() before
the mj_step() of an action, which computes the same numbers again; where no result depends on it, it is left out here.
"""

import numpy as np

from libc.stdint cimport int32_t

from envpool.mujoco.base.calls cimport mj_forward, mj_step
from envpool.mujoco.base.definition cimport define_task
from envpool.mujoco.base.model cimport Model
from envpool.mujoco.base.mujoco cimport EP_FORWARD_MOVES_START, mjData, mjDSBL_MIDPHASE
from envpool.mujoco.base.observations cimport put_state
from envpool.mujoco.base.renderer cimport CameraView
from envpool.mujoco.base.structs cimport Outcome, Sim, TaskFunctions
from envpool.mujoco.base.views cimport gymnasium_view
from envpool.mujoco.gym.common cimport clip
from envpool.mujoco.robotics.mazes cimport (
    MazeOptions, MazeState, begin_episode, finish_step, is_valid, load_maze, maze_state, put_goals,
    report, seed, show_goal, with_cell_options,
)

from envpool.mujoco.base.env_definition import OPTIONS
from envpool.mujoco.robotics.maze_rewards import MazeEnvDefinition
from envpool.mujoco.robotics.mazes import MAZE_OPTIONS
from envpool.mujoco.robotics.model_folder import assets

cdef double MAX_SPEED = 5.0                 # along each axis (m/s)
INFO = {"success": 0, "distance": 1}


cdef int reset(Sim* s) noexcept nogil:
    cdef const MazeOptions* o = <const MazeOptions*>s.options
    if begin_episode(s, o) != 0:
        return -1
    s.data.qpos[0], s.data.qpos[1] = maze_state(s).start[0], maze_state(s).start[1]
    mj_forward(s.model, s.data)
    report(s, o)
    return 0


cdef int step(Sim* s, const double* action, Outcome* out) noexcept nogil:
    cdef int32_t i, _k
    for i in range(2):
        s.data.qvel[i] = clip(s.data.qvel[i], -MAX_SPEED, MAX_SPEED)
    if EP_FORWARD_MOVES_START:
        mj_forward(s.model, s.data)         # with the controls of the last action
    for i in range(2):
        s.data.ctrl[i] = clip(action[i], -1.0, 1.0)
    for _k in range(s.config.frame_skip):
        mj_step(s.model, s.data)
    finish_step(s, <const MazeOptions*>s.options, out)
    return 0


cdef void observe(const Sim* s, double* out) noexcept nogil:
    put_goals(put_state(out, s, 0), s)


cdef void show(const Sim* s, mjData* shown) noexcept nogil:
    show_goal(s, <const MazeOptions*>s.options, shown)


cdef TaskFunctions TASK = TaskFunctions(sizeof(MazeState), seed, reset, step, observe, is_valid, NULL, show)


class PointMaze(MazeEnvDefinition):
    """A ball that is pushed to a goal in a maze.

    Observations float64: observation (4,), the position (m) and the velocity (m/s) of the ball; achieved_goal (2,), its
    position; desired_goal (2,), that of the goal. Action float32 (2,) in [-1, 1]: the force along each axis. The reward
    is 1 within 0.45 m of the goal, otherwise 0; or exp(-distance) with ``reward_type="dense"``.
    """

    refuses_nan = False     # MuJoCo uses zeros when a control is not finite, and the reward does not charge the action.
    options = OPTIONS | MAZE_OPTIONS | {"frame_skip": 1, "maze_size_scaling": 1.0, "maze_height": 0.4}

    @staticmethod
    def build(config):
        cdef MazeOptions o
        cdef Model model
        cdef CameraView view
        model, keep = load_maze(&o, config, assets() / "point" / "point.xml")
        # MuJoCo would search the walls as a tree of boxes, which takes longer than trying them all, since only one geom
        # moves. The contacts and their order are the same.
        model.m.opt.disableflags |= mjDSBL_MIDPHASE
        view = gymnasium_view(model, {"distance": 12.5 if o.rows > 8 else 8.8})
        observations = {"obs:observation": (4,), "obs:achieved_goal": (2,), "obs:desired_goal": (2,)}
        actions = np.array([[-1, -1], [1, 1]], np.float32)
        return with_cell_options(
            define_task("PointMaze", &TASK, model, config, observations, INFO, actions, (<char*>&o)[:sizeof(o)], &view,
                        (), keep)
        )
