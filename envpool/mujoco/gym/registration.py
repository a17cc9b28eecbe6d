"""Task table of Gymnasium's MuJoCo tasks."""

from envpool.registration import register

TASKS = "envpool.mujoco.gym.tasks"

for version in (3, 4, 5):
    register(f"HalfCheetah-v{version}", f"{TASKS}.half_cheetah", env="GymHalfCheetah", max_episode_steps=1000)
