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

    cdef struct RacerParams:
        double size
        double engine_power, wheel_moment_of_inertia, friction_limit
        double grass_friction, brake_force
        double track_rad, track_detail_step, track_turn_rate
        double track_width, border, border_min_count
        double playfield
        double lap_complete_percent

cdef struct LanderParams:
    double gravity
    double wind_power, turbulence_power
    double main_engine_power, side_engine_power
    double main_engine_y_location, side_engine_height, side_engine_away
    double initial_random
    double leg_away, leg_down, leg_w, leg_h
    double leg_spring_torque
    double lander_density, leg_density
    double moon_friction

cdef struct WalkerParams:
    double gravity
    double motors_torque, speed_hip, speed_knee
    double initial_random
    double lidar_range
    double hull_density, leg_density
    double hull_friction, friction
    double leg_down, leg_w, leg_h
    double terrain_step, terrain_length, terrain_height, terrain_grass, terrain_startpad
    double terrain_roughness
    double stump_min, stump_max
    double pit_min, pit_max, pit_depth
    double stair_width_min, stair_width_max, stair_steps_min, stair_steps_max


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
