"""Pools in the forms that other libraries want: a module for each library, which an extra of that name installs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def needs(extra: str) -> Iterator[None]:
    """Import a library inside this; where it is missing, that is an ImportError which names the extra.

    Parameters
    ----------
    extra : str
        Name of the adapter's module and of its extra in pyproject.toml.

    Raises
    ------
    ImportError
        A module is missing.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        raise ImportError(f"envpool.adapters.{extra} needs {error.name}: pip install 'envpool[{extra}]'") from error
