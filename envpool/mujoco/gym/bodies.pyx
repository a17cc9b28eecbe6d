"""What Humanoid and HumanoidStandup share; bodies.pxd says what there is."""

from libc.stdint cimport int32_t

from envpool.mujoco.base.model cimport Model

from envpool.mujoco.gym.options import COMMON

OPTIONS = COMMON | {
    "frame_skip": 5,
    "exclude_current_positions_from_observation": True,
    "exclude_worldbody_observations": True,
    "exclude_root_actuator_forces": True,
    "include_cinert_in_observation": True,
    "include_cvel_in_observation": True,
    "include_qfrc_actuator_in_observation": True,
    "include_cfrc_ext_in_observation": True,
    "reset_noise_scale": 0.01,
}


cdef int32_t choose(Observed* o, Model model, object config) except -1:
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
