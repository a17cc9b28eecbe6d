"""The accesses on which the core rests, pair by pair: litmus tests under RC11 instead of sequential consistency.

test_wakeups.py has the wake-ups and test_messages.py the data.

The Spin models assume that memory is sequentially consistent. Neither the hardware nor C11 is, so each test here takes
the accesses of one protocol with the orders that the code gives them, checks all executions that RC11 allows, and finds
none that is wrong. The test then weakens one access after the other, and the mistake must appear: every order that a
test names is needed. The sources are scheduler.pyx (run_from, park, wake, publish, wait_ready, wait_arrivals),
execute.pyx (announce_rows, arrive), partial.pyx (begin, collect) and structs.pxd. With several queues, what is said of
`head`, `claim` and a ring holds for those of each queue.

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
| a block that another thread found full      | data, written; full_until        | full_until; data                |
| a slot of the ring                          | slot, head                       | claim, head, slot; claim        |
| a row to move                               | rows, span                       | span; rows                      |
| the list of arrivals                        | next, arrivals                   | arrivals; next                  |

What needs no order, and why:
- The first load of `claim` in run_from: a stale value makes the compare-and-swap fail, or `head` look too small.
- The order of a successful claim: it only has to be atomic. Slots and blocks come with `head`; see the test of slots.
- `parked` in is_any_parked(), `head` and `claim` in num_unclaimed(), `base`, the estimates, and `to_wake`: they decide
  which thread works. A consumer that helps looks for work itself before it sleeps, so no wake-up depends on them.
- is_ready() in the consumer's fast paths (run_if_quick, the first look and the spinning in wait_ready): a consumer that
  finds the block ready has acquired the count; one that does not find it ready looks again after `recv_waiting`, and
  only that look must be sequentially consistent.
- `stop` in loops that spin: the loop comes back, and park() and wait_ready() look again, sequentially consistently.

The words of a futex are read by the kernel under the lock of a queue. The tests express futex_wait and futex_wake as
updates of that queue (`queue`), which any implementation has.
"""

from tests.models.rc11 import outcomes

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


def is_missed(outcome):
    """Whether the sleeper sleeps and nobody wakes it."""
    return outcome.results == (False, SLEEPS)
