"""After a failed or interrupted call of a sync pool: errors that name the way out, and starting over."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from envpool.errors import ActionError, EnvIdError, EnvStepError, EnvTimeoutError, PoolStateError, advise

#: Errors whose texts name methods of pools, see `explain`.
EXPLAINED = (EnvStepError, EnvTimeoutError, EnvIdError)
#: Follows "env <id>" in the text of the EnvIdError of an environment whose episode has ended.
NOT_RUNNING = " has no running episode"


def explain(pool: Any, error: Exception, way_out: str = "reset()", ended: str | None = None) -> None:
    """Let an error of a sync pool name the methods of a class that has no ``recv``; call it before raising the error.

    A call that was interrupted, by Ctrl-C for instance, leaves environments in flight, and a failed step leaves its
    batch in the pool. The latter is dropped, so that the environments can be stepped again.

    Parameters
    ----------
    pool : EnvPool
        The pool, in which nothing is in flight between the calls of the class.
    error : EnvStepError, EnvTimeoutError or EnvIdError
        The exception that a call of the pool raised; see `EXPLAINED`.
    way_out : str
        The call of the class that resets all environments and drops what is in flight.
    ended : str, optional
        The text of an EnvIdError for an environment whose episode has ended; "{env}" in it becomes "env <id>". By
        default, the error keeps the text of the pool.

    Raises
    ------
    PoolStateError
        An earlier call was interrupted, and environments are still in flight.
    """
    if isinstance(error, EnvStepError):
        others = "The results of the other envs were dropped; " if pool.num_envs > 1 else ""
        advise(error, f"{others}{way_out} starts {'new episodes' if others else 'a new episode'}")
        drop_in_flight(pool)
    elif isinstance(error, EnvTimeoutError):
        advise(error, f"{way_out} waits for them again, and close() does not wait for them")
    elif pool.num_outstanding:
        raise PoolStateError(
            f"a call was interrupted, and {pool.num_outstanding} envs are still in flight: call {way_out}, which waits "
            "for them and drops their results"
        ) from None
    elif ended is not None and NOT_RUNNING in str(error):
        error.args = (ended.replace("{env}", str(error).partition(NOT_RUNNING)[0]),)


def check_shape(name: str, action: Any, space: Any) -> None:
    """Raise ActionError if an action, which the pool has refused, has another shape than its space.

    The pool names the shape of its batch, which the user of a class with other actions has not passed.

    Parameters
    ----------
    name : str
        Name of the action in the text.
    action : object
        The action that was passed to the class.
    space : gymnasium.Space or dm_env.specs.Array
        Its space, or its dm_env spec.
    """
    parts = getattr(space, "spaces", None)
    if isinstance(parts, Mapping) and isinstance(action, Mapping):
        for key in parts.keys() & action.keys():
            check_shape(f"{name}[{key!r}]", action[key], parts[key])
    try:
        shape = tuple(np.shape(action))
    except ValueError:  # a ragged list, of which the text of the pool says so
        return
    if getattr(space, "shape", None) not in (None, shape):
        raise ActionError(f"{name} must have the shape {space.shape}, got {shape}") from None


def drop_in_flight(pool: Any) -> None:
    """Wait for the environments that are in flight, and drop their results."""
    while pool.num_outstanding:
        try:
            pool.recv(**{"min_ready": pool.num_outstanding} if pool.is_async else {})
        except EnvStepError:
            continue
        except EnvTimeoutError as error:
            advise(error, "The next reset waits for them again, and close() does not wait for them")
            raise


def start_over(pool: Any, way_out: str = "reset()", **kwargs: Any) -> Any:
    """Return ``pool.reset(**kwargs)`` of all environments, whatever an interrupted call has left in flight.

    `explain` describes `way_out`.
    """
    try:
        return pool.reset(**kwargs)
    except EXPLAINED as error:
        explain(pool, error, way_out)
        raise
