"""How a scenario describes its entities."""

from __future__ import annotations

from dataclasses import dataclass

GREY = (0.25, 0.25, 0.25)
MOVES = 5  # actions of agents that move: nothing, left, right, down, up


@dataclass(frozen=True)
class Entities:
    """Entities that are alike: a group of agents, or landmarks of one sort.

    Attributes
    ----------
    name : str
        The group's name; upstream calls its agents ``name_0``, ``name_1``, ...
    count : int
        Number of entities in the group.
    size : float
        The radius.
    colour : tuple of float
        Red, green and blue in [0, 1].
    obs_size : int
        Length of an agent's observation; 0 for landmarks.
    collides, is_movable, speaks : bool
        If True, the entities push others, can move, or (agents only) say something.
    force : float
        Strength of an agent's moves.
    max_speed : float
        Largest speed of agents; 0 for none.
    mass : float
        Mass of an agent.
    slows_down : bool
        If True, the stages of the curriculum slow agents down.
    """

    name: str
    count: int
    size: float = 0.05
    colour: tuple[float, float, float] = GREY
    obs_size: int = 0
    collides: bool = False
    is_movable: bool = True
    speaks: bool = False
    force: float = 5.0
    max_speed: float = 0.0
    mass: float = 1.0
    slows_down: bool = False

    @property
    def is_agent(self) -> bool:
        """Whether the entities are agents."""
        return self.obs_size > 0

    def action_size(self, symbols: int, is_continuous: bool) -> int:
        """Return how many actions an agent has, or the length of its continuous actions.

        Parameters
        ----------
        symbols : int
            Number of symbols that agents who speak can say.
        is_continuous : bool
            If True, actions are continuous.
        """
        moves, words = MOVES if self.is_movable else 0, symbols if self.speaks else 0
        return moves + words if is_continuous else max(moves, 1) * max(words, 1)
