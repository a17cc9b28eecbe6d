"""Keyword arguments that may be given by a second name."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar, cast

F = TypeVar("F", bound=Callable[..., Any])


def with_alias(alias: str, name: str) -> Callable[[F], F]:
    """Return a decorator that lets callers pass the argument `name` of a function by the keyword `alias` as well.

    The signature and the documentation of the function show `name` only. A function with the decorator takes a fraction
    of a microsecond longer.
    """

    def decorate(function: F) -> F:
        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            if alias in kwargs:
                if name in kwargs:
                    raise TypeError(
                        f"{function.__name__}() takes {name} or {alias}, two names of one argument, not both"
                    )
                kwargs[name] = kwargs.pop(alias)
            return function(*args, **kwargs)

        return cast(F, call)

    return decorate
