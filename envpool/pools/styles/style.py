"""The base class of the API styles."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, ClassVar

import numpy as np

from envpool._core.results import RowsOf
from envpool._core.statistics import Statistics
from envpool.errors import ConfigError
from envpool.pools.styles import tree
from envpool.pools.styles.players import GRID, MASK, names_of_group, view_of
from envpool.tasks.players import refuse_players
from envpool.tasks.spec import EnvSpec
from envpool.tasks.statistics import PARTS, PLAYER_PART


class Style:
    """How an API style returns the arrays of a batch.

    Parameters
    ----------
    spec : EnvSpec
        Task and configuration.

    Attributes
    ----------
    optional : tuple of str
        Arrays of the core that not every pool returns; the core fills them only if they are named here.
    returns_final : bool
        True if the style uses the arrays ``final:...`` of the fields of an environment, which exist for the auto-reset
        mode "same_step" only. ``final:mask`` and ``final:elapsed_step`` exist even if it does not.
    raises_causes : bool
        True if the exception of a failed Python environment is raised itself, in place of an EnvStepError.
    returns_texts : bool
        True if the style returns texts, see ``EnvDefinition.text_fields``; other styles refuse them.
    is_same_step : bool
        True if the auto-reset mode is "same_step", which has ``final:...`` arrays.
    entries : tuple of str
        Entries with the statistics of what has ended, ``"episode"`` and ``"game"``: their arrays are ``episode:r`` (the
        return), ``episode:l`` (the length), ``episode:t`` (the time) and ``episode:mask``. Dicts contain them only if a
        row of the batch has ended an episode or a game.
    groups : tuple of PlayerGroup
        The groups of players.
    statistics : Statistics
        Statistics of the pool.
    transforms : BatchTransforms or None
        Changes of batches before they are handed out.
    """

    optional: tuple[str, ...] = ()
    returns_final = True
    raises_causes = False
    returns_texts = False
    #: Whether the style returns the arrays of tasks with players; other styles refuse such tasks.
    shows_players: ClassVar[bool] = False
    #: Whether the pool plays the players that the option `controlled` does not name; see `envpool.pools.opponents`.
    plays_opponents: ClassVar[bool] = False
    #: Completes a result by what is not in the arrays of a batch: ``finish(result, arrays)``, with the arrays in the
    #: order of the names that `forms` got, returns the result. None if there is nothing to add.
    finish: ClassVar[Callable[..., Any] | None] = None
    #: Makes arrays of the actions that a user passes, if those have another structure; else None.
    flatten_action: Any = None

    def __init__(self, spec: EnvSpec):
        if not self.returns_texts:
            for name, field in spec.text_fields.items():
                raise ConfigError(
                    f"{field.option} makes {name.partition(':')[2]} text, which only envpool.make_gymnasium and "
                    "gymnasium.make return: leave it out, or use one of them"
                )
        if not self.shows_players:
            refuse_players(spec, "this kind of pool", "use envpool.make, make_gymnasium, make_gym or make_dm")
        if spec.controlled is not None and not self.plays_opponents:
            raise ConfigError(
                "controlled needs a pool that plays the opponents, and this kind of pool does not: use envpool.make, "
                "make_gymnasium, make_gym or make_dm, or leave controlled out"
            )
        self.spec = spec
        self.groups = spec.groups
        self.is_same_step = spec.config.autoreset_mode == "same_step"
        self.entries = spec.entries
        self.optional = (*self.optional, *(f"{entry}:{part}" for entry in self.entries for part in PARTS))
        if self.entries and spec.num_players:
            self.optional = (*self.optional, f"episode:{PLAYER_PART}")
        self.transforms = spec.transforms.for_batches(spec.num_players)
        self.statistics = Statistics(
            spec.config.num_envs, spec.config.episode_statistics, spec._game_numbers, spec.num_players
        )

    def forms(self, names: Sequence[str]) -> tuple[Any, Any]:
        """Return what reset() and step() return, with the names of arrays in place of the arrays.

        Parameters
        ----------
        names : sequence of str
            Names of all arrays of a batch.

        Returns
        -------
        tuple
            Two nests of tuples and dicts: the result of reset(), and the result of step().
        """
        raise NotImplementedError

    def observation(self, names: Sequence[str], prefix: str = "") -> Any:
        """Return the nest of the observation arrays; ``prefix="final:"`` for those of ended episodes."""
        if self.spec.config.players == "dict":
            return self.arrays_of(names, prefix + "obs")
        return tree.observation(names, prefix)

    def ended(self) -> dict[str, Any]:
        """Return the entries of info in a step that ends an episode, in the form of gymnasium's statistics."""
        nest: dict[str, Any] = {}
        for entry in self.entries:
            nest |= {entry: {part: f"{entry}:{part}" for part in "rlt"}, f"_{entry}": f"{entry}:mask"}
        if self.entries and self.spec.num_players:
            nest["episode"][PLAYER_PART] = f"episode:{PLAYER_PART}"
        return nest

    def view(self, names: Sequence[str], of_players: Collection[str]) -> Any:
        """Return what makes the arrays that users see of those of a batch; None if these are the same.

        Parameters
        ----------
        names : sequence of str
            Names of all arrays of a batch.
        of_players : collection of str
            Names of the arrays with a place for each player.
        """
        if not self.spec.num_players:
            return None
        return view_of(str(self.spec.config.players), names, of_players, self.groups)

    @property
    def reward(self) -> Any:
        """The nest of the rewards."""
        return self.of_players("player:reward") if self.spec.num_players else "reward"

    def of_players(self, name: str) -> Any:
        """Return the nest of an array of players: its name or, by group, a dict of names."""
        if self.spec.config.players != "dict":
            return name
        return {group.name: f"{name}@{group.name}" for group in self.groups}

    def arrays_of(self, names: Sequence[str], prefix: str) -> Any:
        """Return the nest of the arrays ``prefix:...``, or the name that equals `prefix`.

        With ``players="dict"``, it is a dict that has a nest for each group, and the arrays of whole environments.
        """
        if self.spec.config.players != "dict":
            return tree.subtree(names, prefix)
        nest: dict[str, Any] = {}
        for group in self.groups:
            own = {name.rpartition("@")[0]: name for name in names_of_group(names, group)}
            part = tree.renamed(tree.subtree(list(own), prefix), own)
            if part:
                nest[group.name] = part
        shared = tree.subtree([name for name in names if "@" not in name], prefix)
        return nest | shared if nest else shared

    def row_ids(self) -> dict[str, Any]:
        """Return the entries that say which environment, and which player, a row belongs to."""
        if not self.spec.num_players:
            return tree.env_ids()
        if self.spec.config.players == "rows":
            return {"env_id": "env_id", "players": {"env_id": "row:env_id", "id": "row:id"}}
        return {"env_id": "env_id", "player_mask": self.of_players(MASK)}

    def player_ends(self) -> dict[str, Any]:
        """Return the entries that say which players a step has ended."""
        if not self.spec.num_players:
            return {}
        return {f"player_{end}": self.of_players(f"player:{end}") for end in ("terminated", "truncated")}

    def finished(self, names: Sequence[str]) -> dict[str, Any]:
        """Return the entry for episodes that have ended, with the option `finished_episodes`; else an empty dict.

        It has a row for each of these environments; their last observations have a place for each player.
        """
        if not self.spec.config.finished_episodes:
            return {}
        nest = {"env_id": "env_id", "row": RowsOf.POSITION, "terminated": "terminated"}
        nest |= {part: f"episode:{part}" for part in "rlt"}
        if self.spec.num_players:
            nest[PLAYER_PART] = f"episode:{PLAYER_PART}"
        prefix = (GRID if self.spec.config.players == "rows" else "") + ("final:" if self.is_same_step else "")
        return {"finished": RowsOf("episode:mask", nest | {"final_obs": self.observation(names, prefix)})}

    def add_errors(self, result: Any, errors: dict[int, str], count: int) -> None:
        """Add the texts of failed environments to a result of reset() or step(), if it has a place for them.

        Parameters
        ----------
        result : object
            The result, which is changed.
        errors : dict of int to str
            The texts by row; there is at least one.
        count : int
            Number of rows.
        """
        raise NotImplementedError

    def block_source(self) -> Any:
        """Return the object whose ``new_memory(size)`` makes the memory of a batch; None for ordinary memory.

        It is called once, after the environments were created.
        """
        return None

    def set_attributes(self, pool: Any) -> None:
        """Set the attributes of a new pool that only pools of this style have, such as its spaces; none by default."""


def set_spaces(pool: Any, observation: Any, action: Any) -> None:
    """Set the spaces of a pool: those of one environment, also under the names that gymnasium uses for batches."""
    pool.observation_space = pool.single_observation_space = observation
    pool.action_space = pool.single_action_space = action


def error_info(errors: dict[int, str], count: int) -> dict[str, Any]:
    """Return the entries of info for failed environments, in the form that gymnasium's vector infos have.

    Parameters
    ----------
    errors : dict of int to str
        The texts by row.
    count : int
        Number of rows.

    Returns
    -------
    dict
        ``error``, an object array (count,) of str, None where no environment has failed, and its mask ``_error``.
    """
    texts, mask = np.full(count, None, dtype=object), np.zeros(count, np.bool_)
    for row, text in errors.items():
        texts[row] = text
        mask[row] = True
    return {"error": texts, "_error": mask}
