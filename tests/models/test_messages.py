"""Data is complete where another thread reads it: see litmus.py for the argument."""

import pytest

from tests.models.litmus import check, has_race
from tests.models.rc11 import ACQ, NA, REL, RLX, SC, add, cas, outcomes, read, update, write

# ---- whole batches ---------------------------------------------------------------------------------------------------


def published(head=SC, head_read=ACQ):
    """The consumer writes actions, seeds, flags, `base` and pointers of blocks before `head`; a claimer reads them."""

    def consumer():
        yield write("data", 1, NA)
        yield write("head", 1, head)

    def claimer():
        if (yield read("head", head_read)) == 1 and (yield cas("claim", 0, 1, SC, ACQ)) == 0:
            return (yield read("data", NA))
        return None

    return [consumer, claimer]


def test_data_of_a_send():
    check(published, has_race, {"head": RLX, "head_read": RLX})


def rows(count=SC, ready=ACQ):
    """Two workers write rows and count them; the consumer that finds the block full reads both rows."""

    def worker(row):
        yield write(row, 1, NA)
        yield add("written", 1, count)

    def consumer():
        if (yield read("written", ready)) == 2:
            yield read("row 0", NA)
            yield read("row 1", NA)

    return [lambda: worker("row 0"), lambda: worker("row 1"), consumer]


def test_rows_of_a_block():
    """Acquire suffices where is_ready() only answers whether the rows can be read."""
    check(rows, has_race, {"count": RLX, "ready": RLX})


def test_blocks_that_are_known_to_be_full():
    """written_rows(): a thread that skips a block, since another one found it full, may look at its envs next."""

    def program(full=REL, full_read=ACQ, count=SC):
        def worker():
            yield write("row", 1, NA)
            yield add("written", 1, count)

        def first():
            if (yield read("written", SC)) == 1:
                yield write("full_until", 1, full)

        def second():
            if (yield read("full_until", full_read)) == 1:
                yield read("row", NA)

        return [worker, first, second]

    check(program, has_race, {"full": RLX, "full_read": RLX, "count": RLX})


def test_failures_of_a_block():
    """`failures` is relaxed on both sides: it comes with the count of the rows. The same holds for `seeds_pending`."""

    def program(ready=ACQ):
        def worker():
            yield add("failures", 1, SC)
            yield add("written", 1, SC)

        def consumer():
            return (yield read("failures", RLX)) if (yield read("written", ready)) == 1 else None

        return [worker, consumer]

    check(program, lambda o: o.results[1] == 0, {"ready": RLX})


def ring(head=SC, head_read=ACQ, slot_before_claim=True, slot=RLX, claim=SC, count=SC, ready=ACQ):
    """Positions 0 and 1 share a slot. The consumer writes it again when it has received the first env."""

    def consumer():
        yield write("slot", 1, slot)
        yield write("head", 1, head)
        if (yield read("written", ready)) == 1:
            yield write("slot", 2, slot)
            yield write("head", 2, head)

    def worker():
        first = yield read("claim", ACQ)
        if (yield read("head", head_read)) <= first:
            return None
        env = (yield read("slot", slot)) if slot_before_claim else None
        if (yield cas("claim", first, first + 1, claim, ACQ)) != first:
            return None
        if not slot_before_claim:
            env = yield read("slot", slot)
        yield add("written", 1, count)
        return first, env

    return [consumer, worker, worker]


def test_slots_of_the_ring():
    """A successful claim proves that the slot was not overwritten before it was read."""

    def is_wrong(outcome):
        claims = [c for c in outcome.results[1:] if c is not None]
        return any(env != first + 1 for first, env in claims) or len(set(claims)) < len(claims) or has_race(outcome)

    # A claimer that is too slow reads a slot while it is written, and drops what it has read: so slots are atomic.
    check(ring, is_wrong, {"head": RLX, "head_read": RLX, "slot": NA})
    assert not any(is_wrong(o) for o in outcomes(ring(claim=RLX)))


def test_slots_that_are_read_after_the_claim_are_not_overwritten():
    """Sync pools read the ring in place: the next send follows the delivery of the rows."""

    def program(**orders):
        return ring(**{"slot_before_claim": False, "slot": NA} | orders)

    check(program, has_race, {"count": RLX, "ready": RLX, "slot_before_claim": True})


# ---- partial batches -------------------------------------------------------------------------------------------------


def span(first=REL, first_read=ACQ):
    """announce_rows() and move_from_blocks(): the rows of a chunk belong to its span."""

    def worker():
        yield write("row", 1, NA)
        yield write("rows", 1, NA)
        yield write("first", 1, first)
        yield add("written", 1, SC)

    def consumer():
        if (yield read("first", first_read)) == 1:
            yield read("rows", NA)
            yield read("row", NA)

    return [worker, consumer]


def test_rows_to_move():
    check(span, has_race, {"first": RLX, "first_read": RLX})


def arrivals(push=SC, swap=SC):
    """Two workers push envs onto the stack; the consumer takes it and follows `next`."""

    def worker(env):
        top = yield read("top", RLX)
        yield write(f"next {env}", top, NA)
        return (yield cas("top", top, env, push, RLX)) == top

    def consumer():
        env = yield update("top", lambda _: 0, swap)
        taken = []
        while env:
            taken.append(env)
            env = yield read(f"next {env}", NA)
        return tuple(taken)

    return [lambda: worker(1), lambda: worker(2), consumer]


def test_the_list_of_arrivals():
    """The push of another env in between continues the release sequence, since it is an update."""

    def is_wrong(outcome):
        pushed = {env for env, is_pushed in zip((1, 2), outcome.results, strict=False) if is_pushed}
        return has_race(outcome) or not set(outcome.results[2]) <= pushed

    check(arrivals, is_wrong, {"push": RLX, "swap": RLX})


@pytest.mark.parametrize("name", ["partial_from", "expected", "is_moving"])
def test_modes_come_with_the_send(name):
    """A claimer that sees a send sees the mode for which it was made, though the word itself is relaxed."""

    def program(head=SC, head_read=ACQ):
        def consumer():
            yield write(name, 1, RLX)
            yield write("head", 1, head)

        def claimer():
            return (yield read(name, RLX)) if (yield read("head", head_read)) == 1 else None

        return [consumer, claimer]

    check(program, lambda o: o.results[1] == 0, {"head": RLX, "head_read": RLX})
