"""An exhaustive checker of small concurrent programs under RC11, the memory model of C11 without its known flaws.

"Repairing Sequential Consistency in C/C++11" (Lahav, Vafeiadis, Kang, Hur, Dreyer; PLDI 2017) defines RC11; release
sequences are those of C++20, which are shorter and so allow more. A thread of a program is a generator function that
yields accesses and receives what they read; its return value is part of the outcome::

    def sender():
        yield write("data", 1, NA)
        yield write("flag", 1, REL)

    def receiver():
        if (yield read("flag", ACQ)):
            return (yield read("data", NA))

    outcomes([sender, receiver])        # no outcome has a race, and the receiver returns None or 1

RC11 forbids cycles of program order and reads-from, so every execution can be built by adding one access after the
other, where a read takes its value from a write that exists. The checker builds all executions in this way, drops the
inconsistent ones (consistency never returns once it is lost), and visits each execution graph once.
"""

from functools import cache
from typing import NamedTuple

NA, RLX, ACQ, REL, AR, SC = "na", "rlx", "acq", "rel", "acq_rel", "sc"
ACQUIRES, RELEASES = {ACQ, AR, SC}, {REL, AR, SC}


class Access(NamedTuple):
    """What a thread does next: ``change`` maps the value read to the value written, or to None (a failed CAS)."""

    kind: str  # "R", "W", "U" (read-modify-write) or "F" (fence)
    location: str | None
    order: str
    change: object = None
    failure_order: str | None = None


class Event(NamedTuple):
    """An access that was executed."""

    kind: str
    location: str | None
    order: str
    written: object


class Outcome(NamedTuple):
    """The end of an execution."""

    results: tuple  # what the threads returned
    memory: tuple  # the last value of each location, sorted by location
    races: frozenset  # locations with unordered accesses of which one is not atomic


def read(location, order=RLX):
    """Load a value."""
    return Access("R", location, order)


def write(location, value, order=RLX):
    """Store a value."""
    return Access("W", location, order, lambda _: value)


def update(location, change, order=RLX):
    """Replace a value by change(value) in one step; the thread receives the old value."""
    return Access("U", location, order, change)


def add(location, value, order=RLX):
    """Add to a value in one step; the thread receives the old value."""
    return update(location, lambda old: old + value, order)


def cas(location, expected, desired, order=RLX, failure_order=RLX):
    """Replace a value if it is the expected one; the thread receives the old value."""
    return Access("U", location, order, lambda old: desired if old == expected else None, failure_order)


def fence(order):
    """Order the accesses before and after it."""
    return Access("F", None, order)


# ---- relations: row i of a relation is a bit mask of the events that follow event i ----------------------------------


def closure(rows):
    """Return the transitive closure."""
    rows = list(rows)
    for k in range(len(rows)):
        for i, row in enumerate(rows):
            if row >> k & 1:
                rows[i] = row | rows[k]
    return rows


def compose(left, right):
    """Return the pairs (a, c) with (a, b) in `left` and (b, c) in `right`."""
    out = []
    for row in left:
        found = 0
        while row:
            low = row & -row
            found |= right[low.bit_length() - 1]
            row ^= low
        out.append(found)
    return out


def union(*relations):
    """Return the union."""
    return [union_of(rows) for rows in zip(*relations, strict=True)]


def union_of(rows):
    """Return a row with the bits of all these rows."""
    out = 0
    for row in rows:
        out |= row
    return out


def is_irreflexive(rows):
    return not any(row >> i & 1 for i, row in enumerate(rows))


class Graph(NamedTuple):
    """An execution: what each thread has read, where reads take their values from, and the order of writes."""

    histories: tuple  # by thread: the values received
    events: tuple  # pairs ((thread, number), Event), sorted; thread -1 initializes
    sources: tuple  # pairs (read, write), sorted
    orders: tuple  # pairs (location, writes in modification order), sorted


