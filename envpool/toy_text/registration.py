"""Task table of the toy text family."""

from envpool.tasks.entries import table

register = table(__name__)

FAMILY = "envpool.toy_text"

register("Catch-v0", f"{FAMILY}.catch", env="Catch")
register(
    "FrozenLake-v1",
    f"{FAMILY}.frozen_lake",
    env="FrozenLake",
    max_episode_steps=100,
    reward_threshold=0.7,
    size=4,
)
register(
    "FrozenLake8x8-v1",
    f"{FAMILY}.frozen_lake",
    env="FrozenLake",
    max_episode_steps=200,
    reward_threshold=0.85,
    size=8,
)
for version in (3, 4):
    register(f"Taxi-v{version}", f"{FAMILY}.taxi", env="Taxi", max_episode_steps=200, reward_threshold=8.0)
register("NChain-v0", f"{FAMILY}.nchain", env="NChain", max_episode_steps=1000)
register("CliffWalking-v1", f"{FAMILY}.cliff_walking", env="CliffWalking", aliases=["tabular/CliffWalking-v0"])
register("CliffWalkingSlippery-v1", f"{FAMILY}.cliff_walking", env="CliffWalking", is_slippery=True)
register("CliffWalking-v0", f"{FAMILY}.cliff_walking", env="CliffWalking")
register("Blackjack-v1", f"{FAMILY}.blackjack", env="Blackjack", aliases=["tabular/Blackjack-v0"])
