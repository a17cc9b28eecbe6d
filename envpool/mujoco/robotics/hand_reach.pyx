"""HandReach: a hand whose fingertips have to reach goals.

Source of the dynamics: ``gymnasium_robotics.envs.shadow_dexterous_hand.reach``.
"""

import numpy as np

from libc.stdint cimport int32_t
from libc.string cimport memcpy, memset

from envpool.mujoco.robotics.goals cimport (
    DISTANCE, IS_SUCCESS, GoalState, Model, Outcome, Sim, TaskFunctions, define_goal_task, distance_reward, ep_uniform,
    goal_distance, goal_of, is_sparse, is_valid, load_robotics_model, mj_forward, mjData, mjModel, mjOBJ_BODY,
    mjOBJ_JOINT, mjOBJ_SITE, put, required, rng_of, run_scratch, seed, single_joint,
)
from envpool.mujoco.robotics.hand cimport CAMERA, NUM_ACTIONS, Hand, add_noise, find_hand, move_hand, put_hand
from envpool.mujoco.robotics.rotations cimport normalize
from envpool.numerics.rng cimport ep_choice

from envpool.mujoco.robotics.goal_pools import GoalEnvDefinition
from envpool.mujoco.robotics.hand_options import INITIAL_QPOS, REACH_OPTIONS, check_threshold
from envpool.mujoco.robotics.rewards import distance_rewards

cdef enum:
    TIPS = 5
    THUMB = TIPS - 1            # index of the thumb
    GOAL = 3 * TIPS

cdef struct Options:
    Hand hand
    double palm[3]              # position of the palm when an episode begins (m)
    double initial_goal[GOAL]   # positions of the fingertips when an episode begins (m)
    double threshold
    bint is_sparse
    int32_t tips[TIPS]          # ids of sites: of the fingertips,
    int32_t targets[TIPS]       # and what frames show at the goals
    int32_t markers[TIPS]       # and at the fingertips
    # Followed by the positions with which an episode begins (nq).


cdef inline const Options* options_of(const Sim* s) noexcept nogil:
    return <const Options*>s.options


cdef void put_tips(const mjData* d, const Options* o, double* out) noexcept nogil:
    cdef int32_t i
    for i in range(TIPS):
        put(out + 3 * i, d.site_xpos + 3 * o.tips[i], 3)


cdef void measure(Sim* s) noexcept nogil:
    cdef double achieved[GOAL]
    put_tips(s.data, options_of(s), achieved)
    s.info[DISTANCE] = goal_distance(achieved, goal_of(s), GOAL)
    s.info[IS_SUCCESS] = s.info[DISTANCE] < options_of(s).threshold


cdef void move_to(double* tip, const double* meeting) noexcept nogil:
    """Moves the goal of a fingertip to a point, except for the last 5 mm, so that two fingers can meet there."""
    cdef double direction[3]
    cdef int32_t i
    for i in range(3):
        direction[i] = meeting[i] - tip[i]
    normalize(direction, 3)
    for i in range(3):
        tip[i] = meeting[i] - 0.005 * direction[i]


cdef void sample_goal(Sim* s) noexcept nogil:
    """Lets the thumb and another finger meet above the palm, or all fingers stay where they are."""
    cdef const Options* o = options_of(s)
    cdef double* goal = goal_of(s)
    cdef double meeting[3]
    cdef double shifts[3]
    cdef int32_t finger, i
    finger = <int32_t>ep_choice(rng_of(s), TIPS - 1)
    shifts[0], shifts[1], shifts[2] = 0.0, -0.09, 0.05
    for i in range(3):
        meeting[i] = o.palm[i] + shifts[i]
    add_noise(s, meeting)
    memcpy(goal, o.initial_goal, sizeof(o.initial_goal))
    move_to(goal + 3 * THUMB, meeting)
    move_to(goal + 3 * finger, meeting)
    if ep_uniform(rng_of(s), 0.0, 1.0) < 0.1:
        memcpy(goal, o.initial_goal, sizeof(o.initial_goal))


