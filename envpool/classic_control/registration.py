"""Task table of the classic control family."""

from envpool.tasks.entries import table

register = table(__name__)

FAMILY = "envpool.classic_control"

register(
    "CartPole-v0",
    f"{FAMILY}.cartpole",
    env="CartPole",
    aliases=["phys2d/CartPole-v0"],
    max_episode_steps=200,
    reward_threshold=195.0,
)
register(
    "CartPole-v1",
    f"{FAMILY}.cartpole",
    env="CartPole",
    aliases=["phys2d/CartPole-v1"],
    max_episode_steps=500,
    reward_threshold=475.0,
)
register(
    "Pendulum-v0",
    f"{FAMILY}.pendulum",
    env="Pendulum",
    aliases=["phys2d/Pendulum-v0"],
    version=0,
    max_episode_steps=200,
)
register("Pendulum-v1", f"{FAMILY}.pendulum", env="Pendulum", version=1, max_episode_steps=200)
register(
    "MountainCar-v0",
    f"{FAMILY}.mountain_car",
    env="MountainCar",
    max_episode_steps=200,
    reward_threshold=-110.0,
)
register(
    "MountainCarContinuous-v0",
    f"{FAMILY}.mountain_car_continuous",
    env="MountainCarContinuous",
    max_episode_steps=999,
    reward_threshold=90.0,
)
register(
    "Acrobot-v1",
    f"{FAMILY}.acrobot",
    env="Acrobot",
    max_episode_steps=500,
    reward_threshold=-100.0,
)
