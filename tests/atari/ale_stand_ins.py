"""ale_py's AtariVectorEnv on pools: a plug-in of pytest, which the tests of ale_py then run on.

Options, rewards, frames and infos are translated into those of ale_py. Of the reference that these tests compare with,
only the first frames of an episode are changed: a pool, like gymnasium's wrapper by default, fills the stack with the
first frame, and AtariVectorEnv fills it with zeros.
"""

from __future__ import annotations

from typing import Any

import ale_py
import gymnasium
import numpy as np
from gymnasium.spaces import Box
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

import envpool
from envpool.gymnasium_api.vector_env import EnvPoolVectorEnv

#: Options with another name.
NAMES = {"grayscale": "gray_scale", "frameskip": "frame_skip", "reward_clipping": "reward_clip"}
#: Options whose values in the tests are what a pool does anyway: the maximum of two screens is taken if frames are
#: skipped, and no test reaches a time limit.
SAME = ("maxpool", "max_num_frames_per_episode")
#: The defaults of AtariVectorEnv that a pool does not have.
DEFAULTS = {"reward_clipping": True}


class Forms:
    """The results of a pool in ale_py's forms."""

    def __init__(self, game: str, options: dict[str, Any]):
        assert game == "breakout"
        self.task_id = "Breakout-v5"
        options = DEFAULTS | options
        self.options = {NAMES.get(name, name): value for name, value in options.items() if name not in SAME}
        config = envpool.make_spec(self.task_id, **self.options).config
        self.frame_skip, self.stack_num, self.is_gray = config.frame_skip, config.stack_num, config.gray_scale
        shape = (self.stack_num, config.img_height, config.img_width) + (() if self.is_gray else (3,))
        self.space = Box(0, 255, shape, np.uint8)

    def obs(self, obs: Any) -> Any:
        """Return images with the colours on the last axis."""
        if self.is_gray:
            return obs
        return np.moveaxis(obs.reshape(*obs.shape[:-3], self.stack_num, 3, *obs.shape[-2:]), -3, -1)

    def info(self, info: dict[str, Any], env_ids: Any, elapsed: Any) -> dict[str, Any]:
        """Return ids, lives and counts of frames, and the last observations of episodes that ended."""
        out = {"env_id": env_ids, "lives": info["lives"], "episode_frame_number": elapsed * self.frame_skip}
        if "final_obs" in info:
            out["final_obs"] = [None if obs is None else self.obs(obs) for obs in info["final_obs"]]
        return out


class SyncAtari(EnvPoolVectorEnv):
    """AtariVectorEnv with the batch size num_envs: the VectorEnv of this package."""

    def __init__(self, forms: Forms, num_envs: int):
        super().__init__(forms.task_id, num_envs, **forms.options)
        self._forms = forms
        self._lives = self._elapsed = np.zeros(num_envs, np.int32)
        self._has_ended = np.zeros(num_envs, np.bool_)
        self.single_observation_space = forms.space
        self.observation_space = batch_space(forms.space, num_envs)

    def reset(self, *, seed: Any = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        obs, info = super().reset(seed=seed, options=options)
        mask = np.ones(self.num_envs, np.bool_) if options is None else options["reset_mask"]
        self._elapsed = np.where(mask, 0, self._elapsed)
        self._lives = np.where(mask, info["lives"], self._lives)
        self._has_ended = self._has_ended & ~mask
        return self._forms.obs(obs), self._info(info)

    def step(self, actions: Any) -> tuple[Any, ...]:
        obs, reward, terminated, truncated, info = super().step(actions)
        ended = terminated | truncated
        is_same_step = self.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
        self._elapsed = np.where(ended if is_same_step else self._has_ended, 0, self._elapsed + 1)
        self._lives, self._has_ended = info["lives"], ended
        return self._forms.obs(obs), reward.astype(np.int32), terminated, truncated, self._info(info)

    def _info(self, info: dict[str, Any]) -> dict[str, Any]:
        return self._forms.info(info | {"lives": self._lives}, np.arange(self.num_envs), self._elapsed)


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
        return self._forms.obs(obs), reward.astype(np.int32), terminated, truncated, self._info(info)

    def _info(self, info: dict[str, Any]) -> dict[str, Any]:
        self._ids = info["env_id"]
        return self._forms.info(info, self._ids.copy(), info["elapsed_step"])

    def close_extras(self, **kwargs: Any) -> None:
        self._pool.close()


def make(game: str, num_envs: int, batch_size: int = 0, **options: Any) -> SyncAtari | AsyncAtari:
    """Make the environments that AtariVectorEnv would make."""
    forms = Forms(game, options)
    return AsyncAtari(forms, num_envs, batch_size) if batch_size else SyncAtari(forms, num_envs)


class FrameStackObservation(gymnasium.wrappers.FrameStackObservation):  # type: ignore[type-arg]
    """The wrapper of the reference, which fills the stack with the first frame."""

    def __init__(self, env: Any, stack_size: int, *, padding_type: str):
        super().__init__(env, stack_size)


def pytest_configure(config: Any) -> None:
    """Put the classes in the place of those of the libraries."""
    gymnasium.register_envs(ale_py)
    gymnasium.registry["ALE/Breakout-v5"].vector_entry_point = make
    gymnasium.wrappers.FrameStackObservation = FrameStackObservation  # type: ignore[misc]
    info_of = ale_py.AtariEnv._get_info

    def info_without_the_console(self: Any) -> dict[str, Any]:
        info = info_of(self)
        del info["frame_number"]  # counts across episodes, which a pool does not
        return info

    ale_py.AtariEnv._get_info = info_without_the_console
