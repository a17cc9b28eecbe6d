"""The option ``--room-times``: every test counts, in its room."""

import subprocess
import sys

import pytest

from tests.room_times import room_of_test
from tests.selection import TESTS


@pytest.mark.parametrize(
    ("nodeid", "room"),
    [
        ("tests/test_pool.py::test_x", "package"),
        ("tests/atari/test_core.py::TestCore::test_x[Pong-v5]", "atari"),
        ("tests/conformance/test_states.py::test_x[toy_text-Taxi-v4]", "toy_text"),
        ("tests/conformance/test_states.py::test_x", "conformance"),
    ],
)
def test_rooms(nodeid, room):
    assert room_of_test(nodeid) == room


@pytest.mark.parametrize("workers", [[], ["-n", "2"]])
def test_the_table(workers):
    command = [sys.executable, "-m", "pytest", "--room-times", "-k", "test_rooms", "-p", "no:cacheprovider", *workers]
    paths = [str(TESTS / "test_room_times.py"), str(TESTS / "test_selection.py")]
    done = subprocess.run([*command, *paths], cwd=TESTS.parent, capture_output=True, text=True, check=True)
    row = done.stdout.partition("rooms =")[2].splitlines()[1]
    assert row.split()[1:] == ["s", "12", "tests", "package"]
