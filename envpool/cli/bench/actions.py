"""Random actions, drawn before the measurement starts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from envpool.sampling.random_actions import random_actions_of
from envpool.sampling.sampler import Sampler
from envpool.tasks.players import has_players
from envpool.tasks.spec import EnvSpec

#: Limits on the rounds of actions that are drawn in advance and then used in turn: their number and their total bytes.
MAX_ROUNDS = 16
MAX_BYTES = 2**26


def draw_actions(spec: EnvSpec) -> dict[str, np.ndarray]:
    """Return random actions for all environments, the same in every call.

    Parameters
    ----------
    spec : EnvSpec
        Spec of the pool that takes the actions.

    Returns
    -------
    dict of str to numpy.ndarray
        For each action field, an array (rounds, num_envs, *row shape) of its dtype with values within its bounds. A
        field of players has a place for each of those that are controlled.
    """
    fields, sampler = random_actions_of(spec).fields, Sampler(0)
    num_envs = spec.config.num_envs
    size = sum(field.dtype.itemsize * int(np.prod(field.shape)) for field in fields.values()) * num_envs
    rounds = max(2, min(MAX_ROUNDS, MAX_BYTES // size))
    drawn = {
        name: field.draw(sampler, rounds * num_envs).reshape(rounds, num_envs, *field.shape)
        for name, field in fields.items()
    }
    if spec.controlled is None:
        return drawn
    own, of_players = list(spec.shown_players), {field.name for field in spec.action_fields if has_players(field)}
    return {name: array[:, :, own] if name in of_players else array for name, array in drawn.items()}


def rounds_of(actions: Mapping[str, np.ndarray], batch_size: int) -> list[Any]:
    """Return the rounds in the form that step() takes, cut to the first `batch_size` envs.

    Each round is an array if there is one action field, otherwise a dict of arrays by field name.
    """
    if len(actions) == 1:
        (values,) = actions.values()
        return [a[:batch_size] for a in values]
    count = len(next(iter(actions.values())))
    return [{name: values[k, :batch_size] for name, values in actions.items()} for k in range(count)]
