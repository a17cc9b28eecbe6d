"""How the values of several agents travel: as arrays with a row for each player, padded to the largest one."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from keyword import iskeyword
from typing import Any, NamedTuple

import numpy as np
from gymnasium import spaces

from envpool._core.casts import CastError, fitted
from envpool._core.definition import CURRENT_PLAYER, LEGAL_ACTION_MASK
from envpool._support.text import shown
from envpool.errors import ConfigError
from envpool.native import Field, PlayerGroup
from envpool.python_envs.layout import MAX_FIELD_DIMS, Layout, Leaf, at, bounds
from envpool.tasks.players import RESERVED

INT64 = np.dtype(np.int64)


class Rows(NamedTuple):
    """Type and shape of the rows of all players of an environment.

    Attributes
    ----------
    dtype : numpy.dtype
        Type of the elements.
    shape : tuple of int
        (players, ...).
    """

    dtype: np.dtype[Any]
    shape: tuple[int, ...]


class PlayersLayout:
    """The leaves of the spaces of several agents, whose values are rows of common arrays; see `Layout`.

    Parameters
    ----------
    by_agent : dict of str to gymnasium.spaces.Space
        The spaces, in the order of the players.
    root, separator : str
        See `Layout`.

    Attributes
    ----------
    space : gymnasium.spaces.Dict
        The spaces by agent.
    leaves : list of Leaf
        The arrays. Values that travel are lists of arrays, so that a path is the position of an array; a space is Rows.

    Raises
    ------
    ConfigError
        The spaces have different structures or dtypes, or leaves that are not arrays of a fixed shape.
    """

    objects: tuple[Leaf, ...] = ()
    is_single = False

    def __init__(self, by_agent: Mapping[str, Any], root: str, separator: str):
        self.space = spaces.Dict(dict(by_agent))
        self.agents = list(by_agent)
        self._layouts = [Layout(space, root, separator) for space in by_agent.values()]
        first = self._layouts[0]
        if not first.leaves:
            raise ConfigError(f"the {root} space of agent {self.agents[0]!r} must contain an array, got {first.space}")
        for agent, layout in zip(by_agent, self._layouts, strict=True):
            self._check(agent, layout, first)
        self.leaves, self._fields = [], []
        for k, leaf in enumerate(first.leaves):
            own = [layout.leaves[k].space for layout in self._layouts]
            shape = tuple(max(sizes) for sizes in zip(*(space.shape for space in own), strict=True))
            self.leaves.append(Leaf(leaf.name, (k,), Rows(leaf.space.dtype, (len(own), *shape)), True))
            low, high = common_bounds(own, shape)
            self._fields.append(Field(leaf.name, leaf.space.dtype, (-1, *shape), low, high))
        # By player and leaf: where the agent's own value is in the array.
        self._places: list[list[Any]] = [
            [(player, *map(slice, leaf.space.shape)) for leaf in layout.leaves]
            for player, layout in enumerate(self._layouts)
        ]

    @staticmethod
    def _check(agent: str, layout: Layout, first: Layout) -> None:
        for leaf in layout.leaves:
            if not leaf.is_field or len(leaf.space.shape) >= MAX_FIELD_DIMS:
                raise ConfigError(
                    f"the {layout.root} space of agent {agent!r} must have arrays of a fixed shape with at most "
                    f"{MAX_FIELD_DIMS - 1} dimensions, got {leaf.space}: wrap the environment"
                )
        own, expected = (
            [(leaf.name, leaf.space.dtype, len(leaf.space.shape)) for leaf in each.leaves] for each in (layout, first)
        )
        if own != expected:
            raise ConfigError(
                f"the {layout.root} space of agent {agent!r} must have the keys, dtypes and numbers of dimensions of "
                f"the first agent's, {first.space}, got {layout.space}: wrap the environment, for example by wrappers "
                "of SuperSuit"
            )

    @property
    def arrays(self) -> list[Leaf]:
        """The leaves, all of which are fields."""
        return self.leaves

    def fields(self) -> list[Field]:
        """Return the field table."""
        return self._fields

    def row_bytes(self) -> list[int]:
        """Return the bytes of the rows of all players of an environment, by field."""
        return [leaf.space.dtype.itemsize * int(np.prod(leaf.space.shape, dtype=np.int64)) for leaf in self.leaves]

    def nest(self, leaf_of: Callable[[Leaf], Any]) -> list[Any]:
        """Return a value that travels, whose arrays are what a function returns for them."""
        return [leaf_of(leaf) for leaf in self.leaves]

    def shapes_of(self, player: int) -> dict[str, tuple[int, ...]]:
        """Return the shapes of the values of a player that are smaller than the arrays, by field."""
        return {
            own.name: own.space.shape
            for own, leaf in zip(self._layouts[player].leaves, self.leaves, strict=False)
            if own.space.shape != leaf.space.shape[1:]
        }

    def new_arrays(self) -> list[np.ndarray[Any, Any]]:
        """Return arrays of zeros for the values of all players."""
        return [np.zeros(leaf.space.shape, leaf.space.dtype) for leaf in self.leaves]

    def put(self, arrays: Sequence[np.ndarray[Any, Any]], player: int, value: Any) -> None:
        """Write the value of an agent into the arrays; raise ValueError if its space does not have it."""
        for array, leaf, place in zip(arrays, self._layouts[player].leaves, self._places[player], strict=False):
            try:
                own = fitted(at(value, leaf.path), array.dtype)
            except CastError as error:
                raise ValueError(f"{self._called(player, leaf)} contains {error}") from None
            if own.shape != leaf.space.shape:
                raise ValueError(
                    f"{self._called(player, leaf)} must have shape {leaf.space.shape} as its space says, got "
                    f"{own.shape}"
                )
            array[place] = own

    def clear(self, arrays: Sequence[np.ndarray[Any, Any]], player: int) -> None:
        """Write zeros for an agent."""
        for array, place in zip(arrays, self._places[player], strict=False):
            array[place] = 0

    def take(self, arrays: Sequence[np.ndarray[Any, Any]], player: int) -> Any:
        """Return the value of an agent in the arrays: numbers, and views of the arrays."""
        values = iter([array[place] for array, place in zip(arrays, self._places[player], strict=True)])
        return self._layouts[player].nest(lambda leaf: next(values))

    def packed(self, by_agent: Mapping[str, Any]) -> list[Any]:
        """Return values by agent as arrays."""
        arrays = self.new_arrays()
        for player, agent in enumerate(self.agents):
            self.put(arrays, player, by_agent[agent])
        return arrays

    def _called(self, player: int, leaf: Leaf) -> str:
        return f"the observation of agent {self.agents[player]!r}" + (f" at {leaf.path!r}" if leaf.path else "")


class GameLayout(PlayersLayout):
    """The observations of agents that move in turn, and what a turn-based task says of the next move.

    The last arrays are whose turn it is and, if the game has masks, which moves are legal.

    Parameters
    ----------
    by_agent : dict of str to gymnasium.spaces.Space
        The observation spaces, in the order of the players. If all of them are a Dict of ``observation`` and
        ``action_mask``, as in PettingZoo's classic games, the mask is not part of the observations.
    move : gymnasium.spaces.Space
        The action space of each agent.

    Attributes
    ----------
    has_masks : bool
        True if the game says which moves are legal.
    """

    def __init__(self, by_agent: Mapping[str, Any], move: Any):
        self.has_masks = (
            isinstance(move, spaces.Discrete)
            and move.start == 0
            and all(
                isinstance(space, spaces.Dict)
                and space.spaces.keys() == {"observation", "action_mask"}
                and space["action_mask"].shape == (move.n,)
                for space in by_agent.values()
            )
        )
        own = {agent: space["observation"] for agent, space in by_agent.items()} if self.has_masks else by_agent
        super().__init__(own, "obs", ":")
        self.space = spaces.Dict(dict(by_agent))
        self._add(CURRENT_PLAYER, np.int32, (), -1, len(by_agent) - 1)
        if self.has_masks:
            self._add(LEGAL_ACTION_MASK, np.bool_, (int(move.n),))

    def _add(self, name: str, dtype: Any, shape: tuple[int, ...], low: Any = None, high: Any = None) -> None:
        self.leaves.append(Leaf(name, (len(self.leaves),), Rows(np.dtype(dtype), shape), True))
        self._fields.append(Field(name, np.dtype(dtype), shape, low, high))

    def own_part(self, value: Any) -> Any:
        """Return the observation of an agent without the mask."""
        return value["observation"] if self.has_masks else value

    def put_turn(self, arrays: Sequence[np.ndarray[Any, Any]], player: int, value: Any) -> None:
        """Write whose turn it is, -1 if nobody acts, and the mask in this agent's observation."""
        arrays[-1 - self.has_masks][...] = player
        if self.has_masks:
            arrays[-1][:] = False if value is None else self._mask_of(player, value["action_mask"])

    def _mask_of(self, player: int, value: Any) -> np.ndarray[Any, Any]:
        """Return which moves are legal; raise ValueError for a mask of another shape or of other values."""
        mask, shape = np.asarray(value), self.leaves[-1].space.shape
        name = f"the action_mask of agent {self.agents[player]!r}"
        if mask.shape != shape:
            raise ValueError(f"{name} must have shape {shape}, got {mask.shape}")
        if mask.dtype.kind not in "biu":
            try:
                mask = fitted(mask, INT64)
            except (CastError, TypeError) as error:
                raise ValueError(f"{name} must have bools or integers, got {error}") from error
        return np.asarray(mask != 0)


