"""Saved states of Atari: long games, states of other consoles, and bytes that were changed."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import envpool
from envpool.errors import StateError
from envpool.pools.states import EnvStates
from tests.support.playing import Player, first_difference
from tests.support.saved import CORE, body_of, core_at, sealed

#: Sizes of the parts of a snapshot, see machine_state.h and snapshots.h.
ENV, GENERATOR, MACHINE = 120, 2512, 5576
LIMIT = 128 * 1024  # bytes of a state with default options


def make(task_id: str, **options: Any) -> Any:
    return envpool.make_gymnasium(task_id, **{"num_envs": 2, "num_threads": 1, "seed": 3, **options})


def actions_of(pool: Any, steps: int, seed: int = 0) -> Any:
    """Return actions (steps, num_envs), each held for some steps."""
    rng = np.random.default_rng(seed)
    held = rng.integers(0, pool.action_space.n, (steps // 6 + 1, pool.num_envs))
    return np.repeat(held, 6, axis=0)[:steps].astype(np.int32)


@pytest.mark.parametrize(
    ("task_id", "options"),
    [
        ("Breakout-v5", {"episodic_life": True, "noop_max": 0}),
        ("Seaquest-v5", {"repeat_action_probability": 0.1}),
        ("Pong-v5", {"frame_skip": 16, "repeat_action_probability": 0.5}),
    ],
)
def test_games_that_end_by_themselves(task_id: str, options: dict[str, Any]) -> None:
    """States are saved throughout whole games, each life and each game over included."""
    with make(task_id, render_mode="rgb_array", **options) as pool, make(task_id, seed=8, **options) as other:
        actions = actions_of(pool, 900)
        pool.reset()
        player, states = Player(pool, actions), {}
        expected = []
        for t in range(900):
            if t % 37 == 0:
                states[t] = pool.get_state()
            expected += player.play(t, t + 1)
        assert player.num_ended.min() >= 1
        for t in sorted(states, key=lambda t: t * 7919 % 1000):
            other.set_state(states[t])
            actual = Player(other, actions).play(t, min(t + 40, 900))
            assert first_difference(expected[t : t + 40], actual) == ""


def test_a_state_of_a_pool_that_does_not_render() -> None:
    """The pool that renders shows the same frames afterwards as if it had played all the time."""
    with make("MsPacman-v5", frame_skip=5) as plain, make("MsPacman-v5", frame_skip=5, render_mode="rgb_array") as pool:
        actions = actions_of(plain, 60)
        for each in (plain, pool):
            each.reset()
            Player(each, actions).play(0, 40)
        with make("MsPacman-v5", frame_skip=5, render_mode="rgb_array") as restored:
            restored.set_state(plain.get_state())
            frames = range(40, 60)
            assert np.array_equal(restored.render([0, 1]), pool.render([0, 1]))
            expected = Player(pool, actions, frames=frames).play(40, 60)
            assert first_difference(expected, Player(restored, actions, frames=frames).play(40, 60)) == ""


def test_a_state_after_a_step_that_ended_early() -> None:
    """A life may be lost in a frame that is not drawn; the state contains its picture nevertheless."""
    options: dict[str, Any] = {"frame_skip": 9, "episodic_life": True}
    with make("Breakout-v5", **options) as plain, make("Breakout-v5", render_mode="rgb_array", **options) as pool:
        actions = actions_of(plain, 300)
        plain.reset()
        pool.reset()
        lost = 0
        for action in actions:
            ended = plain.step(action)[2]
            pool.step(action)
            for i in np.flatnonzero(ended):
                lost += 1
                with make("Breakout-v5", render_mode="rgb_array", **options) as restored:
                    restored.set_state(plain.get_state(i), i)
                    assert np.array_equal(restored.render([i]), pool.render([i]))
        assert lost >= 5


@pytest.mark.parametrize("task_id", ["Pong-v5", "MontezumaRevenge-v5", "Adventure-v5"])
def test_size(task_id: str) -> None:
    with make(task_id) as pool:
        pool.reset()
        sizes = [pool.get_state(0).nbytes for _ in map(pool.step, actions_of(pool, 200))]
        assert max(sizes) < LIMIT


# ---- forged states ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def pong() -> Iterator[Any]:
    with make("Pong-v5", render_mode="rgb_array") as pool:
        pool.reset()
        for actions in actions_of(pool, 60):
            pool.step(actions)
        yield pool


def forged(state: EnvStates, offset: int, value: bytes) -> EnvStates:
    """Return a state with other bytes in the env's snapshot."""
    body = body_of(state)
    at = core_at(state) + CORE.size + offset
    body[at : at + len(value)] = value
    return sealed(body)


