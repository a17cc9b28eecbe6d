"""The style of the pool inside a VectorEnv: gymnasium's, without EnvPool's own entries of info."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from envpool.pools.env_pool import EnvPool
from envpool.pools.styles import tree
from envpool.pools.styles.style import Style, error_info


class VectorStyle(Style):
    """Returns the arrays of a batch for a VectorEnv, with the arrays of ended episodes apart from info."""

    def forms(self, names: Sequence[str]) -> tuple[Any, Any]:
        """Return the nests of reset(), (obs, info), and step(); see `Style.forms`.

        step() has seven items: obs, reward, terminated, truncated, info, final, which is (obs, info, mask) of the
        episodes that have ended with auto-reset mode "same_step", and () with other modes, and the entries of info with
        the statistics of what has ended.
        """
        obs, info = self.observation(names), tree.info(names)
        final: tuple[Any, ...] = ()
        if self.is_same_step:
            final = (self.observation(names, "final:"), tree.info(names, "final:"), "final:mask")
        return (obs, info), (obs, "reward", "terminated", "truncated", info, final, self.ended())

    def add_errors(self, result: Any, errors: dict[int, str], count: int) -> None:
        """Add ``error`` and its mask to info; see `Style.add_errors`."""
        result[1 if len(result) == 2 else 4].update(error_info(errors, count))


class VectorPool(EnvPool):
    """The pool inside a VectorEnv; `VectorStyle` describes what it returns."""

    _style = VectorStyle
    _suffix = "VectorPool"


def pool_base() -> type[EnvPool]:
    """Return the base class of the pools of this style."""
    return VectorPool
