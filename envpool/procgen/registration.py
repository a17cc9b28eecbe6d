"""Task table of the Procgen family: one task for each mode of each game, in EnvPool's order."""

from envpool.procgen.games import GAMES, MODES
from envpool.tasks.entries import table

register = table(__name__)

for name, game in GAMES.items():
    for mode in game.modes:
        register(
            f"{name.capitalize()}{mode}-v0",
            "envpool.procgen.game",
            env="Procgen",
            env_name=name,
            distribution_mode=MODES[mode],
            max_episode_steps=game.limit_of(mode),
        )
