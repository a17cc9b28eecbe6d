"""Saved states of games; tests/conformance/test_states.py has the rest."""

from __future__ import annotations

import pickle
import random
from typing import Any

import numpy as np
import pytest

import envpool
from envpool.errors import StateError
from tests.gfootball.forgeries import GAMES, attack
from tests.support.saved import body_of, forged, refused, sealed, snapshot_at

CLOSE = "gfootball/academy_empty_goal_close-v1"
THREE = "gfootball/academy_3_vs_1_with_keeper-v1"


def make(task_id: str = THREE, **options: Any) -> Any:
    return envpool.make_gymnasium(task_id, **{"num_envs": 1, "seed": 3, "representation": "simple115v2", **options})


def steps(pool: Any, count: int, seed: int = 1) -> list[bytes]:
    """Return the bits of the results of random steps."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        obs, reward, terminated, *_ = pool.step(rng.integers(0, 19, pool.config["num_envs"], dtype=np.int32))
        found.append(obs.tobytes() + reward.tobytes() + terminated.tobytes())
    return found


@pytest.mark.parametrize("rewards", ["scoring", "scoring,checkpoints"])
def test_a_game_continues_in_another_pool(rewards: str) -> None:
    options = {"rewards": rewards, "stacked": True}
    with make(**options) as pool, make(**options, seed=8) as other:
        pool.reset()
        steps(pool, 6, seed=0)
        state = pool.get_state()
        expected = steps(pool, 25)
        other.set_state(state)  # into an environment that was never reset
        assert other.get_state() == state
        assert steps(other, 25) == expected
        other.set_state(state)  # and into one that has played on
        assert steps(other, 25) == expected


def test_copies_and_pickles() -> None:
    with make(num_envs=2, representation="raw") as pool:
        pool.reset()
        pool.step(np.array([5, 5], np.int32))
        pool.copy_state([0], [1])
        obs, *_ = pool.step(np.array([13, 13], np.int32))
        assert all(values[0].tobytes() == values[1].tobytes() for values in obs.values())
        with pickle.loads(pickle.dumps(pool)) as again:
            actions = np.array([5, 1], np.int32)
            a, b = pool.step(actions)[0], again.step(actions)[0]
            assert all(a[name].tobytes() == b[name].tobytes() for name in a)


def test_states_of_another_scenario_are_refused() -> None:
    with make() as pool, make(CLOSE) as other:
        pool.reset()
        other.reset()
        with pytest.raises(StateError):
            other.set_state(pool.get_state())


def test_states_contain_the_difficulties() -> None:
    with make(right_team_difficulty=0.3) as pool, make() as other:
        pool.reset()
        other.set_state(pool.get_state())
        assert other.get_params()["right_team_difficulty"].tolist() == [0.3]


def forged_states(count: int) -> None:
    """Restore states of which some bytes were changed, and sealed again: each is refused."""
    rng = np.random.default_rng(count)
    with make() as pool:
        pool.reset()
        state = pool.get_state()
        size = len(bytes(state)) - snapshot_at(state) - 8
        for _ in range(count):
            length = int(rng.integers(1, 9))
            value = rng.bytes(length)
            offset = int(rng.integers(0, size - length))
            at = snapshot_at(state) + offset
            if bytes(state)[at : at + length] != value:
                refused(pool, forged(state, offset, value))
        body = body_of(state)
        for end in (snapshot_at(state) + 8, len(body) // 16 * 8, len(body) - 8):
            with pytest.raises(StateError):
                pool.set_state(sealed(body[:end]))
        expected = steps(pool, 5)
        pool.set_state(state)
        assert steps(pool, 5) == expected


def test_forged_states_are_refused() -> None:
    forged_states(3)


@pytest.mark.slow
def test_many_forged_states_are_refused() -> None:
    forged_states(150)


def test_forged_games_with_all_checksums() -> None:
    assert attack("academy_empty_goal_close", random.Random(5), 30) > 0


@pytest.mark.slow
@pytest.mark.parametrize("scenario", GAMES)
def test_many_forged_games_with_all_checksums(scenario: str) -> None:
    """What the engine does not refuse, it plays; for more of them, and under sanitizers, see forgeries.py."""
    assert attack(scenario, random.Random(6), 600) > 100
