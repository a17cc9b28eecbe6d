"""Gymnasium-Robotics' tasks as native code that returns the same bits; their models come from the user's wheel."""

from envpool.pools.classes import Group, Variant, classes_of

__getattr__ = classes_of(
    __name__,
    GymnasiumRoboticsFetch=Variant("Fetch"),
    GymnasiumRoboticsHand=Group("hand_task", {"reach": "HandReach", "manipulate": "HandManipulate"}),
    GymnasiumRoboticsAdroit=Group(
        "adroit_task",
        {name: f"AdroitHand{name.capitalize()}" for name in ("door", "hammer", "pen", "relocate")},
    ),
    GymnasiumRoboticsKitchen=Variant("FrankaKitchen"),
    GymnasiumRoboticsPointMaze=Variant("PointMaze"),
)
