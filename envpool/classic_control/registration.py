"""Task table of the classic control family."""

from envpool.registration import register

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
