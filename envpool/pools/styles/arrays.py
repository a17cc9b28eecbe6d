"""The style of pools inside adapters whose results go to buffers of another library: flat tuples of arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from envpool.pools.env_pool import EnvPool
from envpool.pools.styles.players import MASK
from envpool.pools.styles.style import Style, set_spaces


class ArraysStyle(Style):
    """Returns some arrays of a batch as a flat tuple; for ``autoreset_mode="same_step"`` only."""

    returns_final = False
    shows_players = True

    def forms(self, names: Sequence[str]) -> tuple[Any, Any]:
        """Return the nests of reset(), (obs,), and step(); see `Style.forms`.

        step() has six items: obs, reward, terminated, truncated, which rows ended an episode, and its length. In a task
        with players, the first four are arrays of players, and the mask of the players follows them, and the obs of
        reset().
        """
        obs, ended = self.observation(names), ("final:mask", "final:elapsed_step")
        if not self.spec.num_players:
            return (obs,), (obs, "reward", "terminated", "truncated", *ended)
        mask, ends = self.of_players(MASK), self.player_ends().values()
        return (obs, mask), (obs, self.reward, *ends, mask, *ended)

    def add_errors(self, result: Any, errors: dict[int, str], count: int) -> None:
        """Do nothing, since the results have no place for texts; see `Style.add_errors`."""

    def set_attributes(self, pool: Any) -> None:
        """Set the spaces, those of gymnasium."""
        set_spaces(pool, self.spec.gymnasium_observation_space, self.spec.gymnasium_action_space)


class ArraysPool(EnvPool):
    """A pool of this style; `ArraysStyle` describes what it returns."""

    _style = ArraysStyle
    _suffix = "ArraysPool"


def pool_base() -> type[EnvPool]:
    """Return the base class of the pools of this style."""
    return ArraysPool
