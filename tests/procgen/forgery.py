"""Forged states of Procgen with matching checksums: ``python -m tests.procgen.forgery ID COUNT SEED``.

A forged state is refused, or the library plays on from it. The library has no other way to say that it cannot than to
end the process, so this module is a program: it writes what it does next, and whoever runs it looks at how it ended.
"""

from __future__ import annotations

import faulthandler
import random
import re
import struct
import sys
from typing import Any

import numpy as np

import envpool
from envpool.errors import StateError
from envpool.pools.states import EnvStates
from tests.support.saved import HEADER, body_of, core_at, sealed

CHECKSUM = 8  # bytes at the beginning of a snapshot
MASK = 2**64 - 1
#: Seconds after which a forged state counts as one that hangs.
PATIENCE = 60
#: Steps from a state that was accepted.
STEPS = 20
INTS = (
    -(2**31),
    -1000,
    -2,
    -1,
    0,
    1,
    2,
    3,
    4,
    5,
    6,
    7,
    8,
    9,
    20,
    51,
    54,
    58,
    59,
    64,
    100,
    101,
    255,
    513,
    10**6,
    2**31 - 1,
)
REALS = (
    float("nan"),
    float("inf"),
    -1e38,
    -1e6,
    -100.0,
    -4.0,
    -0.5,
    -0.01,
    1e-38,
    0.25,
    0.5,
    0.3,
    1.4,
    4.0,
    31.9,
    127.5,
    1e6,
)
#: Types of games of which some is likely to have one: another game's words are put into a state.
OTHERS = ("CoinrunHard-v0", "BossfightEasy-v0", "HeistMemory-v0")


def checksum(data: bytes) -> int:
    """Return the checksum of the bytes of the library, as snapshots.pyx computes it."""
    value = 0xCBF29CE484222325 ^ len(data)
    for (word,) in struct.iter_unpack("<Q", data + bytes(-len(data) % 8)):
        value = (value ^ word) * 0x100000001B3 & MASK
        value ^= value >> 29
    return value


def library_bytes(state: EnvStates) -> bytes:
    """Return what the library has written for the env of a state without statistics or parameters."""
    start = core_at(state) + 32 + CHECKSUM
    size = HEADER.unpack_from(bytes(state))[3] - CHECKSUM
    return bytes(state)[start : start + size]


def forged(state: EnvStates, data: bytes) -> EnvStates:
    """Return a state with other bytes of the library, and with all checksums that belong to them."""
    body = body_of(state)
    header = list(HEADER.unpack_from(body))
    header[3] = CHECKSUM + len(data)
    core = bytes(body[HEADER.size : core_at(state) + 32])
    snapshot = struct.pack("<Q", checksum(data)) + data
    return sealed(HEADER.pack(*header) + core + snapshot + bytes(-len(snapshot) % 8))


def words_of(data: bytes) -> list[list[int]]:
    """Return the offsets of numbers: of the options, of the entities, and of the grid with what follows it."""
    parts = []
    start = 0
    for text in re.finditer(rb"(?:\d+ ){600,}\d+", data):
        parts.append(list(range(start, text.start() - 3, 4)))
        start = text.end()
    options, _, entities = parts
    return [options, entities, list(range(start, len(data) - 3, 4))]


def samples(task_id: str, seed: int) -> list[EnvStates]:
    """Return states of three environments at several moments."""
    found = []
    pick = np.random.default_rng(seed)
    with envpool.make_gymnasium(task_id, num_envs=3, num_threads=1, seed=seed) as pool:
        pool.reset()
        for step in range(160):
            if step % 20 == 0:
                found.extend(pool.get_state())
            pool.step(pick.integers(0, 15, 3).astype(np.int32))
    return found


