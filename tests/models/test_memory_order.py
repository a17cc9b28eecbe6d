"""The accesses on which the core rests, one litmus test a pair, under RC11 instead of sequential consistency.

The Spin models assume that memory is sequentially consistent. Neither the hardware nor C11 is, so each test here takes
the accesses of one protocol with the orders that the code gives them, checks all executions that RC11 allows, and finds
none that is wrong. The test then weakens one access after the other, and the mistake must appear: every order that a
test names is needed. The sources are engine.pyx (run_chunk, park, wake), consumer.pyx (publish, wait_ready,
wait_arrivals), execute.pyx (rows_written, arrive), partial.pyx (begin, collect) and structs.pxd.

There are two kinds of arguments. *Two flags*: each side writes one word and then reads the other's, and both must not
miss each other. That takes sequential consistency of all four accesses; release and acquire do not exclude that both
read the old value, neither in C11 nor on a processor whose acquire loads may overtake a release store of another word
(LDAPR of ARMv8.3, Power). *Messages*: plain data is written before a word with release and read after it with acquire.
Where several threads count on one word, read-modify-writes continue the release sequences of all earlier counts.

| the wake-up or the data                     | one side                         | the other side                  |
|---------------------------------------------|----------------------------------|---------------------------------|
| a worker parks over new work                | head; parked                     | parked; head                    |
| the reserve parks although it is wanted     | active, head; reserve_parked     | reserve_parked; head, active    |
| a worker parks in a pool that stops         | stop; parked                     | parked; stop                    |
| a wake between the look and the sleep       | word, futex_wake                 | word; parked, look; futex_wait  |
| the consumer sleeps over a full block       | written; expected, recv_waiting  | recv_waiting; written           |
| the consumer sleeps over a send             | head; recv_waiting               | recv_waiting; head              |
| the consumer sleeps over a chunk to move    | span, written; is_moving         | is_moving, written; span        |
| the consumer sleeps over an arrival         | arrivals; recv_waiting, awaited  | awaited, recv_waiting; arrivals |
| a block with more rows than a count expects | expected, head                   | head; written, expected         |
| rows, actions, blocks, seeds, failures      | data; head or written            | head or written; data           |
| a slot of the ring                          | slot, head                       | claim, head, slot; claim        |
| a row to move                               | rows, span                       | span; rows                      |
| the list of arrivals                        | next, arrivals                   | arrivals; next                  |

What needs no order, and why:
- The first load of `claim` in run_chunk: a stale value makes the compare-and-swap fail, or `head` look too small.
- The order of a successful claim: it only has to be atomic. Slots and blocks come with `head`; see the test of slots.
- `parked` in wake_for_backlog(), `head` and `claim` in may_claim(), `ns_per_env` and the other estimates: they decide
  which thread works. A consumer that helps looks for work itself before it sleeps, so no wake-up depends on them.
- is_ready() in the consumer's fast paths (run_if_quick, the first look and the spinning in wait_ready): a consumer that
  finds the block ready has acquired the count; one that does not find it ready looks again after `recv_waiting`, and
  only that look must be sequentially consistent.
- `stop` in loops that spin: the loop comes back, and park() and wait_ready() look again, sequentially consistently.

The words of a futex are read by the kernel under the lock of a queue. The tests express futex_wait and futex_wake as
updates of that queue (`queue`), which any implementation has.
"""

import pytest

from tests.models.rc11 import ACQ, AR, NA, REL, RLX, SC, add, cas, outcomes, read, update, write

SLEEPS, AWAKE = "sleeps", "awake"


def check(program, is_wrong, weaker, **initial):
    """Assert that a program is right with its own orders, and wrong as soon as one of them is weakened.

    Parameters
    ----------
    program : callable
        Returns the threads; its keyword arguments are the orders of accesses.
    is_wrong : callable
        Whether an outcome is wrong.
    weaker : dict
        A weaker value of each keyword argument that matters.
    """
    assert outcomes(program(), **initial), "the program has no execution"
    assert not any(is_wrong(o) for o in outcomes(program(), **initial))
    for name, order in weaker.items():
        assert any(is_wrong(o) for o in outcomes(program(**{name: order}), **initial)), (
            f"{name} is stronger than needed"
        )


def has_race(outcome):
    return bool(outcome.races)


# ---- two flags -------------------------------------------------------------------------------------------------------


def two_flags(store=SC, look=SC, announce=SC, look_again=SC, is_update=True):
    """One side stores `mine` and looks at `other`; the other side sets `other` and looks at `mine` before it sleeps."""

    def waker():
        yield write("mine", 1, store)
        return (yield read("other", look)) > 0

    def sleeper():
        yield add("other", 1, announce) if is_update else write("other", 1, announce)
        return SLEEPS if (yield read("mine", look_again)) == 0 else AWAKE

    return [waker, sleeper]


