"""The style of gym before 0.26: ``reset() -> obs``, ``step() -> (obs, reward, done, info)``."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from envpool._support.text import shown
from envpool.config.spaces import loaded_spaces
from envpool.errors import ConfigError
from envpool.pools.env_pool import EnvPool
from envpool.pools.styles.gym_pool import GymPool
from envpool.pools.styles.gymnasium import GymnasiumStyle
from envpool.pools.styles.single_env_wrappers import refuse_single_env_wrappers
from envpool.pools.styles.style import set_spaces
from envpool.tasks.spec import EnvSpec


class GymStyle(GymnasiumStyle):
    """Returns the arrays of a batch as gym before 0.26 does."""

    optional = ("done", "cut")
    returns_texts = False

    def forms(self, names: Sequence[str]) -> tuple[Any, Any]:
        """Return the nests of reset(), from which the pool may take the info away, and step(); see `Style.forms`."""
        reset, (obs, reward, _, _, step_info) = super().forms(names)
        return reset, (obs, reward, "done", step_info | {"TimeLimit.truncated": "cut"})

    def set_attributes(self, pool: Any) -> None:
        """Set the spaces, of gym if it is loaded, and old gym's names for the entries of the metadata."""
        pool.metadata |= {
            "render.modes": pool.metadata["render_modes"],
            "video.frames_per_second": pool.metadata["render_fps"],
        }
        spaces = loaded_spaces()
        set_spaces(pool, self.spec._make_observation_space(spaces), self.spec._make_action_space(spaces))


class LegacyGymEnvPool(GymPool):
    """A pool with the API of gym before 0.26; its spaces are classes of that package if the package is loaded.

    Notes
    -----
    ``reset(env_id=None, *, seed=None)`` returns obs, or (obs, info) with ``return_info=True`` or the option
    ``gym_reset_return_info=True``.
    ``step(action, env_id=None)`` returns (obs, reward float32 (B,), done bool (B,), info);
    ``info["TimeLimit.truncated"]`` bool (B,) is True for episodes that were truncated and did not terminate in the same
    step, as in gym.
    """

    _style = GymStyle
    _suffix = "GymEnvPool"
    reward_range = (-float("inf"), float("inf"))

    def reset(
        self,
        env_id: Any = None,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | Sequence[dict[str, Any] | None] | None = None,
        return_info: bool | None = None,
    ) -> Any:
        """Start new episodes and return obs, or (obs, info); see `EnvPool.reset`.

        Parameters
        ----------
        env_id, seed, options
            As in `EnvPool.reset`.
        return_info : bool, optional
            If True, the info is returned, too; by default the option `gym_reset_return_info`.
        """
        obs, info = super().reset(env_id, seed=seed, options=options)
        return (obs, info) if self._returns_info(return_info) else obs

    def recv(self, reset: bool = False, return_info: bool = True, **limits: Any) -> Any:
        """Return what step() returns, or with reset=True what reset() returns; see `Pool.recv`."""
        return self._of_recv(super().recv(reset, return_info, **limits), reset)

    def _of_recv(self, result: Any, reset: bool) -> Any:
        """Return a result, without the info of a reset unless the option `gym_reset_return_info` asks for it."""
        return result[0] if reset and not self._returns_info() else result

    def _returns_info(self, value: bool | None = None) -> bool:
        return bool(self.spec.config.gym_reset_return_info if value is None else value)

    def render(self, *args: Any, mode: str | None = None, **kwargs: Any) -> Any:
        """Render environments; see `EnvPool.render`.

        Parameters
        ----------
        *args, **kwargs
            The arguments of `EnvPool.render`; a mode may precede them, as in old gym's ``render(mode)``.
        mode : str, optional
            The pool's render mode; no other one is allowed.
        """
        if args and isinstance(args[0], str):
            mode, *args = args  # type: ignore[assignment]
        if self.render_mode is not None and mode not in (None, self.render_mode):
            raise ConfigError(
                f"mode must be {self.render_mode!r}, the render mode of this pool, got {shown(mode)}: pass it to "
                "envpool.make as render_mode"
            )
        return super().render(*args, **kwargs)

    @property
    def spec(self) -> EnvSpec:
        """Task and configuration."""
        refuse_single_env_wrappers(self, "__init__", "__getattr__", "spec")
        return vars(self)["spec"] if "spec" in vars(self) else super().spec

    @spec.setter
    def spec(self, spec: EnvSpec) -> None:
        vars(self)["spec"] = spec

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
