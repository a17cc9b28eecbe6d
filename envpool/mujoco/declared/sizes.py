"""Limits of the sizes of declarations: printing, hashing and compiling an expression recurses into its parts."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

from envpool.errors import ConfigError

#: The most terms and expressions in an argument. An expression that occurs several times counts each time.
MAX_NODES = 20_000

#: The most expressions that contain one another.
MAX_DEPTH = 200


def check_size(argument: str, terms: Any) -> None:
    """Raise a ConfigError if an argument of `declare` has too many expressions, or too deeply nested ones."""
    nodes, _ = size_of(argument, terms, {}, 0)
    if nodes > MAX_NODES:
        raise ConfigError(
            f"{argument} has more than {MAX_NODES} expressions (one that is used twice counts twice); replace "
            "operations on single numbers with operations on vectors, or compute the value with a BatchFunction"
        )


def size_of(argument: str, node: Any, known: dict[int, tuple[int, int]], depth: int) -> tuple[int, int]:
    """Return the number of dataclasses in a nest of tuples and dataclasses, and how many contain one another.

    `known` has the results for the dataclasses that were visited, by their id. Since each of them is visited once, the
    time does not depend on how often it occurs.
    """
    if isinstance(node, tuple):
        sizes = [size_of(argument, item, known, depth) for item in node]
        return sum(nodes for nodes, _ in sizes), max((height for _, height in sizes), default=0)
    if not is_dataclass(node):
        return 0, 0
    if id(node) not in known and depth <= MAX_DEPTH:
        parts: list[Any] = []
        for item in fields(node):
            value = getattr(node, item.name)
            parts.extend(value if isinstance(value, tuple) else (value,))  # a call less for each of them
        nodes, height = size_of(argument, tuple(parts), known, depth + 1)
        known[id(node)] = nodes + 1, height + 1
    if id(node) not in known or depth + known[id(node)][1] > MAX_DEPTH + 1:
        raise ConfigError(
            f"{argument} has an expression that is nested more than {MAX_DEPTH} deep; replace chains such as "
            "a + b + c + ... with operations on vectors, for example Sum"
        )
    return known[id(node)]