def is_missed(outcome):
    """Whether the sleeper sleeps and nobody wakes it."""
    return outcome.results == (False, SLEEPS)


def test_publish_and_park():
    """publish(): head, then parked. park(): parked (an update), then head. The same holds for stop and parked."""
    check(two_flags, is_missed, {"store": REL, "look": ACQ, "announce": AR, "look_again": ACQ})


def test_publish_and_a_waiting_consumer():
    """publish(): head, then recv_waiting. wait_ready(), another thread: recv_waiting (a store), then head."""

    def program(**orders):
        return two_flags(is_update=False, **orders)

    check(program, is_missed, {"store": REL, "look": ACQ, "announce": REL, "look_again": ACQ})


def the_reserve(helps=SC, active=SC, head=SC, look=SC, announce=SC, head_again=SC, active_again=SC):
    """publish() counts the last worker in before it publishes; park() looks at both words."""

    def consumer():
        yield write("active", 1, active)
        yield write("head", 1, head)
        return (yield read("parked", look)) > 0

    def reserve():
        yield add("parked", 1, announce)
        if (yield read("head", head_again)) == 0:
            return SLEEPS
        return AWAKE if (yield read("active", active_again)) else SLEEPS

    return [consumer, reserve]


def test_the_reserve_parks():
    """`active` may be weaker where it comes with `head`, but leave_to_workers() publishes nothing."""
    check(the_reserve, is_missed, {"head": REL, "look": ACQ, "announce": AR, "head_again": ACQ})

    def leave_to_workers(**orders):
        return two_flags(**orders)

    check(leave_to_workers, is_missed, {"store": REL, "look_again": ACQ})


# ---- full blocks -----------------------------------------------------------------------------------------------------


def full_block(count=SC, look=SC, announce=SC, look_again=SC):
    """rows_written(): written (an update), then recv_waiting. wait_ready(): recv_waiting, then is_ready()."""

    def worker():
        if (yield add("written", 1, count)) + 1 == (yield read("expected", RLX)):
            return (yield read("recv_waiting", look)) > 0
        return False

    def consumer():
        yield write("recv_waiting", 1, announce)
        return AWAKE if (yield read("written", look_again)) >= 1 else SLEEPS

    return [worker, consumer]


def test_a_full_block_and_a_waiting_consumer():
    """is_ready() after `recv_waiting = 1` must be sequentially consistent: with acquire, the wake-up can be lost."""
    check(full_block, is_missed, {"look_again": ACQ, "count": AR, "look": ACQ, "announce": REL}, expected=1)


def test_two_waits_in_a_row():
    """The second wait of a consumer is not taken for the first one, from which `recv_waiting` may still be known."""

    def program(look_again=SC):
        def consumer():
            yield write("recv_waiting", 1, SC)
            yield write("recv_waiting", 0, SC)
            yield write("recv_waiting", 1, SC)
            return AWAKE if (yield read("written", look_again)) else SLEEPS

        return [full_block()[0], consumer]

    check(program, is_missed, {"look_again": ACQ}, expected=1)


def expected_rises(head=SC, head_read=ACQ, count=SC):
    """A send adds a row to a block that a consumer awaits: enqueue() raises `expected` before it publishes."""

    def sender():
        yield write("expected", 2, RLX)
        yield write("head", 2, head)

    def counts_the_old_row():
        return (yield add("written", 1, count)) + 1 == (yield read("expected", RLX))

    def counts_the_new_row():
        if (yield read("head", head_read)) == 2:
            return (yield add("written", 1, count)) + 1 == (yield read("expected", RLX))
        return None

    return [sender, counts_the_old_row, counts_the_new_row]


def test_the_count_that_completes_a_block_is_noticed():
    """A relaxed load of `expected` suffices after the count, which carries the send from one count to the next."""

    def nobody_notices(outcome):
        old, new = outcome.results[1:]
        return new is not None and dict(outcome.memory)["written"] == 2 and not old and not new

    check(expected_rises, nobody_notices, {"head": RLX, "head_read": RLX, "count": RLX}, expected=1, head=1)


def test_expected_is_read_after_the_count():
    """The other order of the two loses the wake-up whatever the orders are."""

    def program(count_first=True):
        def counts(is_new):
            if is_new and (yield read("head", ACQ)) != 2:
                return None
            if count_first:
                return (yield add("written", 1, SC)) + 1 == (yield read("expected", SC))
            expected = yield read("expected", SC)
            return (yield add("written", 1, SC)) + 1 == expected

        return [expected_rises()[0], lambda: counts(False), lambda: counts(True)]

    def nobody_notices(outcome):
        return outcome.results[1:] == (False, False) and dict(outcome.memory)["written"] == 2

    check(program, nobody_notices, {"count_first": False}, expected=1, head=1)


