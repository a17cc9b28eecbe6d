"""Humanoid: a biped with seventeen hinges (Tassa, Erez and Todorov, 2012).

Source of the dynamics: ``gymnasium.envs.mujoco.humanoid_v5`` and ``humanoid_v4``. v3 is v4 with the cost of contacts,
which is zero: mujoco-py did not compute contact forces from version 2.0 on.
"""

from libc.stdint cimport int32_t

from envpool.numerics.numpy_exact cimport np_norm, np_sum
from envpool.mujoco.base.model cimport Model
from envpool.mujoco.base.calls cimport mj_rnePostConstraint
from envpool.mujoco.base.simulation cimport Outcome, Sim, Task
from envpool.mujoco.gym.bodies cimport Observed, choose, observe_bodies, tell_tendons, with_tendons
from envpool.mujoco.gym.common cimport (
    Own, clip, define_gym_task, dt, model_of, require, reset_uniform, seed_one, simulate, sum_of_squares,
)

from envpool.mujoco.base.opengl import MujocoTask
from envpool.mujoco.gym.options import finite, limits, one_of, scale
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
    double z_min                # exclusive
    double z_max
    double mass                 # of all bodies
    int32_t version
    bint terminates             # when unhealthy
    bint legacy_healthy_reward  # given when unhealthy too, if that terminates
    bint costs_contacts
    bint computes_contacts

cdef enum:
    X_POSITION, Y_POSITION, DISTANCE, X_VELOCITY, Y_VELOCITY, FORWARD, CTRL, CONTACT, SURVIVE, TENDONS

INFO = {
    "reward_linvel": FORWARD,
    "reward_forward": FORWARD,
    "forward_reward": FORWARD,
    "reward_quadctrl": CTRL,
    "reward_ctrl": CTRL,
    "reward_alive": SURVIVE,
    "reward_survive": SURVIVE,
    "reward_impact": CONTACT,
    "reward_contact": CONTACT,
    "x_position": X_POSITION,
    "y_position": Y_POSITION,
    "distance_from_origin": DISTANCE,
    "x_velocity": X_VELOCITY,
    "y_velocity": Y_VELOCITY,
}


cdef inline void mass_center(const Sim* s, const Options* o, double* xy) noexcept nogil:
    cdef double x = 0, y = 0
    cdef int32_t i
    for i in range(s.model.nbody):
        x += s.model.body_mass[i] * s.data.xipos[3 * i]
        y += s.model.body_mass[i] * s.data.xipos[3 * i + 1]
    xy[0] = x / o.mass
    xy[1] = y / o.mass


cdef inline void tell_position(Sim* s, const double* xy) noexcept nogil:
    s.info[X_POSITION] = xy[0]
    s.info[Y_POSITION] = xy[1]
    s.info[DISTANCE] = np_norm(xy, 2)
    tell_tendons(s, TENDONS)


cdef int reset(Sim* s) noexcept nogil:
    cdef const Options* o = <const Options*>s.options
    cdef double[2] center
    reset_uniform(s, o.reset_noise_scale)
    mass_center(s, o, center)
    tell_position(s, s.data.qpos if o.version >= 5 else center)
    return 0


cdef int step(Sim* s, const double* action, Outcome* out) noexcept nogil:
    cdef const Options* o = <const Options*>s.options
    cdef double[2] before
    cdef double[2] after
    cdef double costs, contact_cost
    cdef bint healthy
    mass_center(s, o, before)
    simulate(s, action)
    if o.computes_contacts:
        mj_rnePostConstraint(s.model, s.data)
    mass_center(s, o, after)
    tell_position(s, s.data.qpos if o.version >= 5 else after)
    healthy = o.z_min < s.data.qpos[2] < o.z_max
    s.info[X_VELOCITY] = (after[0] - before[0]) / dt(s)
    s.info[Y_VELOCITY] = (after[1] - before[1]) / dt(s)
    s.info[FORWARD] = o.forward_reward_weight * s.info[X_VELOCITY]
    s.info[SURVIVE] = <double>(healthy or (o.legacy_healthy_reward and o.terminates)) * o.healthy_reward
    costs = o.ctrl_cost_weight * sum_of_squares(s.data.ctrl, s.model.nu)        # which MuJoCo zeroes if one is NaN
    s.info[CTRL] = -costs
    if o.costs_contacts:
        contact_cost = o.contact_cost_weight * sum_of_squares(s.data.cfrc_ext, 6 * s.model.nbody)
        contact_cost = clip(contact_cost, o.contact_cost_min, o.contact_cost_max)
        costs += contact_cost
        s.info[CONTACT] = -contact_cost
    out.reward = s.info[FORWARD] + s.info[SURVIVE] - costs
    out.terminated = not healthy and o.terminates
    return 0


