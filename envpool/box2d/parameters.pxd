"""parameters.h: the parameters of single envs."""

from libc.stdint cimport int32_t

cdef extern from "envpool/box2d/parameters.h" nogil:
    enum:
        WORLD_MAX_PARAMS

    cdef struct WorldParams:
        int32_t count
        int32_t is_integer[WORLD_MAX_PARAMS]
        double initial[WORLD_MAX_PARAMS]
        double low[WORLD_MAX_PARAMS]
        double high[WORLD_MAX_PARAMS]

    cdef struct LanderParams:
        double gravity
        double wind_power
        double turbulence_power
        double main_engine_power
        double side_engine_power
        double main_engine_y_location
        double side_engine_height
        double side_engine_away
        double initial_random
        double leg_away
        double leg_down
        double leg_w
        double leg_h
        double leg_spring_torque
        double lander_density
        double leg_density
        double moon_friction

    cdef struct WalkerParams:
        double gravity
        double motors_torque
        double speed_hip
        double speed_knee
        double initial_random
        double lidar_range
        double hull_density
        double leg_density
        double hull_friction
        double friction
        double leg_down
        double leg_w
        double leg_h
        double terrain_step
        double terrain_length
        double terrain_height
        double terrain_grass
        double terrain_startpad
        double terrain_roughness
        double stump_min
        double stump_max
        double pit_min
        double pit_max
        double pit_depth
        double stair_width_min
        double stair_width_max
        double stair_steps_min
        double stair_steps_max

    cdef struct RacerParams:
        double size
        double engine_power
        double wheel_moment_of_inertia
        double friction_limit
        double grass_friction
        double brake_force
        double track_rad
        double track_detail_step
        double track_turn_rate
        double track_width
        double border
        double border_min_count
        double playfield
        double lap_complete_percent


# Fills in the table of `params` (a dict of Param), whose initial values are those of a configuration. `size` is the
# size of the struct that gives the values names.
cdef inline int fill_params(WorldParams* table, dict params, config, size_t size) except -1:
    if len(params) > WORLD_MAX_PARAMS or size != len(params) * sizeof(double):
        raise AssertionError(f"{len(params)} parameters do not fit a struct of {size} bytes")
    table.count = <int32_t>len(params)
    for k, (name, param) in enumerate(params.items()):
        table.is_integer[k] = param.dtype.kind == "i"
        table.initial[k] = getattr(config, name)
        table.low[k] = param.low
        table.high[k] = param.high
    return 0
