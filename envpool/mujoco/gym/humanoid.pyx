"""Humanoid: a biped with seventeen hinges (Tassa, Erez and Todorov, 2012).

Source of the dynamics: ``gymnasium.envs.mujoco.humanoid_v5`` and ``humanoid_v4``. v3 equals v4 with the cost of
contacts. This cost is zero, since mujoco-py did not compute contact forces from version 2.0 on.
"""

from libc.stdint cimport int32_t

from envpool.mujoco.gym.common cimport (
    Health, Locomotion, Model, Outcome, Sim, TaskFunctions, define_gym_task, dt, gym_task, load_gym_model, read_health,
    read_locomotion, reset_uniform, simulate, sum_of_squares, survive_reward,
)
from envpool.mujoco.gym.humanoid_bodies cimport (
    BodyObservation, ContactCost, contact_cost, mj_rnePostConstraint, observe_bodies, read_body_observation,
    report_tendons, with_tendons,
)
from envpool.numerics.numpy_exact cimport np_norm, np_sum

from envpool.mujoco.base.env_definition import MujocoEnvDefinition
from envpool.mujoco.gym.humanoid_bodies import humanoid_options
from envpool.mujoco.gym.options import limits, one_of, weights

cdef struct Options:
    BodyObservation observation
    Locomotion locomotion
    Health health               # both ends of the interval of heights are exclusive
    ContactCost contacts
    int32_t version
    bint costs_contacts
    bint computes_contacts

cdef enum:
    X_POSITION, Y_POSITION, DISTANCE, X_VELOCITY, Y_VELOCITY, FORWARD, CTRL, CONTACT, SURVIVE, TENDONS

INFO = {
    "reward_linvel": FORWARD, "reward_forward": FORWARD, "forward_reward": FORWARD, "reward_quadctrl": CTRL,
    "reward_ctrl": CTRL, "reward_alive": SURVIVE, "reward_survive": SURVIVE, "reward_impact": CONTACT,
    "reward_contact": CONTACT, "x_position": X_POSITION, "y_position": Y_POSITION, "distance_from_origin": DISTANCE,
    "x_velocity": X_VELOCITY, "y_velocity": Y_VELOCITY,
}


cdef inline void center_of_mass(const Sim* s, double* xy) noexcept nogil:
    cdef double x = 0, y = 0, mass = np_sum(s.model.body_mass, s.model.nbody)
    cdef int32_t i
    for i in range(s.model.nbody):
        x += s.model.body_mass[i] * s.data.xipos[3 * i]
        y += s.model.body_mass[i] * s.data.xipos[3 * i + 1]
    xy[0] = x / mass
    xy[1] = y / mass


cdef inline void report_position(Sim* s, const double* xy) noexcept nogil:
    s.info[X_POSITION], s.info[Y_POSITION] = xy[0], xy[1]
    s.info[DISTANCE] = np_norm(xy, 2)
    report_tendons(s, TENDONS)


cdef int reset(Sim* s) noexcept nogil:
    cdef const Options* o = <const Options*>s.options
    cdef double[2] center
    reset_uniform(s, o.locomotion.reset_noise_scale)
    center_of_mass(s, center)
    report_position(s, s.data.qpos if o.version >= 5 else center)
    return 0


cdef int step(Sim* s, const double* action, Outcome* out) noexcept nogil:
    cdef const Options* o = <const Options*>s.options
    cdef double[2] before
    cdef double[2] after
    cdef double costs, cost
    cdef bint healthy
    center_of_mass(s, before)
    simulate(s, action)
    if o.computes_contacts:
        mj_rnePostConstraint(s.model, s.data)
    center_of_mass(s, after)
    report_position(s, s.data.qpos if o.version >= 5 else after)
    healthy = o.health.z_min < s.data.qpos[2] < o.health.z_max
    s.info[X_VELOCITY] = (after[0] - before[0]) / dt(s)
    s.info[Y_VELOCITY] = (after[1] - before[1]) / dt(s)
    s.info[FORWARD] = o.locomotion.forward_reward_weight * s.info[X_VELOCITY]
    s.info[SURVIVE] = survive_reward(&o.health, healthy)
    # MuJoCo sets all controls to zero if one is NaN, so the cost is that of the controls and not of the action.
    costs = o.locomotion.ctrl_cost_weight * sum_of_squares(s.data.ctrl, s.model.nu)
    s.info[CTRL] = -costs
    if o.costs_contacts:
        cost = contact_cost(s, &o.contacts)
        costs += cost
        s.info[CONTACT] = -cost
    out.reward = s.info[FORWARD] + s.info[SURVIVE] - costs
    out.terminated = not healthy and o.health.terminates
    return 0


cdef void observe(const Sim* s, double* out) noexcept nogil:
    observe_bodies(s, &(<const Options*>s.options).observation, out)


cdef TaskFunctions TASK = gym_task(reset, step, observe)


class GymHumanoid(MujocoEnvDefinition):
    """A biped with arms, on a free torso.

    Observation float64 (348,): positions without the first two, velocities, inertia and velocity of each body, actuator
    forces, contact forces and torques on each body. Action float64 (17,): torques in [-0.4, 0.4]. Reward: forward
    velocity of the center of mass and ``healthy_reward``, minus the costs of control and contacts. An episode
    terminates when the humanoid becomes unhealthy. docs/mujoco.md describes the other options.

    Options
    -------
    use_contact_force : bool
        If True, contacts are charged. The default is True in v3 and v5, and False in v4.
    contact_cost_weight : float
        Weight of the sum of squared contact forces in the cost, by default 5e-7.
    contact_cost_range : pair of float, optional
        The cost of contacts is clipped to this interval. By default the pair of ``contact_cost_min`` (-inf) and
        ``contact_cost_max`` (10.0).
    include_cinert_in_observation, include_cvel_in_observation, include_qfrc_actuator_in_observation, \
include_cfrc_ext_in_observation : bool
        If True, the default, the inertia of the bodies, their velocity, the actuator forces, or the contact forces are
        observed.
    exclude_worldbody_observations, exclude_root_actuator_forces : bool
        If True, the default from v5 on, the values of the world, or the first six actuator forces are not observed.
    version : int
        3, 4 or 5. Before 5, positions in info are those of the center of mass.
    """

    options = humanoid_options(
        legacy_healthy_reward=False, use_contact_force=True, forward_reward_weight=1.25, terminate_when_unhealthy=True,
        xml_file="humanoid.xml", healthy_reward=5.0, healthy_z_min=1.0, healthy_z_max=2.0, healthy_z_range=None,
        contact_cost_min=float("-inf"), contact_cost_range=None, version=5,
    )

    @staticmethod
    def build(config):
        cdef Options o
        cdef Model model = load_gym_model(config, 3, 6)
        size = read_body_observation(&o.observation, model, config)
        o.version = one_of(config, "version", (3, 4, 5))
        read_locomotion(&o.locomotion, config, 2)
        read_health(&o.health, config)
        (o.contacts.weight,) = weights(config, "contact_cost_weight")
        o.contacts.lowest, o.contacts.highest = limits(
            config, "contact_cost_range", "contact_cost_min", "contact_cost_max"
        )
        o.costs_contacts = config.use_contact_force
        o.computes_contacts = config.post_constraint and (o.costs_contacts or o.observation.cfrc_ext)
        info = with_tendons(INFO, TENDONS, model)
        camera = {"distance": 4.0, "lookat": (0.0, 0.0, 2.0), "elevation": -20.0}
        return define_gym_task("GymHumanoid", &TASK, model, config, size, info, &o, sizeof(o), camera)