class Forger:
    """Forges states of a task.

    Parameters
    ----------
    task_id : str
        The task.
    seed : int
        Determines every state.
    """

    def __init__(self, task_id: str, seed: int) -> None:
        self.pick = random.Random(seed)
        self.states = samples(task_id, seed)
        self.data = [library_bytes(state) for state in self.states]
        self.originals = list(self.data)
        self.words = [words_of(data) for data in self.data]
        self.foreign = [library_bytes(samples_of) for other in OTHERS for samples_of in samples(other, seed)[:2]]

    def forge(self) -> tuple[str, int, bytes]:
        """Return the description of a forgery, the number of the state from which it was made, and its bytes."""
        k = self.pick.randrange(len(self.data))
        if self.pick.random() < 0.03:
            self.keep(k, self.originals[k])
        data = bytearray(self.data[k])
        (change,) = self.pick.choices(
            [
                self.nudge,
                self.take,
                self.set_real,
                self.set_word,
                self.swap,
                self.set_byte,
                self.cut,
                self.splice,
                self.put_foreign,
            ],
            [6, 4, 4, 3, 1, 1, 1, 1, 1],
        )
        text = "; ".join(change(data, k) for _ in range(self.pick.choice([1, 1, 1, 2, 5])))
        return f"state {k}: {text}", k, bytes(data)

    def keep(self, k: int, data: bytes) -> None:
        """Make the next forgeries of a state from bytes that were accepted, so that several changes come together."""
        self.data[k] = data
        self.words[k] = words_of(data)

    def place(self, data: bytearray, k: int) -> int:
        """Return the offset of a word: seldom one in the text of a generator, and often one of the last ones."""
        if self.pick.random() < 0.03:
            return self.pick.randrange(max(1, len(data) - 3))
        options, entities, rest = self.words[k]
        (words,) = self.pick.choices([options, entities, rest, rest[-30:]], [1, 12, 3, 4])
        return min(self.pick.choice(words), max(0, len(data) - 4))

    def set_byte(self, data: bytearray, k: int) -> str:
        at, value = self.place(data, k), self.pick.randrange(256)
        data[at : at + 1] = bytes([value])
        return f"byte {at} = {value}"

    def put(self, data: bytearray, at: int, word: bytes) -> str:
        data[at : at + 4] = word
        return f"word {at} = {word.hex()}"

    def set_word(self, data: bytearray, k: int) -> str:
        return self.put(data, self.place(data, k), struct.pack("<i", self.pick.choice(INTS)))

    def set_real(self, data: bytearray, k: int) -> str:
        return self.put(data, self.place(data, k), struct.pack("<f", self.pick.choice(REALS)))

    def nudge(self, data: bytearray, k: int) -> str:
        """Change a number by a little, so that it may be another one that is allowed."""
        at = self.place(data, k)
        (value,) = struct.unpack_from("<i", data.ljust(at + 4, b"\0"), at)
        if abs(value) < 2**20:
            return self.put(data, at, struct.pack("<i", value + self.pick.choice([-2, -1, 1, 2, 100])))
        (real,) = struct.unpack("<f", struct.pack("<i", value))
        changed = real * self.pick.choice([-1, 0.5, 1.01, 2]) + self.pick.choice([0, 0.5])
        return self.put(data, at, struct.pack("<f", min(max(changed, -1e38), 1e38)))

    def swap(self, data: bytearray, k: int) -> str:
        one, other = self.place(data, k), self.place(data, k)
        word = bytes(data[one : one + 4])
        self.put(data, one, bytes(data[other : other + 4]))
        self.put(data, other, word)
        return f"swap {one}, {other}"

    def take(self, data: bytearray, k: int) -> str:
        """Copy words from the same place of another state."""
        other = self.data[self.pick.randrange(len(self.data))]
        at, size = self.place(data, k), 4 * self.pick.choice([1, 3, 31, 100])
        data[at : at + size] = other[at : at + size]
        return f"take {size} at {at}"

    def put_foreign(self, data: bytearray, k: int) -> str:
        other = self.pick.choice(self.foreign)
        at, size = self.place(data, k), 4 * self.pick.choice([1, 31, 2000])
        data[at : at + size] = other[at : at + size]
        return f"foreign {size} at {at}"

    def cut(self, data: bytearray, k: int) -> str:
        at = self.place(data, k)
        del data[at : self.pick.choice([at + 4, at + 124, len(data)])]
        return f"cut at {at}"

    def splice(self, data: bytearray, k: int) -> str:
        """Continue with the end of another state."""
        other = self.pick.randrange(len(self.data))
        at = self.place(data, k)
        data[at:] = self.data[other][self.place(bytearray(self.data[other]), other) :]
        return f"splice at {at} with {other}"


def play_on(pool: Any, state: EnvStates, pick: random.Random) -> bool:
    """Restore a state, and play on and render if it was accepted; return whether it was."""
    try:
        pool.set_state(state, [0])
    except StateError:
        return False
    for step in range(STEPS):
        pool.step(np.full(1, pick.randrange(15), np.int32))
        if step in (0, STEPS - 1):
            pool.render([0])
    assert len(bytes(pool.get_state())) > 0
    return True


def main(task_id: str, count: int, seed: int) -> None:
    accepted = 0
    forger, pick = Forger(task_id, seed), random.Random(seed)
    faulthandler.enable()
    with envpool.make_gymnasium(task_id, num_envs=1, num_threads=1, seed=seed, render_mode="rgb_array") as pool:
        pool.reset()
        for number in range(count):
            text, k, data = forger.forge()
            print(f"{number}: {text}", flush=True)
            faulthandler.dump_traceback_later(PATIENCE, exit=True)
            if play_on(pool, forged(forger.states[k], data), pick):
                accepted += 1
                forger.keep(k, data)
    faulthandler.cancel_dump_traceback_later()
    print(f"{task_id}: {count} forged states, {accepted} of them were accepted")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
