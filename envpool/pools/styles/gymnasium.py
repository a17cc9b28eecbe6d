"""The gymnasium style: ``reset() -> (obs, info)``, ``step() -> (obs, reward, terminated, truncated, info)``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, overload

import gymnasium

from envpool._core.results import MadeOf
from envpool.config.checks import gymnasium_mode
from envpool.pools.env_pool import EnvPool
from envpool.pools.styles import tree
from envpool.pools.styles.gym_pool import GymPool
from envpool.pools.styles.style import Style, error_info, set_spaces
from envpool.pools.styles.texts import Texts

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from envpool.tasks.spec import EnvSpec

    #: obs, reward, terminated, truncated, info
    StepResult: TypeAlias = tuple[
        Any, npt.NDArray[np.float32], npt.NDArray[np.bool_], npt.NDArray[np.bool_], dict[str, Any]
    ]


class GymnasiumStyle(Style):
    """Returns the arrays of a batch as gymnasium does."""

    returns_texts = True
    shows_players = True

    def observation(self, names: Sequence[str], prefix: str = "") -> Any:
        """Return the nest of the observation arrays."""
        if self.spec.num_players:
            return super().observation(names, prefix)
        texts = {prefix + name for name in self.spec.text_fields}
        return tree.observation([MadeOf(name, Texts) if name in texts else name for name in names], prefix)

    def info(self, names: Sequence[str]) -> dict[str, Any]:
        """Return the nest of info."""
        nest = tree.merged(self.row_ids(), self.arrays_of(names, "info")) | {"elapsed_step": "elapsed_step"}
        if self.is_same_step:
            nest |= {
                "final_obs": self.observation(names, "final:"),
                "_final_obs": "final:mask",
                "final_info": self.arrays_of(names, "final:info") | {"elapsed_step": "final:elapsed_step"},
                "_final_info": "final:mask",
            }
        return nest

    def forms(self, names: Sequence[str]) -> tuple[Any, Any]:
        """Return the nests of reset() and step(); see `Style.forms`."""
        obs, info = self.observation(names), self.info(names)
        step_info = info | self.player_ends() | self.ended() | self.finished(names)
        return (obs, info), (obs, self.reward, "terminated", "truncated", step_info)

    def add_errors(self, result: Any, errors: dict[int, str], count: int) -> None:
        """Add ``error`` and its mask to info; see `Style.add_errors`."""
        result[-1].update(error_info(errors, count))

    def set_attributes(self, pool: Any) -> None:
        """Set the spaces, and gymnasium's auto-reset mode in the metadata."""
        pool.metadata["autoreset_mode"] = gymnasium_mode(self.spec.config.autoreset_mode)
        set_spaces(pool, self.spec.gymnasium_observation_space, self.spec.gymnasium_action_space)


class GymnasiumEnvPool(GymPool, gymnasium.vector.VectorEnv, gymnasium.Env):  # type: ignore[misc, override]
    """A pool with gymnasium's API.

    The pool is an instance of ``gymnasium.vector.VectorEnv`` and of ``gymnasium.Env``, on which clients rely. It keeps
    EnvPool's conventions: ``observation_space`` and ``action_space`` are those of one environment, like
    ``single_observation_space`` and ``single_action_space``, and ``info["env_id"]`` says which environment each row
    belongs to.

    Notes
    -----
    ``reset(env_id=None, *, seed=None, options=None)`` returns (obs, info); ``step(action, env_id=None)`` returns (obs,
    reward float32 (B,), terminated bool (B,), truncated bool (B,), info). obs is an array (B, ...), or a nested dict of
    arrays. info has env_id int32 (B,), players.env_id, elapsed_step int32 (B,) and the keys of the environment; with
    ``on_error="restart"``, batches with failed environments also have error and _error.
    """

    _style = GymnasiumStyle
    _suffix = "GymnasiumEnvPool"

    if TYPE_CHECKING:  # Results of the inherited methods in this style.
        spec: EnvSpec  # type: ignore[assignment]
        observation_space: gymnasium.Space[Any]
        action_space: gymnasium.Space[Any]
        single_observation_space: gymnasium.Space[Any]
        single_action_space: gymnasium.Space[Any]

        def step(  # type: ignore[override]
            self, action: npt.ArrayLike | dict[str, Any], env_id: npt.ArrayLike | None = None
        ) -> StepResult:
            """Return (obs, reward, terminated, truncated, info); see `Pool.step`."""

        @overload  # type: ignore[override]
        def recv(self, reset: Literal[True], return_info: bool = True) -> tuple[Any, dict[str, Any]]: ...
        @overload
        def recv(
            self,
            reset: Literal[False] = False,
            return_info: bool = True,
            *,
            min_ready: int | None = None,
            timeout: float | None = None,
            env_id: npt.ArrayLike | None = None,
        ) -> StepResult: ...
        def recv(self, *args: Any, **kwargs: Any) -> Any:
            """Return what step() returns, or with reset=True what reset() returns; see `Pool.recv`."""

    def reset(
        self,
        env_id: npt.ArrayLike | None = None,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | Sequence[dict[str, Any] | None] | None = None,
    ) -> tuple[Any, dict[str, Any]]:
        """Start new episodes and return (obs, info); see `EnvPool.reset`.

        Raises
        ------
        TypeError
            The pool is inside a wrapper of gymnasium for single environments.
        """
        result: tuple[Any, dict[str, Any]] = super().reset(env_id, seed=seed, options=options)
        return result

    @property  # type: ignore[misc]
    def np_random(self) -> Any:
        """Raise AttributeError: the environments have generators of their own."""
        raise AttributeError("a pool has no np_random: each env has a generator of its own, which reset(seed=) reseeds")

    @property
    def np_random_seed(self) -> Any:
        """Raise AttributeError, see `np_random`."""
        raise AttributeError("a pool has no np_random_seed: its envs were made with the seeds spec.seeds()")


def pool_base() -> type[EnvPool]:
    """Return the base class of the pools of this style."""
    return GymnasiumEnvPool
