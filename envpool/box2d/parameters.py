"""The parameters of single environments of this family, in the order of the structs of parameters.h.

Their names are those of upstream's options and of the constants of its modules, in lower case. Bounds keep Box2D
within what float32 can represent; a simulation that diverges all the same ends with an error (WORLDS_DIVERGED).
"""

from __future__ import annotations

from envpool.native import Param, above, below

LANDER = {
    "gravity": Param(-10.0, above(-12), below(0), "m/s^2", "gravity; upwards"),
    "wind_power": Param(15.0, -1000, 1000, "N", "largest force of the wind; upstream recommends 0 to 20"),
    "turbulence_power": Param(1.5, -1000, 1000, "N m", "largest torque of the wind; upstream recommends 0 to 2"),
    "main_engine_power": Param(13.0, 0, 1000, "kg/s", "impulse of the main engine per metre of its offset"),
    "side_engine_power": Param(0.6, 0, 1000, "kg/s", "impulse of a side engine per metre of its offset"),
    "main_engine_y_location": Param(4.0, -100, 100, "m/30", "distance of the main engine below the centre"),
    "side_engine_height": Param(14.0, -100, 100, "m/30", "height of the side engines above the centre"),
    "side_engine_away": Param(12.0, -100, 100, "m/30", "distance of the side engines from the axis"),
    "initial_random": Param(1000.0, 0, 1e5, "N", "largest component of the random force at the start"),
    "leg_away": Param(20.0, 0, 50, "m/30", "distance of the legs from the axis"),
    "leg_down": Param(18.0, 0, 50, "m/30", "distance of the legs below the centre"),
    "leg_w": Param(2.0, 1, 30, "m/30", "half of the width of a leg"),
    "leg_h": Param(8.0, 2, 50, "m/30", "half of the height of a leg"),
    "leg_spring_torque": Param(40.0, 0, 1000, "N m", "largest torque of the springs of the legs"),
    "lander_density": Param(5.0, 0.5, 50, "kg/m^2", "density of the hull"),
    "leg_density": Param(1.0, 0.2, 20, "kg/m^2", "density of the legs"),
    "moon_friction": Param(0.1, 0, 10, "", "friction coefficient of the ground"),
}

WALKER = {
    "gravity": Param(-10.0, -50, 0, "m/s^2", "gravity; upwards"),
    "motors_torque": Param(80.0, 0, 1000, "N m", "largest torque of the motors"),
    "speed_hip": Param(4.0, 0.01, 100, "rad/s", "speed of the hip motors"),
    "speed_knee": Param(6.0, 0.01, 100, "rad/s", "speed of the knee motors"),
    "initial_random": Param(5.0, 0, 1000, "N", "largest random force at the start"),
    "lidar_range": Param(160 / 30, 0.1, 100, "m", "range of the lidar"),
    "hull_density": Param(5.0, 0.5, 50, "kg/m^2", "density of the hull"),
    "leg_density": Param(1.0, 0.2, 20, "kg/m^2", "density of the legs"),
    "hull_friction": Param(0.1, 0, 10, "", "friction coefficient of the hull"),
    "friction": Param(2.5, 0, 10, "", "friction coefficient of the ground"),
    "leg_down": Param(-8 / 30, -2, 2, "m", "height of the hips above the centre of the hull"),
    "leg_w": Param(8 / 30, 0.1, 2, "m", "width of a leg"),
    "leg_h": Param(34 / 30, 0.2, 4, "m", "height of a segment of a leg"),
    "terrain_step": Param(14 / 30, 0.1, 5, "m", "distance from one corner of the ground to the next"),
    "terrain_length": Param(200, 20, 400, "steps", "length of the terrain"),
    "terrain_height": Param(400 / 30 / 4, 0, 20, "m", "mean height of the ground"),
    "terrain_grass": Param(
        10, 1, 400, "steps", "bound of the length of a stretch of grass, which is at least half of it"
    ),
    "terrain_startpad": Param(20, 1, 400, "steps", "length of the flat ground at the start"),
    "terrain_roughness": Param(1.0, 0, 100, "m/30", "largest random change of the slope, per step"),
    "stump_min": Param(1, 1, 10, "steps", "smallest width and height of a stump"),
    "stump_max": Param(2, 1, 10, "steps", "largest width and height of a stump; at least stump_min"),
    "pit_min": Param(3, 1, 20, "steps", "smallest width of a pit"),
    "pit_max": Param(4, 1, 20, "steps", "largest width of a pit; at least pit_min"),
    "pit_depth": Param(4.0, 0.5, 20, "steps", "depth of a pit"),
    "stair_width_min": Param(4, 1, 20, "steps", "smallest width of a stair"),
    "stair_width_max": Param(4, 1, 20, "steps", "largest width of a stair; at least stair_width_min"),
    "stair_steps_min": Param(3, 1, 20, "", "smallest number of stairs"),
    "stair_steps_max": Param(4, 1, 20, "", "largest number of stairs; at least stair_steps_min"),
}

_SIZE = 0.02
CAR = {
    "size": Param(
        _SIZE, 0.005, 0.1, "m", "unit of the outlines of the car; sets its mass, but not the constants below"
    ),
    "engine_power": Param(100000000 * _SIZE * _SIZE, 0, 1e6, "W", "power of the engine"),
    "wheel_moment_of_inertia": Param(4000 * _SIZE * _SIZE, 0.1, 100, "kg m^2", "moment of inertia of a wheel"),
    "friction_limit": Param(1000000 * _SIZE * _SIZE, 1, 1e5, "N", "force beyond which a wheel slides on the road"),
    "grass_friction": Param(0.6, 0, 10, "", "friction of the grass, as a multiple of the road's friction"),
    "brake_force": Param(15.0, 0, 1000, "rad/s", "change of the speed of a wheel per step of full braking"),
    "track_rad": Param(900 / 6, 40, 300, "m", "radius of the circle around which the track winds"),
    "track_detail_step": Param(21 / 6, 1, 20, "m", "length of a tile"),
    "track_turn_rate": Param(0.31, 0.01, 1.5, "rad", "largest turn from one tile to the next"),
    "track_width": Param(40 / 6, 1, 30, "m", "half of the width of the road"),
    "border": Param(8 / 6, 0, 10, "m", "width of the borders of sharp turns"),
    "border_min_count": Param(4, 1, 20, "tiles", "length of a turn that gets a border"),
    "playfield": Param(2000 / 6, 50, 600, "m", "half of the width of the field"),
    "lap_complete_percent": Param(0.95, 0, 1, "", "fraction of the tiles that the car must visit to finish a lap"),
}
