"""The dm_env style: ``reset()`` and ``step()`` return a TimeStep."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import dm_env
import numpy as np
from dm_env import specs

from envpool._core.results import RowsOf
from envpool.config.spaces import named
from envpool.errors import ConfigError
from envpool.pools.env_pool import EnvPool
from envpool.pools.styles import tree
from envpool.pools.styles.style import Style
from envpool.tasks.statistics import PARTS, PLAYER_PART

if TYPE_CHECKING:
    from typing import NamedTuple

    import numpy.typing as npt

    class BatchedTimeStep(NamedTuple):
        """Type of a ``dm_env.TimeStep`` of arrays for type checkers; its methods return arrays, too."""

        step_type: npt.NDArray[np.int32]
        reward: npt.NDArray[np.float32]
        discount: npt.NDArray[np.float32]
        observation: Any

        def first(self) -> npt.NDArray[np.bool_]:
            """Return which rows begin an episode."""

        def mid(self) -> npt.NDArray[np.bool_]:
            """Return which rows are neither first nor last."""

        def last(self) -> npt.NDArray[np.bool_]:
            """Return which rows end an episode."""


class DMStyle(Style):
    """Returns the arrays of a batch as a ``dm_env.TimeStep``."""

    optional = ("discount", "step_type")
    shows_players = True
    #: Entries of State that a subclass adds.
    more_entries: tuple[str, ...] = ()

    def forms(self, names: Sequence[str]) -> tuple[Any, Any]:
        """Return the nests of reset() and step(), which are equal; see `Style.forms`."""
        obs = self.arrays_of(names, "obs")
        state = self.row_ids() | self.player_ends()
        self._check_names(obs, state, names)
        state = tree.merged(state, obs if isinstance(obs, dict) else {"obs": obs})
        state = tree.merged(state, self.info(names, "info"))
        if self.is_same_step:
            final = self.arrays_of(names, "final:obs")
            state["final"] = (
                (final if isinstance(final, dict) else {"obs": final})
                | self.info(names, "final:info")
                | {"elapsed_step": "final:elapsed_step", "mask": "final:mask"}
            )
        for entry in self.entries:
            state[entry] = {part: f"{entry}:{part}" for part in PARTS}
        if self.entries and self.spec.num_players:
            state["episode"][PLAYER_PART] = f"episode:{PLAYER_PART}"
        for name, rows in self.finished(names).items():
            state[name] = RowsOf(rows.mask, named(name, rows.nest))
        if self.spec.config.on_error == "restart":
            observation = named("State", state | {"error": ""})
            observation = observation._replace(**{observation._fields[-1]: {}})  # a new dict in every result
        else:
            observation = named("State", state)
        step = dm_env.TimeStep("step_type", self.reward, "discount", observation)
        return step, step

    def _check_names(self, obs: Any, state: dict[str, Any], names: Sequence[str]) -> None:
        """Raise ConfigError if an observation has the name of another entry of State."""
        others = {*state, *self.more_entries, *self.entries, *self.finished(names)}
        others |= {"final"} if self.is_same_step else set()
        others |= {"error"} if self.spec.config.on_error == "restart" else set()
        for key, part in obs.items() if isinstance(obs, dict) else ():
            joins = isinstance(part, dict) and isinstance(state.get(key), dict) and not part.keys() & state[key].keys()
            if key in others and not joins:  # names such as players.x join the entry
                raise ConfigError(
                    f"observations must not be named {key!r} in the dm style, whose State has an entry of this name: "
                    "rename the observation, or use env_type='gymnasium'"
                )

    def info(self, names: Sequence[str], prefix: str) -> dict[str, Any]:
        """Return the entries of the info arrays ``prefix:...``; by group, they are apart from the observations."""
        nest: dict[str, Any] = self.arrays_of(names, prefix)
        return {"info": nest} if nest and self.spec.config.players == "dict" else nest

    def add_errors(self, result: Any, errors: dict[int, str], count: int) -> None:
        """Add the texts to ``observation.error`` by env id; see `Style.add_errors`."""
        ids = result.observation.env_id
        result.observation[-1].update({int(ids[row]): text for row, text in errors.items()})


class DMEnvPool(EnvPool, dm_env.Environment):
    """A pool with dm_env's API.

    Notes
    -----
    ``reset(env_id=None, *, seed=None)`` and ``step(action, env_id=None)`` return TimeStep(step_type int32 (B,), reward
    float32 (B,), discount float32 (B,), observation). The observation is a named tuple State(env_id int32 (B,),
    players, the observation arrays, the info arrays of the environment). With ``on_error="restart"``, its last entry is
    error, a dict of the texts of failed environments by env id.
    """

    _style = DMStyle
    _suffix = "DMEnvPool"

    if TYPE_CHECKING:  # Results of the inherited methods in this style.

        def reset(
            self,
            env_id: npt.ArrayLike | None = None,
            *,
            seed: int | Sequence[int | None] | None = None,
            options: dict[str, Any] | Sequence[dict[str, Any] | None] | None = None,
        ) -> BatchedTimeStep:
            """Return a TimeStep of arrays; see `EnvPool.reset`."""

        def step(self, action: npt.ArrayLike | dict[str, Any], env_id: npt.ArrayLike | None = None) -> BatchedTimeStep:
            """Return a TimeStep of arrays; see `Pool.step`."""

        def recv(
            self,
            reset: bool = False,
            return_info: bool = True,
            *,
            min_ready: int | None = None,
            timeout: float | None = None,
            env_id: npt.ArrayLike | None = None,
        ) -> BatchedTimeStep:
            """Return a TimeStep of arrays; see `Pool.recv`."""

    def observation_spec(self) -> Any:
        """Return the dm_env specs of one environment's observation as a named tuple State."""
        return self.spec.observation_spec()

    def action_spec(self) -> Any:
        """Return the dm_env spec of one environment's action."""
        return self.spec.action_spec()

    def reward_spec(self) -> Any:
        """Return the dm_env spec of one environment's reward, float32."""
        return specs.Array((), np.float32, name="reward")

    def discount_spec(self) -> Any:
        """Return the dm_env spec of one environment's discount, float32 from 0 to 1."""
        return specs.BoundedArray((), np.float32, 0, 1, name="discount")


def pool_base() -> type[EnvPool]:
    """Return the base class of the pools of this style."""
    return DMEnvPool
