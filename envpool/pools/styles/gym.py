"""The style of gym before 0.26: ``reset() -> obs``, ``step() -> (obs, reward, done, info)``."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from envpool.config.spaces import loaded_spaces
from envpool.pools.pool import EnvPool
from envpool.pools.styles.gym_pool import GymPool
from envpool.pools.styles.gymnasium import GymnasiumStyle
from envpool.pools.styles.style import set_spaces


class GymStyle(GymnasiumStyle):
    """Returns the arrays of a batch as gym before 0.26 does."""

    optional = ("done",)
    returns_texts = False

    def forms(self, names: Sequence[str]) -> tuple[Any, Any]:
        """Return the nests of reset() and step(); see `Style.forms`."""
        (obs, info), (_, reward, _, truncated, step_info) = super().forms(names)
        step = (obs, reward, "done", step_info | {"TimeLimit.truncated": truncated})
        return (obs, info) if self.spec.config.gym_reset_return_info else obs, step

    def set_attributes(self, pool: Any) -> None:
        """Set the spaces, of gym if it is loaded, and old gym's names for the entries of the metadata."""
        pool.metadata |= {
            "render.modes": pool.metadata["render_modes"],
            "video.frames_per_second": pool.metadata["render_fps"],
        }
        spaces = loaded_spaces()
        set_spaces(pool, self.spec.make_observation_space(spaces), self.spec.make_action_space(spaces))


class LegacyGymEnvPool(GymPool):
    """A pool with the API of gym before 0.26; its spaces are classes of that package if the package is loaded.

    Notes
    -----
    ``reset(env_id=None, *, seed=None)`` returns obs, or (obs, info) with ``gym_reset_return_info=True``.
    ``step(action, env_id=None)`` returns (obs, reward float32 (B,), done bool (B,), info);
    ``info["TimeLimit.truncated"]`` bool (B,) is True for episodes that reached the time limit.
    """

    _style = GymStyle
    _suffix = "GymEnvPool"
    reward_range = (-float("inf"), float("inf"))

    @property
    def unwrapped(self) -> EnvPool:
        """The pool itself."""
        return self


def pool_base() -> type[EnvPool]:
    """Return the base class of the pools of this style; it is a ``gym.Env`` if gym is loaded."""
    gym = sys.modules.get("gym")
    if gym is None:
        return LegacyGymEnvPool
    return type("LegacyGymEnvPool", (LegacyGymEnvPool, gym.Env), {"__doc__": LegacyGymEnvPool.__doc__})
