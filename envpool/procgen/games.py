"""The games of Procgen: their time limits, and the modes of difficulty that each of them has."""

from __future__ import annotations

from typing import NamedTuple

#: Modes by name, with the numbers of the option ``distribution_mode``.
MODES = {"Easy": 0, "Hard": 1, "Extreme": 2, "Memory": 10, "Exploration": 20}


class Game(NamedTuple):
    """A game.

    Attributes
    ----------
    limit : int
        Steps after which the library ends an episode.
    modes : tuple of str
        Names of its modes.
    exploration_level : int
        Seed of the only level of the mode Exploration; 0 if the game has no such mode.
    memory_limit : int
        The limit in the mode Memory if it is another one there; else 0.
    """

    limit: int
    modes: tuple[str, ...] = ("Easy", "Hard")
    exploration_level: int = 0
    memory_limit: int = 0

    def limit_of(self, mode: str) -> int:
        """Return the steps after which the library ends an episode in a mode."""
        return self.memory_limit if mode == "Memory" and self.memory_limit else self.limit


#: Games by their name in the library.
GAMES = {
    "bigfish": Game(6000),
    "bossfight": Game(4000),
    "caveflyer": Game(1000, ("Easy", "Hard", "Memory", "Exploration"), 1259048185),
    "chaser": Game(1000, ("Easy", "Hard", "Extreme")),
    "climber": Game(1000, ("Easy", "Hard", "Exploration"), 1561126160),
    "coinrun": Game(1000, ("Easy", "Hard", "Exploration"), 1949448038),
    "dodgeball": Game(1000, ("Easy", "Hard", "Extreme", "Memory")),
    "fruitbot": Game(1000),
    "heist": Game(1000, ("Easy", "Hard", "Memory", "Exploration"), 876640971),
    "jumper": Game(1000, ("Easy", "Hard", "Memory", "Exploration"), 1434825276, memory_limit=2000),
    "leaper": Game(500, ("Easy", "Hard", "Extreme", "Exploration"), 1318677581),
    "maze": Game(500, ("Easy", "Hard", "Memory", "Exploration"), 158988835),
    "miner": Game(1000, ("Easy", "Hard", "Memory")),
    "ninja": Game(1000, ("Easy", "Hard", "Exploration"), 1123500215),
    "plunder": Game(4000),
    "starpilot": Game(1000, ("Easy", "Hard", "Extreme")),
}
