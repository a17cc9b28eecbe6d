"""Task table of the Box2D family."""

from envpool.registration import register

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
