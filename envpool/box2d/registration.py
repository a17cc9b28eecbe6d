"""The task table of the Box2D family."""

from envpool.tasks.entries import table

register = table(__name__)

FAMILY = "envpool.box2d"

for version in (2, 3):
    for task, continuous in (("LunarLander", False), ("LunarLanderContinuous", True)):
        register(
            f"{task}-v{version}",
            f"{FAMILY}.lunar_lander",
            env="LunarLander",
            version=version,
            continuous=continuous,
            max_episode_steps=1000,
            reward_threshold=200.0,
        )

for task, hardcore, max_steps in (("BipedalWalker", False, 1600), ("BipedalWalkerHardcore", True, 2000)):
    register(
        f"{task}-v3",
        f"{FAMILY}.bipedal_walker",
        env="BipedalWalker",
        hardcore=hardcore,
        max_episode_steps=max_steps,
        reward_threshold=300.0,
    )

for version in (2, 3):
    register(
        f"CarRacing-v{version}",
        f"{FAMILY}.car_racing.env",
        env="CarRacing",
        version=version,
        max_episode_steps=1000,
        reward_threshold=900.0,
    )
