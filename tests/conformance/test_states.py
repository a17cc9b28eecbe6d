"""Saved states: envs continue bit for bit, in any pool and process, in every auto-reset mode."""

from __future__ import annotations

import hashlib
import pickle
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import envpool
from envpool.registration import registry
from envpool.verify.actions import make_actions
from tests.conformance.cases import StateCase, table
from tests.support.playing import Player, first_difference

PLACES = 6  # envs that are played
BEFORE = 150  # steps before the last state is saved; episodes have at most LIMIT steps
LIMIT = 40
AFTER = 500
SAVED = (0, 17, 39, 40, BEFORE)  # in the middle of episodes, and next to the end of one
FRAMES = (BEFORE + 1, BEFORE + 39, BEFORE + 41, BEFORE + 499)
MODES = ("next_step", "same_step", "disabled")
CASES = table("STATES")


def options_of(case: StateCase, mode: str) -> dict[str, Any]:
    """Return the options of a pool of a case."""
    rendering = {"render_mode": "rgb_array"} if case.has_frames else {}
    return {"max_episode_steps": LIMIT, "autoreset_mode": mode, **rendering, **case.options}


def actions_of(case: StateCase) -> Any:
    """Return the actions of all steps."""
    space = envpool.make_spec(case.task_id).action_space
    return make_actions(space, case.actions, BEFORE + AFTER, PLACES, seed=5)


def frames_of(case: StateCase) -> Sequence[int]:
    return FRAMES if case.has_frames else ()


def make(case: StateCase, mode: str, **options: Any) -> Any:
    return envpool.make_gymnasium(case.task_id, **options_of(case, mode), **options)


def play_through(case: StateCase, mode: str, saved: Sequence[int] = ()) -> tuple[list[Any], dict[int, Any], Any]:
    """Play all steps; return the recording, the states saved before some steps, and how many episodes ended before."""
    states, ended = {}, None
    with make(case, mode, num_envs=PLACES, seed=3) as pool:
        pool.reset()
        player = Player(pool, actions_of(case), frames=frames_of(case))
        recording = []
        for t in range(BEFORE + AFTER):
            if t in saved:
                states[t] = pool.get_state()
                ended = player.num_ended.copy()
            recording += player.play(t, t + 1)
    return recording, states, ended


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("case", CASES)
def test_envs_continue_exactly(case: StateCase, mode: str) -> None:
    undisturbed, *_ = play_through(case, mode)
    expected, states, ended = play_through(case, mode, SAVED)
    assert first_difference(undisturbed, expected) == ""
    assert ended.min() >= 3
    actions, frames = actions_of(case), frames_of(case)

    with make(case, mode, num_envs=PLACES, seed=8) as pool:  # neither seeded nor reset, and again after other episodes
        for t in (BEFORE, 17):
            pool.set_state(states[t])
            assert pool.get_state() == states[t]
            actual = Player(pool, actions, frames=frames).play(t, t + AFTER)
            assert first_difference(expected[t : t + AFTER], actual) == ""
        for t in SAVED:
            pool.set_state(states[t])
            actual = Player(pool, actions, frames=frames).play(t, t + 30)
            assert first_difference(expected[t : t + 30], actual) == ""

    ids = [7, 2, 0, 5, 1, 4]
    with make(case, mode, num_envs=8, num_threads=2, seed=8) as pool:
        pool.reset()
        pool.set_state(states[BEFORE], ids)
        actual = Player(pool, actions, ids, frames).play(BEFORE, BEFORE + AFTER)
        assert first_difference(expected[BEFORE:], actual) == ""
        pool.reset()
        pool.set_state(states[BEFORE][::-1], ids[::-1])
        pool.reset([3, 6], seed=1)
        actual = Player(pool, actions, ids).play(BEFORE, BEFORE + 50)
        assert first_difference(without_frames(expected[BEFORE : BEFORE + 50]), actual) == ""

    if mode != "disabled":  # where reset(env_id) of an async pool waits for a batch
        with make(case, mode, num_envs=PLACES, batch_size=2, num_threads=3, seed=8) as pool:
            pool.set_state(states[BEFORE])
            actual = Player(pool, actions, frames=frames).play(BEFORE, BEFORE + AFTER)
            assert first_difference(expected[BEFORE:], actual) == ""


