"""`RayPool`: the environments of many processes or machines, with the API of one pool."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from envpool._support.text import shown
from envpool.adapters import needs
from envpool.adapters.ray.rows import counts_of, take
from envpool.config.checks import check_seed, check_seeds, check_timeout, is_sequence
from envpool.errors import ActionError, ConfigError, PoolClosedError, PoolStateError
from envpool.python_envs.source import check_count

with needs("ray"):
    import ray

    from envpool.adapters.ray.batches import Inbox
    from envpool.adapters.ray.fleet import Fleet
    from envpool.adapters.ray.placement import Placement
    from envpool.adapters.ray.rollouts import ActorRollout, Collector

#: Options of ``make`` that a pool of pools does not have.
REFUSED = ("finished_episodes", "render_mode", "numa", "thread_affinity_offset")


class RayPool:
    """A pool whose environments are divided among actors of Ray, each of which has its own pool.

    Ray is started if it is not running. If ``batch_size == num_envs``, the pool is sync: a batch has the rows of all
    environments that were sent, in their order. If `batch_size` is less, the pool is async: a batch has the rows of one
    actor, of whichever is ready first, and shows them without a copy, in memory that is shared with the actor or in
    Ray's object store.

    Parameters
    ----------
    task : str, callable or sequence of callable
        A task id of ``envpool.make``; or a function that returns a Python environment, or one function per environment,
        see ``envpool.make_python``.
    num_envs : int, optional
        Number of environments; by default the number of functions.
    num_actors : int, optional
        Number of actors; by default the number of nodes of the cluster, at most num_envs.
    batch_size : int, optional
        Rows of a batch: num_envs, which is the default, or at most the environments of one actor.
    num_threads : int, optional
        Threads of the pool of each actor; by default the CPUs of the cluster divided by the number of actors.
    num_cpus : float, optional
        CPUs that Ray reserves for each actor; by default `num_threads`.
    placement : {"node", "numa", "any"}
        "node": the actors are assigned to the nodes of the cluster in turn. "numa": in addition, the actors of a node
        are bound to its NUMA nodes in turn. "any": Ray decides. Default "node".
    policy : callable, optional
        Acts next to the environments, in `collect`: ``policy(result) -> (action, extras)``, as in
        ``envpool.Rollout.collect``. It is pickled and sent to the actors. If it has a method ``update(weights)``, this
        method is called with the weights that are passed to `collect`.
    start_timeout : float, optional
        Seconds after which the constructor gives up if the actors have not started; None waits forever. Default 120.
        If they wait for CPUs, the logger ``"envpool"`` says so after 5 seconds.
    **options
        Options of ``envpool.make`` or ``envpool.make_python``, including ``seed``, for the pools of all actors. A task
        with players needs ``players="grid"`` or ``players="dict"``.

    Attributes
    ----------
    num_envs, batch_size, num_actors : int
        Sizes.
    all_env_ids : numpy.ndarray
        int32 (num_envs,): 0 to num_envs - 1.
    observation_space, action_space : gymnasium.spaces.Space
        Spaces of one environment.
    metadata : dict
        The metadata of the pools.

    Raises
    ------
    ConfigError, TypeError
        An argument is not allowed, or the cluster has fewer CPUs than the actors need.
    EnvCreateError
        An actor could not make its pool, or the actors did not start in time.
    ImportError
        Ray is missing.
    """

    def __init__(
        self,
        task: Any,
        num_envs: int | None = None,
        num_actors: int | None = None,
        batch_size: int | None = None,
        *,
        num_threads: int | None = None,
        num_cpus: float | None = None,
        placement: str = "node",
        policy: Any = None,
        start_timeout: float | None = 120.0,
        **options: Any,
    ):
        if isinstance(task, (list, tuple)):
            num_envs = len(task) if num_envs is None else num_envs
            if num_envs != len(task):
                raise ConfigError(
                    f"num_envs must be the number of functions, {len(task)}, got {shown(num_envs)}: leave num_envs out"
                )
        self.num_envs = check_count("num_envs", num_envs)
        timeout = check_timeout("start_timeout", start_timeout)
        for name in REFUSED:
            if options.get(name):
                raise ConfigError(f"{name} is not an option of a RayPool: leave it out, or use envpool.make")
        if not ray.is_initialized():
            ray.init(include_dashboard=False, log_to_driver=False)
        places = Placement(placement)
        default = min(max(len(places.nodes), 1), self.num_envs)
        self.num_actors = check_count("num_actors", default if num_actors is None else num_actors)
        if self.num_actors > self.num_envs:
            raise ConfigError(f"num_actors must be between 1 and num_envs={self.num_envs}, got {self.num_actors}")
        cpus = int(ray.cluster_resources().get("CPU", 1))
        threads = max(cpus // self.num_actors, 1) if num_threads is None else check_count("num_threads", num_threads)
        reserved = float(threads if num_cpus is None else check_cpus(num_cpus))
        if reserved * self.num_actors > cpus:
            raise ConfigError(
                f"{self.num_actors} actors need {reserved:g} CPUs each, but the cluster has {cpus}: pass fewer "
                "num_actors, fewer num_threads, or num_cpus=0"
            )
        smallest = self.num_envs // self.num_actors
        self.batch_size = check_count("batch_size", self.num_envs if batch_size in (None, 0) else batch_size)
        if self.batch_size != self.num_envs and self.batch_size > smallest:
            raise ConfigError(
                f"batch_size must be num_envs={self.num_envs}, or between 1 and {smallest}, the environments of one "
                f"actor, since a batch of an async pool comes from one actor, got {self.batch_size}"
            )
        own = dict(options)
        if own.get("controlled") == "alternate":
            raise ConfigError("controlled must name players in a RayPool, such as [0], got 'alternate'")
        if isinstance(task, str):
            own["num_threads"] = threads
        if self.is_async:
            own["batch_size"] = self.batch_size
        if policy is not None and self.is_async:
            raise ConfigError("policy needs a sync pool: leave batch_size out")
        self._fleet = Fleet(task, self.num_envs, self.num_actors, places, reserved, policy, own, timeout)
        about = self._fleet.about
        if about["config"].get("players") == "rows":
            self._fleet.close()
            raise ConfigError(
                "a RayPool returns tasks with players as a grid or by group, whose rows are those of environments: "
                "pass players='grid' or players='dict'"
            )
        self._players: int = about["players"]
        self.observation_space, self.action_space = about["observation_space"], about["action_space"]
        self.metadata: dict[str, Any] = about["metadata"]
        self.config: dict[str, Any] = about["config"] | {"num_envs": self.num_envs, "batch_size": self.batch_size}
        self._ids = np.arange(self.num_envs, dtype=np.int32)
        self.all_env_ids = self._ids.copy()  # the user may write to it
        restarts = self.config["on_error"] == "restart"
        size = self.batch_size if self.is_async else 0
        self._inbox = Inbox(self._fleet, size, restarts, self.config["autoreset_mode"])
        self._collector = None if policy is None else Collector(self._fleet, self._inbox, restarts)
        self._is_closed = False

    @property
    def is_async(self) -> bool:
        """True if a batch holds fewer environments than the pool."""
        return self.batch_size != self.num_envs

    def reset(self, env_id: Any = None, *, seed: int | Sequence[int | None] | None = None) -> tuple[Any, Any]:
        """Start new episodes and return (obs, info).

        Parameters
        ----------
        env_id : array_like of int, optional
            Environments to reset, none of them in flight; an async pool takes none. By default all are reset, and
            results in flight are dropped.
        seed : int or sequence of int, optional
            An int gives environment i the seed ``seed + i``; a sequence has one entry per environment that is reset,
            and None keeps its generator.

        Returns
        -------
        tuple
            The rows of env_id, in that order. An async pool returns the next batch_size rows.

        Raises
        ------
        EnvIdError, ConfigError, TypeError, PoolStateError
            Arguments are not allowed, or the pool is closed.
        EnvStepError
            Environments failed, or an actor was lost, and ``on_error`` is "raise".
        """
        self._check_open()
        if self.is_async:
            if env_id is not None or seed is not None:
                raise ConfigError("reset() of an async RayPool takes no env_id and no seed: pass seed to RayPool(...)")
            self.async_reset()
            result = self.recv()
            return result[0], result[-1]
        ids = self._inbox.check_idle(env_id) if env_id is not None else self._ids
        seeds = self._seeds(seed, ids)
        if env_id is None:
            self._inbox.clear()
        self._inbox.send_resets(ids, seeds)
        obs, info = self._inbox.receive()
        return obs, info

    def async_reset(self) -> None:
        """Start new episodes in all environments without waiting; `recv` returns their first observations."""
        self._check_open()
        self._inbox.clear()
        self._inbox.send_async_resets()

    def send(self, action: Any, env_id: Any = None) -> None:
        """Send actions without waiting.

        Parameters
        ----------
        action : array_like, or nest of arrays
            One row for each environment, in the structure of the action space; with players, a place for each, or a
            dict by group.
        env_id : array_like of int, optional
            (B,) environments, none of them in flight; by default the environments of the last batch of an
            async pool, and all of a sync pool.

        Raises
        ------
        EnvIdError, ActionError, PoolStateError
            Ids are out of range, repeated or in flight; the number of rows is wrong; the pool is closed. Other errors
            of actions are raised by `recv`, and the environments are idle again.
        """
        self._check_open()
        if self._collector is not None and not self._collector.is_idle:
            raise PoolStateError(
                "send() is not possible while actors collect rollouts: call recv_collect() for each of them first"
            )
        if isinstance(action, dict) and "env_id" in action:
            raise ActionError("a RayPool takes the ids as the second argument: send(action, env_id)")
        if env_id is None and self.is_async:
            env_id = self._inbox.last_ids
        ids = self._inbox.check_idle(self._ids if env_id is None else env_id)
        action = take(action, slice(None)) if isinstance(action, (dict, tuple)) else np.asarray(action)
        counts = counts_of(action)
        if counts != {len(ids)}:
            raise ActionError(
                f"action must have one row for each of the {len(ids)} environments, got "
                f"{' and '.join(map(str, sorted(counts)))} rows"
            )
        if self._players and not isinstance(action, (dict, tuple)) and action.shape[1:2] != (self._players,):
            raise ActionError(
                f"action must have the shape ({len(ids)}, {self._players}, ...), a place for each player of each "
                f"environment, got {action.shape}"
            )
        self._inbox.send(action, ids)

    def recv(self) -> Any:
        """Wait for the next batch and return (obs, reward, terminated, truncated, info).

        Returns
        -------
        tuple
            Rows as ``envpool.make_gymnasium`` returns them; ``info["env_id"]`` says which environments they belong to.
            After a reset whose `EnvStepError` was caught, (obs, info). Arrays may be read-only: they then show shared
            memory, and are yours to keep.

        Raises
        ------
        PoolStateError
            Nothing is in flight, or the pool is closed.
        EnvStepError
            Environments failed, or an actor was lost, and ``on_error`` is "raise". The next call returns the batch.
        """
        self._check_open()
        return self._inbox.receive()

    def step(self, action: Any, env_id: Any = None) -> Any:
        """Send actions and return the next batch; see `send` and `recv`."""
        self.send(action, env_id)
        return self.recv()

    def collect(
        self, num_steps: int, *, extras: Mapping[str, Any] | None = None, weights: Any = None
    ) -> list[ActorRollout]:
        """Let the policy act next to the environments, and return one rollout per actor, in the order of completion.

        Parameters
        ----------
        num_steps : int
            Steps of each environment.
        extras : mapping, optional
            Arrays that the policy adds to each step, see ``envpool.Rollout``.
        weights : object, optional
            Passed to ``policy.update`` of all actors first; None leaves it out.

        Raises
        ------
        PoolStateError
            The pool has no policy, environments are in flight, or the pool is closed.
        EnvStepError
            Environments failed, or an actor was lost, and ``on_error`` is "raise".
        """
        self.send_collect(num_steps, extras=extras, weights=weights)
        return [self.recv_collect() for _ in range(self.num_actors)]

    def send_collect(
        self,
        num_steps: int,
        actors: Sequence[int] | None = None,
        *,
        extras: Mapping[str, Any] | None = None,
        weights: Any = None,
    ) -> None:
        """Ask actors, by default all, for a rollout without waiting; see `collect`."""
        collector = self._policy_side()
        collector.send(check_count("num_steps", num_steps), actors, extras, weights)

    def recv_collect(self) -> ActorRollout:
        """Return the rollout of the actor that is ready first; see `collect`."""
        return self._policy_side().receive()

    def call(self, name: str, *args: Any, **kwargs: Any) -> list[Any]:
        """Call a method of the pools of all actors, such as ``"stats"``, and return one result for each actor."""
        self._check_open()
        results: list[Any] = ray.get([actor.call.remote(name, *args, **kwargs) for actor in self._fleet.actors])
        return results

    def close(self) -> None:
        """End the actors; the method may be called again. Ray keeps running."""
        if not self._is_closed:
            self._is_closed = True
            self._fleet.close()

    def _policy_side(self) -> Collector:
        self._check_open()
        if self._collector is None:
            raise PoolStateError("collect() needs a policy: pass policy=... to RayPool(...)")
        if self._inbox.busy.any():
            raise PoolStateError("collect() needs environments that are idle: receive what is in flight first")
        return self._collector

    def _check_open(self) -> None:
        if self._is_closed:
            raise PoolClosedError("the pool is closed: make a new one")

    def _seeds(self, seed: Any, ids: Any) -> list[int | None] | None:
        if seed is None:
            return None
        if is_sequence(seed):
            checked = check_seeds("seed", [0 if s is None else s for s in seed], len(ids))
            return [None if s is None else int(c) for s, c in zip(seed, checked, strict=True)]
        first = check_seed("seed", seed)
        return [first + int(i) for i in ids]

    def __len__(self) -> int:
        return self.num_envs

    def __enter__(self) -> RayPool:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"RayPool(num_envs={self.num_envs}, num_actors={self.num_actors}, batch_size={self.batch_size})"


def check_cpus(value: Any) -> float:
    """Return a number of CPUs as a float, or raise ConfigError or TypeError."""
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise TypeError(f"num_cpus must be a number, got {shown(value)}")
    if not 0 <= value < np.inf:
        raise ConfigError(f"num_cpus must be at least 0 and finite, got {shown(value)}")
    return float(value)
