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
