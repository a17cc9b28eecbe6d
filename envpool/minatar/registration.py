"""Task table of the MinAtar family: version 0 has all six actions, version 1 those that the game uses."""

from envpool.tasks.entries import table

register = table(__name__)

FAMILY = "envpool.minatar"

#: Name of a game in task ids -> its module.
GAMES = {
    "Asterix": "asterix",
    "Breakout": "breakout",
    "Freeway": "freeway",
    "Seaquest": "seaquest",
    "SpaceInvaders": "space_invaders",
}

for name, module in GAMES.items():
    for version in (0, 1):
        register(
            f"MinAtar/{name}-v{version}",
            f"{FAMILY}.{module}",
            env=f"MinAtar{name}",
            use_minimal_action_set=version == 1,
        )
