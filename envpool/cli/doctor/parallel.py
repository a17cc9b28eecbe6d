"""Several checks at a time, each of which waits for its own process."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from envpool._support.machine import cpu_limit

T = TypeVar("T")
R = TypeVar("R")


def parallel(call: Callable[[T], R], items: Iterable[T]) -> list[R]:
    """Return the results of a function for each item, with one thread per CPU."""
    with ThreadPoolExecutor(cpu_limit()) as executor:
        return list(executor.map(call, items))
