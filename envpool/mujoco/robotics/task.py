"""One row of the task table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Task:
    """A task of Gymnasium-Robotics.

    Attributes
    ----------
    id : str
        The id, which is EnvPool's and, in its current version, Gymnasium-Robotics'.
    module : str
        Module of this package with the env definition.
    env : str
        Class of the env definition.
    max_episode_steps : int
        Time limit of an episode, in steps.
    upstream_id : str
        Id of the upstream environment. Versions that need mujoco-py cannot be made any more; they are the current
        version here, as in EnvPool.
    options : mapping
        Options that differ from the defaults of the env definition.
    """

    id: str
    module: str
    env: str
    max_episode_steps: int
    upstream_id: str
    options: Mapping[str, Any] = field(default_factory=dict)
