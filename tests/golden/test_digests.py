"""Recorded digests: what they tell apart, what a test says when a pool or a digest is wrong, and when upstream runs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.conformance.cases import ExactnessCase
from tests.golden import digests
from tests.golden.make import recorded_cases
from tests.support.oracles.gymnasium_oracle import Upstream
from tests.support.oracles.trajectory import Trajectory

NAME = "toy_text-a case"


class Counted(Upstream):
    """Counts how often upstream is played."""

    plays = 0

    def play(self, case: Any) -> Any:
        Counted.plays += 1
        return super().play(case)


CASE = ExactnessCase("CliffWalking-v1", Counted("CliffWalking-v1"), num_envs=2, steps=120, min_episodes=0)


def record(case: ExactnessCase) -> dict[str, Any]:
    """Write a file with a case, and return its entry, with which the file is read from now on."""
    actions, _, expected = case.oracle.play(case)
    entry = digests.entry_of(case, actions, expected)
    digests.write("toy_text", {NAME: entry})
    read: dict[str, Any] = digests.read(digests.path_of("toy_text"))["cases"][NAME]
    assert read == entry
    return read


@pytest.fixture
def recorded(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> dict[str, Any]:
    """Record the case in a folder of its own, and return its entry."""
    monkeypatch.setattr(digests, "FOLDER", tmp_path)
    monkeypatch.setattr(Counted, "plays", 0)
    return record(CASE)


def test_files_have_one_entry_for_each_case() -> None:
    cases = set(recorded_cases())
    files = {family: digests.read(digests.path_of(family)) for family in digests.FAMILIES}
    assert {name for file in files.values() for name in file["cases"]} == cases, "run: python -m tests.golden.make"
    for family, file in files.items():
        assert set(file["made_by"]) == set(digests.FAMILIES[family].made_by())


def test_digests_tell_bits_apart() -> None:
    def digest(*values: Any, dtype: Any = np.float32, name: str = "obs") -> str:
        return digests.digest_of({name: np.array(values, dtype)})

    assert digest(0.0, 1.0) == digest(0.0, 1.0)
    others = [digest(-0.0, 1.0), digest(1.0, 0.0), digest(0.0, 1.0, 0.0), digest(0.0, 1.0, dtype=np.float64)]
    others += [digest(0, 1, dtype=np.int32), digest(0.0, 1.0, name="reward"), digest([0.0, 1.0])]
    others += [digest(0.0, np.nextafter(np.float32(1), np.float32(2)))]
    assert len({digest(0.0, 1.0), *others}) == 1 + len(others)


def test_digests_do_not_depend_on_the_width_of_integers_and_the_bits_of_nans() -> None:
    for values in ([0, 1], [0, 255], [0, 256], [-1, 1]):
        rows = [digests.digest_of({"a": np.array(values, dtype)}) for dtype in (np.int16, np.int32, np.int64)]
        assert len(set(rows)) == 1
    assert digests.digest_of({"a": np.array([0, 1])}) == digests.digest_of({"a": np.array([False, True])})
    nans = np.array([0x7FC00000, 0xFFC00001], np.uint32).view(np.float32)
    assert digests.digest_of({"a": nans[:1]}) == digests.digest_of({"a": nans[1:]})
    with pytest.raises(TypeError, match="cannot be recorded"):
        digests.digest_of({"a": np.array(["text"])})


def trajectory() -> Trajectory:
    """Return a trajectory with an episode of two steps, and a value in its steps only."""
    out = Trajectory(4, 1)
    for t, (elapsed, is_over) in enumerate([(0, False), (1, False), (2, True), (0, False)]):
        for name, value in {"elapsed_step": elapsed, "terminated": is_over, "truncated": False}.items():
            out.put(name, (t, 0), value)
        if elapsed:
            out.put_known("info:x", (t, 0), 5)
    return out


def test_values_that_upstream_lacks_do_not_count() -> None:
    expected, actual = trajectory(), trajectory()
    assert digests.patterns_of(expected) == {"info:x": "steps"}
    names = list(expected.arrays)
    actual.arrays["info:x"][0] = 7
    assert digests.digests_of(actual, names, {"info:x": "steps"}) == digests.digests_of(
        expected, names, {"info:x": "steps"}
    )
    actual.arrays["info:x"][1] = 7
    assert digests.digests_of(actual, names, {"info:x": "steps"}) != digests.digests_of(
        expected, names, {"info:x": "steps"}
    )
    expected.known["info:x"][1] = False
    assert digests.patterns_of(expected) == {"info:x": "ends"}
    expected.known["info:x"][0] = True
    with pytest.raises(ValueError, match="info:x lacks values"):
        digests.patterns_of(expected)


def test_actions_are_recorded() -> None:
    actions = np.random.default_rng(0).integers(0, 7, (120, 2)).astype(np.int32)
    text = digests.pack(actions)
    assert np.array_equal(digests.unpack(text, CASE), actions)
    assert digests.unpack(text, replace(CASE, steps=121)).shape == (121, 2)


def test_pools_are_compared_without_upstream(recorded: dict[str, Any]) -> None:
    digests.check(CASE, NAME)
    assert Counted.plays == 1  # for the record
    digests.check(CASE, NAME, with_upstream=True)
    assert Counted.plays == 2


def test_upstream_is_played_if_its_version_is_another(
    recorded: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(digests, "version", lambda name: "0.0.1")
    recorded["digests"] = "of that version"
    digests.check(CASE, NAME)
    assert Counted.plays == 2
    with pytest.raises(
        AssertionError, match=r"toy_text.json was made by gymnasium .*python -m tests.golden.make toy_text"
    ):
        digests.check(CASE, NAME, with_upstream=True)


def test_a_pool_that_differs_is_compared_with_upstream(recorded: dict[str, Any]) -> None:
    limited = replace(CASE, options={"max_episode_steps": 60})
    text = (
        r"CliffWalking-v1 .*seeds 0 to 1, records 50 to 99 differ from upstream .*truncated of env 0, record 60.*json"
    )
    with pytest.raises(AssertionError, match=text):
        digests.check(limited, NAME)


def test_entries_that_are_out_of_date_are_named(recorded: dict[str, Any]) -> None:
    with pytest.raises(AssertionError, match=r"other actions or seeds than in .*tests.golden.make toy_text"):
        digests.check(replace(CASE, seed=1), NAME)
    with pytest.raises(AssertionError, match=r"json lacks toy_text-another; .*tests.golden.make toy_text"):
        digests.check(CASE, "toy_text-another")
    recorded["digests"] = recorded["digests"][:-1] + "?"
    with pytest.raises(AssertionError, match=r"records 100 to 120 equal upstream, but differ from .*make toy_text"):
        digests.check(CASE, NAME)
    with pytest.raises(AssertionError, match=r"upstream differs from .*json in toy_text-a case; .*make toy_text"):
        digests.check(CASE, NAME, with_upstream=True)


def test_a_pool_without_an_array_differs(recorded: dict[str, Any]) -> None:
    recorded["arrays"] = [*recorded["arrays"], "info:more"]
    with pytest.raises(AssertionError, match="the pool lacks"):
        digests.check(CASE, NAME)


def test_arrays_that_are_ignored_are_not_recorded(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    monkeypatch.setattr(digests, "FOLDER", tmp_path)
    case = replace(CASE, ignored=["obs"])
    entry = record(case)
    assert "obs" not in entry["arrays"]
    digests.check(case, NAME)
    entry["digests"] = entry["digests"][:-1] + "?"
    with pytest.raises(AssertionError, match="equal upstream"):
        digests.check(case, NAME)
