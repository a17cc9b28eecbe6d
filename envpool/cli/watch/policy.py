"""Policies of ``envpool watch``: random actions, or a function in a file."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from envpool.cli.bench.actions import draw_actions, rounds_of
from envpool.errors import ConfigError
from envpool.spec import EnvSpec

#: Takes the observations of all envs and returns their actions.
Policy = Callable[[Any], Any]


def load_policy(text: str, spec: EnvSpec) -> Policy:
    """Return the policy that the argument ``--policy`` names.

    Parameters
    ----------
    text : str
        ``"random"``, or ``"FILE.py:function"``, a function that takes the observations of all envs and returns their
        actions.
    spec : EnvSpec
        Spec of the pool that the policy acts in.

    Returns
    -------
    callable
        Takes the observations of all envs and returns their actions.

    Raises
    ------
    ConfigError
        If `text` has neither form, or the file or the function does not exist.
    """
    if text == "random":
        return random_policy(spec)
    path, colon, name = text.rpartition(":")
    if not colon or not path.endswith(".py") or not name.isidentifier():
        raise ConfigError(f"--policy must be random or FILE.py:function, got {text!r}")
    if not Path(path).is_file():
        raise ConfigError(f"--policy: the file {path!r} does not exist")
    function = runpy.run_path(path).get(name)
    if not callable(function):
        raise ConfigError(f"--policy: {path} has no function {name!r}")
    found: Policy = function
    return found


def random_policy(spec: EnvSpec) -> Policy:
    """Return a policy that draws random actions, the same sequence in every run."""
    rng = np.random.default_rng(0)
    rounds: list[Any] = []

    def act(observations: Any) -> Any:
        if not rounds:
            rounds.extend(rounds_of(draw_actions(spec, rng), spec.config.num_envs))
        return rounds.pop()

    return act