def common_bounds(own: Sequence[Any], shape: tuple[int, ...]) -> tuple[Any, Any]:
    """Return the bounds of an array of all players: one for each element of a row, or of the rows of all players.

    Elements that a player does not have, which are zero in observations and ignored in actions, have the bounds of all
    others.

    Parameters
    ----------
    own : sequence of gymnasium.spaces.Space
        The spaces of the players.
    shape : tuple of int
        Shape of a row.
    """
    dtype = own[0].dtype
    exact = dtype if dtype.kind in "iu" else np.float64
    found: list[Any] = []
    for which, open_end, widest in ((0, -np.inf, min), (1, np.inf, max)):
        given = [bounds(space)[which] for space in own]
        if all(bound is None for bound in given):
            found.append(None)
            continue
        arrays = [np.asarray(open_end if bound is None else bound, exact) for bound in given]
        rows = np.full((len(own), *shape), widest(0, *(value for array in arrays for value in array.flat)), exact)
        for player, (space, array) in enumerate(zip(own, arrays, strict=True)):
            place: Any = (player, *map(slice, space.shape))
            rows[place] = array.reshape(space.shape) if array.ndim else array
        flat = rows.reshape(len(own), -1)
        if (flat == flat[0, 0]).all():
            found.append(flat[0, 0].item())
        else:
            found.append(flat[0] if (flat == flat[0]).all() else flat.ravel())
    return found[0], found[1]


