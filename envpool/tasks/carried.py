"""Refusal of observations that travel as Python objects, for what reads only the arrays of a batch."""

from __future__ import annotations

from typing import Any

from envpool.errors import ConfigError


def refuse_objects(config: Any, what: str, way_out: str = "") -> None:
    """Raise ConfigError if a part of the observations of Python environments is carried as objects.

    Parameters
    ----------
    config : namedtuple
        The configuration of the spec.
    what : str
        Subject of the sentence: the thing that needs arrays.
    way_out : str
        A remedy besides wrapping the environment; it ends with ", or ".
    """
    observations = getattr(getattr(config, "source", None), "observations", None)
    for leaf in getattr(observations, "objects", ()):
        raise ConfigError(
            f"{what} needs observations that are arrays of the pool, but {leaf.name!r} has the space {leaf.space} "
            f"({leaf.misfit}): {way_out}wrap the environment, for example in gymnasium.wrappers.TransformObservation, "
            "so that it returns arrays of another dtype or shape"
        )
