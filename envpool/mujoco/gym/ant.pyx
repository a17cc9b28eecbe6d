"""Ant: a quadruped with eight hinges (Schulman, Moritz, Levine, Jordan and Abbeel, 2015).

Source of the dynamics: ``gymnasium.envs.mujoco.ant_v5`` and ``ant_v4``. v3 equals v4 with contact forces in observation
and reward. All of these forces are zero, since mujoco-py did not compute them from version 2.0 on.
"""

from libc.stdint cimport int32_t

from envpool.mujoco.base.calls cimport mj_rnePostConstraint
from envpool.mujoco.gym.common cimport (
    Model, Outcome, Sim, TaskFunctions, TaskState, body_id, define_gym_task, dt, is_finite, is_valid, load_gym_model,
    put_clipped, put_state, read_health, read_locomotion, reset_normal, seed, simulate, sum_of_squares, survive_reward,
)
from envpool.numerics.numpy_exact cimport np_norm

from envpool.mujoco.base.env_definition import MujocoEnvDefinition
from envpool.mujoco.gym.options import either, gym_options, limits, one_of, weights

INFO = {
    "reward_forward": FORWARD, "forward_reward": FORWARD, "reward_ctrl": CTRL, "reward_contact": CONTACT,
    "reward_survive": SURVIVE, "x_position": X_POSITION, "y_position": Y_POSITION, "distance_from_origin": DISTANCE,
    "x_velocity": X_VELOCITY, "y_velocity": Y_VELOCITY,
}


cdef void report_position(Sim* s) noexcept nogil:
    cdef const AntOptions* o = <const AntOptions*>s.options
    cdef const double* xy = s.data.qpos if o.version >= 5 else s.data.xpos + 3 * o.main_body
    s.info[X_POSITION], s.info[Y_POSITION] = xy[0], xy[1]
    s.info[DISTANCE] = np_norm(xy, 2)


cdef int reset(Sim* s) noexcept nogil:
    reset_normal(s, (<const AntOptions*>s.options).locomotion.reset_noise_scale)
    report_position(s)
    return 0


cdef int step(Sim* s, const double* action, Outcome* out) noexcept nogil:
    cdef const AntOptions* o = <const AntOptions*>s.options
    cdef const double* body = s.data.xpos + 3 * o.main_body
    cdef double x = body[0], y = body[1], costs, contact_cost
    cdef bint healthy
    simulate(s, action)
    if o.computes_contacts:
        mj_rnePostConstraint(s.model, s.data)
    report_position(s)
    healthy = is_finite(s) and o.health.z_min <= s.data.qpos[2] <= o.health.z_max
    s.info[X_VELOCITY] = (body[0] - x) / dt(s)
    s.info[Y_VELOCITY] = (body[1] - y) / dt(s)
    s.info[FORWARD] = s.info[X_VELOCITY] * o.locomotion.forward_reward_weight
    s.info[SURVIVE] = survive_reward(&o.health, healthy)
    costs = o.locomotion.ctrl_cost_weight * sum_of_squares(action, s.config.num_actions)
    s.info[CTRL] = -costs
    if o.costs_contacts:
        contact_cost = o.contact_cost_weight * sum_of_squares(
            s.data.cfrc_ext, 6 * s.model.nbody, o.force_min, o.force_max
        )
        costs += contact_cost
        s.info[CONTACT] = -contact_cost
        if o.version == 4:
            s.info[CTRL] = -contact_cost        # upstream overwrites the cost of control
    out.reward = s.info[FORWARD] + s.info[SURVIVE] - costs
    out.terminated = not healthy and o.health.terminates
    return 0


cdef void observe(const Sim* s, double* out) noexcept nogil:
    cdef const AntOptions* o = <const AntOptions*>s.options
    out = put_state(out, s, o.locomotion.skipped)
    if o.observes_contacts:
        put_clipped(
            out, s.data.cfrc_ext + 6 * o.first_body, 6 * (s.model.nbody - o.first_body), o.force_min, o.force_max
        )