def groups_of(
    agents: Sequence[Any], observations: PlayersLayout, actions: PlayersLayout | None = None
) -> list[PlayerGroup]:
    """Return the groups of agents: those with equal spaces and one name but for a number, as in ``adversary_0``."""
    layouts = [layout for layout in (observations, actions) if layout is not None]
    members: dict[str, list[int]] = {}
    for player, agent in enumerate(agents):
        members.setdefault(re.sub(r"[_-]?\d+$", "", str(agent)), []).append(player)
    groups: list[PlayerGroup] = []
    for base, players in members.items():
        alike: list[list[int]] = []
        for player in players:
            key = str(agents[player])
            for others in alike:
                other = str(agents[others[0]])
                if all(layout.space[key] == layout.space[other] for layout in layouts):
                    others.append(player)
                    break
            else:
                alike.append([player])
        for own in alike:
            name = identifier(base if len(alike) == 1 else str(agents[own[0]]), [group.name for group in groups])
            shapes = {k: v for layout in layouts for k, v in layout.shapes_of(own[0]).items()}
            groups.append(PlayerGroup(name, tuple(own), shapes))
    return groups


def identifier(name: str, used: Sequence[str]) -> str:
    """Return a name that a group can have: a valid attribute name that is not used yet."""
    chosen = re.sub(r"\W", "_", name)
    chosen = chosen if chosen.isidentifier() and chosen[0] != "_" else f"agent{chosen and '_'}{chosen}"
    while chosen in used or chosen in RESERVED or iskeyword(chosen):
        chosen += "_"
    return chosen


def unknown_agents(agents: Iterable[Any], known: Mapping[Any, int], what: str = "agents") -> None:
    """Raise ValueError if there are agents that are not among the possible ones."""
    for agent in agents:
        if agent not in known:
            raise ValueError(f"{what} must be among possible_agents, {shown(list(known))}, got {shown(agent)}")
