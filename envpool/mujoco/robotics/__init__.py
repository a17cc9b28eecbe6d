"""Gymnasium-Robotics' tasks as native code that returns the same bits; their models are those of the user's wheel."""

from envpool.family import Variant, classes_of

__getattr__ = classes_of(
    __name__,
    GymnasiumRoboticsFetch=Variant("Fetch"),
    GymnasiumRoboticsKitchen=Variant("FrankaKitchen"),
    GymnasiumRoboticsPointMaze=Variant("PointMaze"),
)
