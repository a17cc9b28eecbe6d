"""No wake-up is lost: see litmus.py for the argument."""

from tests.models.litmus import AWAKE, SLEEPS, check, is_missed
from tests.models.rc11 import ACQ, AR, REL, RLX, SC, add, outcomes, read, update, write

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
    """announce_rows(): written (an update), then recv_waiting. wait_ready(): recv_waiting, then is_ready()."""

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


# ---- partial batches -------------------------------------------------------------------------------------------------


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
