"""Saved states of MiniGrid that were made up: which are refused, and that no bytes make a level leave its arrays."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from envpool.errors import StateError
from tests.minigrid.cases import LEVELS
from tests.support.saved import CORE, body_of, core_at, make, play, sealed

#: Offsets in the state of an env, behind its generator.
WIDTH, X, Y, DIRECTION, CARRYING, STEP_COUNT, MAX_STEPS, NUM_OBJECTS = 40, 48, 52, 56, 60, 64, 68, 80
TARGETS, MISSION_LENGTH = 84, 112
WHERE = MISSION_LENGTH + 4 + 512
CONTENTS = WHERE + 2 * 2 * 128
TASK = "MiniGrid-ObstructedMaze-1Dlhb-v0"
FORGED = [
    (WIDTH, 12),
    (WIDTH + 4, 5),
    (X, -1),
    (X, 11),
    (Y, 6),
    (DIRECTION, 4),
    (DIRECTION, -1),
    (CARRYING, 0),
    (CARRYING, 11),
    (CARRYING, 5 | 6 << 8),
    (CARRYING, 4 | 3 << 16),
    (STEP_COUNT, -1),
    (MAX_STEPS, 0),
    (NUM_OBJECTS, 128),
    (NUM_OBJECTS, -1),
    (MISSION_LENGTH, 512),
    (MISSION_LENGTH, -1),
    (TARGETS, 66),
    (TARGETS + 20, -2),
    (WHERE, 66),
    (WHERE + 254, -2),
    (CONTENTS + 4, 12),
]


@pytest.mark.parametrize(("offset", "value"), FORGED)
def test_values_that_are_refused(offset: int, value: int) -> None:
    with make(TASK) as pool:
        pool.reset()
        before = pool.get_state()
        body = body_of(before[1])
        at = core_at(before[1]) + CORE.size + offset
        struct.pack_into("<i" if not WHERE <= offset < CONTENTS else "<h", body, at, value)
        with pytest.raises(StateError, match="it has values that get_state"):
            pool.set_state(sealed(body), 1)
        assert pool.get_state() == before
        assert play(pool)


@pytest.mark.parametrize("task_id", LEVELS)
def test_random_values_never_crash(task_id: str) -> None:
    """Levels continue from any values that are accepted."""
    rng = np.random.default_rng(0)
    restored = 0
    with make(task_id, num_envs=1, render_mode="rgb_array", tile_size=2) as pool:
        pool.reset()
        play(pool, 20)
        genuine = pool.get_state(0)
        start = core_at(genuine) + CORE.size + WIDTH
        size = len(body_of(genuine)) - start
        for k in range(150):
            body = body_of(genuine)
            for at in start + rng.integers(8, size - 4, rng.integers(1, 6)):
                if k % 2:
                    body[at] = rng.integers(0, 10)
                else:
                    struct.pack_into("<i", body, at // 4 * 4, rng.integers(-1, 10))
            try:
                pool.set_state(sealed(body), 0)
            except StateError:
                continue
            restored += 1
            play(pool, 8, k)
            pool.render([0])
    assert restored > 5
