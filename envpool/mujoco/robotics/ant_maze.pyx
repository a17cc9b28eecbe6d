"""AntMaze: a quadruped that walks to a goal in a maze (Fu, Kumar, Nachum, Tucker and Levine, 2020).

Source of the rules: ``gymnasium_robotics.envs.maze.ant_maze_v5``, ``ant_maze_v4`` and ``ant_maze_v3``. The ant is that
of Gymnasium's Ant-v5, and of Ant-v4 before v5.
"""

from libc.stdint cimport int32_t

from envpool.mujoco.base.calls cimport mj_forward
from envpool.mujoco.base.definition cimport define_task
from envpool.mujoco.base.model cimport Model
from envpool.mujoco.base.mujoco cimport mjData
from envpool.mujoco.base.renderer cimport CameraView
from envpool.mujoco.base.structs cimport Outcome, Sim, TaskFunctions
from envpool.mujoco.base.views cimport gymnasium_view
from envpool.mujoco.gym cimport ant
from envpool.mujoco.gym.common cimport action_range_of
from envpool.mujoco.robotics.mazes cimport (
    MazeOptions, MazeState, begin_episode, finish_step, is_valid, load_maze, maze_state, put_goals, report, seed,
    show_goal, with_cell_options,
)

from envpool.errors import ConfigError
from envpool.mujoco.gym.ant import INFO as ANT_INFO, GymAnt
from envpool.mujoco.gym.options import model_path, weights
from envpool.mujoco.robotics.maze_rewards import MazeEnvDefinition
from envpool.mujoco.robotics.mazes import MAZE_OPTIONS

cdef struct Options:
    ant.AntOptions ant          # first, where the functions of the ant expect it
    MazeOptions maze
    int32_t observation_size

INFO = ANT_INFO | {"success": ant.OTHER_INFO, "distance": ant.OTHER_INFO + 1}
# Upstream sets these options.
FIXED = (
    "exclude_current_positions_from_observation", "reset_noise_scale", "reward_threshold", "gymnasium_v5_render_camera",
)


cdef inline const MazeOptions* maze_of(const Sim* s) noexcept nogil:
    return &(<const Options*>s.options).maze


cdef int reset(Sim* s) noexcept nogil:
    if begin_episode(s, maze_of(s)) != 0:
        return -1
    s.data.qpos[0], s.data.qpos[1] = maze_state(s).start[0], maze_state(s).start[1]
    mj_forward(s.model, s.data)
    ant.report_position(s)
    report(s, maze_of(s))
    return 0


cdef int step(Sim* s, const double* action, Outcome* out) noexcept nogil:
    ant.step(s, action, out)
    finish_step(s, maze_of(s), out)
    return 0


cdef void observe(const Sim* s, double* out) noexcept nogil:
    ant.observe(s, out)
    put_goals(out + (<const Options*>s.options).observation_size, s)


cdef void show(const Sim* s, mjData* shown) noexcept nogil:
    show_goal(s, maze_of(s), shown)


cdef TaskFunctions TASK = TaskFunctions(sizeof(MazeState), seed, reset, step, observe, is_valid, NULL, show)


class AntMaze(MazeEnvDefinition):
    """An ant that walks to a goal in a maze.

    Observations float64: observation (105,), that of Ant-v5, or (27,) before v5; achieved_goal (2,), the position of
    the torso (m); desired_goal (2,), that of the goal. Action float64 (8,): torques in [-1, 1]. The reward is 1 within
    0.45 m of the goal, otherwise 0; or exp(-distance) with ``reward_type="dense"``. The options of the ant are those of
    Ant.

    Options
    -------
    version : int
        3, 4 or 5. In v3, a goal that is reached moves before the reward is computed.
    xml_file : str
        The model: a name in Gymnasium's folder, or a path that starts with ".", "/" or "~".
    main_body : int or str, optional
        Id or name of the body whose velocity is rewarded, as in Ant.
    use_contact_force : bool
        If True, contact forces are observed and charged, as in Ant.
    include_cfrc_ext_in_observation : bool, optional
        If not None, this option decides whether contact forces are observed, as in Ant.
    exclude_worldbody_contact_forces : bool
        If True, the contact forces on the world are not observed.
    contact_force_range : pair of float, optional
        Contact forces are clipped to this interval, as in Ant.
    """

    options = {name: value for name, value in GymAnt.options.items() if name not in FIXED} | MAZE_OPTIONS | {
        "maze_size_scaling": 4.0, "maze_height": 0.5,
    }

    @staticmethod
    def build(config):
        cdef Options o
        cdef Model model
        cdef CameraView view
        model, keep = load_maze(&o.maze, config, model_path(config.xml_file))
        if model.m.nq < 3:
            raise ConfigError(f"{model.source} has {model.m.nq} positions (nq), this task needs at least 3")
        o.ant.locomotion.forward_reward_weight, o.ant.locomotion.ctrl_cost_weight = weights(
            config, "forward_reward_weight", "ctrl_cost_weight"
        )
        o.ant.locomotion.reset_noise_scale, o.ant.locomotion.skipped = 0.0, 2
        ant.read_ant(&o.ant, model, config)
        o.observation_size = ant.observation_size(&o.ant, model)
        o.maze.info = ant.OTHER_INFO
        if o.ant.version == 3:
            o.ant.version, o.maze.moves_early, o.maze.clearance = 4, True, 0.5
        view = gymnasium_view(model, {"distance": 4.0})
        observations = {
            "obs:observation": (o.observation_size,), "obs:achieved_goal": (2,), "obs:desired_goal": (2,),
        }
        return with_cell_options(
            define_task("AntMaze", &TASK, model, config, observations, INFO, action_range_of(model),
                        (<char*>&o)[:sizeof(o)], &view, (), keep)
        )
