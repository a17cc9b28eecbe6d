"""The gymnasium style: ``reset() -> (obs, info)``, ``step() -> (obs, reward, terminated, truncated, info)``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium
from gymnasium.vector import AutoresetMode

from envpool.api import tree
from envpool.pool import EnvPool
from envpool.render_options import View
from envpool.spec import EnvSpec


class GymnasiumStyle:
    """Names the arrays of a block in gymnasium's forms.

    Parameters
    ----------
    spec : EnvSpec
        Task and configuration.
    """

    optional: tuple[str, ...] = ()

    def __init__(self, spec: EnvSpec):
        self.is_same_step = spec.config.autoreset_mode == "same_step"

    def info(self, names: Sequence[str]) -> dict[str, Any]:
        """Return the nest of info."""
        nest = tree.env_ids() | tree.info(names) | {"elapsed_step": "elapsed_step"}
        if self.is_same_step:
            nest |= {
                "final_obs": tree.observation(names, "final:"),
                "_final_obs": "final:mask",
                "final_info": tree.info(names, "final:") | {"elapsed_step": "final:elapsed_step"},
                "_final_info": "final:mask",
            }
        return nest

    def forms(self, names: Sequence[str]) -> tuple[Any, Any]:
        """Return the nests of reset() and step()."""
        obs, info = tree.observation(names), self.info(names)
        return (obs, info), (obs, "reward", "terminated", "truncated", info)


class GymnasiumEnvPool(EnvPool, gymnasium.vector.VectorEnv, gymnasium.Env):  # type: ignore[misc]
    """A pool with gymnasium's API.

    It is a ``gymnasium.vector.VectorEnv`` and a ``gymnasium.Env`` by type, so that wrappers of both kinds take it, but
    keeps EnvPool's conventions: ``observation_space`` and
    ``action_space`` are those of one env, like ``single_observation_space`` and ``single_action_space``, and
    ``info["env_id"]`` tells whose row each one is.

    Notes
    -----
    ``reset(env_id=None, *, seed=None, options=None)`` returns (obs, info); ``step(action, env_id=None)`` returns (obs,
    reward float32 (B,), terminated bool (B,), truncated bool (B,), info). obs is an array (B, ...), or a nested dict of
    arrays. info has env_id int32 (B,), players.env_id, elapsed_step int32 (B,) and the env's own keys.
    """

    _style = GymnasiumStyle
    _suffix = "GymnasiumEnvPool"
    spec: Any
    is_vector_env = True
    closed = False

    def __init__(self, spec: EnvSpec, view: View | None = None):
        super().__init__(spec, view)
        mode = {"next_step": "NEXT_STEP", "same_step": "SAME_STEP", "disabled": "DISABLED"}[spec.config.autoreset_mode]
        self.metadata["autoreset_mode"] = AutoresetMode[mode]
        self.observation_space = self.single_observation_space = spec.gymnasium_observation_space
        self.action_space = self.single_action_space = spec.gymnasium_action_space


def pool_base() -> type[EnvPool]:
    """Return the base class of the pools of this style."""
    return GymnasiumEnvPool
