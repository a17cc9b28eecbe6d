"""Bits of pools and of upstream's environment: digests of the cases in recording.py.

upstream.py has recorded them. If the environment variable GFOOTBALL_PYTHON names an interpreter with gfootball 2.10.2,
a slow test lets it play some of the cases again.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import envpool
from envpool.gfootball.scenarios import UPSTREAM
from tests.gfootball.recording import RAW, REPRESENTATIONS, Case, Digests, cases, recorded, whole_episodes

CASES = {str(case): case for case in cases()}
WHOLE = {str(case): case for case in whole_episodes()}
#: The interpreter of upstream's environment.
PYTHON = os.environ.get("GFOOTBALL_PYTHON", "")
EXPECTED = recorded()
#: Cases that are short enough for a fast test.
QUICK = [name for name, case in CASES.items() if case.scenario.startswith("academy_empty") and case.steps == 100]


def make(case: Case, num_envs: int = 1, **options: Any) -> Any:
    """Return a pool whose environments are those of a case."""
    return envpool.make_gymnasium(
        f"gfootball/{case.scenario}-v1",
        num_envs=num_envs,
        seed=[case.seed] * num_envs,
        rewards="scoring,checkpoints",
        left_agents=case.left,
        right_agents=case.right,
        game_engine_random_seed=case.engine_seed,
        action_set=case.action_set,
        **({"players": "grid"} if case.left + case.right > 1 else {}),
        **options,
    )


def rows_of(values: Any, agents: int) -> Any:
    """Return what the first environment has, with one row per agent."""
    return values[0] if agents > 1 else values[:1]


def raw_rows(case: Case, arrays: Any, prefix: str) -> list[dict[str, Any]]:
    """Return the raw observation of each agent, without the rows of missing players."""
    agents = case.left + case.right
    rows = {name: rows_of(arrays[prefix + name], agents) for name in RAW}
    scenario = UPSTREAM[case.scenario][0]
    found = []
    for agent in range(agents):
        sizes = [len(scenario.left_team), len(scenario.right_team)][:: 1 if agent < case.left else -1]
        counts = dict(zip(("left", "right"), sizes, strict=True))
        found.append({name: rows[name][agent] for name in RAW})
        for name in [name for name in RAW if "_team" in name and name != "ball_owned_team"]:
            found[-1][name] = found[-1][name][: counts[name.partition("_")[0]]]
    return found


def play(case: Case, representation: str, steps: int | None = None) -> dict[str, str]:
    """Return the digests of a pool: of its observations, and of the raw ones in its info."""
    agents = case.left + case.right
    digests = Digests()

    def add(obs: Any, info: Any, reward: Any, done: Any) -> None:
        found = {"raw": raw_rows(case, info, "raw_")}
        found[representation] = raw_rows(case, obs, "") if representation == "raw" else rows_of(obs, agents)
        digests.add(found, rows_of(reward, agents), bool(done[0]))

    with make(case, representation=representation, raw_info=True) as pool:
        obs, info = pool.reset()
        add(obs, info, np.zeros((1, agents) if agents > 1 else 1, np.float32), [False])
        for action in case.actions[:steps]:
            obs, reward, terminated, truncated, info = pool.step(action[None] if agents > 1 else action)
            add(obs, info, reward, terminated | truncated)
    return digests.texts()


def differences(name: str, representation: str, steps: int | None = None) -> list[str]:
    """Return where a pool differs from what was recorded."""
    case = (CASES | WHOLE)[name]
    return [
        text
        for which, actual in play(case, representation, steps).items()
        if (text := first_difference(case, which, actual, EXPECTED[name][which][: 8 * -(-(len_of(case, steps)) // 50)]))
    ]


def len_of(case: Case, steps: int | None) -> int:
    """Return the number of records."""
    return 1 + (case.steps if steps is None else steps)


def first_difference(case: Case, representation: str, actual: str, expected: str) -> str:
    """Return which records differ first; empty if none do."""
    for k in range(0, min(len(actual), len(expected)), 8):
        if actual[k : k + 8] != expected[k : k + 8]:
            return f"{case}, {representation}: records {50 * k // 8} to {50 * k // 8 + 49} differ from upstream's"
    return "" if len(actual) == len(expected) else f"{case}: {len(actual)} digits instead of {len(expected)}"


@pytest.mark.parametrize("representation", REPRESENTATIONS)
def test_some_games_equal_upstream(representation: str) -> None:
    name = QUICK[REPRESENTATIONS.index(representation) % len(QUICK)]
    assert not differences(name, representation, 99)


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_every_game_equals_upstream(name: str) -> None:
    """Besides minimaps and raw observations, a case has one of the vectors; each scenario has cases of both."""
    vectors = REPRESENTATIONS[2 + list(CASES).index(name) % 2]
    assert not [text for which in ("extracted", vectors) for text in differences(name, which)]


@pytest.mark.sweep
@pytest.mark.parametrize("name", WHOLE)
def test_whole_episodes_equal_upstream(name: str) -> None:
    """The raw observation, of which upstream makes the others, is always compared; the others take turns.

    Most scenarios have three cases a seed: in plain turns, a number of agents would always get the same representation.
    """
    index = list(WHOLE).index(name)
    assert not differences(name, REPRESENTATIONS[1 + (index + index // 3) % 3])


@pytest.mark.slow
@pytest.mark.skipif(not PYTHON, reason="GFOOTBALL_PYTHON names no interpreter with gfootball 2.10.2")
@pytest.mark.parametrize("name", list(CASES)[::9])
def test_the_records_are_upstreams(name: str) -> None:
    program = Path(__file__).with_name("upstream.py")
    done = subprocess.run([PYTHON, str(program), "--case", name], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout.splitlines()[-1])[name] == EXPECTED[name]


def test_the_records_have_all_cases() -> None:
    assert EXPECTED.keys() == CASES.keys() | WHOLE.keys()
