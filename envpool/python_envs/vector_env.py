"""`PythonVectorEnv`: Python environments with gymnasium's vector API."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from gymnasium.vector.utils import batch_space

from envpool.config.render_options import RenderOptions
from envpool.gymnasium_api.vector_env import LISTS, EnvPoolVectorEnv, mode_of_pool
from envpool.python_envs.make import build
from envpool.tasks.players import refuse_players
from envpool.tasks.spec import EnvSpec


class PythonVectorEnv(EnvPoolVectorEnv):
    """A pool of Python environments with gymnasium's vector API; `EnvPoolVectorEnv` describes the results.

    Parameters
    ----------
    env : str, callable or sequence of callable
        An id of gymnasium, a function that returns an environment, or one function per environment.
    num_envs : int, optional
        Number of environments; by default the number of functions, or 1.
    render_mode : {"rgb_array", "rgb_array_list", "human"}, optional
        The mode of `render`: it returns frames, returns the frames of all steps since the last call, or shows a frame
        in a window. By default the render mode of the environments that the functions return: `render` then returns
        the results of ``render`` of each of them.
    seed : int or sequence of int, optional
        Seed of the environments, see ``envpool.make_python``. By default, as in gymnasium, ``reset()`` passes no seed
        to them.
    **options
        Options of ``envpool.make_python``.

    Raises
    ------
    ConfigError, TypeError, EnvCreateError
        See ``envpool.make_python``.
    """

    def __init__(
        self,
        env: str | Callable[..., Any] | Sequence[Callable[..., Any]],
        num_envs: int | None = None,
        *,
        render_mode: str | None = None,
        seed: Any = None,
        **options: Any,
    ):
        self._own_mode = render_mode is None
        build(self._open, env, num_envs, render_mode=mode_of_pool(render_mode), seed=seed, **options)
        if render_mode == LISTS:
            self._collect_frames()

    def _open(self, spec: EnvSpec, render: RenderOptions | None) -> None:
        refuse_players(spec, "a VectorEnv", "use envpool.make_python")
        super()._open(spec, render)
        source = spec.config.source
        self.single_action_space = spec.action_space  # its keys are those of the environment, whatever their names
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self._returns_objects = bool(source.observations.objects)
        self.metadata = self.pool.metadata | source.metadata | {"autoreset_mode": self.metadata["autoreset_mode"]}
        if self._own_mode:
            self.render_mode = source.render_mode

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Start new episodes; see `EnvPoolVectorEnv.reset`. Values that are not arrays are tuples."""
        obs, info = super().reset(seed=seed, options=options)
        return self._shown(obs), info

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Step all environments; see `EnvPoolVectorEnv.step`. Values that are not arrays are tuples."""
        obs, *rest = super().step(actions)
        return (self._shown(obs), *rest)

    def render(self) -> tuple[Any, ...] | None:
        """Render the environments; see the class and `EnvPoolVectorEnv.render`."""
        if self._own_mode and self.render_mode is not None:
            return self.call("render")
        return super().render()

    def call(self, name: str, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        """Call a method of each environment, or read an attribute that is not callable; one result each."""
        if name == "render" and self._frames is not None:
            return super().call(name, *args, **kwargs)
        results: tuple[Any, ...] = self.pool.call(name, *args, **kwargs)
        return results

    def get_attr(self, name: str) -> tuple[Any, ...]:
        """Return an attribute of the environments, one value each."""
        values: tuple[Any, ...] = self.pool.get_attr(name)
        return values

    def set_attr(self, name: str, values: Any) -> None:
        """Set an attribute of the environments; a list or tuple has one value for each of them."""
        self.pool.set_attr(name, values)

    def _cast(self, actions: Any, prefix: str = "") -> Any:
        return actions  # the pool casts structured actions

    def _shown(self, obs: Any) -> Any:
        """Return observations in ``observation_space``, where a batch of objects is a tuple."""
        return with_tuples(obs) if self._returns_objects else obs


def with_tuples(nest: Any) -> Any:
    """Return a nest of arrays whose object arrays are replaced by tuples."""
    if isinstance(nest, dict):
        return {k: with_tuples(v) for k, v in nest.items()}
    if isinstance(nest, tuple):
        return tuple(map(with_tuples, nest))
    return tuple(nest) if isinstance(nest, np.ndarray) and nest.dtype == object else nest