cdef int reset(Sim* s) noexcept nogil:
    memcpy(s.data.qpos, options_of(s) + 1, s.model.nq * sizeof(double))
    mj_forward(s.model, s.data)
    sample_goal(s)
    measure(s)
    return 0


cdef int step(Sim* s, const double* action, Outcome* out) noexcept nogil:
    move_hand(s, action)
    measure(s)
    out.reward = distance_reward(s.info[DISTANCE], options_of(s).threshold, options_of(s).is_sparse)
    out.terminated = False
    return 0


cdef void observe(const Sim* s, double* out) noexcept nogil:
    cdef const Options* o = options_of(s)
    out = put_hand(out, s, &o.hand)
    put_tips(s.data, o, out)
    put_tips(s.data, o, out + GOAL)
    put(out + 2 * GOAL, goal_of(s), GOAL)


cdef void show(const Sim* s, mjData* shown) noexcept nogil:
    """Moves markers to the goals, and to where the fingertips are observed."""
    cdef const Options* o = options_of(s)
    cdef int32_t i
    mj_forward(s.model, shown)
    for i in range(TIPS):
        put(shown.site_xpos + 3 * o.targets[i], goal_of(s) + 3 * i, 3)
        put(shown.site_xpos + 3 * o.markers[i], s.data.site_xpos + 3 * o.tips[i], 3)


cdef TaskFunctions TASK = TaskFunctions(sizeof(GoalState), seed, reset, step, observe, is_valid, NULL, show)


# ---- the env definition ----------------------------------------------------------------------------------------------

# The argument of take_position().
cdef struct Setup:
    Options* options
    const double* qpos
    int32_t palm                # id of the body


cdef int take_position(mjModel* m, mjData* d, void* argument) noexcept nogil:
    cdef Setup* setup = <Setup*>argument
    memcpy(d.qpos, setup.qpos, m.nq * sizeof(double))
    mj_forward(m, d)
    put_tips(d, setup.options, setup.options.initial_goal)
    put(setup.options.palm, d.xpos + 3 * setup.palm, 3)
    return 0


cdef int32_t site(Model model, str name) except -1:
    return required(model, mjOBJ_SITE, name)


class HandReach(GoalEnvDefinition):
    """Move the fingertips of a hand to goals.

    Observations float64: observation (63,): positions (rad) and velocities (rad/s) of the 24 joints, positions of the
    five fingertips (m); achieved_goal (15,), desired_goal (15,): positions of the fingertips, and where they should be.
    Action float32 (20,) in [-1, 1]: positions of the actuated joints, relative to their ranges. The reward is 0 if the
    distance from the goal is at most `distance_threshold` and -1 otherwise; with ``reward_type="dense"`` it is the
    negative distance.
    """

    options = REACH_OPTIONS
    goal_size = GOAL
    compute_reward = staticmethod(distance_rewards)

    @staticmethod
    def build(config):
        cdef Options o
        cdef Setup setup
        cdef Model model = load_robotics_model(config)
        cdef double[::1] qpos = np.array([model.m.qpos0[i] for i in range(model.m.nq)])
        cdef int32_t joint
        memset(&o, 0, sizeof(Options))
        check_threshold(config, "distance_threshold")
        find_hand(&o.hand, model)
        for name, value in INITIAL_QPOS.items():
            joint = single_joint(model, required(model, mjOBJ_JOINT, f"robot0:{name}"))
            qpos[model.m.jnt_qposadr[joint]] = value
        o.tips = [site(model, f"robot0:S_{finger}tip") for finger in ("ff", "mf", "rf", "lf", "th")]
        o.targets = [site(model, f"target{i}") for i in range(TIPS)]
        o.markers = [site(model, f"finger{i}") for i in range(TIPS)]
        o.threshold = config.distance_threshold
        o.is_sparse = is_sparse(config)
        setup.options, setup.qpos, setup.palm = &o, &qpos[0], required(model, mjOBJ_BODY, "robot0:palm")
        run_scratch(model, take_position, &setup)
        header = (<const char*>&o)[:sizeof(Options)]
        return define_goal_task("HandReach", &TASK, model, config,
                                (2 * o.hand.num_joints + GOAL, GOAL, NUM_ACTIONS), header + bytes(qpos), CAMERA)
