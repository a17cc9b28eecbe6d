"""Which tests a run takes: rooms, slices, and draws of tests that are alike.

- A *room* is a folder of ``tests/``; a case of ``tests/conformance`` belongs to the room of its family, and a test
  directly in ``tests/`` to the room ``package``. ``--room atari,box2d`` takes two rooms.
- A *slice* is a part of all tests, by a hash of their names: ``--slice 2/4``.
- Tests with the mark ``drawn(family)`` are alike: `PER_DRAW` of each family stay as they are, and the others count as
  slow. ``--draw N`` says which: consecutive numbers take turns, so every test is drawn once in a while. The default is
  the number of commits; ``--draw all`` leaves all tests as they are.

`scripts/full` runs what the gate leaves out.
"""

from __future__ import annotations

import platform
import subprocess
import sys
import zlib
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from envpool.registration import registry

TESTS = Path(__file__).parent
#: Tests of each family that a draw takes, of every test function.
PER_DRAW = 3
#: Folders of families whose library exists neither for this processor nor as a wheel for this version of Python.
ABSENT = () if platform.machine() == "x86_64" and sys.version_info < (3, 13) else ("procgen",)


def number_of_commits() -> int:
    """Return the number of commits of this checkout, or 0 outside a repository."""
    command = ["git", "-C", str(TESTS), "rev-list", "--count", "HEAD"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return int(done.stdout) if done.returncode == 0 else 0


def digest(name: str) -> int:
    """Return a number that depends on a name only, the same in every process."""
    return zlib.crc32(name.encode())


def in_slice(name: str, part: str) -> bool:
    """Return whether a name belongs to a slice such as ``"2/4"``."""
    k, n = map(int, part.split("/"))
    return digest(name) % n == k - 1


def room_of(path: Path, case: str = "") -> str:
    """Return the room of a test file; `case` is the id of a parametrised test of the conformance tests."""
    parts = path.relative_to(TESTS).parts
    if len(parts) == 1:
        return "package"
    family = case.partition("-")[0].partition("/")[0]
    return family if parts[0] == "conformance" and (TESTS / family).is_dir() and family else parts[0]


def drawn(names: list[str], number: int) -> set[str]:
    """Return `PER_DRAW` of some names; consecutive numbers take all of them in turn."""
    names = sorted(names, key=digest)
    first = number * PER_DRAW
    return {names[(first + k) % len(names)] for k in range(min(PER_DRAW, len(names)))}


def count_as_slow(items: list[Any], number: int) -> None:
    """Mark those of the tests that are alike which a draw does not take as slow."""
    groups: dict[tuple[str, str], list[Any]] = defaultdict(list)
    for item in items:
        mark = item.get_closest_marker("drawn")
        if mark is not None and not any(item.get_closest_marker(name) for name in ("slow", "sweep")):
            groups[item.nodeid.partition("[")[0], mark.args[0]].append(item)
    for group in groups.values():
        chosen = drawn([item.nodeid for item in group], number)
        for item in group:
            if item.nodeid not in chosen:
                item.add_marker(pytest.mark.slow)


def is_absent(value: Any) -> bool:
    """Return whether a parameter of a test is the id of a task of ABSENT."""
    entry = registry.tasks.get(value) if isinstance(value, str) else None
    return entry is not None and entry.import_path.split(".")[1] in ABSENT


class Selection:
    """The pytest plug-in with the options ``--room``, ``--slice`` and ``--draw``."""

    def __init__(self, config: Any):
        self.room, self.slice, self.draw = (config.getoption(f"--{name}") for name in ("room", "slice", "draw"))
        if self.draw is None:  # worker processes get the number from the process that starts them
            self.draw = config.option.draw = str(number_of_commits())

    def pytest_report_header(self) -> str:
        """Name the draw, with which a run can be repeated."""
        return f"draw: {self.draw}"

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, config: Any, items: list[Any]) -> None:
        """Mark what is not drawn, then leave out the tests of other rooms and slices."""
        if self.draw != "all":
            count_as_slow(items, int(self.draw))
        kept = [item for item in items if self.takes(item)]
        if len(kept) < len(items):
            config.hook.pytest_deselected(items=[item for item in items if not self.takes(item)])
            items[:] = kept

    def takes(self, item: Any) -> bool:
        """Return whether a test belongs to the room and the slice of this run, and to no task of ABSENT."""
        case = item.callspec.id if hasattr(item, "callspec") else ""
        if ABSENT and hasattr(item, "callspec") and any(map(is_absent, item.callspec.params.values())):
            return False
        return (self.room is None or room_of(item.path, case) in self.room.split(",")) and (
            self.slice is None or in_slice(item.nodeid, self.slice)
        )


def add_options(parser: Any) -> None:
    """Add the options of the plug-in to pytest's."""
    group = parser.getgroup("selection")
    group.addoption("--room", metavar="ROOM,...", help="only the tests of these rooms: folders of tests/, or 'package'")
    group.addoption("--slice", metavar="K/N", help="only the K-th of N parts of the tests, by a hash of their names")
    group.addoption(
        "--draw", metavar="N", help="which tests of many that are alike do not count as slow; 'all': every one"
    )
