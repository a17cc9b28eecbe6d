"""The gymnasium style: ``reset() -> (obs, info)``, ``step() -> (obs, reward, terminated, truncated, info)``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium

from envpool.api import tree
from envpool.api.style import Style, error_info, set_spaces
from envpool.autoreset import gymnasium_mode
from envpool.pool import EnvPool


class GymnasiumStyle(Style):
    """Returns the arrays of a batch as gymnasium does."""

    def info(self, names: Sequence[str]) -> dict[str, Any]:
        """Return the nest of info."""
        nest = tree.env_ids() | tree.info(names) | {"elapsed_step": "elapsed_step"}
        if self.is_same_step:
            nest |= {
                "final_obs": self.observation(names, "final:"),
                "_final_obs": "final:mask",
                "final_info": tree.info(names, "final:") | {"elapsed_step": "final:elapsed_step"},
                "_final_info": "final:mask",
            }
        return nest

    def forms(self, names: Sequence[str]) -> tuple[Any, Any]:
        """Return the nests of reset() and step(); see `Style.forms`."""
        obs, info = self.observation(names), self.info(names)
        finished = self.finished(self.observation(names, "final:") if self.is_same_step else obs)
        return (obs, info), (obs, "reward", "terminated", "truncated", info | self.ended() | finished)

    def add_errors(self, result: Any, errors: dict[int, str], count: int) -> None:
        """Add ``error`` and its mask to info; see `Style.add_errors`."""
        if isinstance(result, tuple):  # reset() of old gym may return observations only
            result[-1].update(error_info(errors, count))

    def set_attributes(self, pool: Any) -> None:
        """Set the spaces, and gymnasium's auto-reset mode in the metadata."""
        pool.metadata["autoreset_mode"] = gymnasium_mode(self.spec.config.autoreset_mode)
        set_spaces(pool, self.spec.gymnasium_observation_space, self.spec.gymnasium_action_space)


class GymnasiumEnvPool(EnvPool, gymnasium.vector.VectorEnv, gymnasium.Env):  # type: ignore[misc]
    """A pool with gymnasium's API.

    The pool is an instance of ``gymnasium.vector.VectorEnv`` and of ``gymnasium.Env``, so that wrappers of both kinds
    accept it, but it keeps EnvPool's conventions: ``observation_space`` and ``action_space`` are those of one
    environment, like ``single_observation_space`` and ``single_action_space``, and ``info["env_id"]`` says which
    environment each row belongs to.

    Notes
    -----
    ``reset(env_id=None, *, seed=None, options=None)`` returns (obs, info); ``step(action, env_id=None)`` returns (obs,
    reward float32 (B,), terminated bool (B,), truncated bool (B,), info). obs is an array (B, ...), or a nested dict of
    arrays. info has env_id int32 (B,), players.env_id, elapsed_step int32 (B,) and the keys of the environment; with
    ``on_error="restart"``, batches with failed environments also have error and _error.
    """

    _style = GymnasiumStyle
    _suffix = "GymnasiumEnvPool"
    spec: Any
    is_vector_env = True
    closed = False


def pool_base() -> type[EnvPool]:
    """Return the base class of the pools of this style."""
    return GymnasiumEnvPool
