"""ReplayBuffer: the last steps of a pool, from which minibatches of transitions are drawn."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from envpool._support.files import check_output
from envpool._support.machine import cpu_limit
from envpool._support.text import shown
from envpool.config.checks import flag
from envpool.config.spaces import nested
from envpool.errors import ConfigError, StateError
from envpool.pools.env_pool import EnvPool
from envpool.pools.opponents.opponents_pool import OpponentsPool
from envpool.pools.styles import tree
from envpool.rollout.casting import as_dtype
from envpool.rollout.data import BYTES_PER_THREAD, map_leaves
from envpool.rollout.places import Places
from envpool.rollout.replay_files import read, write
from envpool.rollout.replay_recorder import ReplayRecorder
from envpool.rollout.ring import LARGEST_PRIORITY, Ring
from envpool.rollout.rollout import named_arrays, positive, stack_depth
from envpool.sampling.arrays import count, number
from envpool.sampling.sampler import seed_words
from envpool.tasks.carried import refuse_objects
from envpool.tasks.players import has_players, refuse_players

Array = npt.NDArray[Any]

#: Version of the format of saved contents.
VERSION = 1
#: More steps than a saved state can have.
MOST_STEPS = 2**40
#: Added to priorities, so that no transition becomes impossible.
EPSILON = 1e-6


class Transitions(NamedTuple):
    """A minibatch: n transitions, one in each row.

    Attributes
    ----------
    obs : numpy.ndarray or dict
        (n, ...): the observations, in the form of the pool's observations.
    action : numpy.ndarray or dict
        (n, ...): the actions as they were sent, before `clip_action` and `rescale_action`.
    reward : numpy.ndarray
        float32 (n,): the rewards; with ``n_step``, the discounted sum of the rewards of the steps of the transition.
    next_obs : numpy.ndarray or dict
        (n, ...): the observations that the last step led to: the true last observations where episodes ended.
    terminated : numpy.ndarray
        bool (n,): True where the last step ended the episode in a terminal state.
    discount : numpy.ndarray
        float32 (n,): the factor of the value of ``next_obs``: 0 where ``terminated``, else ``gamma ** k``, after k
        steps.
    index : numpy.ndarray
        int64 (n,): the numbers of the transitions, for ``update_priorities`` and ``transitions``.
    weight : numpy.ndarray or None
        float32 (n,): importance weights, at most 1, of prioritized sampling; None if sampling is uniform.
    """

    obs: Any
    action: Any
    reward: npt.NDArray[np.float32]
    next_obs: Any
    terminated: npt.NDArray[np.bool_]
    discount: npt.NDArray[np.float32]
    index: npt.NDArray[np.int64]  # type: ignore[assignment]  # not the method of tuples
    weight: npt.NDArray[np.float32] | None


class ReplayBuffer(ReplayRecorder):
    """Keeps the last steps of a pool, and draws minibatches of transitions from them, for algorithms like DQN and SAC.

    The buffer steps its pool, as a `Rollout` does: ``step`` returns what the pool returns, and adds it to the buffer.
    An observation is stored once, although it belongs to two transitions; of stacked observations, each frame is stored
    once. Transitions never cross the end of an episode, and ``next_obs`` has the true last observation of an episode in
    every auto-reset mode.

    Parameters
    ----------
    pool : EnvPool
        A sync pool of ``envpool.make``, of any API style. Step it only through the buffer.
    capacity : int
        Number of steps, over all environments, that are kept; rounded up to a multiple of ``num_envs``. A step that
        only resets an environment (auto-reset mode "next_step") takes a place as well. In a task with players, a step
        counts once for each place for a player.
    n_step : int
        A transition has the rewards of up to this many steps: it ends earlier with its episode.
    prioritized : bool
        If True, transitions are drawn in proportion to their priorities (Schaul et al., 2016); see
        ``update_priorities``. A new transition has the highest priority so far.
    gamma : float
        Discount of each step, from 0 to 1: of rewards with ``n_step``, and in ``discount``.
    alpha : float, optional
        Prioritized sampling: the exponent of priorities, from 0 to 1; 0.6 by default.
    beta : float, optional
        Prioritized sampling: the exponent of importance weights, from 0 to 1; 0.4 by default. ``sample`` may be given
        another one.
    frames_once : bool or int, optional
        If True, each frame of stacked observations is stored once; by default, if the task stacks frames. An int is
        the number of frames in a stack, for other tasks; see `Rollout`.
    prefetch : bool
        If True, ``sample(n)`` returns the minibatch that the previous ``sample(n)`` has drawn, and a thread gathers the
        next one while your program learns. A minibatch is therefore older by one: steps that were recorded, and
        priorities that were set, since the previous minibatch was returned do not appear in it. The minibatch that was
        drawn ahead is not part of a saved state.
    seed : int or sequence of int, optional
        Seed of the generator that draws, as for `Sampler`. By default, the operating system provides one.

    Attributes
    ----------
    pool : EnvPool
        The pool.
    capacity : int
        Number of steps that are kept, over all environments.
    n_step, gamma, prioritized, alpha, beta
        As passed.
    nbytes : int
        Size of the buffer's arrays. Pages that were never written take no memory.
    num_in_flight : int
        Number of environments in flight.

    Raises
    ------
    ConfigError, TypeError
        Arguments that are not allowed, an async pool, or a turn-based task with more than one controlled player.
    MemoryError
        The buffer does not fit into the memory of the process. Nothing was allocated.
    PoolStateError
        The pool is closed or was forked.
    """

    pool: EnvPool

    def __init__(
        self,
        pool: EnvPool,
        capacity: int,
        n_step: int = 1,
        prioritized: bool = False,
        *,
        gamma: float = 0.99,
        alpha: float | None = None,
        beta: float | None = None,
        frames_once: bool | int | None = None,
        prefetch: bool = False,
        seed: int | Sequence[int] | None = None,
    ):
        if not isinstance(pool, EnvPool):
            raise TypeError(
                f"pool must be a pool of envpool.make, got {type(pool).__name__}: pass the pool itself, not a wrapper"
            )
        refuse_objects(pool.spec.config, "a ReplayBuffer")
        self._places = Places(pool) if pool.spec.num_players else None
        places = checked_places(pool.spec)
        if frames_once:
            refuse_players(pool.spec, "frames_once", "leave it out")
        if pool.is_async:
            raise ConfigError(
                f"a ReplayBuffer needs a sync pool, but batch_size={pool.spec.config.batch_size} is less than "
                f"num_envs={pool.spec.config.num_envs}: leave batch_size out, and overlap simulation and learning with "
                "send() and recv()"
            )
        self._num_rows = pool.spec.config.num_envs * places
        steps = -(-positive("capacity", capacity) // self._num_rows)
        self.n_step = positive("n_step", n_step)
        if self.n_step > steps:
            raise ConfigError(
                f"n_step must be at most the {steps} steps of each environment that the buffer keeps, got {n_step}"
            )
        self.prioritized = flag("prioritized", prioritized)
        self.gamma = number("gamma", gamma, 0, 1)
        self.alpha, self.beta = self._exponent("alpha", alpha, 0.6), self._exponent("beta", beta, 0.4)
        depth = stacked_frames(pool) if frames_once is None else stack_depth(pool, frames_once)
        words = seed_words(secrets.randbits(128) if seed is None else seed)
        make_ring = partial(
            Ring,
            num_envs=self._num_rows,
            num_steps=steps,
            depth=depth,
            n_step=self.n_step,
            gamma=self.gamma,
            prioritized=self.prioritized,
            prefetches=flag("prefetch", prefetch),
            seed=words,
        )
        arrays: Any = pool.spec.state_array_spec
        self._whole = [name for name in arrays if self._places is None or not has_players(arrays[name])]
        shown_players = pool._recorded[0] if isinstance(pool, OpponentsPool) else None
        super().__init__(pool, make_ring, self._whole, shown_players)
        self.pool, self.capacity, self._depth = pool, self._ring.capacity, depth
        self._obs_nest = positions(tree.observation([name for name, _, _ in self._ring.obs]), self._ring.obs)
        names = [name for name, _, _ in self._ring.actions]
        nest = "action" if names == ["action"] else nested({name.removeprefix("action."): name for name in names})
        self._action_nest = positions(nest, self._ring.actions)
        parts = (*self._ring.obs, *self._ring.obs, *self._ring.actions)
        self._row_bytes = sum(dtype.itemsize * int(np.prod(shape)) for _, dtype, shape in parts)
        self._cpus = cpu_limit()

    # ---- stepping ----------------------------------------------------------------------------------------------------

    def reset(
        self,
        env_id: Any = None,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: Any = None,
    ) -> Any:
        """Reset environments and record their observations.

        Without env_id, all environments are reset, and a step in flight is dropped. The transitions so far stay in the
        buffer; transitions of episodes that the reset cuts off end like truncated ones.

        With env_id, which needs the auto-reset mode "disabled", environments whose episodes have ended begin new ones.

        Parameters
        ----------
        env_id, seed, options
            As for ``reset`` of the pool.

        Returns
        -------
        tuple or TimeStep
            The result of ``reset`` of the pool.

        Raises
        ------
        EnvIdError
            The episode of an environment has not ended.
        ConfigError, PoolStateError, EnvStepError, EnvTimeoutError
            As for ``reset`` of the pool. After the last two, `recv` returns the batch.
        """
        return self._reset_envs(*self.pool._reset_request(env_id, seed, options))

    def begin(self, obs: Any) -> None:
        """Continue with observations that the pool returned outside the buffer, or before its state was restored.

        If they equal the newest observations of the buffer, for example after ``load`` and ``pool.set_state``, its
        trajectories continue. Otherwise, they end here like truncated ones.

        Parameters
        ----------
        obs : array_like or dict
            (N, ...), the last observations of all environments, in the form in which the pool returns them. Nothing may
            be in flight.

        Raises
        ------
        ConfigError
            Arrays are missing or unknown, or have a wrong shape, or values that the dtype of the pool cannot hold.
        PoolStateError
            Environments are in flight, or the pool is closed or forked.
        """
        given = named_arrays(obs) if self._places is None else self._places.observations(obs, named_arrays)
        names = [name for name, _, _ in self._ring.obs]
        if len(names) == 1 and len(given) == 1:
            given = {names[0]: next(iter(given.values()))}
        if sorted(given) != sorted(names):
            raise ConfigError(f"obs must have the arrays {names}, got {list(given)}")
        arrays = []
        for name, dtype, shape in self._ring.obs:
            array = np.array(as_dtype(name, given[name], dtype))  # a copy: another thread may write to the user's
            places = self._num_rows // self.pool.num_envs
            rows = (self.pool.num_envs,) if name in self._whole else (self.pool.num_envs, places)
            if array.shape != (*rows, *shape):
                raise ConfigError(f"{name} must have shape {(*rows, *shape)}, got {array.shape}")
            arrays.append(array if len(rows) == 2 else np.repeat(array, places, axis=0))
        self._begin_with(arrays)

    # ---- sampling ----------------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        """Return the number of transitions that can be sampled."""
        return self._ring.num_ready

    @property
    def nbytes(self) -> int:
        """Size of the buffer's arrays in bytes. Pages that were never written take no memory."""
        return self._ring.num_bytes + self._ring.num_row_bytes

    def sample(self, n: int, beta: float | None = None) -> Transitions:
        """Draw n transitions with replacement.

        Every transition has the same probability, or one in proportion to its priority. With priorities, the sum of
        these is divided into n equal parts, and one transition is drawn from each.

        A transition can be drawn once its last step is known; the newest ones of a buffer with ``n_step`` are not.

        Parameters
        ----------
        n : int
            Number of transitions.
        beta : float, optional
            Prioritized sampling: the exponent of the importance weights, by default the buffer's.

        Returns
        -------
        Transitions
            Arrays that are yours. Their memory is used again only after your program has released all arrays of the
            minibatch, and everything that shares their memory, such as torch tensors.

        Raises
        ------
        ConfigError, TypeError
            Arguments that are not allowed.
        PoolStateError
            There is no transition to sample yet.
        """
        n = count("n", n, 1)
        beta = self._exponent("beta", beta, self.beta)
        self._enter_ring()
        try:
            return self._transitions(*self._ring.sample(n, self._threads(n), beta))
        finally:
            self._leave_ring()

    def transitions(self, index: Any) -> Transitions:
        """Return certain transitions, for example all of them with ``transitions(buffer.indices())``.

        Parameters
        ----------
        index : array_like of int
            (n,): numbers of transitions, from ``indices`` or from a minibatch.

        Raises
        ------
        ConfigError, TypeError
            The buffer has no such transition, or not any longer.
        """
        index = checked_index(index)
        self._enter_ring()
        try:
            return self._transitions(index, self._ring.gather(index, self._threads(len(index)), self.beta))
        finally:
            self._leave_ring()

    def _threads(self, n: int) -> int:
        """Return the number of threads that pay off for n transitions."""
        return max(1, min(self._cpus, n * self._row_bytes // BYTES_PER_THREAD))

    def _transitions(self, index: npt.NDArray[np.int64], arrays: Any) -> Transitions:
        obs, action, reward, next_obs, terminated, discount, weight = arrays
        return Transitions(
            shaped(self._obs_nest, obs),
            shaped(self._action_nest, action),
            reward,
            shaped(self._obs_nest, next_obs),
            terminated,
            discount,
            index,
            weight,
        )

    def indices(self) -> npt.NDArray[np.int64]:
        """Return the numbers of all transitions that can be sampled, int64, a fresh array.

        The number of the transition from step t of environment i is ``t * num_envs + i``, counted from the first step
        that the buffer has ever recorded. It stays the same until the transition leaves the buffer. In a task with
        players, place p of environment i counts as environment ``i * P + p``; see `owners`.
        """
        self._enter_ring()
        try:
            return self._ring.indices()
        finally:
            self._leave_ring()

    def owners(self, index: Any) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
        """Return to which environments and players transitions belong.

        Parameters
        ----------
        index : array_like of int
            (n,): numbers of transitions, such as ``index`` of a minibatch.

        Returns
        -------
        env_id, player : numpy.ndarray
            int32 (n,). Players have their numbers in the game; in tasks without players, all are 0.

        Raises
        ------
        ConfigError
            The players of the pool alternate, and the buffer does not record which one has made a transition; or the
            buffer has never had one of the transitions.
        TypeError
            The index is not an array of integers.
        """
        spec = self.pool.spec
        if spec.controlled == "alternate":
            raise ConfigError("owners() needs a pool that controls the same players in all episodes, got 'alternate'")
        rows, end = checked_index(index), self._ring.get_counts()[0] * self._num_rows
        for k in np.flatnonzero((rows < 0) | (rows >= end))[:1]:
            raise ConfigError(f"index[{k}] must be the index of a transition, 0 to {end - 1}, got {rows[k]}")
        env_id, place = np.divmod(rows % self._num_rows, self._num_rows // self.pool.num_envs)
        players = np.array(spec.shown_players if spec.num_players else [0], np.int32)
        return env_id.astype(np.int32), players[place]

    def _exponent(self, name: str, value: float | None, default: float) -> float:
        """Return an exponent of prioritized sampling, the default for None; or raise ConfigError or TypeError."""
        if value is None:
            return default
        exponent = number(name, value, 0, 1)
        if not self.prioritized:
            raise ConfigError(
                f"{name} must be left out unless the ReplayBuffer has prioritized=True, got {shown(value)}"
            )
        return exponent

    def update_priorities(self, index: Any, priority: Any) -> None:
        """Set the priorities of transitions, usually to the absolute values of their errors.

        A transition is then drawn with a probability in proportion to ``(priority + 1e-6) ** alpha``. Transitions that
        have left the buffer since they were drawn are ignored. If a number occurs twice, the last one counts.

        Parameters
        ----------
        index : array_like of int
            (n,): ``index`` of a minibatch.
        priority : array_like of float
            (n,): from 0 to 1e200; NumPy arrays, or anything that NumPy converts, such as a tensor without a graph.

        Raises
        ------
        ConfigError, TypeError
            The buffer is not prioritized, shapes differ, or a priority is not allowed. No priority was changed.
        """
        if not self.prioritized:
            raise ConfigError("update_priorities() needs a ReplayBuffer with prioritized=True")
        rows = checked_index(index)
        values = np.array(as_dtype("priority", priority, np.dtype(np.float64)))  # a copy, as of the index
        if values.shape != rows.shape:
            raise ConfigError(f"priority must have the shape of index, {rows.shape}, got {values.shape}")
        bad = np.flatnonzero(~((values >= 0) & (values <= LARGEST_PRIORITY)))  # also NaN
        if bad.size:
            raise ConfigError(f"priority[{bad[0]}] must be between 0 and {LARGEST_PRIORITY:g}, got {values[bad[0]]}")
        values = (values + EPSILON) ** self.alpha
        self._enter_ring()
        try:
            self._ring.set_priorities(rows, values)
        finally:
            self._leave_ring()

    # ---- saving ------------------------------------------------------------------------------------------------------

    def state_dict(self) -> dict[str, Any]:
        """Return the contents of the buffer, its priorities and its generator: a dict of fresh arrays and numbers.

        It takes as much memory as the contents; ``save`` writes them to a file without a copy. Nothing may be in
        flight. The states of the environments are not part of it: save ``pool.get_state()`` as well.

        Raises
        ------
        PoolStateError
            A step is in flight, or another call is inside.
        """
        self._enter_ring()
        try:
            self._check_idle("state_dict")
            return {name: value.copy() if isinstance(value, np.ndarray) else value for name, value in self._content()}
        finally:
            self._leave_ring()

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Replace the contents by those that ``state_dict`` has returned, perhaps in another process.

        The buffer must have the same capacity, the same number of environments, and the same arrays. ``n_step`` and
        ``gamma`` may differ. Call ``reset`` before the next step; or, after ``pool.set_state``, ``begin`` with the
        last observations.

        Parameters
        ----------
        state : mapping
            A result of ``state_dict``.

        Raises
        ------
        StateError
            The state is damaged, or belongs to another buffer. The contents were not changed.
        PoolStateError
            A step is in flight, or another call is inside.
        """
        self._enter_ring()
        try:
            self._check_idle("load_state_dict")
            self._replace_content(state)
        finally:
            self._leave_ring()

    def save(self, path: Any) -> None:
        """Write what ``state_dict`` returns to a file, without a copy in memory.

        The file is an uncompressed ``.npz`` archive of arrays. It is written under another name and then renamed, so
        that a program that is killed meanwhile leaves the previous file intact.

        Parameters
        ----------
        path : path-like
            The file.

        Raises
        ------
        PoolStateError
            A step is in flight, or another call is inside.
        ConfigError
            The file cannot be created, for instance since its folder does not exist.
        OSError
            The file cannot be written.
        """
        check_output(Path(path), is_replaced=True)
        self._enter_ring()
        try:
            self._check_idle("save")
            write(Path(path), dict(self._content()))
        finally:
            self._leave_ring()

    def load(self, path: Any) -> None:
        """Load the contents of a file that ``save`` has written; see ``load_state_dict``.

        Parameters
        ----------
        path : path-like
            The file, from which nothing is executed.

        Raises
        ------
        StateError, PoolStateError
            As for ``load_state_dict``.
        OSError
            The file cannot be read.
        """
        self._enter_ring()
        try:
            self._check_idle("load")
            self._replace_content(read(Path(path)))
        finally:
            self._leave_ring()

    def _content(self) -> list[tuple[str, Any]]:
        """Return the parts of a saved state. Arrays of the ring show its memory."""
        ring = self._ring
        numbers = [("version", VERSION), ("num_envs", self.pool.num_envs), ("capacity", self.capacity)]
        counts = list(zip(("head", "live", "has_obs"), ring.get_counts(), strict=True))
        rows = [("last", ring.get_rows(False)), *([("strays", ring.get_rows(True))] if self._depth else [])]
        rest = [("highest", ring.highest), ("generator", np.frombuffer(ring.get_generator(), np.uint8))]
        return [*numbers, *counts, *rest, *rows, *((f"array:{name}", view) for name, view in ring.views().items())]

    def _replace_content(self, state: Mapping[str, Any]) -> None:
        ring = self._ring
        try:
            numbers = {
                name: int(state[name]) for name in ("version", "num_envs", "capacity", "head", "live", "has_obs")
            }
            highest, generator = float(state["highest"]), np.asarray(state["generator"], np.uint8).tobytes()
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise StateError(f"the saved replay buffer is damaged: {error!r}") from None
        if numbers["version"] != VERSION:
            raise StateError(f"the saved replay buffer must have version {VERSION}, got {numbers['version']}")
        for name, own in (("num_envs", self.pool.num_envs), ("capacity", self.capacity)):
            if numbers[name] != own:
                raise StateError(f"the saved replay buffer has {name}={numbers[name]}, but this one has {own}")
        if numbers["has_obs"] not in (0, 1):
            raise StateError(f"the saved replay buffer is damaged: has_obs is {numbers['has_obs']}")
        head = numbers["head"]
        if not 0 <= numbers["live"] <= head < MOST_STEPS:
            raise StateError(f"the saved replay buffer is damaged: it has {numbers['live']} of {head} steps")
        slots = min(head + 1, ring.num_slots)
        views = ring.views()
        arrays = {}
        for name, view in views.items():
            array = state.get(f"array:{name}")
            shape = (slots, *view.shape[1:])
            if not isinstance(array, np.ndarray) or (array.dtype, array.shape) != (view.dtype, shape):
                raise StateError(
                    f"array {name} of the saved replay buffer must have dtype {view.dtype} and shape {shape}, got "
                    f"{f'{array.dtype} and {array.shape}' if isinstance(array, np.ndarray) else type(array).__name__}: "
                    "it belongs to a buffer of another task, or with other options"
                )
            # A copy, so that the checked values cannot change.
            is_checked = name in ("flags", "numbers", "lasts", "priorities")
            arrays[name] = np.array(array, order="C") if is_checked else np.ascontiguousarray(array)
        known = {f"array:{name}" for name in views}
        others = [name for name in state if name.startswith("array:") and name not in known]
        if others:
            raise StateError(f"the saved replay buffer has arrays that this one does not have: {', '.join(others)}")
        rows = [np.array(state.get(name), order="C") for name in ("last", "strays")[: 1 + bool(self._depth)]]
        for array, strays in zip(rows, (False, True), strict=False):
            width = ring.get_rows(strays).shape[1]
            if array.dtype != np.uint8 or array.ndim != 2 or array.shape[1] != width or len(array) >= 2**31:
                raise StateError(f"rows of the saved replay buffer must have {width} bytes, got {array.shape}")
        ring.set_state(
            head, numbers["live"], bool(numbers["has_obs"]), arrays, rows[0], rows[1] if self._depth else None,
            generator, highest,
        )  # fmt: skip
        self._forget_pool()

    def __reduce__(self) -> Any:
        raise TypeError(
            "a ReplayBuffer records the steps of one pool and cannot be pickled or copied: save its contents with "
            "save() or state_dict(), and load them into a ReplayBuffer of the new pool"
        )

    def __repr__(self) -> str:
        kind = "prioritized" if self.prioritized else "uniform"
        return f"ReplayBuffer({len(self)} transitions, capacity={self.capacity}, n_step={self.n_step}, {kind})"


def checked_places(spec: Any) -> int:
    """Return the rows of an environment, or raise ConfigError if its players have no transitions of their own."""
    if not spec.num_players:
        return 1
    name = spec.task_id or spec.env.__name__
    if spec.is_turn_based and (spec.controlled is None or len(spec.shown_players) > 1):
        raise ConfigError(
            f"a ReplayBuffer needs players that act in each step, and players of {name} move in turn: make the pool "
            "with one controlled player, such as controlled=0, or record it with envpool.Rollout"
        )
    whole = [field.name for field in spec.action_fields if not has_players(field)]
    if whole and not spec.is_turn_based:
        raise ConfigError(
            f"a ReplayBuffer records the actions of players, and {', '.join(whole)} of {name} belongs to all of them: "
            "record it with envpool.Rollout"
        )
    return len(spec.shown_players)


def stacked_frames(pool: EnvPool) -> int:
    """Return the number of frames in the observations of a pool; 0 if they are not stacks of frames."""
    try:
        depth = stack_depth(pool, True)
    except ConfigError:
        return 0
    return depth if depth > 1 else 0


def positions(nest: Any, arrays: Sequence[tuple[str, Any, Any]]) -> Any:
    """Return a nest of array names with the position of each array, or 0 for a single array."""
    names = [name for name, _, _ in arrays]
    return map_leaves(nest, names.index)


def shaped(nest: Any, arrays: list[Array]) -> Any:
    """Return arrays in the form of a nest of their positions."""
    if isinstance(nest, dict):
        return {name: shaped(inner, arrays) for name, inner in nest.items()}
    return arrays[nest]


def checked_index(index: Any) -> npt.NDArray[np.int64]:
    """Return numbers of transitions as a fresh int64 array, or raise TypeError."""
    rows = np.array(np.asarray(index))  # a copy, so that the checked values cannot change
    if rows.shape == (0,):
        return rows.astype(np.int64)
    if rows.dtype.kind not in "iu" or rows.ndim != 1:
        raise TypeError(f"index must be a one-dimensional array of integers, got {rows.dtype} {rows.shape}")
    checked: npt.NDArray[np.int64] = np.minimum(rows, np.iinfo(np.int64).max).astype(np.int64)
    return checked