def without_frames(recording: list[Any]) -> list[Any]:
    return [{name: value for name, value in rows.items() if name != "frame"} for rows in recording]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("case", CASES)
def test_copies_continue_exactly(case: StateCase, mode: str) -> None:
    expected, *_ = play_through(case, mode)
    actions, frames = actions_of(case), frames_of(case)
    copies = np.array([9, 6, 11, 7, 10, 8])
    with make(case, mode, num_envs=2 * PLACES, num_threads=2, seed=3) as pool:
        pool.reset()
        player = Player(pool, actions, range(PLACES), frames)
        player.play(0, BEFORE)
        pool.copy_state(range(PLACES), copies)
        assert pool.get_state(copies) == pool.get_state(range(PLACES))
        actual = player.play(BEFORE, BEFORE + AFTER)
        assert first_difference(expected[BEFORE:], actual) == ""
        actual = Player(pool, actions, copies, frames).play(BEFORE, BEFORE + AFTER)
        assert first_difference(expected[BEFORE:], actual) == ""


@pytest.mark.parametrize("case", CASES)
def test_envs_that_were_never_reset(case: StateCase) -> None:
    """Their state is their seed: the pool that restores it starts the same episodes."""
    with make(case, "next_step", num_envs=PLACES, seed=3) as pool:
        states = pool.get_state()
        first = pool.reset()[0]
        expected = Player(pool, actions_of(case)).play(0, 60)
    for was_played in (False, True):
        with make(case, "next_step", num_envs=PLACES, seed=70) as pool:
            if was_played:
                pool.reset()
                Player(pool, actions_of(case)).play(0, 30)
            pool.set_state(states)
            assert pool.get_state() == states
            assert np.array_equal(pool.reset()[0], first)
            assert first_difference(expected, Player(pool, actions_of(case)).play(0, 60)) == ""


def digest(recording: list[Any]) -> str:
    """Return a digest of a recording."""
    return hashlib.sha256(repr([sorted(rows.items()) for rows in recording]).encode()).hexdigest()


def continue_elsewhere(case: StateCase, states: Any) -> str:
    """Return the digest of all steps after a restore in this process."""
    with make(case, "next_step", num_envs=PLACES, num_threads=2) as pool:
        pool.set_state(states)
        player = Player(pool, actions_of(case), frames=frames_of(case))
        return digest(player.play(BEFORE, BEFORE + AFTER))


def test_envs_continue_in_another_process(tmp_path: Path) -> None:
    cases = [param.values[0] for param in CASES]
    jobs, expected = [], []
    for case in cases:
        recording, states, _ = play_through(case, "next_step", [BEFORE])
        jobs.append((case, states[BEFORE]))
        expected.append(digest(recording[BEFORE:]))
    code = (
        "import pickle, sys\n"
        "from tests.conformance.test_states import continue_elsewhere\n"
        "jobs = pickle.load(sys.stdin.buffer)\n"
        "print('\\n'.join(continue_elsewhere(*job) for job in jobs))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        input=pickle.dumps(jobs),
        capture_output=True,
        check=True,
        cwd=Path(__file__).parents[2],
    )
    assert done.stdout.decode().split() == expected


def test_every_task_of_these_families_has_a_case() -> None:
    modules = {"envpool." + param.id.partition("-")[0].replace("/", ".") for param in CASES}
    tasks = {task_id for task_id, entry in registry.tasks.items() if entry.import_path.rpartition(".")[0] in modules}
    assert len(modules) >= 2
    assert tasks == {param.values[0].task_id for param in CASES}
