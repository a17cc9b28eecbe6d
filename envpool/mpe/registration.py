"""Task table of the MPE family: the environments of mpe2."""

from envpool.tasks.entries import table

register = table(__name__)

FAMILY = "envpool.mpe"

#: Upstream's module of each task, without its version -> version.
TASKS = {
    "collect_treasure": 1,
    "simple": 3,
    "simple_adversary": 3,
    "simple_crypto": 3,
    "simple_formation": 1,
    "simple_line": 1,
    "simple_push": 3,
    "simple_reference": 3,
    "simple_speaker_listener": 4,
    "simple_spread": 3,
    "simple_tag": 3,
    "simple_world_comm": 3,
}

for name, version in TASKS.items():
    env = "MPE" + name.title().replace("_", "")
    register(f"MPE/{name}-v{version}", f"{FAMILY}.{name}", env=env, max_episode_steps=25)
