"""Missions of MiniGrid as bytes, as text and as numbers."""

from __future__ import annotations

import numpy as np
import pytest

import envpool
from envpool.minigrid import decode_mission
from tests.minigrid.cases import TASKS

#: Number of missions of the levels that have several.
COUNTS = {
    "MiniGrid-Fetch-5x5-N2-v0": 60,
    "MiniGrid-GoToDoor-5x5-v0": 6,
    "MiniGrid-GoToObject-6x6-N2-v0": 18,
    "MiniGrid-KeyCorridorS3R1-v0": 6,
    "MiniGrid-BlockedUnlockPickup-v0": 6,
    "MiniGrid-UnlockPickup-v0": 6,
    "MiniGrid-LockedRoom-v0": 30,
}


@pytest.mark.parametrize("task_id", [i for i in TASKS if i.startswith("MiniGrid")])
def test_numbers_tell_missions_apart(task_id: str) -> None:
    numbers: dict[str, set[int]] = {}
    with envpool.make_gymnasium(task_id, num_envs=100, seed=5) as pool:
        for _ in range(6):
            obs, info = pool.reset()
            for text, number in zip(decode_mission(obs["mission"]), info["mission_id"], strict=True):
                numbers.setdefault(text, set()).add(int(number))
    assert all(len(found) == 1 for found in numbers.values())
    assert len(set.union(*numbers.values())) == len(numbers)
    assert min(set.union(*numbers.values())) >= 0
    if task_id in COUNTS:
        assert len(numbers) == COUNTS[task_id]


def test_long_missions_are_cut() -> None:
    with envpool.make_gymnasium("MiniGrid-DoorKey-5x5-v0", num_envs=2, mission_bytes=7) as pool:
        obs, _ = pool.reset()
    assert obs["mission"].shape == (2, 7)
    assert decode_mission(obs["mission"]).tolist() == ["use the", "use the"]
    assert decode_mission(obs["mission"][0]) == "use the"


def test_shapes_of_decoded_missions() -> None:
    rows = np.frombuffer(b"ab\0c\0\0", np.uint8).reshape(1, 2, 3)
    found = decode_mission(rows)
    assert found.shape == (1, 2)
    assert found.tolist() == [["ab", "c"]]
    assert decode_mission(rows[:, :0]).shape == (1, 0)


@pytest.mark.parametrize("value", ["go", np.zeros(3), np.uint8(4)])
def test_what_is_no_mission(value: object) -> None:
    with pytest.raises(TypeError, match="must be an array of uint8"):
        decode_mission(value)
