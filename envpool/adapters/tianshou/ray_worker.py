"""`RayEnvWorker`: an environment that is an actor of Ray."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from envpool.adapters.tianshou.workers import EnvWorker, attribute, render_env, seed_env, set_attribute


def import_ray() -> Any:
    """Return the module ray, or raise an ImportError that says how to install it."""
    try:
        import ray
    except ImportError as error:
        raise ImportError(f"RayVectorEnv and RayEnvWorker need Ray ({error}): pip install ray") from error
    return ray


def start_ray() -> None:
    """Start Ray unless it is running."""
    ray = import_ray()
    if not ray.is_initialized():
        ray.init()


class RemoteEnv:
    """The actor: one environment.

    Parameters
    ----------
    env_fn : callable
        Returns the environment.
    """

    def __init__(self, env_fn: Callable[[], Any]):
        self.env = env_fn()

    def run(self, action: Any, kwargs: dict[str, Any]) -> Any:
        """Take a step, or start an episode if the action is None."""
        return self.env.reset(**kwargs) if action is None else self.env.step(action)

    def visit(self, function: Callable[..., Any], *args: Any) -> Any:
        """Return ``function(env, *args)``."""
        return function(self.env, *args)

    def close(self) -> None:
        """Close the environment."""
        self.env.close()


class RayEnvWorker(EnvWorker):
    """A worker whose environment is an actor of Ray.

    Parameters
    ----------
    env_fn : callable
        Returns the environment.
    """

    def __init__(self, env_fn: Callable[[], Any]):
        self.ray = import_ray()
        self.env = self.ray.remote(RemoteEnv).options(num_cpus=0).remote(env_fn)
        super().__init__(env_fn)

    def _visit(self, function: Callable[..., Any], *args: Any) -> Any:
        return self.ray.get(self.env.visit.remote(function, *args))

    def get_env_attr(self, key: str) -> Any:
        """Return an attribute of the environment, of the outermost wrapper that has it; None if none has."""
        return self._visit(attribute, key)

    def set_env_attr(self, key: str, value: Any) -> None:
        """Set an attribute of the environment without its wrappers."""
        self._visit(set_attribute, key, value)

    def send(self, action: Any, **kwargs: Any) -> None:
        """Start a step, or ``reset(**kwargs)`` if the action is None; `recv` returns the result."""
        self.result = self.env.run.remote(action, kwargs)

    def recv(self) -> Any:
        """Wait for the result of `send` and return it."""
        return self.ray.get(self.result)

    def reset(self, **kwargs: Any) -> Any:
        """Start an episode; a seed also seeds the action space."""
        if "seed" in kwargs:
            super().seed(kwargs["seed"])
        self.send(None, **kwargs)
        return self.recv()

    @staticmethod
    def wait(workers: list[Any], wait_num: int, timeout: float | None = None) -> list[Any]:
        """Return the workers that are ready: at least `wait_num`, or fewer after `timeout` seconds."""
        results = [worker.result for worker in workers]
        ready, _ = workers[0].ray.wait(results, num_returns=min(wait_num, len(results)), timeout=timeout)
        return [workers[results.index(result)] for result in ready]

    def seed(self, seed: int | None = None) -> Any:
        """Seed the environment, by its method ``seed`` or else by a reset, and its action space."""
        super().seed(seed)
        return self._visit(seed_env, seed)

    def render(self, **kwargs: Any) -> Any:
        """Return what ``render(**kwargs)`` of the environment returns."""
        return self._visit(render_env, kwargs)

    def close_env(self) -> None:
        """Close the environment and end the actor."""
        self.ray.get(self.env.close.remote())
        self.ray.kill(self.env)
