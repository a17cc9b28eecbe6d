"""Levels that cannot be generated, and those that upstream never completes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import envpool
from envpool.errors import EnvStepError

#: Seeds with which upstream's first reset never returns.
ENDLESS = [1741, 2678, 3586, 4033]
ENDED = "was not complete after 4 million random draws"


def test_samples_that_upstream_never_completes() -> None:
    with envpool.make_gymnasium("BabyAI-SynthS5R2-v0", num_envs=len(ENDLESS), seed=ENDLESS) as pool:
        obs, _ = pool.reset()
        assert (obs["image"] != 0).any(axis=(1, 2, 3)).all()
        pool.step(np.zeros(len(ENDLESS), np.int32))


@pytest.mark.parametrize("task_id", ["MiniGrid-Playground-v0", "BabyAI-GoToObj-v0"])
def test_the_direction_of_a_goal_that_there_is_not(task_id: str) -> None:
    with envpool.make_gymnasium(task_id, goal_direction="slope") as pool:
        for _ in range(2):
            with pytest.raises(EnvStepError, match="its level has no goal: leave out goal_direction"):
                pool.reset()


@pytest.mark.parametrize(
    ("task_id", "options"),
    [
        ("MiniGrid-PutNear-6x6-N2-v0", {"num_objs": 12}),
        ("MiniGrid-MultiRoom-N6-v0", {"min_num_rooms": 60, "max_num_rooms": 60}),
        ("BabyAI-GoToLocal-v0", {"room_size": 4, "num_dists": 9}),
        ("BabyAI-PutNextLocal-v0", {"room_size": 3}),
        ("BabyAI-OneRoomS8-v0", {"room_size": 3}),
    ],
)
def test_levels_that_do_not_fit(task_id: str, options: dict[str, Any]) -> None:
    with envpool.make_gymnasium(task_id, seed=3, **options) as pool:
        for _ in range(2):
            with pytest.raises(EnvStepError, match=ENDED):
                pool.reset()
