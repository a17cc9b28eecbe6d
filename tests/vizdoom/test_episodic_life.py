"""Resets with `episodic_life`: one in the middle of an episode begins another game, as without the option."""

from __future__ import annotations

import numpy as np

import envpool
from tests.vizdoom.test_states import SMALL, play, rows_of


def test_a_reset_in_the_middle_of_an_episode_begins_another_game() -> None:
    found = []
    for episodic_life in (False, True):
        options = {"num_envs": 1, "seed": 3, "episodic_life": episodic_life, "autoreset_mode": "disabled", **SMALL}
        with envpool.make_gymnasium("DefendTheCenter-v1", **options) as pool:
            rows = [rows_of(pool.reset())]
            actions = np.zeros((5, *pool.sample_actions().shape), pool.sample_actions().dtype)
            rows += play(pool, 5, actions=actions)
            rows.append(rows_of(pool.reset()))
            found.append(rows + play(pool, 5, actions=actions))
    assert found[0] == found[1]
