"""Episodes as arrays, collected from the steps of a pool."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from envpool._support.text import shown
from envpool.errors import ConfigError
from envpool.evaluation.playing import Player, Transition, quotas
from envpool.python_envs.layout import children

Array = npt.NDArray[Any]

#: The arrays of players: who has an observation, and whose episodes have ended.
MASK = "player_mask"
PLAYER_ENDS = ("player_terminated", "player_truncated")
#: Steps that are kept in one array.
CHUNK = 128


@dataclass(frozen=True, eq=False)
class Episode:
    """One episode of L steps.

    Attributes
    ----------
    env_id, number : int
        The environment, and the number of the episode among the episodes of the environment, from 0.
    seed : int or None
        The seed of the environment, if the episode is its first one.
    obs : dict of str to numpy.ndarray
        Observation arrays by name, (L + 1, ...), with the last observation. With frames stored once, the frames
        (L + depth, ...): observation t consists of the frames t to t + depth - 1.
    action : dict of str to numpy.ndarray
        Action arrays by name, (L, ...).
    reward : numpy.ndarray
        float32 (L,), or (L, P) of the players.
    terminated, truncated : numpy.ndarray
        bool (L,). The last step of an episode that was still running when the recording ended is truncated.
    players : dict of str to numpy.ndarray
        Of a task with players, bool: "player_mask" (L + 1, P), who has an observation; "player_terminated" and
        "player_truncated" (L, P). Else empty.
    """

    env_id: int
    number: int
    seed: int | None
    obs: dict[str, Array]
    action: dict[str, Array]
    reward: Array
    terminated: Array
    truncated: Array
    players: dict[str, Array] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.reward)


class Tape:
    """The steps of all environments since the running episodes began, in chunks of `CHUNK` steps.

    Parameters
    ----------
    num_envs : int
        Number of environments.
    seeds : list of int or None
        One seed per environment.
    depth : int
        Number of frames of a stacked observation, of which only the last one is kept; 0 keeps observations as they are.
    """

    def __init__(self, num_envs: int, seeds: list[int] | None, depth: int):
        self.depth, self.seeds = depth, seeds
        self.number = np.zeros(num_envs, np.int64)
        self.begin = np.zeros(num_envs, np.int64)  # the first step of the running episode
        self.first: list[dict[str, Array] | None] = [None] * num_envs
        self.position = 0  # number of steps so far
        self.chunks: list[dict[str, Array]] = []  # arrays (CHUNK, num_envs, ...) by name
        self.start = 0  # the first step of the first chunk

    def begins(self, obs: dict[str, Array], rows: Iterable[int]) -> None:
        """Note the first observations of environments."""
        for i in rows:
            self.first[i] = {name: np.array(array[i]) for name, array in obs.items()}
            self.begin[i] = self.position

    def add(self, step: Transition) -> None:
        """Note a step; the arrays are copied."""
        obs = named(step.next_obs, "obs")
        if self.depth:
            obs = {name: array[:, -array.shape[1] // self.depth :] for name, array in obs.items()}
        arrays = obs | named(step.action, "action")
        arrays |= {"reward": step.reward, "terminated": step.terminated, "truncated": step.truncated}
        arrays |= step.players
        k = (self.position - self.start) % CHUNK
        if k == 0:
            self.chunks.append({name: np.empty((CHUNK, *array.shape), array.dtype) for name, array in arrays.items()})
        for name, array in self.chunks[-1].items():
            array[k] = arrays[name]
        self.position += 1

    def take(self, i: int, is_cut: bool = False) -> Episode:
        """Return the running episode of an environment, and forget it."""
        first, begin = self.first[i], int(self.begin[i])
        assert first is not None
        parts: dict[str, list[Array]] = {}
        for k, chunk in enumerate(self.chunks):
            at = self.start + k * CHUNK
            rows = slice(max(begin - at, 0), min(self.position - at, CHUNK))
            if rows.start < CHUNK:
                for name, array in chunk.items():
                    parts.setdefault(name, []).append(array[rows, i])
        arrays = {name: np.concatenate(part) for name, part in parts.items()}
        obs = {name: self._with_first(array, arrays[name]) for name, array in first.items()}
        action = {name: array for name, array in arrays.items() if name.partition(":")[0] == "action"}
        players = {name: arrays[name] for name in PLAYER_ENDS if name in arrays}
        if MASK in obs:
            players[MASK] = obs.pop(MASK)
        if is_cut:
            arrays["truncated"][-1] = True
            if players:
                players["player_truncated"][-1] |= players[MASK][-1]
        number, seed = int(self.number[i]), self.seeds[i] if self.seeds is not None and self.number[i] == 0 else None
        self.number[i] += 1
        self.first[i] = None
        ends = arrays["terminated"], arrays["truncated"]
        return Episode(i, number, seed, obs, action, arrays["reward"], *ends, players)

    def _with_first(self, first: Array, later: Array) -> Array:
        """Return the observations of an episode, or their frames."""
        if not self.depth:
            return np.concatenate([first[None], later])
        frames = np.concatenate([first.reshape(self.depth, -1, *first.shape[1:]), later])
        return frames[:, 0] if frames.shape[1] == 1 else frames

    def trim(self) -> None:
        """Forget the chunks before all running episodes."""
        running = [int(self.begin[i]) for i, first in enumerate(self.first) if first is not None]
        oldest = min(running, default=self.position)
        count = min((oldest - self.start) // CHUNK, len(self.chunks))
        del self.chunks[:count]
        self.start += count * CHUNK


def collect(
    player: Player, seeds: list[int] | None, episodes: int | None, steps: int | None, depth: int
) -> Iterator[Episode]:
    """Yield the episodes that a policy plays, each as soon as it is complete.

    Parameters
    ----------
    player : Player
        The policy and the pool.
    seeds : list of int or None
        One seed per environment.
    episodes : int or None
        Number of episodes, the first ones of each environment, see `quotas`.
    steps : int or None
        Number of steps of all environments together, instead of `episodes`. The last episodes are cut.
    depth : int
        Number of frames of a stacked observation that is stored once; 0 stores observations as they are.
    """
    n = player.pool.num_envs
    quota = np.full(n, np.iinfo(np.int64).max) if episodes is None else quotas(episodes, n)
    tape = Tape(n, seeds, depth)
    tape.begins(observed(player.reset(seeds), player.mask), np.flatnonzero(quota > 0))
    done = 0
    while (tape.number < quota).any() if steps is None else done < steps:
        step = player.step()
        tape.add(step)
        done += int(step.is_real.sum())
        if not step.is_real.all():  # the step began episodes
            first = observed(step.next_obs, player.mask)
            tape.begins(first, np.flatnonzero(~step.is_real & (tape.number < quota)))
        ended = np.flatnonzero(step.ended & step.is_real)
        for i in ended.tolist():
            if tape.first[i] is not None:
                yield tape.take(i)
        if len(ended):
            if player.mode != "next_step":
                tape.begins(observed(player.obs, player.mask), ended[tape.number[ended] < quota[ended]])
            tape.trim()
    if steps is not None:
        for i in range(n):
            if tape.first[i] is not None and tape.begin[i] < tape.position:
                yield tape.take(i, is_cut=True)


def observed(obs: Any, mask: Any) -> dict[str, Array]:
    """Return the arrays of observations by name, with those that say which players have one."""
    return named(obs, "obs") | ({} if mask is None else {MASK: mask})


def named(nest: Any, root: str) -> dict[str, Array]:
    """Return the arrays of a nest by name: ``"obs"``, or ``"obs:a.b"`` for nested ones."""
    found: dict[str, Array] = {}

    def walk(value: Any, path: tuple[str, ...]) -> None:
        if isinstance(value, dict):
            for key, inner in value.items():
                if not (root == "action" and not path and key in ("env_id", "players")):
                    walk(inner, (*path, str(key)))
        elif isinstance(value, tuple) and hasattr(value, "_fields"):
            for key in value._fields:
                if key not in ("env_id", "players"):
                    walk(getattr(value, key), (*path, key))
        elif isinstance(value, tuple):
            for k, inner in enumerate(value):
                walk(inner, (*path, str(k)))
        else:
            array = np.asarray(value)
            if array.dtype == object:
                raise ConfigError(
                    f"the {'actions' if root == 'action' else 'observations'} of this pool contain objects that are "
                    f"not arrays, which cannot be recorded: {shown(array.ravel()[0] if array.size else array)}"
                )
            found[f"{root}:{'.'.join(path)}" if path else root] = array

    walk(nest, ())
    return found


def check_names(space: Any, root: str) -> None:
    """Raise ConfigError if `named` cannot tell the arrays of a space apart, or if a key is empty."""
    what, out = f"the {'action' if root == 'action' else 'observation'} space", "wrap the environment"
    found: dict[str, tuple[Any, ...]] = {}

    def walk(inner: Any, path: tuple[Any, ...]) -> None:
        if isinstance(inner, (spaces.Dict, spaces.Tuple)):
            for key, part in children(inner):
                if not str(key):
                    raise ConfigError(f"{what} must not have empty keys in a dataset, got {shown(list(inner))}: {out}")
                walk(part, (*path, key))
            return
        name = ".".join(map(str, path))
        other = found.setdefault(name, path)
        if other is not path:
            raise ConfigError(
                f"{what} must not have two arrays with one name in a dataset, {root + ':' + name!r}, got the keys "
                f"{list(other)} and {list(path)}: {out}"
            )

    walk(space, ())


def stacks(frames: Array, depth: int, shape: Sequence[int]) -> Array:
    """Return the stacked observations of frames that were stored once.

    Parameters
    ----------
    frames : numpy.ndarray
        (L + depth, ...) frames of an episode.
    depth : int
        Number of frames in a stack.
    shape : sequence of int
        Shape of a stack: (depth, ...), or (depth * C, ...) of frames with C channels each.

    Returns
    -------
    numpy.ndarray
        The L + 1 observations: a read-only view, or a copy where frames have several channels.
    """
    windows = np.moveaxis(np.lib.stride_tricks.sliding_window_view(frames, depth, axis=0), -1, 1)
    return windows.reshape(len(windows), *shape)
