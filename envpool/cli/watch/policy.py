"""Who acts: chance, or a function in a file."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from envpool.cli.bench.actions import draw_actions, rounds_of
from envpool.errors import ConfigError
from envpool.spec import EnvSpec

#: Observations of all envs -> their actions.
Policy = Callable[[Any], Any]


def load_policy(text: str, spec: EnvSpec) -> Policy:
    """Return the policy that an argument names.

    Parameters
    ----------
    text : str
        ``"random"``, or ``"FILE.py:function"``: a function of the observations of all envs that returns their actions.
    spec : EnvSpec
        The task.

    Raises
    ------
    ConfigError
        Neither of the two, or no such file or function.
    """
    if text == "random":
        return random_policy(spec)
    path, colon, name = text.rpartition(":")
    if not colon or not path.endswith(".py") or not name.isidentifier():
        raise ConfigError(f"--policy must be random or FILE.py:function, got {text!r}")
    if not Path(path).is_file():
        raise ConfigError(f"--policy: there is no file {path!r}")
    function = runpy.run_path(path).get(name)
    if not callable(function):
        raise ConfigError(f"--policy: {path} has no function {name!r}")
    found: Policy = function
    return found


def random_policy(spec: EnvSpec) -> Policy:
    """Return a policy that draws actions, the same in each run."""
    rng = np.random.default_rng(0)
    rounds: list[Any] = []

    def act(observations: Any) -> Any:
        if not rounds:
            rounds.extend(rounds_of(draw_actions(spec, rng), spec.config.num_envs))
        return rounds.pop()

    return act
