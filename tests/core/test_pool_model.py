"""Any order of calls, in any mode, gives what a plain model of the envs gives."""

import time

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from envpool.errors import EnvIdError, PoolStateError
from tests.native.model import FAIL, REFUSED, TERMINATE, TRUNCATE, CheckedPool

ACTIONS = st.sampled_from([0, 1, 7, 7, 7, TRUNCATE, TERMINATE, FAIL])


class PoolMachine(RuleBasedStateMachine):
    """Calls a pool as a user might, beside the model."""

    @initialize(
        num_envs=st.integers(1, 7),
        batch=st.integers(1, 7),
        num_threads=st.integers(1, 4),
        autoreset_mode=st.sampled_from(["next_step", "same_step", "disabled"]),
        fused=st.booleans(),
        cost_ns=st.sampled_from([0.0, 0.0, 2e3, 3e4]),
        episode_length=st.integers(0, 4),
        truncate_after=st.sampled_from([0, 0, 3]),
        max_episode_steps=st.sampled_from([2, 5, 2**31 - 1]),
        fail_reset=st.sampled_from([-1, 0, 1, 2]),
    )
    def make(self, num_envs, batch, **options):
        self.checked = CheckedPool(num_envs, min(batch, num_envs), **options)
        self.held = []

    def teardown(self):
        if hasattr(self, "checked"):
            self.checked.close()
            self.nothing_held_has_changed()

    def choose(self, data, allowed):
        """Some of `allowed`, in any order, and an action for each."""
        ids = data.draw(st.lists(st.sampled_from(allowed), unique=True)) if allowed else []
        return ids, data.draw(st.lists(ACTIONS, min_size=len(ids), max_size=len(ids)))

    @rule(data=st.data(), dtype=st.sampled_from([np.int32, np.int64]))
    def send(self, data, dtype):
        ids, actions = self.choose(data, self.checked.steppable())
        self.checked.send(np.array(ids, dtype), actions)

    @rule(data=st.data())
    def send_to_all(self, data):
        c = self.checked
        actions = np.array(data.draw(st.lists(ACTIONS, min_size=c.num_envs, max_size=c.num_envs)))
        if c.in_flight or any(e.flag == REFUSED for e in c.envs):
            with pytest.raises(EnvIdError):
                c.pool.send(actions)
        else:
            c.pool.send(actions)
            c.sent(range(c.num_envs), actions)

    @rule()
    def recv(self):
        if self.checked.can_receive():
            self.checked.recv()
        else:
            with pytest.raises(PoolStateError, match="would wait for ever"):
                self.checked.pool.recv()

    @rule(hold=st.integers(1, 3))
    def recv_and_hold(self, hold):
        if self.checked.can_receive():
            obs, *_, info = self.checked.recv()
            views = [obs, info["env_id"], obs[::hold]]
            self.held += [(v, v.copy()) for v in views[:hold]]

    @rule(data=st.data())
    def step(self, data):
        c = self.checked
        ids, actions = self.choose(data, c.steppable())
        n = len(ids) + len(c.in_flight)
        call = (np.array(actions, np.int32), np.array(ids, np.int32))
        if n == 0:
            assert c.pool.step(*call)[0].shape == (0, 6)
        elif not c.is_sync and n < c.batch_size:
            with pytest.raises(PoolStateError):
                c.pool.step(*call)
        else:
            c.sent(ids, actions)
            c.deliver(lambda: c.pool.step(*call))

    @rule(seed=st.none() | st.integers(0, 1000), is_async=st.booleans())
    def reset_all(self, seed, is_async):
        c = self.checked
        c.sent_reset(None, None if seed is None else [seed + i for i in range(c.num_envs)])
        if is_async and seed is None:
            c.pool.async_reset()
        else:
            c.deliver(lambda: c.pool.reset(seed=seed))

    @rule(data=st.data())
    def reset_some(self, data):
        c = self.checked
        ids, _ = self.choose(data, c.idle())
        seeds = data.draw(st.none() | st.lists(st.none() | st.integers(0, 99), min_size=len(ids), max_size=len(ids)))
        n = len(ids) + len(c.in_flight)
        call = np.array(ids, np.int32)
        if n == 0:
            assert c.pool.reset(call, seed=seeds)[0].shape == (0, 6)
        elif not c.is_sync and n < c.batch_size:
            with pytest.raises(PoolStateError):
                c.pool.reset(call, seed=seeds)
        else:
            c.sent_reset(ids, seeds)
            c.deliver(lambda: c.pool.reset(call, seed=seeds))

    @precondition(lambda self: self.checked.in_flight)
    @rule(data=st.data())
    def send_to_an_env_in_flight(self, data):
        busy = data.draw(st.sampled_from(sorted(self.checked.in_flight)))
        idle = self.checked.steppable()[:1]
        with pytest.raises(EnvIdError, match=f"is {busy}, which is still in flight"):
            self.checked.pool.send(np.zeros(1 + len(idle), np.int32), [*idle, busy])

    @rule(ms=st.sampled_from([0.1, 1]))
    def learn(self, ms):
        """The time between send and recv steers who works."""
        time.sleep(ms / 1000)

    @invariant()
    def nothing_held_has_changed(self):
        for array, copy in getattr(self, "held", ()):
            np.testing.assert_array_equal(array, copy)


def run(examples, steps):
    checks = settings(
        max_examples=examples,
        stateful_step_count=steps,
        deadline=None,
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
    )
    run_state_machine_as_test(PoolMachine, settings=checks)


def test_any_order_of_calls():
    run(150, 40)


@pytest.mark.slow
def test_any_order_of_calls_at_length():
    run(1500, 100)
