"""A policy that plays in a pool, of any API style and in every auto-reset mode: one transition of each env per step."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from envpool._support.text import shown
from envpool.config.checks import as_array, check_seed, check_seeds, is_sequence
from envpool.config.spaces import nested
from envpool.errors import ConfigError, PoolStateError
from envpool.pools.env_pool import EnvPool
from envpool.pools.styles import tree
from envpool.rollout.places import Places
from envpool.rollout.rollout import Rollout, named_arrays
from envpool.tasks.players import has_players, row_shape

#: Takes the observations of all environments, in the form of the pool's API style, and returns their actions.
Policy = Callable[[Any], Any]

#: Name of the result of a policy in error texts.
ACTION = "the action of a policy"


class Transition(NamedTuple):
    """One step of all environments.

    The arrays of players have a place for each player, whatever form the policy sees and returns.

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
    elapsed : numpy.ndarray or None
        With opponents, int32 (N,): the moves of all players in the episodes so far; where one ended, its length.
    entry : dict or None
        The statistics of what has ended in this step, with the arrays "r", "l" and "mask", and "player_r" of the
        players; None if nothing has, or if the pool does not count.
    players : dict of str to numpy.ndarray
        Of a task with players, bool (N, P): "player_mask", who has an observation in `next_obs`, "player_terminated"
        and "player_truncated"; else empty.
    played : numpy.ndarray or None
        int32 (N,), the player that the policy was in the step, if that changes (``controlled="alternate"``); else None.
    """

    obs: Any
    action: Any
    reward: npt.NDArray[np.float32]
    terminated: npt.NDArray[np.bool_]
    truncated: npt.NDArray[np.bool_]
    next_obs: Any
    is_real: npt.NDArray[np.bool_]
    elapsed: npt.NDArray[np.int32] | None
    entry: dict[str, Any] | None
    players: dict[str, npt.NDArray[np.bool_]]
    played: npt.NDArray[np.int32] | None

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
    """Plays a policy in a pool; it may be the policy of all players of a task that has some.

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
        has_grid = pool.spec.config.players in (None, "grid")
        self.places = None if has_grid else Places(pool)
        self.alternates = pool.spec.controlled == "alternate"
        if self.is_dm and self.mode == "same_step":
            raise ConfigError(
                "autoreset_mode of a pool of the dm style must be 'next_step' or 'disabled', got 'same_step'"
            )
        # A discount of 0 also ends truncated episodes; a rollout has the flags that time steps do not tell apart.
        self.rollout = Rollout(pool, 1) if self.is_dm else None
        self.envs: Any = self.rollout or pool
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
        """Start the first episodes, and return their observations in the form of `Transition`."""
        result = self.envs.reset(seed=seed)
        self.given = self._observation(result)
        self.obs = self._of_places(self.given)
        self.mask = self._mask(result)
        self.played = self._played()
        self.begins = np.zeros(self.pool.num_envs, bool)
        return self.obs

    def step(self, action: Any = None) -> Transition:
        """Step all environments; `action` replaces what the policy would do."""
        seen, is_real, played = self.obs, ~self.begins, self.played
        if action is None:
            action = self.policy(self.given)
            if self.places is not None:
                action = actions_of_places(self.places, self.pool.spec, action)
        if self.pool.spec.num_players:
            check_grid(action, self.pool)
        result = self.envs.step(action)
        given, reward, terminated, truncated, info = self._parts(result)
        next_obs = obs = self._of_places(given)
        reward = self._players_array("reward", reward)
        ended = terminated | truncated
        players = self._players(info, ended)
        elapsed = None if self.pool.spec.controlled is None else self.pool._elapsed
        if self.mode == "next_step":
            self.begins = ended
        elif ended.any() and self.mode == "same_step":
            next_obs = merged(obs, self._of_places(info["final_obs"]), ended)
        elif ended.any():
            ids = self.pool.all_env_ids[ended]
            begun = self.envs.reset(ids)
            obs = spread(obs, self._of_places(self._observation(begun), ids), ended)
            if players:
                self.mask = spread(self.mask, self._mask(begun, ids), ended)
            given = self._given(obs, given)
        self.obs, self.given, self.played = obs, given, self._played()
        entry = self._entry(info)
        return Transition(
            seen, action, reward, terminated, truncated, next_obs, is_real, elapsed, entry, players, played
        )

    def _observation(self, result: Any) -> Any:
        if self.is_dm:
            return result.observation
        return result[0] if isinstance(result, tuple) else result  # old gym

    def _played(self) -> npt.NDArray[np.int32] | None:
        """Return the player that the policy is in each environment, int32 (N,), if that changes."""
        return self.pool._games.shown[:, 0].copy() if self.alternates else None

    def _of_places(self, obs: Any, ids: Any = None) -> Any:
        """Return observations of environments, by default all, with a place for each player."""
        if self.places is None:
            return obs
        arrays = self.places.observations(obs, named_arrays, ids)
        return tree.renamed(tree.observation(list(arrays)), arrays)

    def _players_array(self, name: str, value: Any) -> Any:
        """Return an array of players in a step of all environments with a place for each player."""
        if self.places is None:
            return value
        if isinstance(value, dict):
            return self.places.joined(name, value, ())
        return self.places.spread(name, value, (), None)

    def _given(self, obs: Any, like: Any) -> Any:
        """Return observations with a place for each player of all environments in the form that the policy sees."""
        if self.places is None:
            return obs
        if self.pool.spec.config.players == "rows":
            fields = self.pool.spec.state_array_spec
            arrays = {
                name: array[self.mask] if has_players(fields[name]) else array
                for name, array in named_arrays(obs).items()
            }
            return tree.renamed(tree.observation(list(arrays)), arrays)
        return self.places.split(named_arrays(obs), like)

    def _mask(self, result: Any, ids: Any = None) -> Any:
        """Return who is present in a result of reset(), bool (B, P); None without players."""
        if not self.pool.spec.num_players:
            return None
        if self.places is not None:
            return self.places.mask(self.pool.all_env_ids if ids is None else ids)
        return result.observation.player_mask if self.is_dm else result[1]["player_mask"]

    def _players(self, info: Any, ended: npt.NDArray[np.bool_]) -> dict[str, npt.NDArray[np.bool_]]:
        """Return `Transition.players` of a step, and note in `mask` who is present in the observations it returned."""
        if not self.pool.spec.num_players:
            return {}
        out, cut = (
            self._players_array(name, getattr(info, name) if self.is_dm else info[name])
            for name in ("player_terminated", "player_truncated")
        )
        if self.places is not None:
            mask = self.places.mask(self.pool.all_env_ids)
        else:
            mask = info.player_mask if self.is_dm else info["player_mask"]
        self.mask = mask
        if self.mode == "same_step":  # the mask also has the players of the next episode; who was there has ended
            mask = np.where(ended[:, None], out | cut, mask)
        return {"player_mask": mask, "player_terminated": out, "player_truncated": cut}

    def _parts(self, result: Any) -> tuple[Any, Any, Any, Any, Any]:
        """Return observations, rewards, terminated, truncated and infos of a step in any style."""
        if self.rollout is not None:
            data = self.rollout.finish()
            return result.observation, result.reward, data.terminated[0], data.truncated[0], result.observation
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
    """Raise TypeError, ConfigError or PoolStateError if a policy cannot play in an object."""
    if not isinstance(pool, EnvPool):
        raise TypeError(
            f"pool must be a pool of envpool.make, make_mujoco or make_python, got {type(pool).__name__}: make one "
            "with envpool.make_gymnasium"
        )
    if pool.spec.num_players and pool._suffix not in ("GymnasiumEnvPool", "DMEnvPool"):
        raise ConfigError("a policy plays tasks with players in pools of envpool.make_gymnasium or make_dm: make one")
    if pool.spec.num_players and pool._suffix == "DMEnvPool" and pool.spec.config.players != "grid":
        raise ConfigError(
            f"players of a pool of the dm style must be 'grid', got {pool.spec.config.players!r}: make the pool with "
            "it, or with envpool.make_gymnasium"
        )
    if pool.is_async:
        raise ConfigError(
            f"pool must be sync: batch_size must be num_envs={pool.num_envs}, got {pool.spec.config.batch_size}"
        )
    if pool._suffix == "VectorPool":
        raise TypeError(
            f"pool must be a pool of envpool.make_gymnasium, got the {type(pool).__name__} of a VectorEnv: make a pool"
        )
    if pool.num_outstanding:
        raise PoolStateError(
            f"{pool.num_outstanding} envs of the pool are in flight: call recv() to get their results, or reset() to "
            "drop them"
        )


