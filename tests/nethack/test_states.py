"""Saved states of NetHack, which restoring plays again; tests/conformance has the comparisons of every family."""

from __future__ import annotations

import os
import struct
from typing import Any

import numpy as np
import pytest

import envpool
from envpool.errors import StateError
from envpool.nethack.folders import PREFIX, parent_folder
from tests.support.saved import body_of, core_at, forged, refused, sealed, snapshot_at

TASK = "NetHackScore-v0"
KEYS = ("glyphs", "blstats", "tty_chars")
#: The generator before the game, the steps without a turn, a digest, and the sizes of the scores and of the items.
HEAD = struct.Struct("<40sqQqq")


def make(task_id: str = TASK, num_envs: int = 1, **options: Any) -> Any:
    options = {"observation_keys": KEYS, "seed": 3, **options}
    return envpool.make_gymnasium(task_id, num_envs=num_envs, **options)


def play(pool: Any, steps: int, seed: int = 0) -> list[Any]:
    """Return the results of random steps as bytes."""
    actions = np.random.default_rng(seed).integers(0, pool.action_space.n, (steps, pool.num_envs))
    rows = []
    for action in actions.astype(np.int32):
        obs, *others, _ = pool.step(action)
        rows.append([array.tobytes() for array in (*obs.values(), *others)])
    return rows


def scores_of(state: Any) -> bytes:
    """Return the list of scores in a state."""
    start = snapshot_at(state)
    size = HEAD.unpack_from(bytes(state), start)[3]
    return bytes(state)[start + HEAD.size : start + HEAD.size + size]


@pytest.mark.parametrize(("num_actions", "size"), [(200, 1), (300, 2)])
def test_a_state_grows_with_the_game(num_actions: int, size: int) -> None:
    keys = tuple(k % 256 for k in range(num_actions))
    with make("NetHack-v0", actions=keys, character="val-dwa-fem-law") as pool:
        pool.reset()
        start = pool.get_state().nbytes
        for _ in range(40):
            pool.step(np.array([num_actions - 1], np.int32))
        assert pool.get_state().nbytes == start + 40 * size
        states = pool.get_state()
        pool.reset()
        assert pool.get_state().nbytes == start
        pool.set_state(states)
        assert pool.get_state() == states


def test_scores_of_earlier_games_are_part_of_a_state() -> None:
    """The list is shown after a game, and the game names statues after its heroes."""
    with make(max_steps=40) as pool:
        pool.reset()
        assert scores_of(pool.get_state()) == b""
        play(pool, 165)
        states = pool.get_state()
        assert scores_of(states).count(b"Agent,quit\n") == 1
        expected = play(pool, 100)
        with make(max_steps=40, seed=9) as other:
            other.set_state(states)
            assert scores_of(other.get_state()) == scores_of(states)
            assert play(other, 100) == expected


def test_scores_of_another_user() -> None:
    """The game keeps three scores of each user, so the list gets the number of the user who restores it."""
    with make(max_steps=40) as pool:
        pool.reset()
        play(pool, 45)
        state = pool.get_state()
        uid = f" {os.getuid()} Mon".encode()
        assert uid in scores_of(state)
        other = f" {(os.getuid() + 1) % 10} Mon".encode().ljust(len(uid))
        if len(other) == len(uid):
            pool.set_state(forged(state, HEAD.size + scores_of(state).index(uid), other))
            assert uid in scores_of(pool.get_state())


@pytest.mark.parametrize(
    ("given", "other"),
    [
        (b"3.6.7 ", b"3.6.x "),
        (b" 0 1 ", b" 9 1 "),  # still a dungeon of the game
        (b" 0 1 ", b"99 1 "),
        (b" 0 1 ", b" -1 1"),
        (b" Mon ", b" M%n "),
        (b" Mon ", b" Mo n"),
        (b"Agent,quit\n", b"Agent,qui\0\n"),
        (b"Agent,quit\n", b"Agent quit\n"),
        (b"Agent,quit\n", b"Agent,quitx"),
        (b"Agent,quit\n", b"Agent,q\nit\n"),
    ],
)
def test_forged_scores(given: bytes, other: bytes) -> None:
    """The game uses some of the numbers as indices without a check."""
    with make(max_steps=40) as pool:
        pool.reset()
        play(pool, 45)
        state = pool.get_state()
        scores = scores_of(state)
        changed = forged(state, HEAD.size + scores.index(given), other)
        if other == b" 9 1 ":
            pool.set_state(changed)
            assert play(pool, 30)
        else:
            refused(pool, changed)


