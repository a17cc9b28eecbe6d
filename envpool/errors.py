"""Exceptions, all of which derive from `EnvPoolError`.

Each also has the type that EnvPool 1.2.5 raises for the same mistake, so that old handlers keep working.
"""

import functools
import sys
import types

__all__ = [
    "ActionError",
    "ConfigError",
    "EnvCreateError",
    "EnvIdError",
    "EnvPoolError",
    "EnvStepError",
    "EnvTimeoutError",
    "PoolClosedError",
    "PoolStateError",
    "RenderError",
    "StateError",
    "UnknownTaskError",
    "UnwrittenRowsError",
]


class EnvPoolError(Exception):
    """Base class of all exceptions of this package.

    Functions also raise TypeError for an argument of a wrong type or name, and ImportError for a missing package.
    """

    def __reduce__(self) -> tuple[object, ...]:
        """Return what pickling and copying need: `args` is the text, which is not what constructors take."""
        return _restored, (type(self), self.args), self.__dict__


def _restored(cls: type[EnvPoolError], args: tuple[object, ...]) -> EnvPoolError:
    """Return an exception of a class with its `args`, without a call of the constructor."""
    error = cls.__new__(cls)
    error.args = args
    return error


class ConfigError(EnvPoolError, AssertionError, ValueError):
    """A configuration value is not allowed."""


class UnknownTaskError(EnvPoolError, AssertionError, KeyError):
    """No task has this id."""

    __str__ = Exception.__str__  # KeyError would put the text in quotes


class ActionError(EnvPoolError, RuntimeError, ValueError):
    """Actions have a wrong dtype, shape, number of rows or value."""


class EnvIdError(EnvPoolError, IndexError, ValueError):
    """Env ids are out of range, repeated, or of environments that cannot be used at the moment."""


class PoolStateError(EnvPoolError, RuntimeError):
    """The pool cannot execute the call in its current state: it is closed, forked, or has nothing to receive."""


class PoolClosedError(PoolStateError):
    """The pool is closed. If gymnasium is imported, the error is also a ``gymnasium.error.ClosedEnvironmentError``."""

    def __new__(cls, *args: object) -> "PoolClosedError":
        """Return an exception of this class, or of one that derives from gymnasium's as well."""
        error = sys.modules.get("gymnasium.error")
        return super().__new__(cls if error is None or cls is not PoolClosedError else _closed_error(error), *args)

    def __reduce__(self) -> tuple[object, ...]:
        """Return what pickling needs: another process may not have imported gymnasium."""
        return _restored, (PoolClosedError, self.args), self.__dict__


@functools.cache
def _closed_error(error: types.ModuleType) -> type[PoolClosedError]:
    """Return PoolClosedError with the base class that gymnasium's module `error` has for closed environments."""
    bases: tuple[type, ...] = (PoolClosedError, error.ClosedEnvironmentError)
    return type("PoolClosedError", bases, {"__module__": __name__, "__doc__": PoolClosedError.__doc__})


class EnvCreateError(EnvPoolError, RuntimeError):
    """The environments of a pool could not be created, for a reason that the environment gives.

    Attributes
    ----------
    name : str
        Name of the environment definition.
    status : int
        Status that the environment's ``create`` returned.
    text : str
        Reason in the environment's own words; empty if it gave none.
    """

    def __init__(self, name: str, status: int, text: str):
        self.name = name
        self.status = status
        self.text = text
        super().__init__(f"{name} could not be created: {text or f'it gave no reason (status {status})'}")


#: How a failed environment starts its next episode, by auto-reset mode, in the order of the codes of the core.
NEXT_EPISODES = {
    "next_step": "the next step of a failed env resets it",
    "same_step": "a failed env has been reset, or its next step resets it if that failed, too",
    "disabled": "reset(env_id) starts a new episode of a failed env",
}


class EnvStepError(EnvPoolError, RuntimeError):
    """Environments failed in a step or a reset, or while being seeded.

    The batch is not lost: the next ``recv()`` returns it. The rows of failed environments are zero and truncated. The
    auto-reset mode determines how these environments are reset, see ``on_error``. If a failed environment is Python
    code in this process, the cause of the error, ``__cause__``, is the exception that the environment raised, that of
    the first one if several failed.

    Attributes
    ----------
    failures : dict of int to str
        Reason of the failure by env id.
    """

    def __init__(self, failures: dict[int, str], autoreset_mode: str = "next_step"):
        self.failures = failures
        self._problem = f"{len(failures)} env(s) failed: {listed(failures)}"
        super().__init__(f"{self._problem}. recv() still returns the batch; {NEXT_EPISODES[autoreset_mode]}")


class EnvTimeoutError(TimeoutError, PoolStateError):
    """A call waits for environments that have been running for longer than the option ``step_timeout``.

    Nothing is lost: the environments stay in flight, and the results of other environments can be received. The next
    ``recv()`` waits for the environments again, and raises again after another step_timeout.

    Attributes
    ----------
    running : dict of int to float
        By env id, the seconds since a thread began the call that simulates the environment. One call may simulate
        several cheap environments; all of them are listed, since it is unknown which is stuck.
    """

    __reduce__ = EnvPoolError.__reduce__  # OSError has one, too

    def __init__(self, running: dict[int, float], timeout: float, is_blocked: bool):
        self.running = running
        times = {i: f"for {seconds:.3g} s" for i, seconds in running.items()}
        rest = "; no thread of the pool is left for the other envs" if is_blocked else ""
        self._problem = (
            f"{len(running)} env(s) have been running for longer than step_timeout={timeout:g} seconds: {listed(times)}"
            f"{rest}"
        )
        super().__init__(f"{self._problem}. recv() waits for them again, and close() does not wait for them")


class RenderError(EnvPoolError, RuntimeError):
    """Environments could not be rendered. The pool stays usable.

    Attributes
    ----------
    failures : dict of int to str
        Reason of the failure by env id; empty if the failure does not concern an environment, but e.g. the display.
    """

    def __init__(self, failures: dict[int, str], text: str = ""):
        self.failures = failures
        self._problem = text or f"{len(failures)} env(s) could not be rendered: {listed(failures)}"
        super().__init__(self._problem)


class StateError(EnvPoolError, ValueError):
    """A state cannot be saved or restored: it is corrupt, of another task, or the environment does not support it."""


class UnwrittenRowsError(EnvPoolError, AssertionError):
    """A native environment leaves out a value that it must write, see `envpool.verify.rows.check_rows`."""


def advise(error: EnvStepError | EnvTimeoutError, way_out: str) -> None:
    """Replace the part of an error's text that says what to do, for classes that lack the methods of a pool."""
    error.args = (f"{error._problem}. {way_out}",)


def listed(failures: dict[int, str]) -> str:
    """Return a text that names up to eight failures and counts the others."""
    shown = "; ".join(f"env {i}: {text}" for i, text in list(failures.items())[:8])
    return shown + (f"; and {len(failures) - 8} more" if len(failures) > 8 else "")