class Relations:
    """The relations of RC11 between the events of a graph."""

    def __init__(self, graph):
        self.keys = [key for key, _ in graph.events]
        self.events = [event for _, event in graph.events]
        at = {key: i for i, key in enumerate(self.keys)}
        n = range(len(self.keys))
        self.identity = [1 << i for i in n]
        self.sb = [
            union_of(1 << j for j, b in enumerate(self.keys) if b[0] != -1 and (a[0] == -1 or (a[0] == b[0] and a < b)))
            for a in self.keys
        ]
        rf, mo, fr = [0] * len(n), [0] * len(n), [0] * len(n)
        for _, writes in graph.orders:
            for k, key in enumerate(writes):
                mo[at[key]] = union_of(1 << at[later] for later in writes[k + 1 :])
        for reader, writer in graph.sources:
            rf[at[writer]] |= 1 << at[reader]
            fr[at[reader]] = mo[at[writer]] & ~(1 << at[reader])
        self.rf, self.mo, self.fr = rf, mo, fr
        self.hb = closure(union(self.sb, self.synchronizes()))
        self.eco = closure(union(rf, mo, fr))

    def some(self, test):
        """Return the identity on the events that pass a test."""
        return [1 << i if test(event) else 0 for i, event in enumerate(self.events)]

    def synchronizes(self):
        """Return synchronizes-with: from releases (or fences before a write) to acquires (or fences after a read)."""
        fences = self.some(lambda e: e.kind == "F")
        atomic_writes = self.some(lambda e: e.kind in "WU" and e.order != NA)
        atomic_reads = self.some(lambda e: e.kind in "RU" and e.order != NA)
        updates = self.some(lambda e: e.kind == "U")
        sequence = compose(atomic_writes, union(self.identity, closure(compose(self.rf, updates))))
        sw = compose(self.some(lambda e: e.order in RELEASES), union(self.identity, compose(fences, self.sb)))
        sw = compose(compose(sw, sequence), compose(self.rf, atomic_reads))
        sw = compose(sw, union(self.identity, compose(self.sb, fences)))
        return compose(sw, self.some(lambda e: e.order in ACQUIRES))

    def is_consistent(self):
        """Whether RC11 allows the graph. Atomicity and the absence of thin air hold by construction."""
        if not is_irreflexive(self.hb) or not is_irreflexive(compose(self.hb, union(self.identity, self.eco))):
            return False
        same = [
            union_of(1 << j for j, b in enumerate(self.events) if a.location is not None and a.location == b.location)
            for a in self.events
        ]
        elsewhere = [row & ~mask for row, mask in zip(self.sb, same, strict=True)]
        here = [row & mask for row, mask in zip(self.hb, same, strict=True)]
        scb = union(self.sb, compose(compose(elsewhere, self.hb), elsewhere), here, self.mo, self.fr)
        sc_fences = self.some(lambda e: e.kind == "F" and e.order == SC)
        maybe_hb = union(self.identity, self.hb)
        accesses = self.some(lambda e: e.kind != "F" and e.order == SC)
        first = union(accesses, compose(sc_fences, maybe_hb))
        last = union(accesses, compose(maybe_hb, sc_fences))
        between = union(self.hb, compose(compose(self.hb, self.eco), self.hb))
        psc = union(compose(compose(first, scb), last), compose(compose(sc_fences, between), sc_fences))
        return is_irreflexive(closure(psc))

    def races(self):
        """Return the locations with two unordered accesses, one of them a write and one of them not atomic."""
        found = set()
        for i, a in enumerate(self.events):
            for j, b in enumerate(self.events[:i]):
                if a.location is None or a.location != b.location or self.keys[i][0] == self.keys[j][0]:
                    continue
                is_conflict = (a.kind != "R" or b.kind != "R") and NA in (a.order, b.order)
                if is_conflict and not (self.hb[i] >> j & 1 or self.hb[j] >> i & 1):
                    found.add(a.location)
        return frozenset(found)


# ---- executions ------------------------------------------------------------------------------------------------------


def extensions(graph, thread, access):
    """Yield the graphs in which a thread has made an access in any way that keeps updates atomic."""
    key = (thread, len(graph.histories[thread]))
    events, sources, orders = dict(graph.events), dict(graph.sources), dict(graph.orders)
    writes = orders.get(access.location, ())

    def grown(value, event, source, new_writes):
        histories = list(graph.histories)
        histories[thread] += (value,)
        return Graph(
            tuple(histories),
            tuple(sorted((events | {key: event}).items())),
            tuple(sorted((sources | ({} if source is None else {key: source})).items())),
            tuple(sorted((orders | ({} if new_writes is None else {access.location: new_writes})).items())),
        )

    if access.kind == "F":
        yield grown(None, Event("F", None, access.order, None), None, None)
    elif access.kind == "W":
        event = Event("W", access.location, access.order, access.change(None))
        for k in range(1, len(writes) + 1):  # no update may be cut off from the write that it replaces
            if k == len(writes) or events[writes[k]].kind != "U":
                yield grown(None, event, None, (*writes[:k], key, *writes[k:]))
    else:
        for k, source in enumerate(writes, 1):
            value = events[source].written
            new = access.change(value) if access.kind == "U" else None
            if new is None:
                order = access.failure_order or access.order
                yield grown(value, Event("R", access.location, order, None), source, None)
            elif k == len(writes) or events[writes[k]].kind != "U":
                event = Event("U", access.location, access.order, new)
                yield grown(value, event, source, (*writes[:k], key, *writes[k:]))


def outcomes(threads, **initial):
    """Return the set of all outcomes of a program; locations start with 0 unless `initial` names another value."""

    @cache
    def after(thread, history):
        """Return the next access of a thread that has received these values, and whether it has returned instead."""
        running = threads[thread]()
        try:
            access = next(running)
            for value in history:
                access = running.send(value)
        except StopIteration as end:
            return end.value, True
        return access, False

    def prepared(graph, location):
        """Return the graph with an initial value of a location."""
        if location is None or location in dict(graph.orders):
            return graph
        key = (-1, location)
        events = (*graph.events, (key, Event("W", location, NA, initial.get(location, 0))))
        orders = (*graph.orders, (location, (key,)))
        return graph._replace(events=tuple(sorted(events)), orders=tuple(sorted(orders)))

    found, seen = set(), set()
    waiting = [Graph(((),) * len(threads), (), (), ())]
    while waiting:
        graph = waiting.pop()
        has_ended = True
        for thread in range(len(threads)):
            access, is_over = after(thread, graph.histories[thread])
            if is_over:
                continue
            has_ended = False
            for larger in extensions(prepared(graph, access.location), thread, access):
                if larger not in seen:
                    seen.add(larger)
                    if Relations(larger).is_consistent():
                        waiting.append(larger)
        if has_ended:
            events = dict(graph.events)
            memory = tuple((location, events[writes[-1]].written) for location, writes in graph.orders)
            results = tuple(after(t, h)[0] for t, h in enumerate(graph.histories))
            found.add(Outcome(results, memory, Relations(graph).races()))
    return found
