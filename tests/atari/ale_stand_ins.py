"""ale_py's AtariVectorEnv on pools: a plug-in of pytest, which the tests of ale_py then run on.

Options, rewards, frames and infos are translated into those of ale_py.
"""

from __future__ import annotations

from typing import Any

import ale_py
import gymnasium
import numpy as np
from gymnasium.spaces import Box
from gymnasium.vector import VectorEnv
from gymnasium.vector.utils import batch_space

import envpool
from envpool.gymnasium_api.vector_env import EnvPoolVectorEnv

#: Options with another name.
NAMES = {"grayscale": "gray_scale", "frameskip": "frame_skip", "reward_clipping": "reward_clip"}
#: No test reaches a time limit.
WITHOUT = ("max_num_frames_per_episode",)
#: The defaults of AtariVectorEnv that a pool does not have, and what it does anyway.
DEFAULTS = {"reward_clipping": True, "padding_type": "zero", "frame_number_info": True}
#: Infos.
KEYS = ("lives", "frame_number", "episode_frame_number")


class Forms:
    """The results of a pool in ale_py's forms."""

    def __init__(self, game: str, options: dict[str, Any]):
        assert game == "breakout"
        self.task_id = "Breakout-v5"
        options = DEFAULTS | options
        self.options = {NAMES.get(name, name): value for name, value in options.items() if name not in WITHOUT}
        config = envpool.make_spec(self.task_id, **self.options).config
        self.stack_num, self.is_gray = config.stack_num, config.gray_scale
        shape = (self.stack_num, config.img_height, config.img_width) + (() if self.is_gray else (3,))
        self.space = Box(0, 255, shape, np.uint8)

    def obs(self, obs: Any) -> Any:
        """Return images with the colours on the last axis."""
        if self.is_gray:
            return obs
        return np.moveaxis(obs.reshape(*obs.shape[:-3], self.stack_num, 3, *obs.shape[-2:]), -3, -1)

    def info(self, info: dict[str, Any], env_ids: Any) -> dict[str, Any]:
        """Return ids, lives and numbers of frames, and the last observations of episodes that ended."""
        out = {"env_id": env_ids, **{key: info[key] for key in KEYS}}
        if "final_obs" in info:
            out["final_obs"] = [None if obs is None else self.obs(obs) for obs in info["final_obs"]]
        return out

    def terminated(self, terminated: Any, info: dict[str, Any]) -> Any:
        """Return what ale_py calls terminated: also a lost life after which the episode continues."""
        return terminated | info["life_loss"] if "life_loss" in info else terminated


class SyncAtari(EnvPoolVectorEnv):
    """AtariVectorEnv with the batch size num_envs: the VectorEnv of this package."""

    def __init__(self, forms: Forms, num_envs: int):
        super().__init__(forms.task_id, num_envs, **forms.options)
        self._forms = forms
        self._last: dict[str, Any] = {key: np.zeros(num_envs, np.int32) for key in KEYS}
        self.single_observation_space = forms.space
        self.observation_space = batch_space(forms.space, num_envs)

    def reset(self, *, seed: Any = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        obs, info = super().reset(seed=seed, options=options)
        mask = np.ones(self.num_envs, np.bool_) if options is None else options["reset_mask"]
        info |= {key: np.where(mask, info[key], self._last[key]) for key in KEYS}
        return self._forms.obs(obs), self._info(info)

    def step(self, actions: Any) -> tuple[Any, ...]:
        obs, reward, terminated, truncated, info = super().step(actions)
        terminated = self._forms.terminated(terminated, info)
        return self._forms.obs(obs), reward.astype(np.int32), terminated, truncated, self._info(info)

    def _info(self, info: dict[str, Any]) -> dict[str, Any]:
        self._last = {key: info[key] for key in KEYS}
        return self._forms.info(info, np.arange(self.num_envs))


class AsyncAtari(VectorEnv[Any, Any, Any]):
    """AtariVectorEnv with smaller batches: an async pool, whose actions go to the environments of the last batch."""

    def __init__(self, forms: Forms, num_envs: int, batch_size: int):
        self._forms = forms
        self._pool = envpool.make_gymnasium(forms.task_id, num_envs=num_envs, batch_size=batch_size, **forms.options)
        self.num_envs = num_envs
        self.single_observation_space = forms.space
        self.observation_space = batch_space(forms.space, batch_size)
        self.single_action_space = self._pool.single_action_space
        self.action_space = batch_space(self.single_action_space, batch_size)

    def reset(self, *, seed: Any = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        obs, info = self._pool.reset(seed=seed, options=options)
        return self._forms.obs(obs), self._info(info)

    def step(self, actions: Any) -> tuple[Any, ...]:
        obs, reward, terminated, truncated, info = self._pool.step(actions, self._ids)
        terminated = self._forms.terminated(terminated, info)
        return self._forms.obs(obs), reward.astype(np.int32), terminated, truncated, self._info(info)

    def _info(self, info: dict[str, Any]) -> dict[str, Any]:
        self._ids = info["env_id"]
        return self._forms.info(info, self._ids.copy())

    def close_extras(self, **kwargs: Any) -> None:
        self._pool.close()


def make(game: str, num_envs: int, batch_size: int = 0, **options: Any) -> SyncAtari | AsyncAtari:
    """Make the environments that AtariVectorEnv would make."""
    forms = Forms(game, options)
    return AsyncAtari(forms, num_envs, batch_size) if batch_size else SyncAtari(forms, num_envs)


def pytest_configure(config: Any) -> None:
    """Put the classes in the place of those of the libraries."""
    gymnasium.register_envs(ale_py)
    gymnasium.registry["ALE/Breakout-v5"].vector_entry_point = make
