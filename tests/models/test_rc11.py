"""The checker gives the known verdicts on the well-known litmus tests."""

import pytest

from tests.models.rc11 import ACQ, AR, NA, REL, RLX, SC, add, cas, fence, outcomes, read, write


def thread(*accesses):
    """Return a thread that makes these accesses and returns what the reads and updates received."""

    def run():
        received = []
        for access in accesses:
            value = yield access
            if access.kind in "RU":
                received.append(value)
        return tuple(received)

    return run


def results(*threads):
    """Return what the threads can receive, without the structure."""
    return {sum(o.results, ()) for o in outcomes(threads)}


def sb(store, load, *between):
    return results(
        thread(write("x", 1, store), *between, read("y", load)), thread(write("y", 1, store), *between, read("x", load))
    )


@pytest.mark.parametrize(
    ("store", "load", "between", "is_allowed"),
    [
        (RLX, RLX, (), True),
        (REL, ACQ, (), True),
        (SC, ACQ, (), True),
        (REL, SC, (), True),
        (SC, SC, (), False),
        (RLX, RLX, (fence(SC),), False),
        (RLX, RLX, (fence(AR),), True),
    ],
)
def test_store_buffering(store, load, between, is_allowed):
    assert ((0, 0) in sb(store, load, *between)) == is_allowed
    assert {(0, 1), (1, 0), (1, 1)} <= sb(store, load, *between)


@pytest.mark.parametrize(
    ("store", "load", "is_allowed"), [(REL, ACQ, False), (SC, SC, False), (RLX, ACQ, True), (REL, RLX, True)]
)
def test_message_passing(store, load, is_allowed):
    writer = thread(write("x", 1), write("y", 1, store))
    assert ((1, 0) in results(writer, thread(read("y", load), read("x")))) == is_allowed


@pytest.mark.parametrize(("first", "second", "is_allowed"), [(REL, ACQ, False), (RLX, ACQ, True), (REL, RLX, True)])
def test_message_passing_with_fences(first, second, is_allowed):
    writer = thread(write("x", 1), fence(first) if first != RLX else read("z"), write("y", 1))
    reader = thread(read("y"), fence(second) if second != RLX else read("z"), read("x"))
    seen = {tuple(v for v in (o.results[1][0], o.results[1][-1])) for o in outcomes([writer, reader])}
    assert ((1, 0) in seen) == is_allowed


@pytest.mark.parametrize("order", [RLX, ACQ, SC])
def test_load_buffering_is_forbidden(order):
    store = {RLX: RLX, ACQ: REL, SC: SC}[order]
    a = thread(read("x", order), write("y", 1, store))
    b = thread(read("y", order), write("x", 1, store))
    assert (1, 1) not in results(a, b)


@pytest.mark.parametrize(
    ("store", "load", "between", "is_allowed"),
    [
        (RLX, RLX, (), True),
        (REL, ACQ, (), True),
        (SC, SC, (), False),
        (SC, ACQ, (), True),
        (RLX, RLX, (fence(SC),), False),
        (RLX, RLX, (fence(AR),), True),
    ],
)
def test_independent_reads_of_independent_writes(store, load, between, is_allowed):
    readers = [thread(read(a, load), *between, read(b, load)) for a, b in ("xy", "yx")]
    seen = results(thread(write("x", 1, store)), thread(write("y", 1, store)), *readers)
    assert ((1, 0, 1, 0) in seen) == is_allowed


@pytest.mark.parametrize(("order", "is_allowed"), [(RLX, True), (REL, True), (SC, False)])
def test_two_times_two_writes(order, is_allowed):
    threads = [thread(write(a, 1, order), write(b, 2, order)) for a, b in ("xy", "yx")]
    assert ((("x", 1), ("y", 1)) in {o.memory for o in outcomes(threads)}) == is_allowed


@pytest.mark.parametrize(("store", "load", "is_allowed"), [(REL, ACQ, False), (RLX, RLX, True), (RLX, ACQ, False)])
def test_write_to_read_causality(store, load, is_allowed):
    """The first store needs no order; the second one does, so the third case weakens only the first."""
    threads = (
        thread(write("x", 1, store)),
        thread(read("x", load), write("y", 1, RLX if load == RLX else REL)),
        thread(read("y", load), read("x")),
    )
    # Without a release of x, the second thread's read of x happens before the third thread's, which must not be older.
    assert ((1, 1, 0) in results(*threads)) == is_allowed


@pytest.mark.parametrize(("store", "load", "is_allowed"), [(REL, ACQ, False), (RLX, ACQ, True), (REL, RLX, True)])
def test_isa2(store, load, is_allowed):
    threads = (
        thread(write("x", 1), write("y", 1, store)),
        thread(read("y", load), write("z", 1, REL)),
        thread(read("z", ACQ), read("x")),
    )
    assert ((1, 1, 0) in results(*threads)) == is_allowed


@pytest.mark.parametrize("order", [RLX, ACQ, SC])
def test_coherence_of_reads(order):
    seen = results(thread(write("x", 1), write("x", 2)), thread(read("x", order), read("x", order)))
    assert seen == {(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)}


def test_updates_are_atomic():
    assert results(*[thread(add("x", 1))] * 3) == {(a, b, 3 - a - b) for a in range(3) for b in range(3) if a != b}
    assert results(*[thread(cas("x", 0, 1))] * 2) == {(0, 1), (1, 0)}
    seen = outcomes([thread(add("x", 10)), thread(write("x", 1))])
    assert {o.memory[0][1] for o in seen} == {1, 11}


@pytest.mark.parametrize(("by_whom", "is_racy"), [(add("y", 1, RLX), False), (write("y", 2, RLX), True)])
def test_a_release_sequence_goes_on_through_updates_only(by_whom, is_racy):
    def reader():
        if (yield read("y", ACQ)) == 2:
            yield read("x", NA)

    def other():
        if (yield read("y", RLX)) == 1:
            yield by_whom

    found = outcomes([thread(write("x", 1, NA), write("y", 1, REL)), other, reader])
    assert any("x" in o.races for o in found) == is_racy


def test_z6u_of_the_paper_is_allowed():
    """C11 forbids this outcome, which made the usual compilation to Power wrong; RC11 allows it."""
    threads = (
        thread(write("x", 1, SC), write("y", 1, REL)),
        thread(add("y", 1, SC), read("y", RLX)),
        thread(write("y", 3, SC), read("x", SC)),
    )
    assert (1, 3, 0) in results(*threads)


@pytest.mark.parametrize(("load", "is_racy"), [(ACQ, False), (RLX, True)])
def test_races(load, is_racy):
    def reader():
        if (yield read("y", load)):
            return (yield read("x", NA))

    found = outcomes([thread(write("x", 1, NA), write("y", 1, REL)), reader])
    assert any(o.races for o in found) == is_racy
