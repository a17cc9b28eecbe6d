"""The style behind `envpool.vector_env`: gymnasium's forms without what only EnvPool has, final arrays apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from envpool.api import tree
from envpool.pool import EnvPool
from envpool.spec import EnvSpec


class VectorStyle:
    """Names the arrays of a block for a VectorEnv.

    Parameters
    ----------
    spec : EnvSpec
        Task and configuration.
    """

    optional: tuple[str, ...] = ()

    def __init__(self, spec: EnvSpec):
        self.is_same_step = spec.config.autoreset_mode == "same_step"

    def forms(self, names: Sequence[str]) -> tuple[Any, Any]:
        """Return the nests of reset(), (obs, info), and of step(): six values, the last one (obs, info, mask) or ()."""
        obs, info = tree.observation(names), tree.info(names)
        final: tuple[Any, ...] = ()
        if self.is_same_step:
            final = (tree.observation(names, "final:"), tree.info(names, "final:"), "final:mask")
        return (obs, info), (obs, "reward", "terminated", "truncated", info, final)


class VectorPool(EnvPool):
    """The pool inside a VectorEnv; see `VectorStyle` for what it returns."""

    _style = VectorStyle
    _suffix = "VectorPool"
    closed = False


def pool_base() -> type[EnvPool]:
    """Return the base class of the pools of this style."""
    return VectorPool
