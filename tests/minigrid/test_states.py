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


def test_positions_among_the_seeds_that_are_refused() -> None:
    """With equal seeds, the position is all that two resets leave different in the environment's own part."""
    with make("MiniGrid-DoorKey-5x5-v0", num_envs=1, reset_seeds=(5, 5, 5)) as pool:
        pool.reset()
        first, start = body_of(pool.get_state(0)), core_at(pool.get_state(0)) + CORE.size
        pool.reset()
        body = body_of(pool.get_state(0))
        (at,) = (i for i in range(start, len(body)) if body[i] != first[i])
        assert (first[at], body[at]) == (1, 2)
        for value, is_allowed in ((0, True), (2, True), (3, False), (255, False)):
            body[at] = value
            if is_allowed:
                pool.set_state(sealed(body), 0)
            else:
                with pytest.raises(StateError, match="it has values that get_state"):
                    pool.set_state(sealed(body), 0)
        assert play(pool)


def test_a_count_stays_at_its_largest_value() -> None:
    with make("MiniGrid-Empty-5x5-v0", num_envs=1, bonus="position") as pool:
        pool.reset()
        body = body_of(pool.get_state(0))
        assert bytes(body[-100:]) == bytes(100)
        body[-100:] = b"\xff" * 100
        pool.set_state(sealed(body), 0)
        for _ in range(2):
            _, reward, *_ = pool.step(np.zeros(1, np.int32))
            assert reward[0] == np.float32(1 / np.sqrt(2**32 - 1))
        assert body_of(pool.get_state(0))[-100:] == b"\xff" * 100
