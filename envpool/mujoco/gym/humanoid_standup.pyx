"""HumanoidStandup: the biped of Humanoid, lying, which has to get up (Tassa, Erez and Todorov, 2012).

Source of the dynamics: ``gymnasium.envs.mujoco.humanoidstandup_v5`` and ``humanoidstandup_v4``. v2 is v4 with contact
forces of zero: mujoco-py did not compute them from version 2.0 on.
"""

from envpool.mujoco.base.model cimport Model
from envpool.mujoco.base.calls cimport mj_rnePostConstraint
from envpool.mujoco.base.simulation cimport Outcome, Sim, Task
from envpool.mujoco.gym.bodies cimport Observed, choose, observe_bodies, tell_tendons, with_tendons
from envpool.mujoco.gym.common cimport (
    Own, clip, define_gym_task, model_of, require, reset_uniform, seed_one, simulate, sum_of_squares,
)

from envpool.mujoco.base.opengl import MujocoTask
from envpool.mujoco.gym.options import either, finite, limits, scale
from envpool.mujoco.gym.bodies import OPTIONS

cdef struct Options:
    Observed observed
    double forward_reward_weight
    double ctrl_cost_weight
    double contact_cost_weight
    double contact_cost_min
    double contact_cost_max
    double healthy_reward
    double reset_noise_scale
    bint post_constraint

cdef enum:
    X_POSITION, Y_POSITION, Z_DISTANCE, UP, CTRL, IMPACT, ALIVE, TENDONS

INFO = {
    "reward_linup": UP,
    "reward_quadctrl": CTRL,
    "reward_alive": ALIVE,
    "reward_impact": IMPACT,
    "x_position": X_POSITION,
    "y_position": Y_POSITION,
    "z_distance_from_origin": Z_DISTANCE,
}


cdef inline void tell_position(Sim* s) noexcept nogil:
    s.info[X_POSITION] = s.data.qpos[0]
    s.info[Y_POSITION] = s.data.qpos[1]
    s.info[Z_DISTANCE] = s.data.qpos[2] - s.model.qpos0[2]
    tell_tendons(s, TENDONS)


cdef int reset(Sim* s) noexcept nogil:
    cdef const Options* o = <const Options*>s.options
    reset_uniform(s, o.reset_noise_scale)
    tell_position(s)
    return 0


cdef int step(Sim* s, const double* action, Outcome* out) noexcept nogil:
    cdef const Options* o = <const Options*>s.options
    cdef double ctrl_cost, impact_cost
    simulate(s, action)
    if o.post_constraint:
        mj_rnePostConstraint(s.model, s.data)
    tell_position(s)
    s.info[UP] = o.forward_reward_weight * (s.data.qpos[2] / s.model.opt.timestep)
    ctrl_cost = o.ctrl_cost_weight * sum_of_squares(s.data.ctrl, s.model.nu)    # which MuJoCo zeroes if one is NaN
    impact_cost = o.contact_cost_weight * sum_of_squares(s.data.cfrc_ext, 6 * s.model.nbody)
    impact_cost = clip(impact_cost, o.contact_cost_min, o.contact_cost_max)
    s.info[CTRL] = -ctrl_cost
    s.info[IMPACT] = -impact_cost
    s.info[ALIVE] = o.healthy_reward
    out.reward = s.info[UP] - ctrl_cost - impact_cost + o.healthy_reward
    out.terminated = False
    return 0


cdef void observe(const Sim* s, double* out) noexcept nogil:
    observe_bodies(s, &(<const Options*>s.options).observed, out)


cdef Task TASK = Task(sizeof(Own), seed_one, reset, step, observe)


class GymHumanoidStandup(MujocoTask):
    """A biped with arms that starts on its back.

    Observation float64 (348,): as Humanoid's. Action float64 (17,): torques in [-0.4, 0.4]. Reward: height of the torso
    over the simulation's time step and ``healthy_reward``, less the costs of control and contacts. Episodes end by the
    time limit only.

    Options
    -------
    forward_reward_weight, ctrl_cost_weight, contact_cost_weight, healthy_reward : float
        Weights of the height, of the sum of squared controls and of the sum of squared contact forces, and a reward for
        each step. ``impact_cost_weight`` is the same as ``contact_cost_weight``.
    uph_cost_weight : float
        Has no effect, as in Gymnasium 1.4.0.
    impact_cost_range : pair of float
        The cost of contacts is clipped to this; ``contact_cost_max`` gives the upper end alone.
    include_cinert_in_observation, include_cvel_in_observation, include_qfrc_actuator_in_observation, \
include_cfrc_ext_in_observation : bool
        Whether inertia, velocity, actuator forces and contact forces are observed.
    exclude_worldbody_observations, exclude_root_actuator_forces : bool
        Whether the observation lacks the values of the world, and the first six actuator forces.
    post_constraint : bool
        Whether contact forces are computed; they are zero otherwise.
    reset_noise_scale : float
        Half the width of the uniform distribution of the first state.
    exclude_current_positions_from_observation : bool
        Whether the observation lacks the coordinates x and y.
    """

    options = OPTIONS | {
        "xml_file": "humanoidstandup.xml",
        "forward_reward_weight": 1.0,
        "uph_cost_weight": 1.0,
        "ctrl_cost_weight": 0.1,
        "contact_cost_weight": 5e-7,
        "impact_cost_weight": None,
        "contact_cost_max": 10.0,
        "impact_cost_range": None,
        "healthy_reward": 1.0,
    }

    @staticmethod
    def build(config):
        """Return the capsule of this kind."""
        cdef Options o
        cdef Model model = model_of(config)
        require(model, 3, 6)
        size = choose(&o.observed, model, config)
        o.forward_reward_weight, o.ctrl_cost_weight, o.healthy_reward = finite(
            config, "forward_reward_weight", "ctrl_cost_weight", "healthy_reward"
        )
        o.contact_cost_weight = either(config, "impact_cost_weight", "contact_cost_weight")
        o.contact_cost_min, o.contact_cost_max = limits(
            config, "impact_cost_range", float("-inf"), "contact_cost_max"
        )
        o.reset_noise_scale = scale(config)
        o.post_constraint = config.post_constraint
        return define_gym_task(
            "GymHumanoidStandup", &TASK, model, config, {"obs": (size,)}, with_tendons(INFO, TENDONS, model),
            (<const char*>&o)[:sizeof(Options)], {"distance": 4.0, "lookat": (0.0, 0.0, 0.8925), "elevation": -20.0},
        )
