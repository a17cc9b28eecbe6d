"""The task table of the ViZDoom family: EnvPool's ids."""

from envpool.tasks.entries import table

register = table(__name__)

#: Scenarios, which are the names of their configuration files in the vizdoom package.
SCENARIOS = (
    *("basic", "basic_audio", "basic_notifications", "cig", "deadly_corridor", "deathmatch", "defend_the_center"),
    *("defend_the_line", "health_gathering", "health_gathering_supreme", "multi_duel", "my_way_home"),
    *("predict_position", "rocket_basic", "simpler_basic", "take_cover"),
)
#: Scenarios of EnvPool whose files are not in the vizdoom package.
ELSEWHERE = ("D1_basic", "D2_navigation", "D3_battle", "D4_battle2")

for scenario in (*SCENARIOS, *ELSEWHERE, "vizdoom_custom"):
    # "D1_basic" becomes "D1Basic", as in EnvPool
    register(
        "".join(part.capitalize() for part in scenario.split("_")) + "-v1",
        "envpool.vizdoom.game",
        env="ViZDoom",
        task="" if scenario == "vizdoom_custom" else scenario,
        game_args="-deathmatch" if scenario in ("cig", "multi_duel") else "",
        max_episode_steps=525,
    )