def test_forged_numbers_and_actions() -> None:
    with make(max_steps=20) as pool:
        pool.reset()
        play(pool, 8)
        state = pool.get_state()
        for offset, value in [
            (0, b"\0" * 40),
            (40, struct.pack("<q", -1)),
            (40, struct.pack("<q", 2**62)),
            (56, struct.pack("<q", -1)),
            (56, struct.pack("<q", 9)),
            (56, struct.pack("<q", 2**40)),
            (HEAD.size + 3, bytes([pool.action_space.n])),
        ]:
            refused(pool, forged(state, offset, value))
        body = body_of(state)
        struct.pack_into("<q", body, 16, 2000)
        refused(pool, sealed(body + bytes(2000 - 8 - HEAD.size)))  # longer than a game can be


def test_a_game_that_ends_before_its_last_action_is_refused() -> None:
    """In the middle of a restore: the environment has no state then, and its next step starts a game."""
    with make(max_steps=20) as pool, make(max_steps=20, num_envs=2) as other:
        pool.reset()
        other.reset()
        play(pool, 20)  # the game has been quit, and the next step resets
        state = pool.get_state()
        body = body_of(state)
        body[core_at(state) + 12] = 0  # nothing is pending
        with pytest.raises(StateError, match=r"env 1 could not be restored, .*: it has values that get_state"):
            other.set_state(sealed(body), 1)
        with pytest.raises(StateError, match="env 1 has no state"):
            other.get_state()
        assert play(other, 30)
        other.set_state(state, 1)
        assert other.get_state(1) == state


def test_a_game_that_does_not_repeat_itself_is_refused() -> None:
    with make() as pool:
        pool.reset()
        play(pool, 8)
        state = pool.get_state()
        text = "the same seeds and actions did not lead to the same game"
        with pytest.raises(StateError, match=text):
            pool.set_state(forged(state, 48, b"12345678"))
        with pytest.raises(StateError, match=text):
            pool.set_state(
                forged(state, HEAD.size + 2, bytes([(bytes(state)[snapshot_at(state) + HEAD.size + 2] + 1) % 4]))
            )
        pool.set_state(state)
        assert pool.get_state() == state


def test_random_bytes_never_crash() -> None:
    rng = np.random.default_rng(0)
    restored = 0
    with make(max_steps=20) as pool:
        pool.reset()
        play(pool, 28)
        genuine = pool.get_state()
        start, end = snapshot_at(genuine), len(bytes(genuine)) - 8
        for _ in range(150):
            body = body_of(genuine)
            for at in rng.integers(start, end, rng.integers(1, 4)):
                body[at] = rng.integers(0, 256) if rng.random() < 0.5 else rng.integers(0, 23)
            try:
                pool.set_state(sealed(body))
                restored += 1
            except StateError:
                pass
            play(pool, 2)
    assert restored < 150


def test_bones_are_refused() -> None:
    """A file of bones is not part of a state, since the game does not check it when it reads it."""
    with make(max_steps=20, options=("time",)) as pool:
        pool.reset()
        for record in parent_folder().glob(f"{PREFIX}{os.getpid()}-*/*/record"):
            (record.parent / "bonD0.4").write_bytes(b"")
        states = pool.get_state()  # the game was started without them
        pool.reset()
        with pytest.raises(StateError, match=r"env 0 could not be saved: its game was started beside bones"):
            pool.get_state()
        pool.set_state(states)
        pool.get_state()


@pytest.mark.slow
@pytest.mark.parametrize("task_id", ["NetHackScore-v0", "NetHackChallenge-v0"])
def test_long_games_continue_exactly(task_id: str) -> None:
    """The games end as they do in play; a state is saved in the middle of a game and after three of them."""
    with make(task_id, 4, num_threads=2) as pool, make(task_id, 4, seed=9) as other:
        pool.reset()
        for before in (700, 900, 1100):
            play(pool, before, before)
            states = pool.get_state()
            expected = play(pool, 500)
            other.set_state(states)
            assert play(other, 500) == expected
            pool.copy_state([0, 1], [2, 3])
            assert pool.get_state([0, 1]) == pool.get_state([2, 3])
