"""Saved states of MinAtar that were made up: which are refused, and that no bytes make the games leave their arrays."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from envpool.errors import StateError
from tests.minatar.cases import TASKS
from tests.support.saved import CORE, body_of, core_at, make, play, sealed

#: Offset of the position in the generator, of the last action and of what the game itself keeps.
POSITION, ACTION, GAME = 4 * 624, 4 * 624 + 16, 4 * 624 + 24


@pytest.mark.parametrize(
    ("name", "offset", "value"),
    [
        ("Breakout", POSITION, -1),
        ("Breakout", POSITION, 625),
        ("Breakout", POSITION + 4, 2),
        ("Breakout", ACTION, 6),
        ("Breakout", ACTION, -1),
        ("Breakout", ACTION + 4, 1),  # an ended episode, from which no step starts
        ("Breakout", GAME, -1),  # bricks
        ("Breakout", GAME + 4, 10),  # column of the ball
        ("Breakout", GAME + 8, 9),  # row of the ball: the last one, which it cannot leave
        ("Breakout", GAME + 20, 0),  # direction
        ("Breakout", GAME + 28, 10),  # paddle
        ("Freeway", GAME, 10),
        ("Freeway", GAME + 4, 6),
        ("Freeway", GAME + 8 * 16, 0),
        ("Asterix", GAME + 4, -1),
        ("Asterix", GAME + 8 * 16 + 4, 9),
        ("Seaquest", GAME, 9),  # faces left at the right border: its back would be outside
        ("Seaquest", GAME + 4, 9),
        ("Seaquest", GAME + 12, 201),
        ("Seaquest", GAME + 16, 7),
        ("Seaquest", GAME + 48, 73),  # number of bullets
        ("Seaquest", GAME + 48, -1),
        ("SpaceInvaders", GAME, 1 << 10),
        ("SpaceInvaders", GAME + 120, 10),
        ("SpaceInvaders", GAME + 124, 0),
    ],
)
def test_values_that_are_refused(name: str, offset: int, value: int) -> None:
    with make(f"MinAtar/{name}-v0") as pool:
        pool.reset()
        before = pool.get_state()
        body = body_of(before[1])
        struct.pack_into("<i", body, core_at(before[1]) + CORE.size + offset, value)
        with pytest.raises(StateError, match="it has values that get_state"):
            pool.set_state(sealed(body), 1)
        assert pool.get_state() == before
        assert play(pool)


@pytest.mark.parametrize("task_id", TASKS[::2])
def test_random_values_never_crash(task_id: str) -> None:
    """Games continue from any values that are accepted, in which there may be more things than a game ever has."""
    rng = np.random.default_rng(0)
    restored = 0
    with make(task_id, num_envs=2, render_mode="rgb_array") as pool:
        pool.reset()
        play(pool, 60)
        genuine = pool.get_state(0)
        start = core_at(genuine) + CORE.size + ACTION
        for k in range(2000):
            body = body_of(genuine)
            for at in rng.integers(start, len(body) - 4, rng.integers(1, 4)):
                if k % 2:
                    body[at] = rng.integers(0, 12)
                else:
                    struct.pack_into("<i", body, start + (at - start) // 4 * 4, rng.integers(-1, 10))
            try:
                pool.set_state(sealed(body), 0)
            except StateError:
                continue
            restored += 1
            play(pool, 12, k)
            pool.render([0])
    assert restored > 50


def test_full_swarms() -> None:
    """Equal things fill every place of each swarm, and there is no room for those that appear."""
    with make("MinAtar/Seaquest-v0", num_envs=1) as pool:
        pool.reset()
        state = pool.get_state(0)
        body = body_of(state)
        game = core_at(state) + CORE.size + GAME
        capacity = 72
        swarm = struct.calcsize("<i") + 5 * capacity
        things = {1: (4, 3, 1, 0, 0), 2: (4, 4, 0, 2, 0), 3: (4, 5, 1, 2, 0), 4: (7, 6, 1, 5, 0)}
        struct.pack_into("<i", body, game + 36, 0)  # an enemy appears now
        struct.pack_into("<i", body, game + 40, 0)  # and a diver
        for index, thing in things.items():
            at = game + 48 + index * swarm
            struct.pack_into("<i", body, at, capacity)
            body[at + 4 : at + swarm] = bytes(thing) * capacity
        pool.set_state(sealed(body))
        for _ in range(80):
            _, _, terminated, _, _ = pool.step(np.zeros(1, np.int32))
            assert not terminated[0]
