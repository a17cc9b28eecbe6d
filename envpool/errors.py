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
        shown = "; ".join(f"env {i}: {text}" for i, text in list(failures.items())[:8])
        more = f"; and {len(failures) - 8} more" if len(failures) > 8 else ""
        super().__init__(
            f"{len(failures)} env(s) failed: {shown}{more}. recv() still returns the batch; these envs reset next"
        )
