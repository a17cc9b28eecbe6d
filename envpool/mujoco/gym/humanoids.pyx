"""Humanoid and HumanoidStandup: a biped with seventeen hinges (Tassa, Erez and Todorov, 2012).

Source of the dynamics: ``gymnasium.envs.mujoco.humanoid_v5``, ``humanoidstandup_v5`` and their v4. Humanoid-v3 equals
v4 with the cost of contacts, and HumanoidStandup-v2 equals v4. Contact forces are zero in v2 and v3, since mujoco-py
did not compute them from version 2.0 on.
"""

from libc.stdint cimport int32_t

from envpool.mujoco.base.calls cimport mj_rnePostConstraint
from envpool.mujoco.gym.common cimport (
    Health, Locomotion, Model, Outcome, Sim, TaskFunctions, TaskState, clip, define_gym_task, dt, is_valid,
    load_gym_model, put, put_state, read_health, read_locomotion, reset_uniform, seed, simulate, sum_of_squares,
    survive_reward,
)
from envpool.numerics.numpy_exact cimport np_norm, np_sum

from envpool.mujoco.base.env_definition import MujocoEnvDefinition
from envpool.mujoco.gym.options import either, gym_options, limits, one_of, weights

# The observed quantities.
cdef struct BodyObservation:
    int32_t skipped             # number of leading positions that are not observed
    int32_t first_body          # 0: the world is observed as well, 1: it is not
    int32_t first_force         # the first observed actuator force
    bint cinert
    bint cvel
    bint qfrc_actuator
    bint cfrc_ext

# The cost of contacts.
cdef struct ContactCost:
    double weight
    double lowest
    double highest

cdef struct Options:
    BodyObservation observation
    Locomotion locomotion       # the "forward" reward of HumanoidStandup is the height's
    Health health               # both ends of the interval of heights are exclusive; only `reward` in HumanoidStandup
    ContactCost contacts
    int32_t version
    bint costs_contacts
    bint computes_contacts


cdef inline const Options* options_of(const Sim* s) noexcept nogil:
    return <const Options*>s.options


cdef void observe(const Sim* s, double* out) noexcept nogil:
    cdef const BodyObservation* o = &options_of(s).observation
    cdef int32_t first = o.first_body, bodies = s.model.nbody - first
    out = put_state(out, s, o.skipped)
    if o.cinert:
        out = put(out, s.data.cinert + 10 * first, 10 * bodies)
    if o.cvel:
        out = put(out, s.data.cvel + 6 * first, 6 * bodies)
    if o.qfrc_actuator:
        out = put(out, s.data.qfrc_actuator + o.first_force, s.model.nv - o.first_force)
    if o.cfrc_ext:
        put(out, s.data.cfrc_ext + 6 * first, 6 * bodies)


cdef inline double contact_cost(const Sim* s, const ContactCost* c) noexcept nogil:
    cdef double cost = c.weight * sum_of_squares(s.data.cfrc_ext, 6 * s.model.nbody)
    return clip(cost, c.lowest, c.highest)


cdef inline void report_tendons(Sim* s, int32_t first) noexcept nogil:
    put(put(s.info + first, s.data.ten_length, s.model.ntendon), s.data.ten_velocity, s.model.ntendon)


cdef dict with_tendons(dict info, int first, Model model):
    """Returns a table of info arrays with those of the tendons, whose values begin at index `first` of Sim.info."""
    if model.m.ntendon == 0:
        return info
    return info | {
        "tendon_length": (first, model.m.ntendon), "tendon_velocity": (first + model.m.ntendon, model.m.ntendon)
    }


cdef int32_t read_body_observation(BodyObservation* o, Model model, object config) except -1:
    """Reads the options include_... and exclude_...; returns the size of the observation."""
    o.skipped = 2 * config.exclude_current_positions_from_observation
    o.first_body = config.exclude_worldbody_observations
    o.first_force = 6 * config.exclude_root_actuator_forces
    o.cinert = config.include_cinert_in_observation
    o.cvel = config.include_cvel_in_observation
    o.qfrc_actuator = config.include_qfrc_actuator_in_observation
    o.cfrc_ext = config.include_cfrc_ext_in_observation
    return model.m.nq - o.skipped + model.m.nv + (
        (model.m.nbody - o.first_body) * (10 * o.cinert + 6 * o.cvel + 6 * o.cfrc_ext)
        + (model.m.nv - o.first_force) * o.qfrc_actuator
    )


def humanoid_options(**options):
    """Return the options of a humanoid task: those given here, and those that both tasks have."""
    return gym_options(
        frame_skip=5, reset_noise_scale=0.01, ctrl_cost_weight=0.1, contact_cost_weight=5e-7, contact_cost_max=10.0,
        exclude_current_positions_from_observation=True, exclude_worldbody_observations=True,
        exclude_root_actuator_forces=True, include_cinert_in_observation=True, include_cvel_in_observation=True,
        include_qfrc_actuator_in_observation=True, include_cfrc_ext_in_observation=True, **options,
    )


# ---- Humanoid --------------------------------------------------------------------------------------------------------

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
    cdef const Options* o = options_of(s)
    cdef double[2] center
    reset_uniform(s, o.locomotion.reset_noise_scale)
    center_of_mass(s, center)
    report_position(s, s.data.qpos if o.version >= 5 else center)
    return 0


