"""What the tests of each room take: with ``--room-times``, pytest prints a table at its end.

Rooms are those of `selection`. A row has the seconds that the processes of pytest spent on the tests of a room, set-up
and tear-down included. With a process on each core, ``-n auto``, divide by the number of cores for the share of the
room in the duration of the run.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

from tests.selection import TESTS, room_of


def room_of_test(nodeid: str) -> str:
    """Return the room of a test, given its name: a path below the folder of ``tests/``, a function, and its case."""
    path, _, function = nodeid.partition("::")
    return room_of(TESTS.parent / path, function.partition("[")[2].removesuffix("]"))


class RoomTimes:
    """The pytest plug-in with the option ``--room-times``."""

    def __init__(self) -> None:
        self.seconds: Counter[str] = Counter()
        self.tests: dict[str, set[str]] = defaultdict(set)

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Add a phase of a test; the process that starts the others receives theirs."""
        room = room_of_test(report.nodeid)
        self.seconds[room] += report.duration
        self.tests[room].add(report.nodeid)

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Print the table, the largest rooms first."""
        terminalreporter.section("rooms")
        for room, seconds in self.seconds.most_common():
            terminalreporter.write_line(f"{seconds:7.1f} s  {len(self.tests[room]):5} tests  {room}")


def add_options(parser: Any) -> None:
    """Add the option of the plug-in to pytest's."""
    parser.addoption("--room-times", action="store_true", help="print what the tests of each room of tests/ take")
