"""A pool as a ``VecEnv`` of Stable-Baselines3."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces

from envpool.adapters import needs
from envpool.adapters.lazy import LazyRows
from envpool.adapters.player_rows import PlayerRows, row_spaces
from envpool.adapters.pools import GRID, joined_actions, open_pool
from envpool.adapters.sub_env import Attributes
from envpool.errors import ConfigError, EnvIdError, EnvStepError, EnvTimeoutError, advise
from envpool.pools.infos import columns_of, first_info, last_info, pop_final, put, row_info, split, split_info, take
from envpool.pools.recovery import start_over
from envpool.tasks.statistics import ENTRIES

with needs("sb3"):
    from stable_baselines3.common import vec_env
    from stable_baselines3.common.monitor import Monitor

UINT32_MAX = 2**32 - 1


class VecEnv(vec_env.VecEnv):
    """A pool as a ``VecEnv``: ``PPO("MlpPolicy", VecMonitor(VecEnv("CartPole-v1", num_envs=8)))``.

    Parameters
    ----------
    pool : str or GymnasiumEnvPool
        Task id, or a pool made by ``envpool.make_gymnasium`` or ``make_python``. ``close()`` closes the pool.
    **options
        Options of ``envpool.make``, allowed with a task id only.

    Attributes
    ----------
    pool : GymnasiumEnvPool
        The pool that steps the environments. Do not call its methods while this object is in use.
    envs : list of SubEnv
        An object for each environment, on which ``get_attr``, ``set_attr`` and ``env_method`` act. The objects of
        Python environments pass everything on to them; `SubEnv` says which attributes a native environment has.

    Raises
    ------
    TypeError, ConfigError
        See `envpool.adapters.pools.open_pool`.

    Notes
    -----
    ``step`` returns obs, in the dtype of the task; reward float32 (num_envs,); done bool (num_envs,); infos, a list of
    dicts with the keys of the task, ``elapsed_step`` and ``TimeLimit.truncated``. The dicts are made when they are
    read, see `envpool.adapters.lazy.LazyRows`. An environment whose episode ends is reset in the same step: its obs is
    the first one of the next episode, and ``infos[i]["terminal_observation"]`` is a copy of the last one of the ended
    episode. The arrays are yours to keep.

    With ``episode_statistics=True``, ``infos[i]["episode"]`` has the entries of SB3's Monitor, and ``env_is_wrapped``
    says that the environments are inside one. If an episode may be a part of a game, as with the presets of Atari, the
    entries describe whole games before rewards are clipped, like those of a Monitor below SB3's AtariWrapper.

    In a task with players, each place for a player is a row: player p of environment i is the row ``i * P + p``, and
    ``num_envs`` is their number. A row is done when the episode of its player or of its environment ends. As long as a
    player is not present, also from the step on in which its own episode has ended, its row has an observation of
    zeros, reward 0, and an action that is ignored. ``infos[i]["player_mask"]`` says whether the player took part in the
    step, or begins with it. The rows of the players of an environment have the same seed and attributes. With the
    option `controlled`, only the controlled players have rows; a turn-based task must have exactly one of them.
    """

    def __init__(self, pool: Any, **options: Any):
        self.pool = open_pool(pool, options, knows_same_step=True, players=GRID)
        self._players = PlayerRows(self.pool) if self.pool.spec.num_players else None
        self._places = self._players.places if self._players else 1  # rows of an environment
        self._attributes = Attributes(self.pool)
        self.envs = self._attributes.envs
        self._is_same_step = self.pool.config["autoreset_mode"] == "same_step"
        is_nested = isinstance(self.pool.single_action_space, (spaces.Dict, spaces.Tuple))
        self._has_monitor, self._has_games = (name in self.pool.spec.entries for name in ENTRIES)
        self._joins_actions = is_nested and self._attributes.are_python
        self._received: Any = None  # the batch that step_wait() is about to return
        self._first_info: Any = None  # arrays from which reset_infos is made
        self._reset_infos: Any = None  # None if these arrays have changed
        if self._players:
            spaces_of_rows = row_spaces(self.pool.spec, "Stable-Baselines3")
        else:
            spaces_of_rows = self.pool.single_observation_space, self.pool.single_action_space
        super().__init__(self.pool.num_envs * self._places, *spaces_of_rows)
        self.metadata["render_fps"] = self.pool.metadata["render_fps"]  # for VecVideoRecorder
        if self.pool.render_mode is not None:
            self.render_mode = self.pool.render_mode

    def reset(self) -> Any:
        """Start new episodes in all environments; results in flight are dropped.

        The seeds and options that ``seed()`` and ``set_options()`` have set are used once.
        """
        options = self._options[:: self._places] if any(self._options) else None
        if any(own != options[i // self._places] for i, own in enumerate(self._options) if options):
            raise ConfigError("set_options() got different options for players of one environment: pass equal ones")
        obs, info = start_over(self.pool, seed=self._seeds[:: self._places], options=options)
        if self._players:
            obs, info = self._players.first(obs, info)
        self._received = None
        self._reset_seeds()
        self._reset_options()
        if self._is_same_step:
            pop_final(info)
        if self._is_same_step and not self._attributes.are_python:
            self._first_info = copied(columns_of(info))
            self._reset_infos = None
        else:
            self.reset_infos = split_info(info)
        return obs

    @property
    def reset_infos(self) -> list[dict[str, Any]]:
        """The infos of the first observations of the episodes, a list of dicts."""
        if self._reset_infos is None:
            self._reset_infos = split(self._first_info, self.num_envs)
        return self._reset_infos  # type: ignore[no-any-return]

    @reset_infos.setter
    def reset_infos(self, infos: list[dict[str, Any]]) -> None:
        self._reset_infos = infos

    def seed(self, seed: int | None = None) -> Any:
        """Set and return the seeds for the next ``reset()``: ``seed + i`` for environment i, random without a seed."""
        if seed is None:  # drawn as SB3 draws it, but so that no environment exceeds the 32 bits of some generators
            seed = min(int(np.random.randint(UINT32_MAX, dtype=np.uint32)), UINT32_MAX - self.num_envs + 1)
        self._seeds = [int(seed) + i // self._places for i in range(self.num_envs)]
        return self._seeds

    def step_async(self, actions: Any) -> None:
        """Start a step of all environments; actions has one row, or one dict or tuple, per environment."""
        try:
            if self._received is None:
                if self._joins_actions and not isinstance(actions, dict):
                    actions = joined_actions(actions, self.action_space)
                if self._players:
                    actions = self._players.actions(actions)
                self.pool.send(actions)
                return
        except EnvIdError:
            if not self.pool.num_outstanding:
                raise
        raise EnvIdError(
            "a step is in flight, or was interrupted: call step_wait(), which returns its results, or reset(), which "
            "drops them"
        )

    def step_wait(self) -> tuple[Any, Any, Any, list[dict[str, Any]]]:
        """Wait for the step that was started; return (obs, reward, done, infos), see the class.

        After a call that was interrupted, or that raised an EnvStepError or an EnvTimeoutError, another call returns
        the step.
        """
        if self._received is None:
            try:
                received = self.pool.recv()
                self._received = self._players.step(received) if self._players else received
            except (EnvStepError, EnvTimeoutError) as error:
                advise(error, "step_wait() still returns the step, and reset() drops it")
                raise
        obs, reward, terminated, truncated, info = self._received
        if self._has_games:  # info has these entries if some row has them
            info.pop("episode", None)
            info.pop("_episode", None)
            if "game" in info:
                info["episode"], info["_episode"] = info["game"], info["_game"]
        if self._is_same_step:
            self._received = None
            final_obs, final_info, ended = pop_final(info)
            if self._attributes.are_python or self._first_info is None:  # None as long as reset() was not called
                for i in np.flatnonzero(ended).tolist():
                    self.reset_infos[i] = first_info(info, i)
            elif len(final_info) > 1 and ended.any():  # with elapsed_step alone, all first infos are equal
                put(self._first_info, ended, take(columns_of(info), ended))
                self._reset_infos = None
            made = StepInfos(terminated, truncated, info, ended, final_obs, final_info)
            return obs, reward, ended, LazyRows(self.num_envs, made)
        done = terminated | truncated
        infos = split_info(info)
        for i, is_cut in enumerate((truncated & ~terminated).tolist()):
            infos[i]["TimeLimit.truncated"] = is_cut
        ended = np.flatnonzero(done)
        if len(ended):
            last = split(take(obs, ended), len(ended))
            obs_first, info_first = self._reset_ended(ended)
            for i, row, first in zip(ended.tolist(), last, split_info(info_first), strict=True):
                infos[i]["terminal_observation"] = row
                self.reset_infos[i] = first
            put(obs, ended, obs_first)
        self._received = None
        return obs, reward, done, infos

    def _reset_ended(self, ended: Any) -> Any:
        try:
            # Resets are in flight if an earlier call was interrupted while it was waiting for them.
            return self.pool.recv(reset=True) if self.pool.num_outstanding else self.pool.reset(ended)
        except (EnvStepError, EnvTimeoutError) as error:
            advise(error, "step_wait() still returns the step, and reset() drops it")
            raise

    def close(self) -> None:
        """Close the pool; the method may be called again."""
        self.pool.close()

    def get_images(self) -> list[Any]:
        """Return a frame of each environment, uint8 (height, width, 3); ``render()`` tiles them."""
        if self._attributes.are_python and self.pool.render_mode is None:
            return self.env_method("render")
        return list(self.pool.render(self.pool._ids))

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """Return an attribute of each environment; of Python environments, of the outermost wrapper that has it."""
        return self._attributes.get(attr_name, self._ids(indices))

    def has_attr(self, attr_name: str) -> bool:
        """Return whether all environments have an attribute."""
        return self._attributes.has(attr_name, self._ids(None))

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Set an attribute of each environment; see `envs`.

        Of a Python environment, it is set on the outermost wrapper that has it, else on the environment itself.
        """
        self._attributes.set(attr_name, value, self._ids(indices))

    def env_method(self, method_name: str, *method_args: Any, indices: Any = None, **method_kwargs: Any) -> list[Any]:
        """Call a method of each environment, such as ``reset``, and return the results."""
        if self._players and method_name in ("reset", "step"):
            raise ConfigError(
                f"env_method({method_name!r}) is not available for tasks with players, whose environments have several "
                f"rows: call {method_name}() of this object"
            )
        return self._attributes.call(method_name, self._ids(indices), method_args, method_kwargs)

    def env_is_wrapped(self, wrapper_class: type, indices: Any = None) -> list[bool]:
        """Return whether each environment is inside a wrapper of a class.

        Native environments have no wrappers. With ``episode_statistics=True``, the result is True for Monitor.
        """
        ids = self._ids(indices)
        if self._has_monitor and wrapper_class is Monitor:
            return [True for _ in ids]
        return self._attributes.are_wrapped(wrapper_class, ids)

    def _ids(self, indices: Any) -> list[int]:
        return [range(self.num_envs)[i] // self._places for i in self._get_indices(indices)]


class StepInfos:
    """Makes the infos of a step of a pool with ``autoreset_mode="same_step"`` from the values of the step."""

    __slots__ = ("ended", "final_info", "final_obs", "info", "terminated", "truncated")

    def __init__(self, terminated: Any, truncated: Any, info: Any, ended: Any, final_obs: Any, final_info: Any):
        self.terminated = terminated
        self.truncated = truncated
        self.info = info
        self.ended = ended
        self.final_obs = final_obs
        self.final_info = final_info

    def row(self, i: int) -> dict[str, Any]:
        """Return the info of environment i."""
        row = self.last(i) if self.ended[i] else row_info(self.info, i)
        row["TimeLimit.truncated"] = bool(self.truncated[i] and not self.terminated[i])
        return row

    def rows(self) -> list[dict[str, Any]]:
        """Return the infos of all environments."""
        rows = split_info(self.info, {"TimeLimit.truncated": (self.truncated & ~self.terminated).tolist()})
        for i in np.flatnonzero(self.ended).tolist():
            rows[i] = self.last(i) | {"TimeLimit.truncated": rows[i]["TimeLimit.truncated"]}
        return rows

    def last(self, i: int) -> dict[str, Any]:
        """Return the info of the last step of the ended episode of environment i."""
        row = last_info(self.info, self.final_info, i) | {"terminal_observation": take(self.final_obs, i)}
        return copied(row)  # type: ignore[no-any-return]


def copied(nest: Any) -> Any:
    """Return a nest with copies of its arrays."""
    if isinstance(nest, dict):
        return {k: copied(v) for k, v in nest.items()}
    if isinstance(nest, tuple):
        return tuple(map(copied, nest))
    return nest.copy() if isinstance(nest, np.ndarray) else nest