cdef void observe(const Sim* s, double* out) noexcept nogil:
    observe_bodies(s, &(<const Options*>s.options).observed, out)


cdef Task TASK = Task(sizeof(Own), seed_one, reset, step, observe)


class GymHumanoid(MujocoTask):
    """A biped with arms, on a free torso.

    Observation float64 (348,): positions without the first two, velocities, inertia and velocity of each body, actuator
    forces, contact forces and torques on each body. Action float64 (17,): torques in [-0.4, 0.4]. Reward: forward
    velocity of the centre of mass and ``healthy_reward``, less the costs of control and contacts. An episode ends when
    the humanoid is unhealthy.

    Options
    -------
    forward_reward_weight, ctrl_cost_weight, contact_cost_weight, healthy_reward : float
        Weights of velocity (m/s), of the sum of squared controls and of the sum of squared contact forces, and the
        reward for a healthy step.
    contact_cost_range : pair of float
        The cost of contacts is clipped to this; ``contact_cost_min`` and ``contact_cost_max`` give the ends one by one.
    use_contact_force : bool
        Whether contacts cost.
    healthy_z_range : pair of float
        Heights (m) that are healthy, without the ends; ``healthy_z_min`` and ``healthy_z_max`` give them one by one.
    terminate_when_unhealthy : bool
        Whether an episode ends then.
    legacy_healthy_reward : bool
        Whether the last step of such an episode has the reward too, as before v5.
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
    version : int
        3, 4 or 5. Before 5, positions in info are the centre of mass's.
    """

    options = OPTIONS | {
        "legacy_healthy_reward": False,
        "use_contact_force": True,
        "forward_reward_weight": 1.25,
        "terminate_when_unhealthy": True,
        "xml_file": "humanoid.xml",
        "ctrl_cost_weight": 0.1,
        "healthy_reward": 5.0,
        "healthy_z_min": 1.0,
        "healthy_z_max": 2.0,
        "healthy_z_range": None,
        "contact_cost_weight": 5e-7,
        "contact_cost_min": float("-inf"),
        "contact_cost_max": 10.0,
        "contact_cost_range": None,
        "version": 5,
    }

    @staticmethod
    def build(config):
        """Return the capsule of this kind."""
        cdef Options o
        cdef Model model = model_of(config)
        require(model, 3, 6)
        size = choose(&o.observed, model, config)
        o.version = one_of(config, "version", (3, 4, 5))
        o.forward_reward_weight, o.ctrl_cost_weight, o.contact_cost_weight, o.healthy_reward = finite(
            config, "forward_reward_weight", "ctrl_cost_weight", "contact_cost_weight", "healthy_reward"
        )
        o.contact_cost_min, o.contact_cost_max = limits(
            config, "contact_cost_range", "contact_cost_min", "contact_cost_max"
        )
        o.reset_noise_scale = scale(config)
        o.z_min, o.z_max = limits(config, "healthy_z_range", "healthy_z_min", "healthy_z_max")
        o.mass = np_sum(model.m.body_mass, model.m.nbody)
        o.terminates = config.terminate_when_unhealthy
        o.legacy_healthy_reward = config.legacy_healthy_reward
        o.costs_contacts = config.use_contact_force
        o.computes_contacts = config.post_constraint and (o.costs_contacts or o.observed.cfrc_ext)
        return define_gym_task(
            "GymHumanoid", &TASK, model, config, {"obs": (size,)}, with_tendons(INFO, TENDONS, model),
            (<const char*>&o)[:sizeof(Options)], {"distance": 4.0, "lookat": (0.0, 0.0, 2.0), "elevation": -20.0},
        )