cdef int step(Sim* s, const double* action, Outcome* out) noexcept nogil:
    cdef const Options* o = options_of(s)
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
    # MuJoCo sets all controls to zero if one is NaN, so the cost is the cost of the controls, not of the action.
    costs = o.locomotion.ctrl_cost_weight * sum_of_squares(s.data.ctrl, s.model.nu)
    s.info[CTRL] = -costs
    if o.costs_contacts:
        cost = contact_cost(s, &o.contacts)
        costs += cost
        s.info[CONTACT] = -cost
    out.reward = s.info[FORWARD] + s.info[SURVIVE] - costs
    out.terminated = not healthy and o.health.terminates
    return 0


cdef TaskFunctions TASK = TaskFunctions(sizeof(TaskState), seed, reset, step, observe, is_valid, NULL, NULL)


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


# ---- HumanoidStandup -------------------------------------------------------------------------------------------------

cdef enum:
    Z_DISTANCE = 2              # behind X_POSITION and Y_POSITION
    UP, STANDUP_CTRL, IMPACT, ALIVE, STANDUP_TENDONS

STANDUP_INFO = {
    "reward_linup": UP, "reward_quadctrl": STANDUP_CTRL, "reward_alive": ALIVE, "reward_impact": IMPACT,
    "x_position": X_POSITION, "y_position": Y_POSITION, "z_distance_from_origin": Z_DISTANCE,
}


cdef inline void report_height(Sim* s) noexcept nogil:
    s.info[X_POSITION], s.info[Y_POSITION] = s.data.qpos[0], s.data.qpos[1]
    s.info[Z_DISTANCE] = s.data.qpos[2] - s.model.qpos0[2]
    report_tendons(s, STANDUP_TENDONS)


cdef int reset_standup(Sim* s) noexcept nogil:
    reset_uniform(s, options_of(s).locomotion.reset_noise_scale)
    report_height(s)
    return 0


cdef int step_standup(Sim* s, const double* action, Outcome* out) noexcept nogil:
    cdef const Options* o = options_of(s)
    cdef double ctrl_cost, impact_cost
    simulate(s, action)
    if o.computes_contacts:
        mj_rnePostConstraint(s.model, s.data)
    report_height(s)
    s.info[UP] = o.locomotion.forward_reward_weight * (s.data.qpos[2] / s.model.opt.timestep)
    # MuJoCo sets all controls to zero if one is NaN, so the cost is the cost of the controls, not of the action.
    ctrl_cost = o.locomotion.ctrl_cost_weight * sum_of_squares(s.data.ctrl, s.model.nu)
    impact_cost = contact_cost(s, &o.contacts)
    s.info[STANDUP_CTRL] = -ctrl_cost
    s.info[IMPACT] = -impact_cost
    s.info[ALIVE] = o.health.reward
    out.reward = s.info[UP] - ctrl_cost - impact_cost + o.health.reward
    out.terminated = False
    return 0


cdef TaskFunctions STANDUP = TaskFunctions(
    sizeof(TaskState), seed, reset_standup, step_standup, observe, is_valid, NULL, NULL
)


class GymHumanoidStandup(MujocoEnvDefinition):
    """A biped with arms that starts on its back.

    Observation and action are those of GymHumanoid. Reward: height of the torso divided by the time step of the
    simulation, and ``healthy_reward``, minus the costs of control and contacts. Episodes end at the time limit only.
    The options ``include_...`` and ``exclude_...`` are those of GymHumanoid; docs/mujoco.md describes the others.

    Options
    -------
    forward_reward_weight : float
        Weight of the height, by default 1.0.
    uph_cost_weight : float
        This option has no effect, as in Gymnasium 1.4.0.
    impact_cost_weight : float, optional
        Weight of the sum of squared contact forces in the cost. By default ``contact_cost_weight`` (5e-7).
    impact_cost_range : pair of float, optional
        The cost of contacts is clipped to this interval. By default -inf and ``contact_cost_max`` (10.0).
    healthy_reward : float
        Reward that each step adds, by default 1.0.
    """

    options = humanoid_options(
        xml_file="humanoidstandup.xml", forward_reward_weight=1.0, uph_cost_weight=1.0, impact_cost_weight=None,
        impact_cost_range=None, healthy_reward=1.0,
    )

    @staticmethod
    def build(config):
        cdef Options o
        cdef Model model = load_gym_model(config, 3, 6)
        size = read_body_observation(&o.observation, model, config)
        read_locomotion(&o.locomotion, config, 2)
        (o.health.reward,) = weights(config, "healthy_reward")
        o.contacts.weight = either(config, "impact_cost_weight", "contact_cost_weight")
        o.contacts.lowest, o.contacts.highest = limits(config, "impact_cost_range", float("-inf"), "contact_cost_max")
        o.computes_contacts = config.post_constraint
        camera = {"distance": 4.0, "lookat": (0.0, 0.0, 0.8925), "elevation": -20.0}
        info = with_tendons(STANDUP_INFO, STANDUP_TENDONS, model)
        return define_gym_task("GymHumanoidStandup", &STANDUP, model, config, size, info, &o, sizeof(o), camera)
