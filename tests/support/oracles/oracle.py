"""The interface between upstream environments and the conformance tests."""

from __future__ import annotations

from typing import Any

from tests.support.oracles.pool_runner import run_pool
from tests.support.oracles.trajectory import Trajectory, compare


class CaseOracle:
    """Plays upstream environments, which pools are compared with."""

    def play(self, case: Any) -> tuple[Any, list[int], Trajectory]:
        """Return the actions and seeds of a case, and what upstream returned.

        Parameters
        ----------
        case : tests.conformance.cases.ExactnessCase
            Says which actions, how many environments and how many steps.
        """
        raise NotImplementedError

    def actions_of(self, case: Any) -> Any:
        """Return the actions of a case, or None if they depend on what upstream returns."""
        return None

    def count_episodes(self, expected: Trajectory) -> int:
        """Return the number of episodes that ended, which is compared with the ``min_episodes`` of a case."""
        return expected.num_episodes

    def verify(self, case: Any, expected: Trajectory) -> None:
        """Raise AssertionError when a trajectory does not contain what the case is for."""
        ended = self.count_episodes(expected)
        assert ended >= case.min_episodes, f"{ended} episodes ended, {case.min_episodes} are needed"
        if case.verify is not None:
            case.verify(expected)

    def check(self, case: Any) -> None:
        """Raise AssertionError when a pool of the case returns a bit that upstream does not."""
        self.check_pools(case, *self.play(case))

    def check_pools(self, case: Any, actions: Any, seeds: list[int], expected: Trajectory) -> None:
        """Raise AssertionError when a pool of the case returns a bit that upstream did not."""
        self.verify(case, expected)
        for name in case.ignored:
            del expected.arrays[name]
        for run in case.runs:
            actual = run_pool(case.task_id, actions, seeds, **case.options, **run)
            for name in case.ignored:
                del actual.arrays[name]
            differences = compare(expected, actual)
            assert differences.total == 0, f"{case.task_id} {dict(case.options)} {dict(run)}: {differences}"
