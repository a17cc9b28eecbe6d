"""Saved states: envs continue bit for bit, in any pool and process, in every auto-reset mode."""

from __future__ import annotations

import hashlib
import pickle
import subprocess
import sys
import zlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import envpool
from envpool.registration import registry
from envpool.sampling.sequences import make_actions
from envpool.verify.records import leaves
from tests.conformance.cases import StateCase, table
from tests.support.playing import Player, first_difference

PLACES = 6  # envs that are played
#: Games whose screen stays black for the first steps.
BLACK_AT_FIRST = ("ElevatorAction-v5",)


def lengths(param: Any) -> list[Any]:
    """Return a case that is slow twice: with few steps in one auto-reset mode, and with the mark ``sweep`` as it is."""
    case = param.values[0]
    if not case.is_slow:
        return [param]
    mode = case.modes[zlib.crc32(param.id.encode()) % len(case.modes)]
    brief = replace(case, limit=min(case.limit, 6), after=min(case.after, 16), modes=[mode])
    return [
        pytest.param(brief, id=f"{param.id}-brief", marks=pytest.mark.slow),
        pytest.param(case, id=param.id, marks=pytest.mark.sweep),
    ]


CASES = [case for param in table("STATES") for case in lengths(param)]
CASES_AND_MODES = [
    pytest.param(param.values[0], mode, id=f"{param.id}-{mode}", marks=param.marks)
    for param in CASES
    for mode in param.values[0].modes
]


def options_of(case: StateCase, mode: str) -> dict[str, Any]:
    """Return the options of a pool of a case."""
    rendering = {"render_mode": "rgb_array"} if case.has_frames else {}
    return {"max_episode_steps": case.limit, "autoreset_mode": mode, **rendering, **case.options}


def actions_of(case: StateCase) -> Any:
    """Return the actions of all steps."""
    space = envpool.make_spec(case.task_id, **case.options).action_space
    return make_actions(space, case.actions, case.before + case.after, PLACES, seed=5)


def make(case: StateCase, mode: str, **options: Any) -> Any:
    return envpool.make_gymnasium(case.task_id, **options_of(case, mode), **options)


def play_through(case: StateCase, mode: str, saved: Sequence[int] = ()) -> tuple[list[Any], dict[int, Any], Any]:
    """Play all steps; return the recording, the states saved before some steps, and how many episodes ended before."""
    states, ended = {}, None
    with make(case, mode, num_envs=PLACES, seed=3) as pool:
        pool.reset()
        player = Player(pool, actions_of(case), frames=case.frames)
        recording = []
        for t in range(case.before + case.after):
            if t in saved:
                states[t] = pool.get_state()
                ended = player.num_ended.copy()
            recording += player.play(t, t + 1)
    return recording, states, ended


@pytest.mark.parametrize(("case", "mode"), CASES_AND_MODES)
def test_envs_continue_exactly(case: StateCase, mode: str) -> None:
    undisturbed, *_ = play_through(case, mode)
    expected, states, ended = play_through(case, mode, case.saved)
    assert first_difference(undisturbed, expected) == ""
    assert ended.min() >= 3
    actions, frames = actions_of(case), case.frames
    before, after = case.before, case.after

    with make(case, mode, num_envs=PLACES, seed=8) as pool:  # neither seeded nor reset, and again after other episodes
        for t in (before, case.saved[1]):
            pool.set_state(states[t])
            assert pool.get_state() == states[t]
            actual = Player(pool, actions, frames=frames).play(t, t + after)
            assert first_difference(expected[t : t + after], actual) == ""
        for t in case.saved:
            pool.set_state(states[t])
            actual = Player(pool, actions, frames=frames).play(t, t + min(30, after))
            assert first_difference(expected[t : t + min(30, after)], actual) == ""

    ids = [7, 2, 0, 5, 1, 4]
    with make(case, mode, num_envs=8, num_threads=2, seed=8) as pool:
        pool.reset()
        pool.set_state(states[before], ids)
        actual = Player(pool, actions, ids, frames).play(before, before + after)
        assert first_difference(expected[before:], actual) == ""
        pool.reset()
        pool.set_state(states[before][::-1], ids[::-1])
        pool.reset([3, 6], seed=1)
        actual = Player(pool, actions, ids).play(before, before + min(50, after))
        assert first_difference(without_frames(expected[before : before + min(50, after)]), actual) == ""

    if mode != "disabled":  # where reset(env_id) of an async pool waits for a batch
        with make(case, mode, num_envs=PLACES, batch_size=2, num_threads=3, seed=8) as pool:
            pool.set_state(states[before])
            actual = Player(pool, actions, frames=frames).play(before, before + after)
            assert first_difference(expected[before:], actual) == ""


def bytes_of(nest: Any) -> list[bytes]:
    """Return the bytes of each array of a nest."""
    return [values.tobytes() for _, values in leaves(nest, "obs")]


def without_frames(recording: list[Any]) -> list[Any]:
    return [{name: value for name, value in rows.items() if name != "frame"} for rows in recording]


