"""The engine alone: its numbers, saved states, memory, and threads."""

from __future__ import annotations

import hashlib
import random
import struct
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.support.builds import load_hook
from tests.support.python import environment

ROOT = Path(__file__).parents[2]
GK, CB, LB, RB, DM, CM, LM, RM, AM, CF = range(10)
ELEVEN = [(-1.0, 0.0, GK), (0.0, 0.02, RM), (0.0, -0.02, CF), (-0.422, -0.19576, LB), (-0.5, -0.06356, CB)]
ELEVEN += [(-0.5, 0.063559, CB), (-0.422, 0.19576, RB), (-0.184212, -0.10568, CM), (-0.267574, 0.0, CM)]
ELEVEN += [(-0.184212, 0.10568, CM), (-0.01, -0.2161, LM)]
FEW = [(-1.0, 0.0, GK), (0.6, 0.0, CM), (0.7, 0.2, CM), (0.7, -0.2, CM)], [(-1.0, 0.0, GK), (-0.75, 0.0, CB)]

#: What upstream_engine.py prints.
DIGESTS = [
    ((ELEVEN, ELEVEN, 0.0), 1, "903b1368e8094b04"),
    ((ELEVEN, ELEVEN, 0.0), 2, "0877160ad7d95b78"),
    ((*FEW, 0.62), 1, "e447854fc85ceec1"),
    ((*FEW, 0.62), 2, "1d71c413902561fd"),
]

BAD_ARGUMENT, BAD_STATE = -1, -3
#: Offset of the hashes in a saved state, and of what they are about.
HASHES, HASHED = 8, 24
MASK = 2**64 - 1


@pytest.fixture(scope="module")
def hook() -> Any:
    return load_hook(Path(__file__).parent / "hook", "engine_hook")


def few(hook: Any) -> Any:
    return hook.Game(*FEW, ball=0.62)


def played(game: Any, seed: int, steps: int) -> str:
    """Play an episode with actions of a generator, and return a digest of everything that is known after each step."""
    digest = hashlib.sha256(game.reset(seed))
    state = (seed * 2654435761 + 1) % 2**32
    for _ in range(steps):
        state = (state * 1664525 + 1013904223) % 2**32
        digest.update(game.step((state >> 16) % 20))
    return digest.hexdigest()[:16]


def continued(game: Any, steps: int) -> list[bytes]:
    return [game.step(i * 7 % 20) for i in range(steps)]


def sealed(state: bytearray) -> bytes:
    """Return a state with the hashes that belong to its bytes."""
    data = bytes(state[HASHED:])
    a, b = 0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F
    for (word,) in struct.iter_unpack("<Q", data + bytes(-len(data) % 8)):
        a = (a ^ word) * 0x100000001B3 & MASK
        a ^= a >> 29
        b = (b + word) * 0x9FB21C651E98DF25 & MASK
        b ^= b >> 32
    state[HASHES:HASHED] = struct.pack("<2Q", a ^ len(data), (b + len(data)) & MASK)
    return bytes(state)


@pytest.mark.parametrize(("sides", "seed", "digest"), DIGESTS)
def test_a_game_has_the_numbers_of_upstreams_library(hook: Any, sides: Any, seed: int, digest: str) -> None:
    left, right, ball = sides
    assert played(hook.Game(left, right, ball), seed, 100) == digest


def test_an_episode_does_not_depend_on_those_before_it(hook: Any) -> None:
    used, fresh = few(hook), few(hook)
    played(used, 8, 30)
    assert played(used, 3, 40) == played(fresh, 3, 40)


def test_games_on_two_threads_have_the_bits_of_games_one_after_the_other(hook: Any) -> None:
    def play(seed: int) -> str:
        return played(few(hook), seed, 6)

    with ThreadPoolExecutor(2) as threads:
        assert list(threads.map(play, range(16))) == [play(seed) for seed in range(16)]


@pytest.mark.parametrize("seed", [2, 3])
@pytest.mark.parametrize("steps", [0, 7, 24])
def test_a_restored_game_continues_with_the_same_bits(hook: Any, seed: int, steps: int) -> None:
    game, other = few(hook), few(hook)
    played(game, seed, steps)
    state = game.save(b"extra")
    expected = continued(game, 12)
    assert other.load(state, 5) == b"extra"
    assert continued(other, 12) == expected
    assert game.load(state, 5) == b"extra"
    assert continued(game, 12) == expected


