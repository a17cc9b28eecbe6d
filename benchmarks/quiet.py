"""Measuring on a machine that does other work, too: slices of time in which other processes need little CPU time."""

import os
import time

from envpool._support.machine import cpu_limit

TICK = os.sysconf("SC_CLK_TCK")


def busy_time():
    """Return the CPU time that all processes of the machine have used, in seconds."""
    with open("/proc/stat") as file:
        user, nice, system, _, _, irq, softirq, steal, *_ = map(int, file.readline().split()[1:])
    return (user + nice + system + irq + softirq + steal) / TICK


class Slices:
    """Repeats slices of a measurement until other processes have left the CPUs alone.

    Parameters
    ----------
    limit : float
        Share of the CPUs that other processes may use during a slice, 0 to 1. With 1, every slice counts.

    Attributes
    ----------
    shares : list of float
        The share of each slice that counted.
    """

    def __init__(self, limit):
        self.limit, self.shares = limit, []

    def run(self, call):
        """Return the result of ``call()`` in a slice that counts."""
        while True:
            while self.limit < 1 and self.watch(time.sleep, 0.1)[1] > self.limit:
                pass
            result, share = self.watch(call)
            if share <= self.limit or self.limit >= 1:
                self.shares.append(share)
                return result

    @staticmethod
    def watch(call, *args):
        """Return the result of a call, and the share of the CPUs that other processes used meanwhile."""
        wall, busy, own = time.perf_counter(), busy_time(), time.process_time()
        result = call(*args)
        wall, busy, own = time.perf_counter() - wall, busy_time() - busy, time.process_time() - own
        return result, max(busy - own, 0) / (wall * cpu_limit())
