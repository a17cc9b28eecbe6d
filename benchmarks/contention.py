"""Model how threads of a large machine meet when they claim work: one queue for all against a queue for each group.

    python benchmarks/contention.py [--threads 8 16 64 256] [--json FILE]

Threads of a small machine take turns, so that they seldom meet. This script therefore simulates the claims of one batch
of a sync pool, event by event. A word that several threads write is in the cache of one core at a time: a core that
reads or writes it elsewhere waits for a transfer (100 ns across a socket, 40 ns within a group of eight cores), and
transfers of one word follow each other. A thread reads the word, computes its share as policy.pxd does, and tries to
swap; if another thread was faster, it tries again. `one` has a single queue. `groups` has a queue for eight threads, a
limit of a claim that doubles when a thread fails, and turns to other queues when the own one is empty.

Printed for each number of threads and cost of a step, with 16 envs a thread: transfers and failed swaps per claim, and
the efficiency, which is the work divided by threads x time. Waking and sending are not part of the model.
"""

import argparse
import heapq
import json
from dataclasses import dataclass, field
from pathlib import Path

GROUP = 8
FAR, NEAR = 100, 40  # ns of a transfer between cores of different groups, of the same group
MIN_CLAIM, MAX_CLAIM = 2000, 32000  # ns of work, as in policy.pxd
COSTS = (100, 2_000, 20_000, 200_000)
ENVS_PER_THREAD = 16


@dataclass
class Word:
    """A contended word: who has it, until when it is being moved, and the work that is left behind it."""

    left: int
    owner: int = -1
    busy_until: float = 0
    version: int = 0
    threads: int = 1


@dataclass
class Machine:
    """Counts what happens."""

    transfers: int = 0
    failed: int = 0
    claims: int = 0
    now: dict = field(default_factory=dict)

    def access(self, word, thread, time):
        """Return when a thread that wants the word at `time` has it."""
        if word.owner == thread:
            return time
        near = word.owner >= 0 and word.owner // GROUP == thread // GROUP
        word.busy_until = max(time, word.busy_until) + (NEAR if near else FAR)
        word.owner = thread
        self.transfers += 1
        return word.busy_until


def share(word, cost, doublings):
    """Return the number of envs to claim: claim_size() of policy.pxd for a sync pool whose threads are all awake."""
    least = MIN_CLAIM // (cost + 1) + 1
    limit = (MAX_CLAIM // (cost + 1) + 1) << doublings
    size = max(min(-(-word.left // word.threads), limit), least)
    if size > 64:
        size = (size + 63) & ~63
    return min(size, word.left)


def batch(threads, cost, in_groups):
    """Simulate one batch; return transfers per claim, failed swaps per claim, and the efficiency."""
    machine = Machine()
    envs = ENVS_PER_THREAD * threads
    queues = -(-threads // GROUP) if in_groups else 1
    words = [Word(left=envs * (q + 1) // queues - envs * q // queues, threads=threads // queues) for q in range(queues)]
    # A thread that reads a word or tries to swap it: (time, thread, version read or None, failures, queue).
    events = [(0.0, t, None, 0, t * queues // threads) for t in range(threads)]
    heapq.heapify(events)
    end = 0.0
    while events:
        time, thread, seen, failures, at = heapq.heappop(events)
        word = words[at]
        if seen is None:
            time = machine.access(word, thread, time)
            if word.left:
                heapq.heappush(events, (time + 10, thread, word.version, failures, at))
            else:
                others = [q for q in range(queues) if words[q].left]
                if others:
                    heapq.heappush(events, (time, thread, None, 0, min(others, key=lambda q: (q - at) % queues)))
            continue
        time = machine.access(word, thread, time)
        if seen != word.version:
            machine.failed += 1
            pause = 30 << failures if in_groups else 30
            heapq.heappush(events, (time + pause, thread, None, min(failures + 1, 4), at))
            continue
        size = share(word, cost, failures if in_groups else 0)
        word.left -= size
        word.version += 1
        machine.claims += 1
        end = max(end, time + size * cost)
        heapq.heappush(events, (time + size * cost, thread, None, 0, at))
    return machine.transfers / machine.claims, machine.failed / machine.claims, envs * cost / (threads * end)


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, nargs="+", default=[8, 16, 64, 256])
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    rows = []
    print(f"{'threads':>7} {'us/step':>7}   {'one queue: transfers, failed, efficiency':<42} groups of {GROUP}")
    for threads in options.threads:
        for cost in COSTS:
            one, groups = batch(threads, cost, False), batch(threads, cost, True)
            rows.append({"threads": threads, "cost_ns": cost, "one": one, "groups": groups})
            cells = ["{:9.1f} {:7.2f} {:10.3f}".format(*cell) for cell in (one, groups)]
            print(f"{threads:>7} {cost / 1000:>7g}   {cells[0]:<42} {cells[1]}")
    if options.json:
        options.json.write_text(json.dumps(rows, indent=2) + "\n")


if __name__ == "__main__":
    main()