CARTRIDGE = ENV + 2 * GENERATOR
AFTER = CARTRIDGE + 192
TIMER = AFTER + 72
VIDEO = TIMER + 148
PROCESSOR = VIDEO + 116
INT = struct.Struct("<i")


@pytest.mark.parametrize(
    ("offset", "value"),
    [
        (24, b"\2"),  # an even increment of the generator
        (36, INT.pack(2)),
        (72, INT.pack(2)),  # a flag
        (88, INT.pack(-1)),  # steps
        (88, INT.pack(27001)),
        (92, INT.pack(4)),  # the newest of four frames
        (92, INT.pack(-1)),
        (96, INT.pack(5)),
        (100, INT.pack(2)),  # a flag
        (ENV + 2496, INT.pack(625)),  # next word of a generator
        (ENV + 2496, INT.pack(-1)),
        (ENV + GENERATOR + 2496, INT.pack(625)),
        (CARTRIDGE, struct.pack("<d", float("nan"))),
        (CARTRIDGE, struct.pack("<d", 2.0)),
        (CARTRIDGE + 12, b"\1"),  # bank; Pong has one
        (CARTRIDGE + 15, b"\x08"),  # a counter of 2048
        (CARTRIDGE + 30, b"\x08"),  # a slice
        (CARTRIDGE + 60, b"\2"),
        (AFTER, INT.pack(-(2**16))),  # cycles whose clocks are negative
        (AFTER + 12, INT.pack(1)),  # a flag of ALE's class of the game
        (AFTER + 56, INT.pack(18)),  # the action that is held
        (AFTER + 56, INT.pack(-1)),
        *((AFTER + 60, struct.pack("<f", strength)) for strength in (-1, 1001, float("nan"))),
        (TIMER + 4, INT.pack(32)),  # a shift
        (TIMER + 4, INT.pack(7)),
        (TIMER, INT.pack(256)),
        (TIMER + 144, b"\2"),
        (VIDEO, INT.pack(1)),
        (VIDEO, INT.pack(-228)),
        (VIDEO + 28, INT.pack(1)),  # a pixel, although the next step starts a frame
        (VIDEO + 58, struct.pack("<H", 20480)),  # masks
        (VIDEO + 60, struct.pack("<H", 320 + 164)),
        (VIDEO + 60, struct.pack("<H", 6)),
        (VIDEO + 62, struct.pack("<H", 40960)),
        (VIDEO + 64, struct.pack("<H", 0xFFFF)),
        (VIDEO + 66, struct.pack("<H", 5120)),
        *((VIDEO + 68 + 2 * k, struct.pack("<h", x)) for k in range(5) for x in (-1, 160)),  # columns
        (VIDEO + 78, b"\x40"),  # enabled objects
        *((VIDEO + 91 + k, b"\x10") for k in range(5)),  # motion registers
        *((VIDEO + 96 + k, b"\2") for k in range(17)),  # flags
        (PROCESSOR + 7, b"\2"),
        (PROCESSOR + 14, b"\4"),  # an interrupt
        (ENV + MACHINE, b"\xff"),  # codes of rows
        (ENV + MACHINE, b"\0"),
    ],
)
def test_values_that_are_refused(pong: Any, offset: int, value: bytes) -> None:
    before = pong.get_state()
    with pytest.raises(StateError, match="it has values that get_state"):
        pong.set_state(forged(before[0], offset, value), 0)
    assert pong.get_state() == before


