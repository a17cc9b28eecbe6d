"""After a failed or interrupted call of a sync pool: errors that name the way out, and starting over."""

from __future__ import annotations

from typing import Any

from envpool.errors import EnvIdError, EnvStepError, EnvTimeoutError, PoolStateError, advise

#: Errors whose texts name methods of pools, see `explain`.
EXPLAINED = (EnvStepError, EnvTimeoutError, EnvIdError)


def explain(pool: Any, error: Exception, way_out: str = "reset()") -> None:
    """Let an error of a sync pool name the methods of a class that has no ``recv``; call it before raising the error.

    A call that was interrupted, by Ctrl-C for instance, leaves environments in flight, and a failed step leaves its
    batch in the pool. The latter is dropped, so that the environments can be stepped again.

    Parameters
    ----------
    pool : EnvPool
        The pool, in which nothing is in flight between the calls of the class.
    error : EnvStepError, EnvTimeoutError or EnvIdError
        What a call of the pool has raised; see `EXPLAINED`.
    way_out : str
        The call of the class that resets all environments and drops what is in flight.

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
