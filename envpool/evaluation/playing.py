"""A policy that plays in a pool, of any API style and in every auto-reset mode: one transition of each env per step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from envpool._support.text import shown
from envpool.errors import ConfigError
from envpool.pools.pool import EnvPool
from envpool.tasks.players import has_players

#: Takes the observations of all environments, in the form of the pool's API style, and returns their actions.
Policy = Callable[[Any], Any]

#: The step type of the last step of an episode in dm_env.
LAST = 2


class Transition(NamedTuple):
    """What one step of all environments did.

    Attributes
    ----------
    obs : object
        The observations that the policy saw.
    action : object
        Its actions.
    reward : numpy.ndarray
        float32 (N,), or (N, P) of the players.
    terminated, truncated : numpy.ndarray
        bool (N,).
    next_obs : object
        The observations that the actions led to; where an episode ended, its last observation.
    is_real : numpy.ndarray
        bool (N,), False where the step only began an episode.
    entry : dict or None
        The statistics of what has ended in this step, with the arrays "r", "l" and "mask", and "player_r" of the
        players; None if nothing has, or if the pool does not count.
    players : dict of str to numpy.ndarray
        Of a task with players, bool (N, P): "player_mask", who has an observation in `next_obs`, "player_terminated"
        and "player_truncated"; else empty.
    """

    obs: Any
    action: Any
    reward: npt.NDArray[np.float32]
    terminated: npt.NDArray[np.bool_]
    truncated: npt.NDArray[np.bool_]
    next_obs: Any
    is_real: npt.NDArray[np.bool_]
    entry: dict[str, Any] | None
    players: dict[str, npt.NDArray[np.bool_]]

    @property
    def team_reward(self) -> npt.NDArray[Any]:
        """The rewards of environments, (N,): sums over the players."""
        return self.reward.sum(axis=1, dtype=np.float64) if self.reward.ndim > 1 else self.reward

    @property
    def ended(self) -> npt.NDArray[np.bool_]:
        """Which environments ended an episode, (N,)."""
        ended: npt.NDArray[np.bool_] = self.terminated | self.truncated
        return ended


class Player:
    """Plays a policy in a pool; the policy may be that of all players of a task that has some.

    Parameters
    ----------
    pool : EnvPool
        A sync pool of ``make``, ``make_mujoco`` or ``make_python``. Nothing may be in flight.
    policy : callable or "random"
        The policy; "random" draws actions from the action space, the same in every run.
    """

    def __init__(self, pool: Any, policy: Policy | str):
        check_pool(pool)
        self.pool = pool
        self.mode = pool.spec.config.autoreset_mode
        self.is_dm = pool._suffix == "DMEnvPool"
        self.counts = pool.spec.entries[-1] if pool.spec.entries else None
        if self.is_dm and self.mode == "same_step":
            raise ConfigError(
                "pools of the dm style are played with autoreset_mode='next_step' or 'disabled', got 'same_step'"
            )
        if policy == "random":
            rng = np.random.default_rng(0)
            self.policy: Policy = lambda obs: pool.sample_actions(rng)
        elif callable(policy):
            self.policy = policy
        else:
            raise TypeError(
                "policy must be 'random' or a function that takes the observations of all environments and returns "
                f"their actions, got {shown(policy)}"
            )

    def reset(self, seed: Any = None) -> Any:
        """Start the first episodes, and return their observations."""
        result = self.pool.reset(seed=seed)
        self.obs = self._observation(result)
        self.mask = self._mask(result)
        self.begins = np.zeros(self.pool.num_envs, bool)
        return self.obs

    def step(self, action: Any = None) -> Transition:
        """Step all environments; `action` replaces what the policy would do."""
        seen, is_real = self.obs, ~self.begins
        if action is None:
            action = self.policy(seen)
        if self.pool.spec.num_players:
            check_grid(action, self.pool)
        result = self.pool.step(action)
        obs, reward, terminated, truncated, info = self._parts(result)
        next_obs = obs
        ended = terminated | truncated
        players = self._players(info, ended)
        if self.mode == "next_step":
            self.begins = ended
        elif ended.any() and self.mode == "same_step":
            next_obs = merged(obs, info["final_obs"], ended)
        elif ended.any():
            ids = self.pool.all_env_ids[ended]
            begun = self.pool.reset(ids)
            obs = spread(obs, self._observation(begun), ended)
            if players:
                self.mask = spread(self.mask, self._mask(begun), ended)
        self.obs = obs
        return Transition(seen, action, reward, terminated, truncated, next_obs, is_real, self._entry(info), players)

    def _observation(self, result: Any) -> Any:
        if self.is_dm:
            return result.observation
        return result[0] if isinstance(result, tuple) else result  # old gym

    def _mask(self, result: Any) -> Any:
        """Return who is present in a result of reset(), bool (B, P); None without players."""
        if not self.pool.spec.num_players:
            return None
        return result.observation.player_mask if self.is_dm else result[1]["player_mask"]

    def _players(self, info: Any, ended: npt.NDArray[np.bool_]) -> dict[str, npt.NDArray[np.bool_]]:
        """Return `Transition.players` of a step, and note in `mask` who is present in the observations it returned."""
        if not self.pool.spec.num_players:
            return {}
        mask, out, cut = (
            getattr(info, f"player_{part}") if self.is_dm else info[f"player_{part}"]
            for part in ("mask", "terminated", "truncated")
        )
        self.mask = mask
        if self.mode == "same_step":  # the mask also has the players of the next episode; who was there has ended
            mask = np.where(ended[:, None], out | cut, mask)
        return {"player_mask": mask, "player_terminated": out, "player_truncated": cut}

    def _parts(self, result: Any) -> tuple[Any, Any, Any, Any, Any]:
        """Return observations, rewards, terminated, truncated and infos of a step in any style."""
        if self.is_dm:
            last, keeps = result.step_type == LAST, result.discount > 0
            return result.observation, result.reward, last & ~keeps, last & keeps, result.observation
        if len(result) == 4:
            obs, reward, done, info = result
            truncated = info["TimeLimit.truncated"]
            return obs, reward, done & ~truncated, truncated, info
        obs, reward, terminated, truncated, info = result
        return obs, reward, terminated, truncated, info

    def _entry(self, info: Any) -> dict[str, Any] | None:
        if self.counts is None:
            return None
        if self.is_dm:
            return dict(getattr(info, self.counts)._asdict())
        return info[self.counts] | {"mask": info[f"_{self.counts}"]} if self.counts in info else None


def check_pool(pool: Any) -> None:
    """Raise TypeError or ConfigError if a policy cannot play in an object."""
    if not isinstance(pool, EnvPool):
        raise TypeError(
            f"pool must be a pool of envpool.make, make_mujoco or make_python, got {type(pool).__name__}: make one "
            "with envpool.make_gymnasium"
        )
    if pool.spec.controlled == "alternate":
        raise ConfigError(
            "a policy plays the same players in all episodes, got controlled='alternate': play each player in a pool "
            "of its own, such as one with controlled=[0] and players='grid'"
        )
    if pool.spec.num_players and pool.spec.config.players != "grid":
        raise ConfigError(
            f"a policy plays tasks with players as a grid, and {pool.spec.task_id or type(pool).__name__} has "
            f"{pool.spec.num_players} players: make the pool with players='grid', got {pool.spec.config.players!r}"
        )
    if pool.spec.num_players and pool._suffix not in ("GymnasiumEnvPool", "DMEnvPool"):
        raise ConfigError("a policy plays tasks with players in pools of envpool.make_gymnasium or make_dm: make one")
    if pool.is_async:
        raise ConfigError(
            f"pool must be sync: batch_size must be num_envs={pool.num_envs}, got {pool.spec.config.batch_size}"
        )
    if pool._suffix == "VectorPool":
        raise TypeError("pool must not be that of a VectorEnv: make one with envpool.make_gymnasium")


def check_grid(action: Any, pool: Any) -> None:
    """Raise ConfigError unless actions have a row for each environment, and there a place for each player."""
    spec = pool.spec
    rows: tuple[int, ...] = (pool.num_envs,)
    if all(has_players(field) for field in spec.action_fields):
        rows = (pool.num_envs, len(spec.shown_players))

    def check(array: Any) -> None:
        shape = np.shape(array)
        if shape[: len(rows)] != rows:
            raise ConfigError(
                f"a policy must return actions with the shape ({', '.join(map(str, rows))}, ...), a place for each "
                f"{'player of each ' if len(rows) > 1 else ''}environment, got {shape}"
            )

    leaves(action, check)


def leaves(nest: Any, function: Callable[..., Any], *others: Any) -> Any:
    """Return a nest of the same structure whose leaves are what a function returns for those of all nests."""
    if isinstance(nest, dict):
        return {k: leaves(v, function, *(other[k] for other in others)) for k, v in nest.items()}
    if isinstance(nest, tuple):
        parts = [leaves(v, function, *(other[k] for other in others)) for k, v in enumerate(nest)]
        return type(nest)(*parts) if hasattr(nest, "_fields") else tuple(parts)
    return function(nest, *others)


def merged(obs: Any, final: Any, rows: npt.NDArray[np.bool_]) -> Any:
    """Return observations in which some rows are those of another batch."""

    def merge(array: Any, other: Any) -> Any:
        out = np.array(array)
        out[rows] = np.asarray(other)[rows]
        return out

    return leaves(obs, merge, final)


def spread(obs: Any, some: Any, rows: npt.NDArray[np.bool_]) -> Any:
    """Return observations in which some rows are replaced by those of a batch that has only these rows."""

    def put(array: Any, other: Any) -> Any:
        out = np.array(array)
        out[rows] = other
        return out

    return leaves(obs, put, some)


def quotas(episodes: int, num_envs: int) -> npt.NDArray[np.int64]:
    """Return how many episodes each environment contributes, int64 (num_envs,): fixed before any episode is played.

    Taking the first episodes that end, of whatever environment, would prefer short ones.
    """
    rest = np.arange(num_envs) < episodes % num_envs
    return np.full(num_envs, episodes // num_envs, np.int64) + rest


def seeds_of(seeds: Any, num_envs: int) -> list[int] | None:
    """Return one seed per environment: an int s stands for s + i; None stays None."""
    if seeds is None:
        return None
    if isinstance(seeds, (int, np.integer)):
        return [int(seeds) + i for i in range(num_envs)]
    if not isinstance(seeds, (Sequence, np.ndarray, range)) or isinstance(seeds, (str, bytes)):
        raise TypeError(f"seeds must be an integer or a sequence of integers, got {shown(seeds)}")
    given = [int(seed) for seed in seeds]
    if len(given) != num_envs:
        raise ConfigError(f"seeds must have one entry for each of the {num_envs} environments, got {len(given)}")
    return given
