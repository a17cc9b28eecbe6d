"""The task table of Google Research Football: EnvPool's ids, and one for scenarios of your own."""

from envpool.tasks.entries import table

register = table(__name__)

#: Upstream's scenarios and their durations. The first step of an episode has the number 0: it has one step more.
DURATIONS = {
    "11_vs_11_competition": 3000,
    "11_vs_11_easy_stochastic": 3000,
    "11_vs_11_hard_stochastic": 3000,
    "11_vs_11_kaggle": 3000,
    "11_vs_11_stochastic": 3000,
    "1_vs_1_easy": 500,
    "5_vs_5": 3000,
    "academy_3_vs_1_with_keeper": 400,
    "academy_corner": 400,
    "academy_counterattack_easy": 400,
    "academy_counterattack_hard": 400,
    "academy_empty_goal": 400,
    "academy_empty_goal_close": 400,
    "academy_pass_and_shoot_with_keeper": 400,
    "academy_run_pass_and_shoot_with_keeper": 400,
    "academy_run_to_score": 400,
    "academy_run_to_score_with_keeper": 400,
    "academy_single_goal_versus_lazy": 3000,
}

for scenario, duration in DURATIONS.items():
    register(
        f"gfootball/{scenario}-v1",
        "envpool.gfootball.game",
        env="Gfootball",
        env_name=scenario,
        max_episode_steps=duration + 1,
    )
register("gfootball/custom-v1", "envpool.gfootball.game", env="Gfootball", env_name="")
