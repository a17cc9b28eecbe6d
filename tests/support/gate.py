"""The gate of the synthetic env, at which envs hang until a test opens it, and calls that may time out."""

import time

import numpy as np

from envpool.errors import EnvTimeoutError
from tests.support import plugin
from tests.support.checked_pool import WAIT
from tests.support.process import PATIENCE, wait_until


class Gate:
    """The gate, which is open at first. As a context manager, it is closed, and opened again also if a test fails."""

    def __init__(self):
        self.native = plugin.load().native

    def close(self):
        """Make envs wait at the gate."""
        self.native.close_gate()

    def open(self):
        """Let all envs pass, and wait until none is at the gate."""
        self.native.open_gate()
        wait_until(lambda: self.native.num_at_gate() == 0)

    def __enter__(self):
        self.close()

    def __exit__(self, *exception):
        self.open()

    def hang(self, pool, *ids):
        """Send each of these envs an action with which it hangs, and wait until all of them do.

        They are sent one by one: a thread that runs several envs in one call would stop at the first one.
        """
        for i in ids:
            hanging = self.native.num_at_gate()
            pool.send(np.array([WAIT], np.int32), [i])
            wait_until(lambda hanging=hanging: self.native.num_at_gate() > hanging)


def eventually(call, again=None, hanging=()):
    """Return what a call returns that may time out because the machine is busy or paused.

    Parameters
    ----------
    call : callable
        The call.
    again : callable, optional
        Repeats the wait; by default `call`.
    hanging : sequence of int
        Envs that hang. They alone must not make the call time out.
    """
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            return call()
        except EnvTimeoutError as error:
            assert not hanging or set(error.running) - set(hanging), error
            assert time.monotonic() < deadline, error
            call = again or call


def reset_some(pool, ids, **options):
    """Return the result of ``pool.reset(ids)``, see `eventually`."""
    return eventually(lambda: pool.reset(ids), lambda: pool.recv(reset=True, env_id=ids), **options)
