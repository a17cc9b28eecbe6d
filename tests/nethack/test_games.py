"""Games: seeds, errors of the game, texts, and memory."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest

import envpool
from envpool.errors import EnvStepError
from envpool.nethack import as_ansi, as_text
from envpool.nethack.definition import MAX_OPTIONS
from envpool.nethack.keys import ALL_KEYS, TASK_KEYS, USEFUL_KEYS, parse
from envpool.sampling.sequences import make_actions
from tests.nethack.upstream import upstream_of
from tests.support.python import output_of
from tests.support.results import assert_same

TASK = "NetHackScore-v0"
KEYS = ("glyphs", "blstats", "message", "tty_chars")
#: Options of a game in which the agent presses every key itself.
MANUAL: dict[str, Any] = {"allow_all_modes": True, "allow_all_yn_questions": True}


def make(**options: Any) -> Any:
    return envpool.make_gymnasium(TASK, **{"num_envs": 3, "num_threads": 2, "observation_keys": KEYS, **options})


def played(pool: Any, result: tuple[Any, ...], steps: int = 40, seed: int = 0) -> list[Any]:
    """Return what the pool returns for random actions, after the result of a reset."""
    actions = make_actions(pool.spec.action_space, "random", steps, pool.num_envs, seed)
    return [result, *(pool.step(row) for row in actions)]


def message(obs: dict[str, Any], i: int = 0) -> str:
    """Return the message of an environment."""
    return bytes(obs["message"][i]).rstrip(b"\0").decode()


def test_keys_are_those_of_upstream() -> None:
    from nle import nethack
    from nle.env import tasks

    for ours, theirs in (
        (ALL_KEYS, nethack.ACTIONS),
        (USEFUL_KEYS, nethack.USEFUL_ACTIONS),
        (TASK_KEYS, tasks.TASK_ACTIONS),
    ):
        assert ours == tuple(map(int, theirs))


def test_numbers_of_upstream() -> None:
    """What the tasks and the options know of the game."""
    from nle import nethack

    from envpool.nethack.definition import DEFAULT_OPTIONS

    assert DEFAULT_OPTIONS == nethack.NETHACKOPTIONS
    assert (nethack.GLYPH_PET_OFF, nethack.NUMMONS, nethack.GLYPH_CMAP_OFF, nethack.ASCENDED) == (381, 381, 2359, 15)
    assert nethack.permonst(nethack.glyph_to_mon(270)).mname == "Oracle"


def test_seeds_of_games() -> None:
    """Each game takes two numbers of 63 bits from the generator of its environment."""
    with make(num_envs=1, seed=5) as pool:
        pool.reset()
        obs, _ = pool.reset()
    env = upstream_of(TASK).make()
    core, disp = map(int, np.random.default_rng(5).integers(2**63, size=4)[2:])
    env.seed(core, disp, reseed=False)
    expected, _ = env.reset()
    assert all(np.array_equal(obs[name][0], expected[name]) for name in KEYS)
    env.close()


def test_new_seeds_make_an_environment_new() -> None:
    with make(seed=3) as pool, make(seed=3) as fresh:
        expected = played(fresh, fresh.reset())
        played(pool, pool.reset(), steps=13, seed=1)
        for ours, theirs in zip(played(pool, pool.reset(seed=3)), expected, strict=True):
            assert_same(ours, theirs)


@pytest.mark.parametrize("mode", ["next_step", "same_step"])
def test_a_panic_of_the_game_ends_an_episode(mode: str) -> None:
    """The game calls abort() there. The other environments, and later games, are those of a pool without a panic."""
    typed = "#panic\ry"
    options: dict[str, Any] = {**MANUAL, "wizard": True, "actions": [*map(ord, typed), 32], "autoreset_mode": mode}
    rest = len(typed)
    with make(seed=1, **options) as pool, make(seed=1, **options) as calm:
        assert_same(pool.reset(), calm.reset())
        for key in range(rest - 1):
            pool.step(np.array([key, rest, rest], np.int32))
            calm.step(np.array([rest, rest, rest], np.int32))
        with pytest.raises(EnvStepError, match=r"env 0: the game has called abort\(\) or exit\(\), as it does after"):
            pool.step(np.array([rest - 1, rest, rest], np.int32))
        obs, reward, terminated, truncated, _ = pool.recv()
        expected = calm.step(np.array([rest, rest, rest], np.int32))
        assert truncated.tolist() == [True, False, False] and not terminated.any() and not reward[0]
        for name in KEYS:
            assert np.array_equal(obs[name][1:], expected[0][name][1:])
        ours = pool.reset(seed=8)
        for a, b in zip(played(pool, ours), played(calm, calm.reset(seed=8)), strict=True):
            assert_same(a, b)


def test_games_that_panic_leave_no_file_open() -> None:
    typed = "#panic\ry"
    files = []
    with make(num_envs=1, wizard=True, actions=list(map(ord, typed)), **MANUAL) as pool:
        for _ in range(4):
            pool.reset()
            for key in range(len(typed) - 1):
                pool.step(np.array([key], np.int32))
            with pytest.raises(EnvStepError, match=r"the game has called abort\(\)"):
                pool.step(np.array([len(typed) - 1], np.int32))
            pool.recv()
            files.append(len(os.listdir("/proc/self/fd")))
    assert len(set(files)) == 1


def test_the_most_options() -> None:
    """The game needs stack for each: it overflows its stack with about twice as many."""
    with make(num_envs=1, options=("time",) * MAX_OPTIONS, character="@", wizard=True) as pool:
        pool.reset()


def test_an_option_that_the_game_does_not_know() -> None:
    with (
        make(options=("foo:bar",)) as pool,
        pytest.raises(EnvStepError, match="10 games in a row did not begin: check the options"),
    ):
        pool.reset()


def test_own_actions() -> None:
    """Among them the key that would save the game, which upstream has disabled."""
    keys = parse("C-[ S y s C-m # C-x")
    oracle = upstream_of("NetHack-v0", actions=keys, **MANUAL).start(3)
    rng = np.random.default_rng(0)
    texts = set()
    with envpool.make_gymnasium("NetHack-v0", actions=keys, seed=3, **MANUAL) as pool:
        assert pool.action_space.n == len(keys)
        obs, expected = pool.reset()[0], oracle.record(None)
        for action in rng.integers(0, len(keys), 60):
            assert all(np.array_equal(obs[name][0], expected[f"obs:{name}"]) for name in obs)
            texts.add(message(obs))
            obs, expected = pool.step(np.array([action], np.int32))[0], oracle.record(action)
    assert any("only one way to save yourself" in text for text in texts)
    oracle.close()


def test_texts_are_those_of_upstream() -> None:
    from nle.nethack import tty_render

    env = upstream_of(TASK, render_mode="ansi").make()
    obs, _ = env.reset()
    assert as_text(obs["chars"]) == env.render()
    screen = [obs[name] for name in ("tty_chars", "tty_colors", "tty_cursor")]
    assert as_ansi(*screen) == tty_render(*screen)
    assert as_ansi(*screen[:2]) == tty_render(*screen[:2])
    env.close()


#: Runs in a process of its own: memory of other tests would hide what is lost here.
LEAKS = """
import ctypes
import numpy as np, envpool
class Mallinfo(ctypes.Structure):
    names = "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost"
    _fields_ = [(name, ctypes.c_size_t) for name in names.split()]
mallinfo = ctypes.CDLL(None).mallinfo2
mallinfo.restype = Mallinfo
with envpool.make_gymnasium("NetHackScore-v0", num_envs=2, num_threads=1, {option}) as pool:
    for k in range(24):
        if k == 4:
            before = mallinfo().uordblks
        pool.reset()
        for _ in range(8):
            pool.step(np.full(2, k % 8, np.int32))
print((mallinfo().uordblks - before) / 40)
"""


@pytest.mark.parametrize("option", ["observation_keys=('glyphs',)", "max_episode_steps=3"])
def test_games_that_are_abandoned_leave_little_memory(option: str) -> None:
    """Without the list of blocks, a game of a few steps leaves 19 kB; with its windows, 2 kB."""
    assert float(output_of(LEAKS.replace("{option}", option))) < 500
