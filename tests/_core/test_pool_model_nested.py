"""Any order of calls within calls of one thread returns what the plain model returns.

The machine of test_pool_model.py makes one call after the other. Here arguments, destructors and signal handlers make
calls from inside of a call, and the model knows which of them must succeed.
"""

import gc
import signal

import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.stateful import rule, run_state_machine_as_test

from envpool.errors import EnvIdError, PoolStateError
from tests._core.test_pool_model import PICKS, PoolMachine, any_settings
from tests.support.callbacks import CallsBack, CountsBack, DiesBack, ListsBack

BUSY = r"was called while this thread was inside"


class NestedMachine(PoolMachine):
    """Calls from inside of calls."""

    def inner_call(self, pick):
        """Make a call that any call may contain while it converts its arguments; the model follows."""
        c = self.checked
        kind = pick.randrange(4)
        if kind == 0:
            ids, actions = self.choose(pick, c.steppable())
            c.send(ids, actions)
        elif kind == 1 and c.can_receive():
            c.recv()
        elif kind == 2:
            c.sent_reset()
            c.pool.async_reset()
        elif kind == 3 and c.in_flight:
            c.recv_some(env_id=self.choose(pick, list(c.in_flight))[0])

    @rule(pick=PICKS, hooked=st.sampled_from(["actions", "ids", "list"]))
    def send_around_a_call(self, pick, hooked):
        """The outer send follows the inner call: its ids are checked after everything was converted."""
        c = self.checked
        ids, actions = self.choose(pick, c.steppable())
        inner = []

        def act():
            if not inner:
                inner.append(None)
                self.inner_call(pick)

        wrapped = {
            "actions": lambda: (CallsBack(actions, act), np.array(ids, np.int64)),
            "ids": lambda: (np.array(actions), CallsBack(np.array(ids, np.int64), act)),
            "list": lambda: (ListsBack(actions, act) if actions else np.zeros(0, int), np.array(ids, np.int64)),
        }[hooked]()
        try:
            c.pool.send(*wrapped)
        except EnvIdError:
            assert inner and not set(ids) <= set(c.steppable())
        else:
            assert set(ids) <= set(c.steppable())
            c.sent(ids, actions)

    @rule(pick=PICKS)
    def reset_around_a_call(self, pick):
        """Seeds are converted before any env is taken."""
        c = self.checked
        ids = self.choose(pick, c.idle())[0]
        if not ids:
            return
        inner = []

        def act():
            if not inner:
                inner.append(None)
                self.inner_call(pick)

        seeds = [pick.randint(0, 99) for _ in ids]
        try:
            c.pool._send_reset(np.array(ids), [CountsBack(s, act) for s in seeds])
        except EnvIdError:
            assert not set(ids) <= set(c.idle())
        else:
            c.sent_reset(ids, seeds)

    @rule(pick=PICKS, by_id=st.booleans())
    def send_inside_recv(self, pick, by_id):
        """A wait that has begun refuses to be begun again, and takes what is sent inside of it."""
        c = self.checked
        if not c.in_flight:
            return
        ids, actions = self.choose(pick, c.steppable())
        inner = []

        def act():
            if inner:
                return
            inner.append(None)
            with pytest.raises(PoolStateError, match=BUSY):
                c.pool.recv()
            with pytest.raises(PoolStateError, match=BUSY):
                c.pool.async_reset()
            c.send(ids, actions)

        wish = {"env_id": self.choose(pick, list(c.in_flight))[0]} if by_id else {}
        call = {"timeout": CountsBack(600, act)} | wish
        c.deliver(lambda: c.pool.recv(**call), lambda: c.pool.recv(timeout=600, **wish), {"timeout": 600} | wish)

    @rule(pick=PICKS)
    def send_in_a_destructor(self, pick):
        """The garbage collector may run wherever the pool allocates, also while it hands out a batch."""
        c = self.checked
        ids, actions = self.choose(pick, c.steppable())
        sent = []

        def act():
            c.pool.send(np.array(actions), np.array(ids, np.int64))
            sent.append(None)

        DiesBack(act)
        before = gc.get_threshold()
        gc.set_threshold(1)
        try:
            c.render([])
        finally:
            gc.set_threshold(*before)
        gc.collect()
        assert sent
        c.sent(ids, actions)

    @rule(pick=PICKS)
    def send_in_a_signal_handler(self, pick):
        c = self.checked
        ids, actions = self.choose(pick, c.steppable())
        before = signal.signal(signal.SIGALRM, lambda *_: c.send(ids, actions))
        try:
            signal.raise_signal(signal.SIGALRM)
        finally:
            signal.signal(signal.SIGALRM, before)


def test_calls_within_calls():
    run_state_machine_as_test(NestedMachine, settings=any_settings(8, 40))


@pytest.mark.parametrize(
    "examples", [pytest.param(30, marks=pytest.mark.slow), pytest.param(100, marks=pytest.mark.sweep)]
)
def test_calls_within_calls_at_length(examples):
    run_state_machine_as_test(NestedMachine, settings=any_settings(examples, 60))