@contextmanager
def frozen(pool: EnvPool) -> Iterator[None]:
    """Freeze the statistics with which a pool normalises; the end of the block restores the flag.

    The discounted sums of rewards still follow the episodes that are running in the pool.
    """
    normalization = pool.normalization
    if normalization is None:
        yield
        return
    was_frozen = normalization.is_frozen
    normalization.is_frozen = True
    try:
        yield
    finally:
        normalization.is_frozen = was_frozen


def actions_of_places(places: Places, spec: Any, action: Any) -> Any:
    """Return the actions of a policy, rows or groups of players, with a place for each player of each environment."""
    groups, by_field = {group.name for group in spec.groups}, {}
    for field in spec.action_fields:
        row = row_shape(field) if has_players(field) else tuple(field.shape)
        if isinstance(action, dict) and {*action} == groups:
            parts = {name: array_of(part, field.name) for name, part in action.items()}
            by_field[field.name] = places.joined(ACTION, parts, row)
            continue
        array = array_of(action, field.name)
        is_move = not has_players(field) and (not spec.is_turn_based or len(array) == spec.config.num_envs)
        if array.ndim == 1 + len(row) and not is_move:
            array = places.spread(ACTION, array, row, None)
        by_field[field.name] = array
    return next(iter(by_field.values())) if len(by_field) == 1 else nested(by_field)


