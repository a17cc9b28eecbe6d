"""Pools of tasks with players for libraries in which every row is an environment: each place for a player is one."""

from __future__ import annotations

from typing import Any

import numpy as np

from envpool.config.spaces import nested
from envpool.errors import ActionError, ConfigError
from envpool.pools.infos import put, take
from envpool.tasks.players import bounds_of, has_players
from envpool.tasks.resolve import spec_for
from envpool.tasks.statistics import PLAYER_PART

#: Entries of info that say what has happened to players; a row says it by its reward, its end and its mask.
FLAGS = ("player_terminated", "player_truncated")


def row_spaces(spec: Any, client: str) -> tuple[Any, Any]:
    """Return the observation space and the action space that the rows of all players have.

    Parameters
    ----------
    spec : EnvSpec
        The task, which has players.
    client : str
        Name of the library, for the error text.

    Raises
    ------
    ConfigError
        The actions of the players have different bounds, or there is not exactly one action array of players.
    """
    name = spec.task_id or spec.env.__name__
    fields, own = spec.action_fields, list(spec.shown_players)
    if spec.is_turn_based and len(own) > 1:
        raise ConfigError(
            f"{client} needs an action of each row, and the players of {name} move in turn: use the pool of "
            "envpool.make, or control one player, as with controlled=[0] in envpool.adapters.sb3"
        )
    if len(fields) != 1 or not (has_players(fields[0]) or spec.is_turn_based):
        raise ConfigError(
            f"{client} needs one action array with a row for each player, and {name} has "
            f"{', '.join(f.name for f in fields)}: use the pool of envpool.make"
        )
    for bound in bounds_of(fields[0], spec.num_players) if has_players(fields[0]) else ():
        if bound is not None and (bound[own] != bound[own[0]]).any():
            raise ConfigError(
                f"{client} needs players with equal action spaces, and those of {name} differ: use the pool of "
                "envpool.make with players='dict', or envpool.adapters.torchrl, which have the spaces of each group"
            )
    rows = spec_for(spec, {"players": "rows"})
    return rows.gymnasium_observation_space, rows.gymnasium_action_space


class PlayerRows:
    """Makes rows of the batches of a sync pool with ``players="grid"`` and ``autoreset_mode="same_step"``.

    Player p of environment i has the row ``i * places + p``; with the option `controlled`, only the controlled players
    have places. Its episode ends with its own flags, or with the episode of its environment. As long as it is not
    present, its row is zero. A row that has ended shows the first observation of
    the next episode if the environment has ended, else zeros.

    Parameters
    ----------
    pool : GymnasiumEnvPool
        The pool.

    Raises
    ------
    ConfigError
        The pool has other options.
    """

    def __init__(self, pool: Any):
        self._players = list(pool.spec.shown_players)
        self.places = len(self._players)
        for option, value in (("players", "grid"), ("autoreset_mode", "same_step")):
            if pool.config[option] != value:
                raise ConfigError(
                    f"{option} must be {value!r} for an adapter in which each player is a row, got "
                    f"{pool.config[option]!r}: make the pool with {option}={value!r}"
                )
        self._count = self.places * pool.num_envs
        arrays = pool.spec.state_array_spec
        self._obs, self._info = (
            nested({k[len(kind) + 1 :]: v.shape[:1] == [-1] for k, v in arrays.items() if k.startswith(kind)})
            for kind in ("obs", "info")
        )
        self._obs = self._obs.get("", self._obs)
        self._info |= {"player_mask": True, "episode": {PLAYER_PART: True}}

    def actions(self, actions: Any) -> Any:
        """Return the actions (num_envs, places, ...) of all rows."""
        actions = np.asarray(actions)
        if actions.shape[:1] != (self._count,):
            raise ActionError(f"actions must have a row for each of the {self._count} players, got {actions.shape}")
        return actions.reshape(-1, self.places, *actions.shape[1:])

    def first(self, obs: Any, info: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        """Return what a reset has returned, with a row for each player."""
        return self._rows(obs, self._obs), self._info_rows(info)

    def step(self, result: tuple[Any, ...]) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Return what a step has returned, with a row for each player."""
        obs, reward, *_, info = result
        ends = [info.pop(flag).reshape(-1) for flag in FLAGS]
        own = ends[0] | ends[1]
        obs, info = self.first(obs, info)
        ended, final_info = info["_final_obs"], info["final_info"]
        alone = np.flatnonzero(own & ~ended)  # players whose environment continues its episode
        if len(alone):
            pairs = [(obs, info["final_obs"]), *((info[key], final_info[key]) for key in final_info)]
            for shown, last in pairs:
                put(last, alone, take(shown, alone))
                put(shown, alone, 0)
        info["_final_obs"] = info["_final_info"] = ended | own
        return obs, reward.reshape(-1), *ends, info

    def _info_rows(self, info: dict[str, Any]) -> dict[str, Any]:
        """Return an info with a row for each player."""
        rows = {}
        if "episode" in info:  # which has the returns of all players
            part = info["episode"][PLAYER_PART][:, self._players]
            info = info | {"episode": info["episode"] | {PLAYER_PART: part}}
        for key, value in info.items():
            if key == "final_info":
                rows[key] = self._info_rows(value)
            elif key != "finished":
                rows[key] = self._rows(value, self._obs if key == "final_obs" else self._info.get(key, False))
        if "episode" in rows:  # a row has the return of its player
            rows["episode"]["r"] = rows["episode"].pop(PLAYER_PART)
        return rows

    def _rows(self, nest: Any, of_players: Any) -> Any:
        """Return a nest whose arrays have a row for each player; those of environments are repeated."""
        if isinstance(nest, dict):
            return {k: self._rows(v, of_players and of_players.get(k, False)) for k, v in nest.items()}
        return nest.reshape(-1, *nest.shape[2:]) if of_players else np.repeat(nest, self.places, axis=0)
