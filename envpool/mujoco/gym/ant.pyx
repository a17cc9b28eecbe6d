"""Ant: a quadruped with eight hinges (Schulman, Moritz, Levine, Jordan and Abbeel, 2015).

Source of the dynamics: ``gymnasium.envs.mujoco.ant_v5`` and ``ant_v4``. v3 is v4 with contact forces in observation and
reward, all of them zero: mujoco-py did not compute them from version 2.0 on.
"""

from libc.stdint cimport int32_t

from envpool.numerics.numpy_exact cimport np_norm
from envpool.mujoco.base.model cimport Model
from envpool.mujoco.base.calls cimport mj_rnePostConstraint
from envpool.mujoco.base.simulation cimport Outcome, Sim, Task
from envpool.mujoco.gym.common cimport (
    Own, body_of, define_gym_task, dt, is_finite, model_of, put_clipped, put_state, require, reset_normal, seed_one,
    simulate, sum_of_squares,
)

from envpool.mujoco.base.opengl import MujocoTask
from envpool.mujoco.gym.options import COMMON, either, finite, limits, one_of, scale

cdef struct Options:
    double forward_reward_weight
    double ctrl_cost_weight
    double contact_cost_weight
    double healthy_reward
    double reset_noise_scale
    double z_min                # inclusive, as the other ends
    double z_max
    double force_min            # contact forces are clipped
    double force_max
    int32_t main_body
    int32_t version
    bint terminates             # when unhealthy
    bint legacy_healthy_reward  # given when unhealthy too, if that terminates
    bint costs_contacts
    bint observes_contacts
    bint computes_contacts
    int32_t first_body          # whose contact forces are observed
    int32_t skipped             # leading positions that are not observed

cdef enum:
    X_POSITION, Y_POSITION, DISTANCE, X_VELOCITY, Y_VELOCITY, FORWARD, CTRL, CONTACT, SURVIVE

INFO = {
    "reward_forward": FORWARD,
    "forward_reward": FORWARD,
    "reward_ctrl": CTRL,
    "reward_contact": CONTACT,
    "reward_survive": SURVIVE,
    "x_position": X_POSITION,
    "y_position": Y_POSITION,
    "distance_from_origin": DISTANCE,
    "x_velocity": X_VELOCITY,
    "y_velocity": Y_VELOCITY,
}


cdef inline void tell_position(Sim* s, const Options* o) noexcept nogil:
    cdef const double* xy = s.data.qpos if o.version >= 5 else s.data.xpos + 3 * o.main_body
    s.info[X_POSITION] = xy[0]
    s.info[Y_POSITION] = xy[1]
    s.info[DISTANCE] = np_norm(xy, 2)


cdef int reset(Sim* s) noexcept nogil:
    cdef const Options* o = <const Options*>s.options
    reset_normal(s, o.reset_noise_scale)
    tell_position(s, o)
    return 0


cdef bint is_healthy(const Sim* s, const Options* o) noexcept nogil:
    return is_finite(s) and o.z_min <= s.data.qpos[2] <= o.z_max


cdef int step(Sim* s, const double* action, Outcome* out) noexcept nogil:
    cdef const Options* o = <const Options*>s.options
    cdef const double* body = s.data.xpos + 3 * o.main_body
    cdef double x = body[0], y = body[1], costs, contact_cost
    cdef bint healthy
    simulate(s, action)
    if o.computes_contacts:
        mj_rnePostConstraint(s.model, s.data)
    tell_position(s, o)
    healthy = is_healthy(s, o)
    s.info[X_VELOCITY] = (body[0] - x) / dt(s)
    s.info[Y_VELOCITY] = (body[1] - y) / dt(s)
    s.info[FORWARD] = s.info[X_VELOCITY] * o.forward_reward_weight
    s.info[SURVIVE] = <double>(healthy or (o.legacy_healthy_reward and o.terminates)) * o.healthy_reward
    costs = o.ctrl_cost_weight * sum_of_squares(action, s.config.num_actions)
    s.info[CTRL] = -costs
    if o.costs_contacts:
        contact_cost = o.contact_cost_weight * sum_of_squares(
            s.data.cfrc_ext, 6 * s.model.nbody, o.force_min, o.force_max
        )
        costs += contact_cost
        s.info[CONTACT] = -contact_cost
        if o.version == 4:
            s.info[CTRL] = -contact_cost        # as upstream, where the one overwrites the other
    out.reward = s.info[FORWARD] + s.info[SURVIVE] - costs
    out.terminated = not healthy and o.terminates
    return 0


cdef void observe(const Sim* s, double* out) noexcept nogil:
    cdef const Options* o = <const Options*>s.options
    out = put_state(out, s, o.skipped)
    if o.observes_contacts:
        put_clipped(
            out, s.data.cfrc_ext + 6 * o.first_body, 6 * (s.model.nbody - o.first_body), o.force_min, o.force_max
        )


