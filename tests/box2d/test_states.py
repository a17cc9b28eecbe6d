"""Saved states of Box2D's environments: sizes, exhaust that was never drawn, forged values."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import pytest

from envpool.errors import StateError
from tests.support.saved import CORE, body_of, core_at, make, play, sealed

RNGS = 80  # bytes of the two generators with which a snapshot begins
PARAMS = 17 * 8  # bytes of the parameters of LunarLander, which follow


def fly(pool: Any, steps: int, first: int = 0) -> None:
    """Step landers that fire their main engine most of the time, so that they do not land for a while."""
    for t in range(first, first + steps):
        pool.step(np.full(pool.num_envs, 2 if t % 5 else 0, np.int32))


@pytest.mark.parametrize(("task_id", "steps"), [("LunarLander-v3", 300), ("BipedalWalkerHardcore-v3", 120)])
def test_size(task_id: str, steps: int) -> None:
    with make(task_id) as pool:
        pool.reset()
        largest = 0
        for seed in range(steps // 30):
            play(pool, 30, seed)
            largest = max(largest, *(state.nbytes for state in pool.get_state()))
        assert 500 < largest <= 16 * 1024


def test_size_of_tracks() -> None:
    """Every tile and every mark on the ground belongs to a state."""
    with make("CarRacing-v3") as pool:
        pool.reset()
        actions = np.zeros((3, 3), np.float32)
        for t in range(150):
            actions[:] = np.sin(t / 7), 1, 0.3 * (t % 40 > 30)
            pool.step(actions)
        assert all(5000 < state.nbytes <= 16 * 1024 for state in pool.get_state())


def test_exhaust_that_was_never_drawn() -> None:
    """The first frame shows the exhaust of the whole episode, also in a pool that has drawn other exhaust before."""
    options = {"render_mode": "rgb_array", "render_height": 100, "render_width": 150, "seed": 4}
    with make("LunarLander-v3", **options) as pool:
        pool.reset()
        fly(pool, 60)
        states = pool.get_state()
        frames = [pool.render()]
        for t in range(3):
            fly(pool, 1, 60 + t)
            frames.append(pool.render())
        faded = pool.get_state()
        fly(pool, 5, 63)
        frames.append(pool.render())
    with make("LunarLander-v3", **{**options, "seed": 9}) as pool:
        pool.reset()
        fly(pool, 30)
        pool.render()
        for _ in range(2):
            pool.set_state(states)
            assert np.array_equal(pool.render(), frames[0])
            for t in range(3):
                fly(pool, 1, 60 + t)
                assert np.array_equal(pool.render(), frames[1 + t])
            assert pool.get_state() == faded
        pool.set_state(faded[1], 1)
        fly(pool, 5, 63)
        assert np.array_equal(pool.render(), frames[-1])


def test_forged_steps_of_the_exhaust() -> None:
    """However many steps a state claims to be behind its particles, a frame simulates few of them."""
    options = {"render_mode": "rgb_array", "render_height": 10, "render_width": 15, "seed": 4}
    with make("LunarLander-v3", num_envs=1, **options) as pool:
        pool.reset()
        for t in range(64):
            pool.step(np.full(1, 2 if t == 63 else 0, np.int32))
        pool.render()
        body = body_of(pool.get_state(0))
        at = body.index(struct.pack("<iqq", 65, 1, 0))  # steps, particles, and the first one that has not faded
        particle, world = at + 29, at + 50
        assert struct.unpack_from("<i", body, particle) == (64,)
        assert struct.unpack_from("<?iq", body, world - 1) == (1, 65, 1)
        body[at : at + 4] = struct.pack("<i", 1 << 24)
        pool.set_state(sealed(body))
        pool.render()
        pool.step(np.zeros(1, np.int32))
        body[particle : particle + 4] = struct.pack("<i", (1 << 24) - 1)
        with pytest.raises(StateError, match="it has values that get_state"):  # it is in the world before its step
            pool.set_state(sealed(body))


@pytest.mark.parametrize("task_id", ["LunarLander-v3", "BipedalWalker-v3", "CarRacing-v3"])
def test_every_forged_byte_is_refused_or_harmless(task_id: str) -> None:
    """Each 4 bytes, or every tenth of a longer state, are replaced by values that no index, count or number allows."""
    with make(task_id, num_envs=2, seed=3) as pool:
        pool.reset()
        play(pool, 12)
        genuine = pool.get_state(0)
        start, body = core_at(genuine) + CORE.size, body_of(genuine)
        refused = 0
        step = max(4, 40 * (len(body) > 4000))
        for at in range(start, len(body) - 4, step):
            for value in (b"\xff\xff\xff\x7f", b"\xff\xff\xff\xff"):
                changed = body.copy()
                changed[at : at + 4] = value
                try:
                    pool.set_state(sealed(changed), 0)
                except StateError:
                    refused += 1
                else:
                    play(pool, 1)
        assert refused > (len(body) - start) // step // 2


@pytest.mark.parametrize(
    ("offset", "value"),
    [
        (24, struct.pack("<Q", 2)),  # an even increment of either generator
        (64, struct.pack("<Q", 2)),
        (RNGS, struct.pack("<d", 1.0)),  # gravity
        (RNGS + PARAMS, struct.pack("<i", 5)),  # numbers of bodies, fixtures and joints
        (RNGS + PARAMS + 4, struct.pack("<i", 10**6)),
        (RNGS + PARAMS + 8, struct.pack("<i", 3)),
        (RNGS + PARAMS + 12, struct.pack("<i", -1)),  # flags of the world
        (RNGS + PARAMS + 16, struct.pack("<f", float("inf"))),
    ],
)
def test_forged_values(offset: int, value: bytes) -> None:
    with make("LunarLander-v3", seed=3) as pool:
        pool.reset()
        before = pool.get_state()
        body = body_of(before[1])
        at = core_at(before[1]) + CORE.size + offset
        body[at : at + len(value)] = value
        with pytest.raises(StateError, match="it has values that get_state"):
            pool.set_state(sealed(body), 1)
        assert pool.get_state() == before
        assert play(pool)
