"""Playing a task and its upstream environments side by side, and finding the first bit that differs."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from envpool.errors import EnvStepError
from envpool.registration import make_gymnasium, make_spec
from envpool.tasks.players import refuse_players
from envpool.verify.bits import MismatchError, bits_apart
from envpool.verify.gymnasium_oracle import action_row
from envpool.verify.lookup import needs_upstream
from envpool.verify.oracle import Oracle, Player
from envpool.verify.records import as_reset, batch_record

#: Number of steps whose actions are drawn at once.
DRAWN_AT_ONCE = 1000


@dataclass(frozen=True)
class Difference:
    """The first difference between a task and its upstream environment.

    Attributes
    ----------
    step : int
        Number of steps since the first reset, which is step 0. A reset between two episodes counts as a step.
    env : int
        Number of the environment in the pool.
    field : str
        Name of the array, see `envpool.verify.records`; empty if the environment failed.
    index : tuple of int
        Index of the element in the row of the environment.
    upstream, envpool : object
        Value of the element in either package; None if `reason` is given.
    reason : str
        Why the records cannot be compared, for example because a shape differs; else empty.
    """

    step: int
    env: int
    field: str
    index: tuple[int, ...] = ()
    upstream: Any = None
    envpool: Any = None
    reason: str = ""


@dataclass
class Outcome:
    """Result of playing a task with one seed.

    Attributes
    ----------
    seed : int
        Environment ``i`` has the seed ``seed + i``.
    steps : int
        Number of steps that were compared completely.
    episodes : int
        Number of episodes that ended in them.
    fields : list of str
        Names of the arrays that were compared.
    difference : Difference or None
        None if every bit agrees.
    """

    seed: int
    steps: int = 0
    episodes: int = 0
    fields: list[str] = field(default_factory=list)
    difference: Difference | None = None


def play(task_id: str, oracle: Oracle, steps: int, seed: int, num_envs: int) -> Outcome:
    """Play a task and its upstream environments with the same seeds and the same random actions.

    Parameters
    ----------
    task_id : str
        The pool's task.
    oracle : Oracle
        The upstream environment.
    steps : int
        Number of steps of each environment. The step after the end of an episode resets the environment.
    seed : int
        Environment ``i`` has the seed ``seed + i``. The actions depend on `seed` as well.
    num_envs : int
        Number of environments.

    Returns
    -------
    Outcome
        The compared fields, and the first difference.

    Raises
    ------
    MissingUpstreamError
        A package of the upstream environment is missing.
    FailedUpstreamError
        An upstream environment raised an exception.
    ImportError
        A package is missing that the task needs.
    ConfigError
        The seed of an environment is outside of the task's range.
    """
    spec = make_spec(task_id, num_envs=num_envs, seed=seed, **oracle.options)
    if spec.config.players != "grid":
        refuse_players(spec, "envpool verify", "let the oracle's options have players='grid'")
    seeds = [seed + i for i in range(num_envs)]
    outcome = Outcome(seed)
    with ExitStack() as stack:
        stack.enter_context(np.errstate(all="ignore"))
        players = []
        for env_seed in seeds:
            with needs_upstream():
                players.append(oracle.start(env_seed))
            stack.callback(players[-1].close)
        pool = stack.enter_context(make_gymnasium(task_id, num_envs=num_envs, env_seed=seeds, **oracle.options))
        space = spec.action_space
        compare_step(outcome, 0, players, [None] * num_envs, as_reset(*pool.reset()))
        actions: Any = None
        for t in range(steps):
            if outcome.difference:
                break
            at = t % DRAWN_AT_ONCE
            if at == 0:
                actions = oracle.choose_actions(space, "random", min(steps - t, DRAWN_AT_ONCE), num_envs, seed + t)
            rows = [action_row(actions, at, i) for i in range(num_envs)]
            try:
                result = pool.step(action_batch(actions, at))
            except EnvStepError as error:
                env, reason = next(iter(error.failures.items()))
                with needs_upstream():
                    players[env].record(rows[env])
                outcome.difference = Difference(t + 1, env, "", reason=f"the environment failed: {reason}")
                break
            compare_step(outcome, t + 1, players, rows, result)
    never = [name for name in oracle.mapped if name not in outcome.fields]
    if never and not outcome.difference:
        reason = "upstream's info never had what the oracle maps to it: correct the oracle, or play more steps"
        outcome.difference = Difference(outcome.steps, 0, never[0], reason=reason)
    return outcome


def action_batch(actions: Any, t: int) -> Any:
    """Return the actions of all environments for one step."""
    return {k: action_batch(v, t) for k, v in actions.items()} if isinstance(actions, dict) else actions[t]


def compare_step(
    outcome: Outcome, step: int, players: Sequence[Player], actions: Sequence[Any], result: tuple[Any, ...]
) -> None:
    """Play one step upstream, and compare it with the result of the pool."""
    batch = batch_record(*result)
    for env, (player, action) in enumerate(zip(players, actions, strict=True)):
        with needs_upstream():
            record = player.record(action)
        outcome.difference = outcome.difference or first_difference(step, env, record, batch)
        outcome.fields += [name for name in record if name not in outcome.fields]
    if not outcome.difference:
        outcome.steps = step
        outcome.episodes += int((batch["terminated"] | batch["truncated"]).sum())


def first_difference(
    step: int, env: int, record: dict[str, Any], batch: dict[str, npt.NDArray[Any]]
) -> Difference | None:
    """Return the first difference between upstream's record and the row of an environment."""
    extra = [name for name in batch if name.startswith("obs") and name not in record]
    if extra:
        return Difference(step, env, extra[0], reason="upstream has no array of this name")
    for name, value in record.items():
        if name not in batch:
            return Difference(step, env, name, reason="the pool has no array of this name")
        expected, actual = np.asarray(value), np.asarray(batch[name][env])
        try:
            apart = bits_apart(expected, actual)
        except MismatchError as error:
            return Difference(step, env, name, reason=f"upstream and envpool have {error}")
        if apart.any():
            index = tuple(int(i) for i in np.argwhere(apart)[0])
            return Difference(step, env, name, index, expected[index], actual[index])
    return None
