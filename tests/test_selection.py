"""The options ``--room``, ``--slice`` and ``--draw``: nothing is lost, and everything is drawn in turn."""

import pytest

from tests import selection
from tests.selection import PER_DRAW, TESTS, count_as_slow, drawn, in_slice, room_of

NAMES = [f"tests/x.py::test[{k}]" for k in range(100)]


@pytest.mark.parametrize("number", [1, 2, 3, 10, 100])
def test_consecutive_draws_take_every_test(number):
    names = NAMES[:number]
    rounds = -(-number // PER_DRAW)
    for first in (0, 1, 7, 1000):
        draws = [drawn(names, first + k) for k in range(rounds)]
        assert set().union(*draws) == set(names)
        assert all(len(draw) == min(PER_DRAW, number) for draw in draws)


def test_a_draw_does_not_depend_on_the_order_of_the_tests():
    assert drawn(NAMES, 5) == drawn(NAMES[::-1], 5)


def test_every_test_belongs_to_one_slice():
    slices = [{name for name in NAMES if in_slice(name, f"{k}/4")} for k in (1, 2, 3, 4)]
    assert sum(map(len, slices)) == len(NAMES) and set().union(*slices) == set(NAMES)
    assert all(len(part) > 10 for part in slices)


@pytest.mark.parametrize(
    ("path", "case", "room"),
    [
        ("test_pool.py", "", "package"),
        ("test_pool.py", "Pong-v5", "package"),
        ("atari/test_core.py", "", "atari"),
        ("mujoco/gym/test_spec.py", "", "mujoco"),
        ("conformance/test_exactness.py", "mujoco/gym-Ant-v5-random", "mujoco"),
        ("conformance/test_states.py", "toy_text-Taxi-v4", "toy_text"),
        ("conformance/test_states.py", "slow", "conformance"),
        ("conformance/test_states.py", "", "conformance"),
    ],
)
def test_rooms(path, case, room):
    assert room_of(TESTS / path, case) == room


class Item:
    """A test with marks, as pytest collects it."""

    def __init__(self, nodeid, *marks):
        self.nodeid = nodeid
        self.marks = {mark.name: mark for mark in marks}

    def get_closest_marker(self, name):
        return self.marks.get(name)

    def add_marker(self, mark):
        self.marks[mark.name] = mark.mark


def test_what_is_not_drawn_counts_as_slow():
    def items():
        fruits = [Item(f"test_a[{k}]", pytest.mark.drawn("fruits").mark) for k in range(10)]
        nuts = [Item(f"test_a[{k}]", pytest.mark.drawn("nuts").mark) for k in range(10, 12)]
        slow = Item("test_a[slow]", pytest.mark.drawn("nuts").mark, pytest.mark.slow.mark)
        return fruits, [*nuts, Item("test_b"), slow]

    for number in range(10):
        fruits, others = items()
        count_as_slow([*fruits, *others], number)
        assert sum("slow" in item.marks for item in fruits) == 10 - PER_DRAW
        assert [item.nodeid for item in others if "slow" in item.marks] == ["test_a[slow]"]


def test_this_run_has_a_draw(request):
    number = request.config.getoption("--draw")
    assert number == "all" or int(number) >= 0
    assert selection.number_of_commits() > 0 or not (TESTS.parent / ".git").exists()
