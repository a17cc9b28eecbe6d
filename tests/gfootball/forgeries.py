"""Forged games, for sanitizers too: ``python -m tests.gfootball.forgeries SECONDS [SEED] [NUMBER]``.

Snapshots with other words in the engine's state, and all checksums that belong to them, are refused, or restored: then
the game must be able to play, to be drawn and to be saved; an error that the engine notices is allowed.
test_states.py tries a fixed number of them.
"""

import faulthandler
import random
import struct
import sys
import time

import numpy as np

import envpool
from envpool.errors import EnvStepError, RenderError, StateError
from tests.support.process import PATIENCE
from tests.support.saved import body_of, sealed

HEADER = struct.Struct("<8sQQQQ")  # magic, two sums, size, size of the pool's memory
SCENARIO = 408  # bytes of the scenario behind the header
MASK = 2**64 - 1

#: Words that replace others: NaN, infinities, huge and tiny floats; integers at their limits and near zero.
FLOATS = [np.nan, np.inf, -np.inf, 3e38, -1e30, 1e-45, -0.0, 1e6, 999999, -999999, 1e4, 0.5, 100]
INTEGERS = [-(2**31), 2**31 - 1, 2**30, -(2**30), 7 * 10**8 - 1, -7 * 10**8 + 1, -1, 0, 1, 2, 3, 5, 10, 21, 300, 20000]
WORDS = [struct.pack("<f", np.float32(v)) for v in FLOATS] + [struct.pack("<i", v) for v in INTEGERS]

#: Scenarios, agents of both teams, and steps before the states are saved.
GAMES = {
    "academy_empty_goal_close": (1, 0, (2, 9)),
    "academy_3_vs_1_with_keeper": (3, 1, (1, 12)),
    "academy_corner": (1, 1, (2, 8)),
    "5_vs_5": (2, 2, (40, 140)),
}


def sums(data):
    """Return the two checksums of a snapshot, as football.cpp computes them."""
    a, b = 0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F
    padded = data + bytes(-len(data) % 8)
    for (word,) in struct.iter_unpack("<Q", padded):
        a = (a ^ word) * 0x100000001B3 & MASK
        a ^= a >> 29
        b = (b + word) * 0x9FB21C651E98DF25 & MASK
        b ^= b >> 32
    return a ^ len(data), b + len(data) & MASK


def snapshot_at(state):
    """Return the offset of the snapshot, which pools of several players have behind further parts."""
    return bytes(state).index(b"FOOTSTA1")


def forged(state, edits):
    """Return a state whose snapshot has other bytes, and all checksums that belong to it."""
    body, start = body_of(state), snapshot_at(state)
    magic, _, _, size, extra = HEADER.unpack_from(body, start)
    snapshot = bytearray(body[start : start + size])
    for offset, value in edits:
        snapshot[offset : offset + len(value)] = value
    HEADER.pack_into(snapshot, 0, magic, *sums(bytes(snapshot[24:])), size, extra)
    body[start : start + size] = snapshot
    return sealed(body)


def engine_at(state):
    """Return the offsets in a snapshot at which the engine's own state begins and ends."""
    size, extra = HEADER.unpack_from(body_of(state), snapshot_at(state))[3:]
    return HEADER.size + SCENARIO + extra, size


def edits_of(pick, state, others):
    """Return what to write into a snapshot: words of the engine's state, or parts of another snapshot."""
    first, end = engine_at(state)
    edits = []
    for _ in range(pick.choice([1, 1, 1, 2, 8])):
        at, kind = pick.randrange(first, end - 8), pick.random()
        if kind < 0.55:
            edits.append((at, pick.choice(WORDS)))
        elif kind < 0.75:
            edits.append((at, bytes([pick.choice([0, 1, 2, 3, 5, 10, 127, 128, 255])])))
        elif kind < 0.85:
            edits.append((at, pick.randbytes(pick.randrange(1, 9))))
        else:
            other, length = pick.choice(others), pick.randrange(1, 400)
            start = snapshot_at(other)
            edits.append((at, bytes(other)[start + at : start + min(at + length, end)]))
    return edits


def attack(scenario, pick, number):
    """Restore forged states in one pool, and use what was restored; return the number of states that were accepted."""
    left, right, ages = GAMES[scenario]
    players = {"players": "grid"} if left + right > 1 else {}
    options = {"left_agents": left, "right_agents": right, "representation": "simple115v2", "raw_info": True, **players}
    frames = {"render_mode": "rgb_array", "render_resolution_x": 96, "render_resolution_y": 64}
    accepted = 0
    with envpool.make_gymnasium(
        f"gfootball/{scenario}-v1", num_envs=1, num_threads=1, seed=pick.randrange(100), **options, **frames
    ) as pool:
        rng = np.random.default_rng(pick.randrange(1000))
        shape = (1, left + right) if players else 1

        def play(steps):
            for _ in range(steps):
                pool.step(rng.integers(0, 19, shape, dtype=np.int32))

        pool.reset()
        states = []
        for age in ages:
            play(age)
            states.append(pool.get_state())
        for k in range(number):
            state = pick.choice(states)
            others = [other for other in states if len(bytes(other)) == len(bytes(state))]
            try:
                pool.set_state(forged(state, edits_of(pick, state, others)))
            except StateError:
                continue
            accepted += 1
            try:
                play(20 if k % 4 == 0 else 3)
                pool.render()
                pool.set_state(pool.get_state())
            except (EnvStepError, RenderError, StateError):  # the engine has noticed it
                pool.reset()
    return accepted


def main(seconds, seed, number):
    faulthandler.enable()
    end, count, accepted, rounds = time.monotonic() + seconds, 0, 0, 0
    while time.monotonic() < end and count < number:
        faulthandler.dump_traceback_later(PATIENCE, exit=True)
        pick = random.Random(seed * 1_000_003 + rounds)
        scenario = list(GAMES)[rounds % len(GAMES)]
        try:
            accepted += attack(scenario, pick, 50)
        except BaseException:
            print(f"seed {seed}, round {rounds}, {scenario}", file=sys.stderr, flush=True)
            raise
        count, rounds = count + 50, rounds + 1
    faulthandler.cancel_dump_traceback_later()
    print(f"{count} forged games, seed {seed}, {accepted} accepted: nothing found")


if __name__ == "__main__":
    numbers = [int(argument) for argument in sys.argv[2:]]
    main(float(sys.argv[1]), *(numbers + [time.time_ns() % 10**6, sys.maxsize][len(numbers) :]))
