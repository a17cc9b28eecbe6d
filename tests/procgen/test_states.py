"""Saved states of Procgen: bytes that the library has not written never reach it, since it would end the process."""

from __future__ import annotations

import pickle
import struct
from typing import Any

import numpy as np
import pytest

import envpool
from envpool.errors import StateError
from envpool.pools.states import EnvStates
from envpool.sampling.sequences import make_actions
from tests.support.results import assert_same
from tests.support.saved import HEADER, body_of, core_at, sealed

CHECKSUM = 8  # bytes at the beginning of a snapshot


def make(task_id: str = "MazeEasy-v0", **options: Any) -> Any:
    return envpool.make_gymnasium(task_id, **{"num_envs": 2, "num_threads": 1, "seed": 3, **options})


def snapshot_at(state: EnvStates) -> int:
    """Return the offset of the snapshot of an env without statistics or parameters in its state."""
    return core_at(state) + 32


@pytest.fixture(scope="module")
def pool() -> Any:
    with make() as made:
        made.reset()
        made.step(np.zeros(2, np.int32))
        yield made


def test_bytes_of_snapshots_that_were_changed(pool: Any) -> None:
    before = pool.get_state()
    state = pool.get_state([0])
    start, body = snapshot_at(state), body_of(state)
    size = HEADER.unpack_from(bytes(state))[3]
    assert b"maze" in body[start : start + 40]
    places = [start, start + CHECKSUM, start + CHECKSUM + 4, len(body) - 9, *range(start, len(body) - 8, 997)]
    assert size > 10_000 and len(places) > 20
    for at in places:
        changed = bytearray(body)
        changed[at] ^= 0x40
        with pytest.raises(StateError, match="values that get_state"):
            pool.set_state(sealed(changed), [1])
    assert pool.get_state() == before


def test_short_and_long_snapshots(pool: Any) -> None:
    before = pool.get_state()
    state = pool.get_state([0])
    start, body = snapshot_at(state), body_of(state)
    header = list(HEADER.unpack_from(body))
    for size in (0, 1, 7, 8, 9, 12, 1000, header[3] - 1):
        cut = bytearray(body)
        cut[: HEADER.size] = HEADER.pack(*header[:3], size - 0, *header[4:])
        padded = bytes(cut[: start + size])
        padded += bytes(-len(padded) % 8)
        with pytest.raises(StateError):
            pool.set_state(sealed(padded), [1])
    huge = bytearray(body)
    huge[: HEADER.size] = HEADER.pack(*header[:3], 1 << 40, *header[4:])
    with pytest.raises(StateError):
        pool.set_state(sealed(huge), [1])
    assert pool.get_state() == before


def test_states_of_other_games_and_options(pool: Any) -> None:
    for task_id, options in (("MazeHard-v0", {}), ("HeistEasy-v0", {}), ("MazeEasy-v0", {"num_levels": 5})):
        with make(task_id, **options) as other:
            other.reset()
            with pytest.raises(StateError):
                pool.set_state(other.get_state())


@pytest.mark.parametrize(
    "options", [{"seed_rows": True}, {"use_sequential_levels": True}, {"render_mode": "rgb_array"}]
)
def test_options_of_pools_with_states(options: dict[str, Any]) -> None:
    actions = make_actions(envpool.make_spec("MazeEasy-v0").action_space, "random", 60, 2)
    with make("LeaperEasy-v0", **options) as one, make("LeaperEasy-v0", **options | {"seed": 8}) as other:
        one.reset()
        for row in actions[:30]:
            one.step(row)
        other.set_state(one.get_state())
        for row in actions[30:]:
            assert_same(one.step(row), other.step(row))


def test_a_state_does_not_depend_on_the_render_mode() -> None:
    with make("ClimberEasy-v0") as plain, make("ClimberEasy-v0", render_mode="rgb_array", seed=8) as pool:
        plain.reset()
        plain.step(np.full(2, 7, np.int32))
        pool.set_state(plain.get_state())
        frames = pool.render([0, 1])
        with make("ClimberEasy-v0", render_mode="rgb_array") as rendered:
            rendered.reset()
            rendered.step(np.full(2, 7, np.int32))
            assert np.array_equal(frames, rendered.render([0, 1]))


def test_the_checksum_covers_every_byte(pool: Any) -> None:
    """Written down a second time: FNV-1a over words of eight bytes, seeded with the size."""
    state = pool.get_state([0])
    size = HEADER.unpack_from(bytes(state))[3] - CHECKSUM
    data = bytes(body_of(state))[snapshot_at(state) :]
    (stored,) = struct.unpack_from("<Q", data)
    value = 0xCBF29CE484222325 ^ size
    for (word,) in struct.iter_unpack("<Q", data[CHECKSUM : CHECKSUM + size] + bytes(-size % 8)):
        value = (value ^ word) * 0x100000001B3 % 2**64
        value ^= value >> 29
    assert stored == value


def test_pools_are_pickled() -> None:
    actions = make_actions(envpool.make_spec("MinerEasy-v0").action_space, "random", 40, 2)
    with make("MinerEasy-v0", render_mode="rgb_array", channel_first=False) as pool:
        pool.reset()
        for row in actions[:20]:
            pool.step(row)
        with pickle.loads(pickle.dumps(pool)) as other:
            for row in actions[20:]:
                assert_same(pool.step(row), other.step(row))
            assert np.array_equal(pool.render([0, 1]), other.render([0, 1]))
