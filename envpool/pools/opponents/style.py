"""The API styles of pools with opponents: forms of merged results, and of the plain arrays of the core."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from enum import Enum, auto
from typing import Any

import numpy.typing as npt

from envpool._core.definition import RAW_PREFIX
from envpool._core.results import ResultTemplate
from envpool.pools.styles import tree
from envpool.pools.styles.players import MASK, is_viewed, view_of

Array = npt.NDArray[Any]

SUMMED = ("player:reward", "reward")
#: Arrays of the last step of an episode, which the first ones of the next episode leave as they are.
OF_STEP = ("terminated", "truncated", "done", "cut", "discount", "player:terminated", "player:truncated")
ENTRIES = ("episode:", "game:", "final:")


class Kind(Enum):
    """Rule by which an array is merged with that of a further step of the same send."""

    SUM = auto()
    ANY = auto()  # bool: whether any step said so
    STEP_TYPE = auto()
    ENTRY = auto()  # of an episode or a game: that of the step that has ended it
    OF_STEP = auto()  # the last one, also if it is followed by steps of the next episode
    MASK = auto()  # of the players: those that have been there
    PLAYERS = auto()  # the last row of each player
    LAST = auto()


def kind_of(name: str, of_players: Collection[str]) -> Kind:
    """Return the kind of an array."""
    if name.startswith(("episode:", "game:")):
        return Kind.ENTRY
    if name in ("player:terminated", "player:truncated"):
        return Kind.ANY
    kinds = {**dict.fromkeys(SUMMED, Kind.SUM), "step_type": Kind.STEP_TYPE, MASK: Kind.MASK}
    if name in kinds:
        return kinds[name]
    if name in OF_STEP or name.startswith(ENTRIES):
        return Kind.OF_STEP
    return Kind.PLAYERS if name in of_players and not name.startswith(RAW_PREFIX) else Kind.LAST


def style_with_opponents(base: Any) -> Any:
    """Return the style of a pool with opponents: the core returns plain arrays, and `Layout` has the form of `base`."""

    class Style(base):  # type: ignore[misc]
        plays_opponents = True
        finish = None  # of merged results only, see `Layout`
        shown_now: Array
        shown_at_step: Array

        def __init__(self, spec: Any):
            super().__init__(spec)
            local = {player: k for k, player in enumerate(spec.shown_players)}
            if spec.controlled != "alternate":
                self.groups = tuple(g._replace(players=tuple(local[p] for p in g.players)) for g in spec.groups)
            self.failures: tuple[Any, dict[int, str]] = (None, {})

        def view(self, names: Sequence[str], of_players: Any) -> None:
            self.of_players_names = frozenset(of_players)

        def forms(self, names: Sequence[str]) -> tuple[Any, Any]:
            shown_view = view_of(str(self.spec.config.players), names, self.of_players_names, self.groups)
            forms = super().forms(shown_view.names)
            self.merged = Layout(names, self.of_players_names, shown_view, forms, self, super().finish)
            return tuple(names), tuple(names)

        def shown_in(self, of_final: bool) -> Array:
            """Return the numbers of the players of a result, (B, places); see `PythonStyle.shown_in`."""
            return self.shown_at_step if of_final else self.shown_now

        def add_errors(self, result: Any, errors: dict[int, str], count: int) -> None:
            self.failures = (result, dict(errors))

        def set_attributes(self, pool: Any) -> None:
            super().set_attributes(pool)
            pool._begin(self)

        def add_errors_to(self, result: Any, errors: dict[int, str], count: int) -> None:
            super().add_errors(result, errors, count)

    return Style


class Layout:
    """The arrays of a batch, and the forms in which users see those of the controlled players.

    Parameters
    ----------
    names : sequence of str
        Names of the arrays of the core.
    of_players : collection of str
        Names of those that have a place for each player.
    view : object
        See `envpool.pools.styles.players.view_of`.
    forms : (object, object)
        Nests of reset() and step().
    style : Style
        The API style.
    finish : callable
        Completes a result, see ``Style.finish``.
    """

    def __init__(
        self, names: Sequence[str], of_players: Any, view: Any, forms: tuple[Any, Any], style: Any, finish: Any
    ):
        self.names, self.view = list(names), view
        self.at = {name: k for k, name in enumerate(names)}
        self.is_viewed = [is_viewed(name, of_players) for name in names]
        self.of_players = [name in of_players for name in names]
        self.kinds = [kind_of(name, of_players) for name in names]
        # Whether an array belongs to a step rather than to the observation after it.
        self.is_of_step = [n in OF_STEP or n.startswith(ENTRIES) for n in names]
        self.templates = [ResultTemplate(nest, view.names, style.add_errors_to, finish) for nest in forms]
        self.row_id = view.names.index("row:id") if "row:id" in view.names else -1
        self.observed = [n for n in names if n.startswith(("obs", "info"))]
        self.obs_nest = tree.observation(names)
        self.info_nest: Any = tree.info(names)