cdef int read_ant(AntOptions* o, Model model, object config) except -1:
    o.version = one_of(config, "version", (3, 4, 5))
    read_health(&o.health, config)
    (o.contact_cost_weight,) = weights(config, "contact_cost_weight")
    o.force_min, o.force_max = limits(config, "contact_force_range", "contact_force_min", "contact_force_max")
    main_body = config.main_body
    if main_body is None:
        main_body = 1 if o.version >= 5 else "torso"
    o.main_body = body_id(model, main_body)
    o.costs_contacts = either(config, "use_contact_forces", "use_contact_force")
    o.observes_contacts = o.costs_contacts
    if config.include_cfrc_ext_in_observation is not None:
        o.observes_contacts = either(config, "include_cfrc_ext_in_observation", "use_contact_force")
    o.computes_contacts = config.post_constraint and (o.costs_contacts or o.observes_contacts)
    o.first_body = config.exclude_worldbody_contact_forces
    return 0


cdef int32_t observation_size(const AntOptions* o, Model model) noexcept:
    cdef long size = model.m.nq + model.m.nv - o.locomotion.skipped
    return <int32_t>(size + 6 * (model.m.nbody - o.first_body) * o.observes_contacts)


cdef TaskFunctions TASK = TaskFunctions(sizeof(TaskState), seed, reset, step, observe, is_valid, NULL, NULL)


class GymAnt(MujocoEnvDefinition):
    """Four legs of two hinges each on a free torso.

    Observation float64 (105,): positions without the first two, velocities, contact forces and torques on each body.
    Action float64 (8,): torques in [-1, 1]. Reward: forward velocity and ``healthy_reward``, minus the costs of control
    and contacts. An episode terminates when the ant becomes unhealthy. docs/mujoco.md describes the other options.

    Options
    -------
    contact_cost_weight : float
        Weight of the sum of squared contact forces in the cost, by default 5e-4.
    main_body : int or str, optional
        Id or name of the body whose velocity is rewarded. By default body 1; before v5, the body "torso".
    use_contact_force : bool
        If True, contact forces are observed and charged. The default is True in v3 and v5, and False in v4.
        ``use_contact_forces`` is a synonym.
    include_cfrc_ext_in_observation : bool, optional
        If not None, this option decides whether contact forces are observed, and ``use_contact_force`` only decides
        whether they are charged.
    exclude_worldbody_contact_forces : bool
        If True, the default from v5 on, the contact forces on the world are not observed.
    contact_force_range : pair of float, optional
        Contact forces are clipped to this interval. By default the pair of ``contact_force_min`` (-1.0) and
        ``contact_force_max`` (1.0).
    version : int
        3, 4 or 5. Before 5, positions in info are those of the main body, which lag by one simulation step.
    """

    options = gym_options(
        reward_threshold=6000.0, frame_skip=5, use_contact_force=True, use_contact_forces=None,
        include_cfrc_ext_in_observation=None, legacy_healthy_reward=False, exclude_worldbody_contact_forces=True,
        terminate_when_unhealthy=True, exclude_current_positions_from_observation=True, xml_file="ant.xml",
        main_body=None, forward_reward_weight=1.0, ctrl_cost_weight=0.5, contact_cost_weight=5e-4, healthy_reward=1.0,
        healthy_z_min=0.2, healthy_z_max=1.0, healthy_z_range=None, contact_force_min=-1.0, contact_force_max=1.0,
        contact_force_range=None, reset_noise_scale=0.1, version=5,
    )

    @staticmethod
    def build(config):
        cdef AntOptions o
        cdef Model model = load_gym_model(config, 3, 1)
        read_locomotion(&o.locomotion, config, 2)
        read_ant(&o, model, config)
        size = observation_size(&o, model)
        return define_gym_task("GymAnt", &TASK, model, config, size, INFO, &o, sizeof(o), {"distance": 4.0})
