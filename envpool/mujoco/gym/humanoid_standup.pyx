"""HumanoidStandup: the biped of Humanoid, which lies on the ground and has to get up (Tassa, Erez and Todorov, 2012).

Source of the dynamics: ``gymnasium.envs.mujoco.humanoidstandup_v5`` and ``humanoidstandup_v4``. v2 equals v4 with
contact forces of zero, since mujoco-py did not compute them from version 2.0 on.
"""

from envpool.mujoco.gym.common cimport (
    Locomotion, Model, Outcome, Sim, TaskFunctions, define_gym_task, gym_task, load_gym_model, read_locomotion,
    reset_uniform, simulate, sum_of_squares,
)
from envpool.mujoco.gym.humanoid_bodies cimport (
    BodyObservation, ContactCost, contact_cost, mj_rnePostConstraint, observe_bodies, read_body_observation,
    report_tendons, with_tendons,
)

from envpool.mujoco.base.env_definition import MujocoEnvDefinition
from envpool.mujoco.gym.humanoid_bodies import humanoid_options
from envpool.mujoco.gym.options import either, limits, weights

cdef struct Options:
    BodyObservation observation
    Locomotion locomotion       # the "forward" reward is that of the height
    ContactCost contacts
    double healthy_reward
    bint computes_contacts

cdef enum:
    X_POSITION, Y_POSITION, Z_DISTANCE, UP, CTRL, IMPACT, ALIVE, TENDONS

INFO = {
    "reward_linup": UP, "reward_quadctrl": CTRL, "reward_alive": ALIVE, "reward_impact": IMPACT,
    "x_position": X_POSITION, "y_position": Y_POSITION, "z_distance_from_origin": Z_DISTANCE,
}


cdef inline void report_position(Sim* s) noexcept nogil:
    s.info[X_POSITION], s.info[Y_POSITION] = s.data.qpos[0], s.data.qpos[1]
    s.info[Z_DISTANCE] = s.data.qpos[2] - s.model.qpos0[2]
    report_tendons(s, TENDONS)


cdef int reset(Sim* s) noexcept nogil:
    reset_uniform(s, (<const Options*>s.options).locomotion.reset_noise_scale)
    report_position(s)
    return 0


cdef int step(Sim* s, const double* action, Outcome* out) noexcept nogil:
    cdef const Options* o = <const Options*>s.options
    cdef double ctrl_cost, impact_cost
    simulate(s, action)
    if o.computes_contacts:
        mj_rnePostConstraint(s.model, s.data)
    report_position(s)
    s.info[UP] = o.locomotion.forward_reward_weight * (s.data.qpos[2] / s.model.opt.timestep)
    # MuJoCo sets all controls to zero if one is NaN, so the cost is that of the controls and not of the action.
    ctrl_cost = o.locomotion.ctrl_cost_weight * sum_of_squares(s.data.ctrl, s.model.nu)
    impact_cost = contact_cost(s, &o.contacts)
    s.info[CTRL] = -ctrl_cost
    s.info[IMPACT] = -impact_cost
    s.info[ALIVE] = o.healthy_reward
    out.reward = s.info[UP] - ctrl_cost - impact_cost + o.healthy_reward
    out.terminated = False
    return 0


cdef void observe(const Sim* s, double* out) noexcept nogil:
    observe_bodies(s, &(<const Options*>s.options).observation, out)


cdef TaskFunctions TASK = gym_task(reset, step, observe)


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
        (o.healthy_reward,) = weights(config, "healthy_reward")
        o.contacts.weight = either(config, "impact_cost_weight", "contact_cost_weight")
        o.contacts.lowest, o.contacts.highest = limits(config, "impact_cost_range", float("-inf"), "contact_cost_max")
        o.computes_contacts = config.post_constraint
        camera = {"distance": 4.0, "lookat": (0.0, 0.0, 0.8925), "elevation": -20.0}
        return define_gym_task("GymHumanoidStandup", &TASK, model, config, size, with_tendons(INFO, TENDONS, model),
                               &o, sizeof(o), camera)
