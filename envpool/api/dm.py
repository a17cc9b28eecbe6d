"""The dm_env style: ``reset()`` and ``step()`` return a TimeStep."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import dm_env

from envpool.api import tree
from envpool.pool import EnvPool
from envpool.spaces import named
from envpool.spec import EnvSpec


class DMStyle:
    """Names the arrays of a block in dm_env's form.

    Parameters
    ----------
    spec : EnvSpec
        Task and configuration.
    """

    optional = ("discount", "step_type")

    def __init__(self, spec: EnvSpec):
        self.is_same_step = spec.config.autoreset_mode == "same_step"

    def forms(self, names: Sequence[str]) -> tuple[Any, Any]:
        """Return the nests of reset() and step(), which are the same."""
        obs = tree.subtree(names, "obs")
        state = tree.env_ids() | (obs if isinstance(obs, dict) else {"obs": obs}) | tree.info(names)
        if self.is_same_step:
            final = tree.subtree(names, "final:obs")
            state["final"] = (
                (final if isinstance(final, dict) else {"obs": final})
                | tree.info(names, "final:")
                | {"elapsed_step": "final:elapsed_step", "mask": "final:mask"}
            )
        step = dm_env.TimeStep("step_type", "reward", "discount", named("State", state))
        return step, step


class DMEnvPool(EnvPool, dm_env.Environment):
    """A pool with dm_env's API.

    Notes
    -----
    ``reset(env_id=None, *, seed=None)`` and ``step(action, env_id=None)`` return TimeStep(step_type int32 (B,), reward
    float32 (B,), discount float32 (B,), observation), where observation is a named tuple State(env_id int32 (B,),
    players, the observation arrays, the env's info arrays).
    """

    _style = DMStyle
    _suffix = "DMEnvPool"

    def observation_spec(self) -> Any:
        """Return the dm_env specs of one env as a named tuple State."""
        return self._spec.observation_spec()

    def action_spec(self) -> Any:
        """Return the dm_env spec of one env's action."""
        return self._spec.action_spec()


def pool_base() -> type[EnvPool]:
    """Return the base class of the pools of this style."""
    return DMEnvPool
