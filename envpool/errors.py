"""Exceptions. Each is also of the type that EnvPool 1.2.5 raises for the same mistake: old handlers keep working."""


class ConfigError(AssertionError, ValueError):
    """A configuration value is not allowed."""


class UnknownTaskError(AssertionError, KeyError):
    """No task has this id."""

    __str__ = Exception.__str__  # KeyError would show the text in quotes


class ActionError(RuntimeError, ValueError):
    """Actions have the wrong dtype, shape, number or value."""


class EnvIdError(IndexError, ValueError):
    """Env ids are out of range, repeated, or of envs that may not be used now."""


class PoolStateError(RuntimeError):
    """The call does not fit the state of the pool: closed, forked, or nothing to receive."""


class EnvStepError(RuntimeError):
    """Environments failed while stepping.

    The batch is not lost: the next ``recv()`` returns it. Rows of failed envs are zero and truncated there, and their
    next step resets them.

    Attributes
    ----------
    failures : dict of int to str
        Env id to what went wrong.
    """

    def __init__(self, failures: dict[int, str]):
        self.failures = failures
        super().__init__(
            f"{len(failures)} env(s) failed: {listed(failures)}. recv() still returns the batch; these envs reset next"
        )


class RenderError(RuntimeError):
    """Environments could not be drawn. The pool goes on.

    Attributes
    ----------
    failures : dict of int to str
        Env id to what went wrong; empty where it concerns no environment, but e.g. the display.
    """

    def __init__(self, failures: dict[int, str], text: str = ""):
        self.failures = failures
        super().__init__(text or f"{len(failures)} env(s) could not be drawn: {listed(failures)}")


def listed(failures: dict[int, str]) -> str:
    """Return what failed, at most eight of them."""
    shown = "; ".join(f"env {i}: {text}" for i, text in list(failures.items())[:8])
    return shown + (f"; and {len(failures) - 8} more" if len(failures) > 8 else "")
