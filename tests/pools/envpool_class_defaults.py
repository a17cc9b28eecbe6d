"""Records the defaults of EnvPool's classes: ``python envpool_class_defaults.py`` in an environment with EnvPool 1.2.5.

Left out are the options of pools, and those that differ in form only: paths, and float32 numbers of ViZDoom.
"""

import json
from importlib import import_module
from pathlib import Path

FAMILIES = (
    "atari box2d classic_control gfootball minigrid mujoco.dmc mujoco.gym mujoco.robotics procgen toy_text vizdoom"
)
POOL_OPTIONS = (
    "num_envs batch_size num_threads max_num_players thread_affinity_offset base_path seed env_seed"
    " gym_reset_return_info max_episode_steps"
)
OTHER_FORM = (
    "vzd_path iwad_path reward_config selected_weapon_reward_config tasks_to_complete maze_map lap_complete_percent"
)

if __name__ == "__main__":
    left_out = {*POOL_OPTIONS.split(), *OTHER_FORM.split()}
    lines = []
    for family in FAMILIES.split():
        module = import_module(f"envpool.{family}")
        for name in sorted(n for n in vars(module) if n.endswith("EnvSpec") and n[0] not in "_E"):
            config = getattr(module, name).gen_config()._asdict()
            defaults = {option: value for option, value in config.items() if option not in left_out}
            lines.append(f"{json.dumps(f'{family}.{name}')}: {json.dumps(defaults)}")
    Path(__file__).with_suffix(".json").write_text("{\n" + ",\n".join(lines) + "\n}\n")