# ---- the futex -------------------------------------------------------------------------------------------------------


def sleep_and_wake(word_first=True, changes_word=True, word=SC, change=SC):
    """park() and wake(), or wait_ready() and wake_consumer(), with the kernel's queue of sleepers."""

    def waker():
        yield write("work", 1, SC)
        if (yield read("parked", SC)) == 0:
            return False
        if changes_word:
            yield add("word", 1, change)
        return (yield update("queue", lambda sleepers: sleepers, AR)) > 0

    def sleeper():
        seen = (yield read("word", word)) if word_first else None
        yield add("parked", 1, SC)
        if (yield read("work", SC)):
            return AWAKE
        if not word_first:
            seen = yield read("word", word)
        yield update("queue", lambda sleepers: sleepers + 1, AR)
        return SLEEPS if (yield read("word", RLX)) == seen else AWAKE

    return [waker, sleeper]


def test_a_wake_between_the_look_and_the_sleep():
    """The word is read before the last look, and changed before each wake; its orders need not be strong."""
    check(sleep_and_wake, is_missed, {"word_first": False, "changes_word": False})
    for orders in ({"word": RLX}, {"change": RLX}):
        assert not any(is_missed(o) for o in outcomes(sleep_and_wake(**orders)))


# ---- messages --------------------------------------------------------------------------------------------------------


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


def ring(head=SC, head_read=ACQ, slot_before_claim=True, slot=RLX, count=SC, ready=ACQ):
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
        if (yield cas("claim", first, first + 1, SC, ACQ)) != first:
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


def test_slots_that_are_read_after_the_claim_are_not_overwritten():
    """Sync pools read the ring in place: the next send follows the delivery of the rows."""

    def program(**orders):
        return ring(**{"slot_before_claim": False, "slot": NA} | orders)

    check(program, has_race, {"count": RLX, "ready": RLX, "slot_before_claim": True})


# ---- partial batches -------------------------------------------------------------------------------------------------


def span(first=REL, first_read=ACQ):
    """rows_written() and move_from_blocks(): the rows of a chunk belong to its span."""

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


def moving(count=SC, look=SC, announce=SC, rows_read=SC, span_first=True):
    """begin() sets is_moving; receive() counts the rows, then looks at the spans, and sleeps if no row was added."""

    def worker():
        if span_first:
            yield write("first", 1, REL)
        yield add("written", 1, count)
        is_moving = yield read("is_moving", look)
        if not span_first:
            yield write("first", 1, REL)
        return is_moving > 0 and (yield read("recv_waiting", SC)) > 0

    def consumer():
        yield write("is_moving", 1, announce)
        rows = yield read("written", rows_read)
        if (yield read("first", ACQ)) == 1:
            return AWAKE
        yield write("recv_waiting", 1, SC)
        return SLEEPS if (yield read("written", SC)) == rows else AWAKE

    return [worker, consumer]


def test_chunks_that_are_to_be_moved():
    """`written` must be read in sequentially consistent order, or a chunk is neither moved nor announced.

    The first of the two loads may be weaker, since the second one finds what it has missed.
    """
    check(moving, is_missed, {"span_first": False, "count": AR, "look": ACQ})


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


def awaited_arrivals(push=SC, look=SC, announce=SC, look_again=SC, awaited_first=True):
    """arrive(), and the second of two waits: first for two arrivals, then for one."""

    def worker():
        count = (yield add("arrivals", 1, push)) + 1
        return bool((yield read("recv_waiting", look)) and count >= (yield read("awaited", RLX)))

    def consumer():
        yield write("awaited", 2, RLX)
        yield write("recv_waiting", 1, SC)
        yield write("recv_waiting", 0, SC)
        if awaited_first:
            yield write("awaited", 1, RLX)
        yield write("recv_waiting", 1, announce)
        if not awaited_first:
            yield write("awaited", 1, RLX)
        return AWAKE if (yield read("arrivals", look_again)) >= 1 else SLEEPS

    return [worker, consumer]


def test_arrivals_and_a_waiting_consumer():
    """`awaited` is relaxed: it comes with the store of `recv_waiting`, which the worker must see if it is not seen."""
    weaker = {"push": AR, "look": ACQ, "announce": REL, "look_again": ACQ, "awaited_first": False}
    check(awaited_arrivals, is_missed, weaker)


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