@pytest.mark.parametrize(
    ("offset", "value"),
    [
        (4, -1),  # the time up to which the frame is drawn
        (4, 2**31 - 1),
        (8, -1),  # what is left of the line
        (8, 229),
        (28, 48000),  # the pixel
        (28, 160 * 299),
        (28, 1),
    ],
)
def test_positions_in_an_unfinished_frame(pong: Any, offset: int, value: int) -> None:
    """If the next step starts a frame, they are ignored; otherwise, the pixels that follow must fit into the buffer."""
    state = pong.get_state(0)
    start = VIDEO + 111  # whether the frame is unfinished
    fits = forged(state, VIDEO + 4, struct.pack("<iii", 0, 228, 0))
    fits = forged(forged(fits, start, b"\1"), VIDEO, INT.pack(0))
    pong.set_state(fits, 1)
    with pytest.raises(StateError, match="it has values that get_state"):
        pong.set_state(forged(fits, VIDEO + offset, INT.pack(value)), 1)
    for actions in actions_of(pong, 3):
        pong.step(actions)
    pong.set_state(state[[0, 0]])


def test_rows_that_are_missing(pong: Any) -> None:
    body = body_of(pong.get_state(0))
    (size,) = struct.unpack_from("<q", body, 16)
    for change in (-8, 8):
        struct.pack_into("<q", body, 16, size + change)
        with pytest.raises(StateError, match="it has values that get_state"):
            pong.set_state(sealed(body[: len(body) - 8] if change < 0 else body + bytes(8)), 0)


def mutated(state: EnvStates, rng: Any) -> EnvStates:
    """Return a state in which some bytes, most of them not of generators, are changed."""
    body = body_of(state)
    start = core_at(state) + CORE.size
    for _ in range(rng.integers(1, 4)):
        first, last = [
            (0, ENV),
            (CARTRIDGE, ENV + MACHINE),
            (VIDEO, PROCESSOR),
            (TIMER + 16, PROCESSOR + 16),
            (0, len(body) - start),
        ][rng.choice(5, p=[0.1, 0.4, 0.2, 0.2, 0.1])]
        at = start + int(rng.integers(first, last - 4))
        kind = rng.integers(5)
        value = [b"\0", b"\xff" * 4, rng.bytes(1), rng.bytes(2), INT.pack(rng.integers(-300, 300))][kind]
        body[at : at + len(value)] = value
    if rng.random() < 0.2:  # any memory and any program counter
        body[start + TIMER + 16 : start + TIMER + 144] = rng.bytes(128)
        body[start + PROCESSOR : start + PROCESSOR + 2] = rng.bytes(2)
    if rng.random() < 0.2:
        body[start + VIDEO + 111] = 1
    return sealed(body)


def fuzz(task_id: str, rounds: int, seed: int) -> int:
    """Restore mutated states, play and reset envs that have accepted them, and return the number of these."""
    rng, restored = np.random.default_rng(seed), 0
    with make(task_id, render_mode="rgb_array", max_episode_steps=30) as pool:
        pool.reset()
        for k in range(rounds):
            if k % 50 == 0:
                pool.reset()
                for actions in actions_of(pool, 25, seed + k):
                    pool.step(actions)
                genuine = pool.get_state(1)
            try:
                pool.set_state(mutated(genuine, rng), 0)
            except StateError:
                continue
            restored += 1
            pool.render([0])
            for action in range(3):
                pool.step(np.array([action]), [0])
            pool.render([0])
            state = pool.get_state(0)
            pool.set_state(state, 0)
            assert pool.get_state(0) == state
            if k % 3 == 0:
                pool.reset([0])
    return restored


@pytest.mark.parametrize("task_id", ["Pong-v5", "Pitfall2-v5", "ElevatorAction-v5", "MontezumaRevenge-v5"])
def test_mutated_states_never_crash(task_id: str) -> None:
    assert 10 < fuzz(task_id, 150, 0) < 150