def test_a_state_replaces_the_scenario(hook: Any) -> None:
    game, other = few(hook), hook.Game(ELEVEN, ELEVEN)
    played(game, 4, 5)
    other.reset(1)
    other.load(game.save())
    assert continued(other, 5) == continued(game, 5)


def test_damaged_states_are_refused_and_change_nothing(hook: Any) -> None:
    game, rng = few(hook), random.Random(1)
    played(game, 5, 10)
    state = game.save()
    for _ in range(100):
        damaged = bytearray(state)
        damaged[rng.randrange(len(state))] ^= 1 << rng.randrange(8)
        if rng.random() < 0.3:
            damaged = damaged[: rng.randrange(len(state))]
        with pytest.raises(hook.EngineError) as error:
            game.load(bytes(damaged))
        assert error.value.args[0] == BAD_STATE
    assert game.save() == state
    with pytest.raises(hook.EngineError, match="another size"):
        game.load(state, 3)


@pytest.mark.parametrize("count", [20, pytest.param(10000, marks=pytest.mark.slow)])
def test_values_that_no_game_has_do_not_crash_the_process(hook: Any, count: int) -> None:
    program = textwrap.dedent(
        f"""
        import random, sys
        from tests.gfootball import test_engine as t

        sys.path.insert(0, {str(Path(hook.__file__).parent)!r})
        import engine_hook as hook

        rng = random.Random(2)
        game, refused = t.few(hook), 0
        t.played(game, 5, 10)
        state = game.save()
        for _ in range({count}):
            changed = bytearray(state)
            at = rng.randrange(40, len(state) - 4)
            changed[at : at + 4] = rng.choice([b"\\xff\\xff\\xff\\xff", b"\\xff\\xff\\xff\\x7f", rng.randbytes(4)])
            try:
                game.load(t.sealed(changed))
                t.continued(game, 3)
            except hook.EngineError:
                refused += 1
                game.load(state)
        game.load(state)
        assert game.save() == state
        assert refused
        """
    )
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=ROOT, env=environment(), capture_output=True, text=True, timeout=1800)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"agents": 5}, "agents must be 0 to the size of the team"),
        ({"difficulty": float("nan")}, "difficulty must be 0 to 1"),
        ({"ball_x": 1e30}, "ball_x and ball_y must be -2 to 2"),
        ({"offsides": 2}, "flags must be 0 or 1"),
        ({"physics_steps_per_frame": 0}, "physics_steps_per_frame must be 1 to 1000"),
    ],
)
def test_a_scenario_that_cannot_be_played_is_refused(hook: Any, change: dict[str, Any], text: str) -> None:
    game = few(hook)
    game.change(**change)
    with pytest.raises(hook.EngineError, match=text) as error:
        game.reset(1)
    assert error.value.args[0] == BAD_ARGUMENT


def test_a_team_without_a_goalkeeper_plays(hook: Any) -> None:
    game = hook.Game([(-0.5, 0.1 * i - 0.3, CM) for i in range(7)], ELEVEN)
    assert played(game, 1, 20)


def test_a_game_must_be_reset_first(hook: Any) -> None:
    with pytest.raises(hook.EngineError, match="must be reset first"):
        few(hook).step(0)


@pytest.mark.slow
def test_a_further_game_takes_less_than_four_megabytes(hook: Any) -> None:
    program = textwrap.dedent(
        f"""
        import sys
        from pathlib import Path
        from tests.gfootball import test_engine as t

        sys.path.insert(0, {str(Path(hook.__file__).parent)!r})
        import engine_hook as hook

        def resident():
            return int(Path("/proc/self/statm").read_text().split()[1]) * 4096

        def games(count):
            made = [hook.Game(t.ELEVEN, t.ELEVEN) for _ in range(count)]
            for game in made:
                t.played(game, 1, 3)
            return made

        first = games(1)
        before = resident()
        others = games(16)
        assert (resident() - before) / 16 < 4e6, resident() - before
        before = resident()
        for _ in range(200):
            first[0].reset(1)
        assert resident() - before < 4e6, resident() - before
        """
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, env=environment(), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
