"""What Humanoid and HumanoidStandup share; humanoid_bodies.pxd documents the functions."""

from libc.stdint cimport int32_t

from envpool.mujoco.gym.options import gym_options


def humanoid_options(**options):
    """Return the options of a humanoid task: those given here, and those that both tasks have."""
    return gym_options(
        frame_skip=5, reset_noise_scale=0.01, ctrl_cost_weight=0.1, contact_cost_weight=5e-7, contact_cost_max=10.0,
        exclude_current_positions_from_observation=True, exclude_worldbody_observations=True,
        exclude_root_actuator_forces=True, include_cinert_in_observation=True, include_cvel_in_observation=True,
        include_qfrc_actuator_in_observation=True, include_cfrc_ext_in_observation=True, **options,
    )


cdef int32_t read_body_observation(BodyObservation* o, Model model, object config) except -1:
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


cdef dict with_tendons(dict info, int first, Model model):
    if model.m.ntendon == 0:
        return info
    return info | {
        "tendon_length": (first, model.m.ntendon), "tendon_velocity": (first + model.m.ntendon, model.m.ntendon)
    }
