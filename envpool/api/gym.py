"""The style of gym before 0.26: ``reset() -> obs``, ``step() -> (obs, reward, done, info)``."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from envpool.api.gymnasium import GymnasiumStyle
from envpool.pool import EnvPool
from envpool.render_options import View
from envpool.spec import EnvSpec, loaded_spaces


class GymStyle(GymnasiumStyle):
    """Names the arrays of a block in old gym's forms."""

    optional = ("done",)

    def __init__(self, spec: EnvSpec):
        super().__init__(spec)
        self.reset_returns_info = spec.config.gym_reset_return_info

    def forms(self, names: Sequence[str]) -> tuple[Any, Any]:
        """Return the nests of reset() and step()."""
        (obs, info), (_, reward, _, truncated, _) = super().forms(names)
        step = (obs, reward, "done", info | {"TimeLimit.truncated": truncated})
        return (obs, info) if self.reset_returns_info else obs, step


class LegacyGymEnvPool(EnvPool):
    """A pool with the API of gym before 0.26; its spaces are that package's classes where it is loaded.

    Notes
    -----
    ``reset(env_id=None, *, seed=None)`` returns obs, or (obs, info) with ``gym_reset_return_info=True``;
    ``step(action, env_id=None)`` returns (obs, reward float32 (B,), done bool (B,), info), where
    ``info["TimeLimit.truncated"]`` bool (B,) says which episodes reached the time limit.
    """

    _style = GymStyle
    _suffix = "GymEnvPool"
    is_vector_env = True
    reward_range = (-float("inf"), float("inf"))
    closed = False

    def __init__(self, spec: EnvSpec, view: View | None = None):
        super().__init__(spec, view)
        self.metadata |= {
            "render.modes": self.metadata["render_modes"],
            "video.frames_per_second": self.metadata["render_fps"],
        }
        module = loaded_spaces()
        self.observation_space = self.single_observation_space = spec.make_observation_space(module)
        self.action_space = self.single_action_space = spec.make_action_space(module)

    @property
    def unwrapped(self) -> EnvPool:
        """The pool itself."""
        return self


def pool_base() -> type[EnvPool]:
    """Return the base class of the pools of this style: a ``gym.Env`` where gym is loaded."""
    gym = sys.modules.get("gym")
    if gym is None:
        return LegacyGymEnvPool
    return type("LegacyGymEnvPool", (LegacyGymEnvPool, gym.Env), {"__doc__": LegacyGymEnvPool.__doc__})
