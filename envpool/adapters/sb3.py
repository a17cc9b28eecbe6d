"""A pool as a ``VecEnv`` of Stable-Baselines3."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from envpool.adapters import needs
from envpool.adapters.lazy import LazyRows
from envpool.adapters.pools import columns_of, open_pool, pop_final, row_info, split, split_info, take
from envpool.adapters.sub_env import check_no_options, sub_envs

with needs("sb3"):
    from stable_baselines3.common import vec_env


class VecEnv(vec_env.VecEnv):
    """A pool as a ``VecEnv``: ``PPO("MlpPolicy", VecMonitor(VecEnv("CartPole-v1", num_envs=8)))``.

    Parameters
    ----------
    pool : str or GymnasiumEnvPool
        Task id, or a pool made by ``envpool.make_gymnasium``. ``close()`` closes the pool.
    **options
        Options of ``envpool.make``, allowed with a task id only.

    Attributes
    ----------
    pool : GymnasiumEnvPool
        The pool that steps the environments. Do not call its methods while this object is in use.
    envs : list of SubEnv
        Objects that ``get_attr``, ``set_attr`` and ``env_method`` use. Attributes that are set stay in these objects;
        the native environments do not see them.

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
    """

    def __init__(self, pool: Any, **options: Any):
        self.pool = open_pool(pool, options, knows_same_step=True)
        self.envs = sub_envs(self.pool)
        self._is_same_step = self.pool.config["autoreset_mode"] == "same_step"
        self._first_info: Any = None  # arrays from which reset_infos is made
        self._reset_infos: Any = None  # None if these arrays have changed
        super().__init__(self.pool.num_envs, self.pool.single_observation_space, self.pool.single_action_space)

    def reset(self) -> Any:
        """Start new episodes in all environments with the seeds set by ``seed()``; results in flight are dropped."""
        obs, info = self.pool.reset(seed=self._seeds)
        self._reset_seeds()
        if self._is_same_step:
            pop_final(info)
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
        return super().seed(np.random.randint(2**31 - self.num_envs) if seed is None else seed)

    def set_options(self, options: list[dict[str, Any]] | dict[str, Any] | None = None) -> None:
        """Raise ConfigError if there are options for a reset; the environments have none."""
        super().set_options(options)
        for env_options in self._options:
            check_no_options(env_options)

    def step_async(self, actions: Any) -> None:
        """Start a step of all environments; actions has one row per environment."""
        self.pool.send(actions)

    def step_wait(self) -> tuple[Any, Any, Any, list[dict[str, Any]]]:
        """Wait for the step that was started; return (obs, reward, done, infos), see the class."""
        obs, reward, terminated, truncated, info = self.pool.recv()
        if self._is_same_step:
            final_obs, final_info, ended = pop_final(info)
            if len(final_info) > 1 and ended.any():  # with elapsed_step alone, all first infos are equal
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
            obs_first, info_first = self.pool.reset(ended)
            put(obs, ended, obs_first)
            for i, row, first in zip(ended.tolist(), last, split_info(info_first), strict=True):
                infos[i]["terminal_observation"] = row
                self.reset_infos[i] = first
        return obs, reward, done, infos

    def close(self) -> None:
        """Close the pool; the method may be called again."""
        self.pool.close()

    def get_images(self) -> list[Any]:
        """Return a frame of each environment, uint8 (height, width, 3); ``render()`` tiles them."""
        return list(self.pool.render(self.pool.all_env_ids))

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """Return an attribute of each environment."""
        return [getattr(env, attr_name) for env in self._chosen(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Set an attribute of each environment's SubEnv; see the class."""
        for env in self._chosen(indices):
            setattr(env, attr_name, value)

    def env_method(self, method_name: str, *method_args: Any, indices: Any = None, **method_kwargs: Any) -> list[Any]:
        """Call a method of each environment, such as ``reset``, and return the results."""
        return [getattr(env, method_name)(*method_args, **method_kwargs) for env in self._chosen(indices)]

    def env_is_wrapped(self, wrapper_class: type, indices: Any = None) -> list[bool]:
        """Return False for each environment, since the environments of a pool have no wrappers."""
        return [False for _ in self._chosen(indices)]

    def _chosen(self, indices: Any) -> Sequence[Any]:
        return [self.envs[i] for i in self._get_indices(indices)]


class StepInfos:
    """Makes the infos of a step of a pool with ``autoreset_mode="same_step"``; the arguments are those of the step."""

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
        row = row_info(self.info, i) | {"TimeLimit.truncated": bool(self.truncated[i] and not self.terminated[i])}
        return row | self.last(i) if self.ended[i] else row

    def rows(self) -> list[dict[str, Any]]:
        """Return the infos of all environments."""
        rows = split_info(self.info, {"TimeLimit.truncated": (self.truncated & ~self.terminated).tolist()})
        for i in np.flatnonzero(self.ended).tolist():
            rows[i] |= self.last(i)
        return rows

    def last(self, i: int) -> dict[str, Any]:
        """Return the entries that belong to the last step of the ended episode of environment i."""
        return copied({**take(self.final_info, i), "terminal_observation": take(self.final_obs, i)})  # type: ignore


def copied(nest: Any) -> Any:
    """Return copies of an array, or of the arrays of a nest."""
    return {k: copied(v) for k, v in nest.items()} if isinstance(nest, dict) else nest.copy()


def put(nest: Any, rows: Any, values: Any) -> None:
    """Assign ``array[rows] = values`` for an array, or for each array of a nest."""
    if isinstance(nest, dict):
        for k, v in nest.items():
            put(v, rows, values[k])
    else:
        nest[rows] = values
