"""Pools in the forms that other libraries expect: one module per library; an extra of the same name installs it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from envpool._support.packages import install


@contextmanager
def needs(extra: str) -> Iterator[None]:
    """Turn a missing library into an ImportError that names the extra; the library is imported in the body.

    Parameters
    ----------
    extra : str
        Name of the adapter's module, which is also the name of its extra in pyproject.toml.

    Raises
    ------
    ImportError
        A module that the body imports is missing.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        raise ImportError(f"envpool.adapters.{extra} needs {error.name}: {install(extra)}") from error
