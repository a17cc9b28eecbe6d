"""`VectorEnv`: a pool of native environments as a vector environment of Tianshou 2, sync or async."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from envpool.adapters.pools import open_pool
from envpool.adapters.sub_env import SubEnv, sub_envs
from envpool.adapters.tianshou.base import BaseVectorEnv, objects
from envpool.adapters.tianshou.workers import EnvWorker
from envpool.errors import NEXT_EPISODES, ActionError, EnvIdError, EnvStepError, EnvTimeoutError, advise
from envpool.pools.infos import split, split_info
from envpool.pools.recovery import EXPLAINED, drop_in_flight, explain


class PoolWorker(EnvWorker):
    """One environment of a pool as a worker. `VectorEnv` steps the whole pool without its workers.

    Parameters
    ----------
    env_fn : callable
        Returns the SubEnv, which becomes the attribute `env`.
    """

    def __init__(self, env_fn: Callable[[], SubEnv]):
        self.env = env_fn()
        super().__init__(env_fn)

    def get_env_attr(self, key: str) -> Any:
        """Return an attribute of the environment, see `SubEnv` and `PythonSubEnv`."""
        return getattr(self.env, key)

    def set_env_attr(self, key: str, value: Any) -> None:
        """Set an attribute of the environment, see `SubEnv` and `PythonSubEnv`."""
        setattr(self.env, key, value)

    def send(self, action: Any, **kwargs: Any) -> None:
        """Take a step, or reset the environment if the action is None; ``recv()`` returns the result."""
        self.result = self.env.reset(**kwargs) if action is None else self.env.step(action)

    def reset(self, **kwargs: Any) -> Any:
        """Start an episode."""
        return self.env.reset(**kwargs)

    def seed(self, seed: int | None = None) -> list[int | None]:
        """Reseed the environment and its action space; this resets the environment."""
        super().seed(seed)
        self.env.reset(seed=seed)
        return [seed]

    def render(self, **kwargs: Any) -> Any:
        """Return a frame of the environment."""
        return self.env.render(**kwargs)

    def close_env(self) -> None:
        """Do nothing, since the pool is closed as a whole."""


class VectorEnv(BaseVectorEnv):
    """A pool as a ``BaseVectorEnv``: ``Collector(policy, VectorEnv("CartPole-v1", num_envs=8))``.

    Tianshou's ``Collector`` also accepts a pool of ``envpool.make_gymnasium`` directly, which is faster. This class
    adds ``AsyncCollector``, infos as dicts, ``seed``, and attributes of each environment.

    Parameters
    ----------
    pool : str or GymnasiumEnvPool
        Task id, or a pool made by ``envpool.make_gymnasium``. ``close()`` closes the pool.
    wait_num : int, optional
        Number of environments that must have finished before ``step`` returns. By default all environments.
    timeout : float, optional
        Time in seconds after which ``step`` returns the results that are ready by then, at least one. By default
        ``step`` waits for `wait_num` environments.
    **options
        Options of ``envpool.make``, allowed with a task id only.

    Attributes
    ----------
    pool : GymnasiumEnvPool
        The pool that steps the environments. Do not call its methods while this object is in use.
    is_async : bool
        True if there is a `timeout`, or a `wait_num` less than the number of environments.
    waiting_id, ready_id : list of int
        Environments that are in flight, and environments that are not.

    Raises
    ------
    TypeError, ConfigError
        See `envpool.adapters.pools.open_pool`.
    AssertionError
        `wait_num` or `timeout` is out of range, or a method is called after ``close()``.

    Notes
    -----
    Arrays have a row for each environment that a call concerns. Dict observations are returned as an object array of
    dicts; so are infos. Environments whose episode has ended are not reset; the caller resets them.
    """

    waiting_id: list[int]
    ready_id: list[int]

    def __init__(self, pool: Any, wait_num: int | None = None, timeout: float | None = None, **options: Any):
        self.pool = open_pool(pool, options)
        super().__init__([partial(one, env) for env in sub_envs(self.pool)], PoolWorker, wait_num, timeout)

    def reset(self, env_id: Any = None, **kwargs: Any) -> tuple[Any, Any]:
        """Start episodes in some environments while others stay in flight.

        Parameters
        ----------
        env_id : int or array_like of int, optional
            Environments to reset; none of them may be in flight. By default all environments; then results in flight
            are dropped.
        **kwargs
            ``seed``: one int for all of these environments, as in Tianshou, or a sequence with one seed for each.
            ``options``: see ``EnvPool.reset``.

        Returns
        -------
        obs, infos
            The rows of these environments, in the order of `env_id`.
        """
        self._assert_is_not_closed()
        ids = self._wrap_id(env_id)
        if isinstance(kwargs.get("seed"), (int, np.integer)):
            kwargs["seed"] = [kwargs["seed"]] * len(ids)
        if env_id is None or not self.is_async:
            drop_in_flight(self.pool)  # in a sync VectorEnv, left by an interrupted call
        try:
            obs, info = self.pool.reset(ids, **kwargs)
        except EXPLAINED as error:
            self._explain(error, ids)
            raise
        if self.is_async:
            self.waiting_id = [] if env_id is None else [i for i in self.waiting_id if i not in ids]
            self.ready_id = [i for i in range(self.env_num) if i not in self.waiting_id]
        return as_array(obs, len(ids)), objects(split_info(info))

    def step(self, action: Any, id: Any = None) -> tuple[Any, Any, Any, Any, Any]:
        """Step some environments, and return environments that have finished.

        Parameters
        ----------
        action : array_like or None
            One row for each environment of `id`. None, which only an async VectorEnv accepts, sends nothing and fetches
            results of the environments of `id`; without `id`, the results that a call with actions would return.
        id : int or array_like of int, optional
            Environments to step. By default all environments.

        Returns
        -------
        obs, rew, terminated, truncated, infos
            Sync: the rows of `id`, in that order. Async: the rows of at least `wait_num` environments, or of fewer
            after the timeout. Each of the infos has an entry ``env_id``.

        Raises
        ------
        ActionError
            The action is None in sync mode.
        EnvIdError
            Environments to step are in flight, or their ids are out of range or repeated.
        PoolStateError
            Nothing is in flight, so there is nothing to wait for; or, in sync mode, an earlier call was interrupted:
            ``reset()`` brings the environments back.
        """
        self._assert_is_not_closed()
        if not self.is_async:
            if action is None:
                raise ActionError(
                    "action must be an array for a sync VectorEnv, got None: make it with wait_num or timeout"
                )
            try:
                return self._rows(self.pool.step(action, self._wrap_id(id)))
            except EXPLAINED as error:
                self._explain(error)
                raise
        sent = self._wrap_id(id) if action is not None else []
        try:
            if action is not None:
                self._send(sent, action)
            elif id is not None:
                return self._rows(self.pool.recv(env_id=self._wrap_id(id)))
            while True:
                need = min(self.wait_num, max(len(self.waiting_id), 1))
                result = self.pool.recv(min_ready=need, timeout=self.timeout)
                if len(result[-1]["env_id"]):
                    return self._rows(result)
        except EXPLAINED as error:
            self._explain(error, sent)
            raise

    def _send(self, ids: list[int], action: Any) -> None:
        """Start a step of environments."""
        outstanding = self.pool.num_outstanding
        if not outstanding:
            self.pool.recv(min_ready=0)  # no environment waits for another one that is sent with it
        try:
            self.pool.send(action, ids)
        finally:  # also if the call was interrupted after it had sent the actions
            if self.pool.num_outstanding > outstanding:
                self.waiting_id.extend(ids)
                self.ready_id = [i for i in self.ready_id if i not in ids]

    def _explain(self, error: Exception, sent: Sequence[int] = ()) -> None:
        """Let the text of an error name methods of this class, and drop the batch of a failed step in sync mode.

        `sent` are the environments that the call has stepped or reset.
        """
        if not self.is_async:
            explain(self.pool, error)
        elif isinstance(error, EnvStepError):
            way_out = NEXT_EPISODES[self.pool.config["autoreset_mode"]]
            advise(error, f"step(None) still returns the results; {way_out}")
        elif isinstance(error, EnvTimeoutError):
            advise(error, "step(None) waits for them again, and close() does not wait for them")
        elif busy := [i for i in self.waiting_id if i in sent]:
            raise EnvIdError(
                f"environments {busy} are in flight: fetch them with step(None), or drop them with reset()"
            ) from error

    def close(self) -> None:
        """Close the pool; a second call raises AssertionError."""
        super().close()
        self.pool.close()

    def _rows(self, result: Any) -> tuple[Any, Any, Any, Any, Any]:
        """Return the result of step(), and record that its environments are no longer in flight."""
        obs, reward, terminated, truncated, info = result
        ids = info["env_id"].tolist()
        if self.is_async:
            self.waiting_id = [i for i in self.waiting_id if i not in ids]
            self.ready_id.extend(ids)
        infos = objects(split_info(info, {"env_id": ids}))
        return as_array(obs, len(ids)), reward, terminated, truncated, infos


def as_array(obs: Any, count: int) -> Any:
    """Return observations as one array: an object array of dicts if they are nested."""
    return objects(split(obs, count)) if isinstance(obs, dict) else obs


def one(env: SubEnv) -> SubEnv:
    """Return the argument."""
    return env