cdef Task TASK = Task(sizeof(Own), seed_one, reset, step, observe)


class GymAnt(MujocoTask):
    """Four legs of two hinges each on a free torso.

    Observation float64 (105,): positions without the first two, velocities, contact forces and torques on each body.
    Action float64 (8,): torques in [-1, 1]. Reward: forward velocity and ``healthy_reward``, less the costs of control
    and contacts. An episode ends when the ant is unhealthy.

    Options
    -------
    forward_reward_weight, ctrl_cost_weight, contact_cost_weight, healthy_reward : float
        Weights of velocity (m/s), of the sum of squared actions and of the sum of squared contact forces, and the
        reward for a healthy step.
    main_body : int or str, optional
        Body whose velocity counts: the first one, or before v5 the one called "torso".
    healthy_z_range : pair of float
        Heights (m) that are healthy, with the ends; ``healthy_z_min`` and ``healthy_z_max`` give them one by one.
    terminate_when_unhealthy : bool
        Whether an episode ends then.
    legacy_healthy_reward : bool
        Whether the last step of such an episode has the reward too, as before v5.
    use_contact_force : bool
        Whether contact forces are observed and cost; ``use_contact_forces`` is the same.
    include_cfrc_ext_in_observation : bool, optional
        Whether contact forces are observed, if not as ``use_contact_force`` says.
    exclude_worldbody_contact_forces : bool
        Whether those on the world are left out of the observation.
    contact_force_range : pair of float
        Contact forces are clipped to this; ``contact_force_min`` and ``contact_force_max`` give the ends one by one.
    post_constraint : bool
        Whether contact forces are computed; they are zero otherwise.
    reset_noise_scale : float
        Spread of the first state: uniform for positions, normal for velocities.
    exclude_current_positions_from_observation : bool
        Whether the observation lacks the coordinates x and y.
    version : int
        3, 4 or 5. Before 5, positions in info are the main body's, which lag by a simulation step.
    """

    options = COMMON | {
        "reward_threshold": 6000.0,
        "frame_skip": 5,
        "use_contact_force": True,
        "use_contact_forces": None,
        "include_cfrc_ext_in_observation": None,
        "legacy_healthy_reward": False,
        "exclude_worldbody_contact_forces": True,
        "terminate_when_unhealthy": True,
        "exclude_current_positions_from_observation": True,
        "xml_file": "ant.xml",
        "main_body": None,
        "forward_reward_weight": 1.0,
        "ctrl_cost_weight": 0.5,
        "contact_cost_weight": 5e-4,
        "healthy_reward": 1.0,
        "healthy_z_min": 0.2,
        "healthy_z_max": 1.0,
        "healthy_z_range": None,
        "contact_force_min": -1.0,
        "contact_force_max": 1.0,
        "contact_force_range": None,
        "reset_noise_scale": 0.1,
        "version": 5,
    }

    @staticmethod
    def build(config):
        """Return the capsule of this kind."""
        cdef Options o
        cdef Model model = model_of(config)
        require(model, 3, 1)
        o.version = one_of(config, "version", (3, 4, 5))
        o.forward_reward_weight, o.ctrl_cost_weight, o.contact_cost_weight, o.healthy_reward = finite(
            config, "forward_reward_weight", "ctrl_cost_weight", "contact_cost_weight", "healthy_reward"
        )
        o.reset_noise_scale = scale(config)
        o.z_min, o.z_max = limits(config, "healthy_z_range", "healthy_z_min", "healthy_z_max")
        o.force_min, o.force_max = limits(config, "contact_force_range", "contact_force_min", "contact_force_max")
        main_body = config.main_body
        if main_body is None:
            main_body = 1 if o.version >= 5 else "torso"
        o.main_body = body_of(model, main_body)
        o.terminates = config.terminate_when_unhealthy
        o.legacy_healthy_reward = config.legacy_healthy_reward
        o.costs_contacts = either(config, "use_contact_forces", "use_contact_force")
        o.observes_contacts = o.costs_contacts
        if config.include_cfrc_ext_in_observation is not None:
            o.observes_contacts = either(config, "include_cfrc_ext_in_observation", "use_contact_force")
        o.computes_contacts = config.post_constraint and (o.costs_contacts or o.observes_contacts)
        o.first_body = config.exclude_worldbody_contact_forces
        o.skipped = 2 * config.exclude_current_positions_from_observation
        size = model.m.nq + model.m.nv - o.skipped + 6 * (model.m.nbody - o.first_body) * o.observes_contacts
        return define_gym_task(
            "GymAnt", &TASK, model, config, {"obs": (size,)}, INFO,
            (<const char*>&o)[:sizeof(Options)], {"distance": 4.0},
        )
