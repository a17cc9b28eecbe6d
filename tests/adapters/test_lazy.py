"""LazyRows: nobody can tell it from a list, and items are made on first access only."""

import copy
import json
import operator
import pickle

import numpy as np
import pytest

from envpool.adapters.lazy import LazyRows

#: Methods of list that need no items of their own.
KEPT = {"__init__", "__new__", "__getattribute__", "__class_getitem__", "__doc__"}


def lazy(count=4):
    """Return a LazyRows of dicts, and the list of items that were made, -1 for all at once."""
    made = []

    class Maker:
        """Notes what it makes."""

        def row(self, i):
            made.append(i)
            return {"n": i}

        def rows(self):
            made.append(-1)
            return [{"n": i} for i in range(count)]

    return LazyRows(count, Maker()), made


EXPECTED = [{"n": i} for i in range(4)]


def test_every_method_of_list_is_replaced():
    assert vars(list).keys() - vars(LazyRows).keys() == KEPT - vars(LazyRows).keys()


def test_single_items():
    rows, made = lazy()
    assert isinstance(rows, list) and len(rows) == 4 and bool(rows) and made == []
    assert rows[1] == {"n": 1} and rows[-1] == {"n": 3} and rows[np.int64(1)] is rows[1]
    assert made == [1, 3]
    rows[1]["more"] = 5
    rows[2] = "set"
    rows[-4] = "first"
    assert made == [1, 3]
    assert list(rows) == ["first", {"n": 1, "more": 5}, "set", {"n": 3}]
    assert made == [1, 3, -1]
    assert rows[1] is rows[1] and rows[1]["more"] == 5
    rows[0] = "again"
    assert rows[0] == "again" and made == [1, 3, -1]


def test_no_items():
    rows, _ = lazy(0)
    assert len(rows) == 0 and not rows and rows == [] and list(rows) == []


@pytest.mark.parametrize("index", [4, -5, 2**70])
def test_indices_out_of_range(index):
    rows, _ = lazy()
    with pytest.raises(IndexError):
        rows[index]
    with pytest.raises(IndexError):
        rows[index] = 1
    with pytest.raises(AttributeError):
        rows["a"]


READS = {
    "iteration": lambda r: [x for x in r],
    "enumerate": lambda r: [x for _, x in enumerate(r)],
    "zip": lambda r: [x for x, _ in zip(r, range(4), strict=True)],
    "unpacking": lambda r: [*r],
    "tuple": lambda r: list(tuple(r)),
    "slice": lambda r: r[:],
    "part": lambda r: r[:2] + r[2:],
    "copy": lambda r: r.copy(),
    "copy.copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda r: pickle.loads(pickle.dumps(r)),
    "old pickle": lambda r: pickle.loads(pickle.dumps(r, 0)),
    "json": lambda r: json.loads(json.dumps(r)),
    "sum": lambda r: operator.add([], r),
    "sum of two": lambda r: r[:0] + lazy()[0],
    "other sum": lambda r: operator.add(r, []),
    "sum with another": lambda r: lazy(0)[0] + r,
    "product": lambda r: r * 1,
    "reversed": lambda r: list(reversed(r))[::-1],
    "extended": lambda r: (kept := [], kept.extend(r))[0],
    "added": lambda r: (kept := [], kept.__iadd__(r))[0],
    "array": lambda r: np.array(r, object).tolist(),
    "sorted": lambda r: sorted(r, key=lambda x: x["n"]),
    "repr": lambda r: eval(repr(r)),
    "map": lambda r: list(map(dict, r)),
    "star": lambda r: list((lambda *a: a)(*r)),
}


@pytest.mark.parametrize("how", READS)
def test_reading_everything(how):
    rows, _ = lazy()
    result = READS[how](rows)
    assert type(result) is list and result == EXPECTED


def test_comparisons():
    for a, b in [(lazy()[0], EXPECTED), (EXPECTED, lazy()[0]), (lazy()[0], lazy()[0])]:
        assert operator.eq(a, b)
    for a, b in [(lazy()[0], EXPECTED), (EXPECTED, lazy()[0]), (lazy()[0], lazy()[0])]:
        assert not operator.ne(a, b)
    assert lazy()[0] != EXPECTED[:3] and operator.ne(EXPECTED[:3], lazy()[0])
    assert {"n": 2} in lazy()[0] and {"n": 9} not in lazy()[0]
    assert (lazy()[0].index({"n": 2}), lazy()[0].count({"n": 2})) == (2, 1)
    with pytest.raises(TypeError):
        hash(lazy()[0])


CHANGES = {
    "append": lambda r: r.append(1),
    "extend": lambda r: r.extend([1, 2]),
    "extend lazily": lambda r: r.extend(lazy()[0]),
    "insert": lambda r: r.insert(1, 5),
    "pop": lambda r: r.pop(0),
    "remove": lambda r: r.remove({"n": 2}),
    "reverse": lambda r: r.reverse(),
    "sort": lambda r: r.sort(key=lambda x: -x["n"]),
    "clear": lambda r: r.clear(),
    "del": lambda r: r.__delitem__(slice(0, 2)),
    "slice": lambda r: r.__setitem__(slice(0, 2), [7]),
    "iadd": lambda r: r.__iadd__([3]),
    "imul": lambda r: r.__imul__(2),
}


@pytest.mark.parametrize("how", CHANGES)
def test_changes(how):
    rows, _ = lazy()
    expected = [{"n": i} for i in range(4)]
    assert CHANGES[how](expected) == CHANGES[how](rows)
    assert len(rows) == len(expected) and rows == expected
