"""A single ``gymnasium.Env``, which ``gymnasium.make("envpool/<task>")`` makes: a pool of one environment."""

from __future__ import annotations

from typing import Any, cast

import gymnasium
import numpy as np

from envpool._core.casts import as_action
from envpool._support.window import can_show
from envpool.config.render_options import RENDER_MODES
from envpool.errors import ActionError, ConfigError, EnvIdError
from envpool.gymnasium_api.spec import WithTaskSpec
from envpool.gymnasium_api.time_limits import NAME, NO_LIMIT, with_asked_limit
from envpool.gymnasium_api.vector_env import UNKNOWN_SEED, without_env_ids
from envpool.pools.attributes import ParamAttributes, take_goal_methods
from envpool.pools.classes import open_pool
from envpool.pools.infos import split_info
from envpool.pools.recovery import EXPLAINED, check_shape, explain, start_over
from envpool.tasks.players import refuse_players
from envpool.tasks.resolve import resolve

#: Options that a single environment does not have.
REFUSED = ("num_envs", "batch_size", "env_seed", "autoreset_mode", "on_error", "finished_episodes")
#: The text of an EnvIdError of a single environment that cannot be stepped any more.
ENDED = "the episode has ended: call reset()"


class EnvPoolEnv(ParamAttributes, WithTaskSpec, gymnasium.Env[Any, Any]):
    """One environment with gymnasium's API.

    Parameters
    ----------
    task_id : str
        Id of the task, one of ``envpool.list_all_envs()``.
    render_mode : {"rgb_array", "human"}, optional
        Whether `render` returns frames or shows them in a window. By default, `render` raises PoolStateError.
    seed : int, optional
        Seed of the environment until ``reset(seed=...)`` sets another one. By default, as in gymnasium, a random
        seed is drawn.
    **options
        Options of ``envpool.make``, except those that concern several environments.

    Attributes
    ----------
    metadata : dict
        ``render_modes``, without "human" if no window can be opened, and ``render_fps``.
    pool : GymnasiumEnvPool
        The pool. Do not call its methods while this object is in use.

    Raises
    ------
    UnknownTaskError, ConfigError, TypeError
        See ``envpool.make``.

    Notes
    -----
    Goal environments also have the methods ``compute_reward``, ``compute_terminated`` and ``compute_truncated`` of the
    pool, as upstream's have.

    The parameters of the task are attributes as well: ``env.unwrapped.gravity = 3.0`` calls ``set_params``.

    As in gymnasium, an environment may be stepped after the end of its episode if upstream's environment may: the
    episode continues, and a warning says so if it had terminated. In other tasks, `step` raises an EnvIdError until the
    next `reset`, unless only the time limit has ended the episode.
    """

    metadata: dict[str, Any] = {"render_modes": list(RENDER_MODES)}  # noqa: RUF012 (gymnasium reads it from the class)

    def __init__(self, task_id: str, *, render_mode: Any = None, seed: int | None = None, **options: Any):
        for name in REFUSED:
            if name in options:
                raise ConfigError(
                    f"{name} is an option of several environments, but gymnasium.make returns a single one: leave it "
                    f"out, or use gymnasium.make_vec or envpool.make_gymnasium"
                )
        given = {"num_envs": 1, "autoreset_mode": "disabled", "render_mode": render_mode, "seed": seed} | options
        given = with_asked_limit(given, depth=1)
        if NAME not in options and given.get(NAME) == NO_LIMIT:  # max_episode_steps=-1, which no spec can say
            self._more_kwargs = {NAME: NO_LIMIT}
        spec, render = resolve(task_id, "gymnasium", given)
        refuse_players(spec, "gymnasium.make", "use envpool.make_gymnasium")
        self.pool = cast(Any, open_pool(spec, render))
        self.observation_space = self.pool.single_observation_space
        self.action_space = without_env_ids(self.pool.single_action_space)
        self.render_mode = render_mode
        modes = [mode for mode in self.pool.metadata["render_modes"] if mode != "human" or can_show()]
        self.metadata = {"render_modes": modes, "render_fps": self.pool.metadata["render_fps"]}
        self._action_dtypes = {name: array.dtype for name, array in self.pool.spec.action_array_spec.items()}
        self._seed = UNKNOWN_SEED if seed is None else int(self.pool.spec.seeds()[0])
        self._last: Any = None  # of the last step: whether the episode terminated, and the elapsed steps
        self._was_reset = self._is_past_end = False
        take_goal_methods(self, self.pool)

    @property
    def np_random_seed(self) -> int:
        """The last seed of the environment; -1 if it was made and reset without a seed."""
        return self._seed

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Start an episode; return its first observation and its info.

        Parameters
        ----------
        seed : int, optional
            Reseeds the environment. By default its generator continues.
        options : dict, optional
            The options of resets that the task has; they hold for this reset only.
        """
        super().reset(seed=seed)
        obs, info = start_over(self.pool, seed=None if seed is None else [seed], options=options)
        if seed is not None:
            self._seed = int(seed)
        self._last, self._was_reset, self._is_past_end = None, True, False
        return only_row(obs, self.observation_space), split_info(info)[0]

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Take one step; return (obs, reward, terminated, truncated, info).

        Raises
        ------
        ActionError
            The action is not allowed.
        EnvIdError
            The environment was never reset, or its episode has ended and the task does not continue after the end.
        EnvStepError
            The environment failed; its episode has ended.
        PoolStateError
            An earlier call was interrupted: `reset` starts a new episode.
        """
        batch = self._batch(action) if isinstance(action, dict) else [action]
        try:
            obs, reward, terminated, truncated, info = self.pool.step(batch)
        except ActionError:
            check_shape("action", action, self.action_space)
            raise
        except EXPLAINED as error:
            explain(self.pool, error, ended=ENDED if self._was_reset else "step() needs a reset() first")
            if not isinstance(error, EnvIdError) or not self._may_continue():
                raise
            check_shape("action", action, self.action_space)
            self.pool._continue([0])
            obs, reward, terminated, truncated, info = self.pool.step(batch)
        obs, row_info = only_row(obs, self.observation_space), split_info(info)[0]
        is_over = bool(terminated[0])
        self._last = is_over, row_info["elapsed_step"]
        earned = float(reward[0])
        if self._is_past_end and is_over:
            spec = self.pool.spec
            past_end = spec.definition.reward_past_end(spec.config)
            earned = earned if past_end is None else past_end
            row_info.update(spec.definition.info_past_end(spec.config))
        return obs, earned, is_over, bool(truncated[0]), row_info

    def _may_continue(self) -> bool:
        """Return whether the episode, which has ended, may be continued; warn if it had terminated."""
        if self._last is None:
            return False
        has_terminated, elapsed = self._last
        spec = self.pool.spec
        if not spec.definition.continues_after_end and (has_terminated or elapsed < spec.config.max_episode_steps):
            return False
        if has_terminated and not self._is_past_end:
            self._is_past_end = True
            gymnasium.logger.warn(
                "step() was called although the episode has terminated: call reset() after terminated=True; the "
                "results of further steps are undefined"
            )
        return True

    def render(self) -> Any:
        """Return a frame, uint8 (height, width, 3); with render mode "human", show it in a window and return None."""
        frames = self.pool.render()
        return None if frames is None else frames[0]

    def close(self) -> None:
        """Close the pool; the method may be called again."""
        self.pool.close()

    def _batch(self, action: dict[str, Any], prefix: str = "") -> dict[str, Any]:
        """Return a nested action with an axis of one row in front, in the dtypes of the task."""
        return {
            k: self._batch(v, f"{prefix}{k}.")
            if isinstance(v, dict)
            else np.expand_dims(as_action(prefix + k, v, self._action_dtypes[prefix + k]), 0)
            for k, v in action.items()
        }


def only_row(nest: Any, space: gymnasium.Space[Any]) -> Any:
    """Return the observation of the only environment of a batch in the form that gymnasium expects for a space."""
    if isinstance(space, gymnasium.spaces.Dict):
        return {name: only_row(nest[name], part) for name, part in space.items()}
    row = nest[0]
    if isinstance(space, gymnasium.spaces.Text):
        return str(row)
    return np.int64(row) if isinstance(space, gymnasium.spaces.Discrete) else np.asarray(row)