@pytest.mark.parametrize(("case", "mode"), CASES_AND_MODES)
def test_copies_continue_exactly(case: StateCase, mode: str) -> None:
    expected, *_ = play_through(case, mode)
    actions, frames = actions_of(case), case.frames
    before, after = case.before, case.after
    copies = np.array([9, 6, 11, 7, 10, 8])
    with make(case, mode, num_envs=2 * PLACES, num_threads=2, seed=3) as pool:
        pool.reset()
        player = Player(pool, actions, range(PLACES), frames)
        player.play(0, before)
        pool.copy_state(range(PLACES), copies)
        assert pool.get_state(copies) == pool.get_state(range(PLACES))
        actual = player.play(before, before + after)
        assert first_difference(expected[before:], actual) == ""
        actual = Player(pool, actions, copies, frames).play(before, before + after)
        assert first_difference(expected[before:], actual) == ""


@pytest.mark.parametrize("case", CASES)
def test_envs_that_were_never_reset(case: StateCase) -> None:
    """Their state is their seed: the pool that restores it starts the same episodes."""
    with make(case, "next_step", num_envs=PLACES, seed=3) as pool:
        states = pool.get_state()
        first = bytes_of(pool.reset()[0])
        expected = Player(pool, actions_of(case)).play(0, min(60, case.after))
    for was_played in (False,) if case.outlives_seed else (False, True):
        with make(case, "next_step", num_envs=PLACES, seed=70) as pool:
            if was_played:
                pool.reset()
                Player(pool, actions_of(case)).play(0, 30)
            pool.set_state(states)
            assert pool.get_state() == states
            assert bytes_of(pool.reset()[0]) == first
            assert first_difference(expected, Player(pool, actions_of(case)).play(0, min(60, case.after))) == ""


def digest(recording: list[Any]) -> str:
    """Return a digest of a recording."""
    return hashlib.sha256(repr([sorted(rows.items()) for rows in recording]).encode()).hexdigest()


def continue_elsewhere(case: StateCase, states: Any) -> str:
    """Return the digest of all steps after a restore in this process."""
    with make(case, "next_step", num_envs=PLACES, num_threads=2) as pool:
        pool.set_state(states)
        player = Player(pool, actions_of(case), frames=case.frames)
        return digest(player.play(case.before, case.before + case.after))


def cases_with(mark: str) -> list[StateCase]:
    """Return the cases with a mark; for "few", one of each family that has none of the marks of slow tests."""
    if mark != "few":
        return [param.values[0] for param in CASES if param.marks[0].name == mark]
    return list({p.marks[0].args[0]: p.values[0] for p in CASES if p.marks[0].name == "drawn"}.values())


@pytest.mark.parametrize("mark", ["few", *(pytest.param(mark, marks=pytest.mark.slow) for mark in ("drawn", "slow"))])
def test_envs_continue_in_another_process(mark: str) -> None:
    cases = cases_with(mark)
    assert len(cases) > (5 if mark == "few" else 20)
    jobs, expected = [], []
    for case in cases:
        recording, states, _ = play_through(case, "next_step", [case.before])
        jobs.append((case, states[case.before]))
        expected.append(digest(recording[case.before :]))
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


@pytest.mark.parametrize("case", [param for param in CASES if param.values[0].has_frames])
def test_frames_right_after_a_restore(case: StateCase) -> None:
    """They show the last step before the state was saved, also where the env has drawn nothing before."""
    actions, steps = actions_of(case), case.limit + case.limit // 2
    for drawn_before in (False, True):
        with make(case, "same_step", num_envs=PLACES, seed=3) as pool:
            pool.reset()
            Player(pool, actions, frames=[3, steps // 2] if drawn_before else ()).play(0, steps)
            states = pool.get_state()
            expected = pool.render(np.arange(PLACES))
            later = Player(pool, actions, frames=[steps + 4]).play(steps, steps + 5)
        with make(case, "same_step", num_envs=PLACES + 1, seed=9) as pool:
            pool.reset()
            Player(pool, actions, range(PLACES), frames=[5]).play(0, 9)
            pool.set_state(states, range(1, PLACES + 1))
            assert np.array_equal(pool.render(np.arange(1, PLACES + 1)), expected)
            actual = Player(pool, actions, range(1, PLACES + 1), [steps + 4]).play(steps, steps + 5)
            assert first_difference(later, actual) == ""
            assert len(np.unique(expected)) > 1 or case.task_id in BLACK_AT_FIRST


def test_every_task_of_these_families_has_a_case() -> None:
    modules = tuple({"envpool." + param.id.partition("-")[0].replace("/", ".") + "." for param in CASES})
    tasks = {task_id for task_id, entry in registry.tasks.items() if entry.import_path.startswith(modules)}
    tasks -= {"gfootball/custom-v1"}  # it has no scenario of its own
    robotics = {
        task_id for task_id in tasks if registry.find(task_id).import_path.startswith("envpool.mujoco.robotics.")
    }
    cases = {param.values[0].task_id for param in CASES}
    assert len(modules) >= 2
    assert tasks - robotics == cases - robotics
    # Ids of robotics differ by maps, goals and rewards; what a state contains depends on the environment.
    assert {registry.find(i).env for i in robotics} == {registry.find(i).env for i in cases & robotics}