def array_of(action: Any, name: str) -> npt.NDArray[Any]:
    """Return the array of a field in an action, or raise ConfigError."""
    nest: Any = action if isinstance(action, dict) and "action" in action else {"action": action}
    for key in name.split("."):
        nest = nest.get(key) if isinstance(nest, dict) else None
    if nest is None or isinstance(nest, dict):
        raise ConfigError(f"a policy must return actions with the array {name!r}, got {shown(action)}")
    return as_array(ACTION, nest, ConfigError)


def check_grid(action: Any, pool: Any) -> None:
    """Raise ConfigError unless actions have a row for each environment, and there a place for each player."""
    spec = pool.spec
    rows: tuple[int, ...] = (pool.num_envs,)
    if all(has_players(field) for field in spec.action_fields):
        rows = (pool.num_envs, len(spec.shown_players))

    def check(array: Any) -> None:
        shape = as_array(ACTION, array, ConfigError).shape
        if shape[: len(rows)] != rows:
            raise ConfigError(
                f"a policy must return actions with the shape ({', '.join(map(str, rows))}, ...), a place for each "
                f"{'player of each ' if len(rows) > 1 else ''}environment, got {shape}"
            )

    leaves(action, check)


def leaves(nest: Any, function: Callable[..., Any], *others: Any) -> Any:
    """Return a nest of the same structure whose leaves a function returns for the leaves of all nests."""
    if isinstance(nest, dict):
        return {k: leaves(v, function, *(other[k] for other in others)) for k, v in nest.items()}
    if isinstance(nest, tuple):
        parts = [leaves(v, function, *(other[k] for other in others)) for k, v in enumerate(nest)]
        return type(nest)(*parts) if hasattr(nest, "_fields") else tuple(parts)
    return function(nest, *others)


def merged(obs: Any, final: Any, rows: npt.NDArray[np.bool_]) -> Any:
    """Return observations in which some rows are taken from another batch."""

    def merge(array: Any, other: Any) -> Any:
        out = np.array(array)
        out[rows] = np.asarray(other)[rows]
        return out

    return leaves(obs, merge, final)


def spread(obs: Any, some: Any, rows: npt.NDArray[np.bool_]) -> Any:
    """Return observations in which some rows are replaced by the rows of a batch that has only these."""

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
    """Return one seed per environment, checked: an int s stands for s + i; None stays None."""
    if seeds is None:
        return None
    if is_sequence(seeds):
        return check_seeds("seeds", seeds, num_envs)
    first = check_seed("seeds", seeds, count=num_envs)
    return [first + i for i in range(num_envs)]
