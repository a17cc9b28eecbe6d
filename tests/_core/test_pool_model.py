"""Any order of calls, in any mode, returns what a plain model of the envs returns."""

import random
import time

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from envpool.errors import EnvIdError, PoolStateError
from tests.support.checked_pool import FAIL, REFUSED, TERMINATE, TRUNCATE, CheckedPool

ACTIONS = [0, 1, 7, 7, 7, TRUNCATE, TERMINATE, FAIL]
#: What recv() says if nothing that it waits for can come.
NO_WAIT = r"would wait forever|has nothing to wait for"
#: The envs in flight depend on time, but draws of hypothesis must not: rules draw the seed of a generator.
PICKS = st.integers(0, 2**32 - 1).map(random.Random)


class PoolMachine(RuleBasedStateMachine):
    """Calls a pool as a user might, and the model alongside."""

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

    def choose(self, pick, allowed):
        """Return some of `allowed`, in any order, and an action for each."""
        ids = pick.sample(allowed, pick.randint(0, len(allowed)))
        return ids, pick.choices(ACTIONS, k=len(ids))

    @rule(ids=st.lists(st.integers(0, 6), max_size=9))
    def render(self, ids):
        self.checked.render([i for i in ids if i < self.checked.num_envs])

    @rule(pick=PICKS, dtype=st.sampled_from([np.int32, np.int64]))
    def send(self, pick, dtype):
        ids, actions = self.choose(pick, self.checked.steppable())
        self.checked.send(np.array(ids, dtype), actions)

    @rule(pick=PICKS)
    def send_to_all(self, pick):
        c = self.checked
        actions = np.array(pick.choices(ACTIONS, k=c.num_envs))
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
            with pytest.raises(PoolStateError, match=NO_WAIT):
                self.checked.pool.recv()

    @rule(hold=st.integers(1, 3))
    def recv_and_hold(self, hold):
        if self.checked.can_receive():
            obs, *_, info = self.checked.recv()
            views = [obs, info["env_id"], obs[::hold]]
            self.held += [(v, v.copy()) for v in views[:hold]]

    @rule(pick=PICKS)
    def step(self, pick):
        c = self.checked
        ids, actions = self.choose(pick, c.steppable())
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

    @rule(pick=PICKS, reseeds=st.booleans())
    def reset_some(self, pick, reseeds):
        """Reset some envs: exactly these are returned, whatever else is in flight."""
        ids, _ = self.choose(pick, self.checked.idle())
        seeds = [pick.choice([None, pick.randint(0, 99)]) for _ in ids] if reseeds else None
        assert len(self.checked.reset(ids, seeds)[0]) == len(ids)

    @rule(pick=PICKS, timeout=st.sampled_from([None, None, 0, 1e-5, 60]), by_id=st.booleans(), hold=st.booleans())
    def recv_some(self, pick, timeout, by_id, hold):
        """Receive certain envs, or a number of envs, or the results that are ready in time."""
        c = self.checked
        wish = {"env_id": self.choose(pick, list(c.in_flight))[0]} if by_id else {}
        if timeout is not None:
            wish["timeout"] = timeout
        if not wish or pick.random() < 0.5:
            wish["min_ready"] = pick.randint(0, len(wish.get("env_id", c.in_flight)))
        if not c.in_flight and not by_id and wish.get("min_ready") is None:
            with pytest.raises(PoolStateError, match="nothing is in flight"):
                c.pool.recv(**wish)
            return
        batch = c.recv_some(**wish)
        if hold:
            self.held.append((batch[0], batch[0].copy()))

    @rule(pick=PICKS)
    def recv_what_cannot_come(self, pick):
        c = self.checked
        ids = self.choose(pick, list(c.in_flight))[0][: c.num_envs - 1]
        with pytest.raises(PoolStateError, match=r"recv\(min_ready=.*would wait forever"):
            c.pool.recv(min_ready=len(ids) + 1, env_id=ids)
        if len(c.in_flight) < c.num_envs:
            with pytest.raises(PoolStateError, match=NO_WAIT):
                c.pool.recv(min_ready=len(c.in_flight) + 1, timeout=1e9)
            with pytest.raises(EnvIdError, match="which is not in flight"):
                c.pool.recv(env_id=[*ids, pick.choice(c.idle())])

    @rule(pick=PICKS)
    def send_to_an_env_in_flight(self, pick):
        if self.checked.in_flight:
            busy = pick.choice(list(self.checked.in_flight))
            idle = self.checked.steppable()[:1]
            with pytest.raises(EnvIdError, match=f"is {busy}, which is still in flight"):
                self.checked.pool.send(np.zeros(1 + len(idle), np.int32), [*idle, busy])

    @rule(ms=st.sampled_from([0.1, 1]))
    def learn(self, ms):
        """Wait: the time between send and recv determines which threads work."""
        time.sleep(ms / 1000)

    @invariant()
    def nothing_held_has_changed(self):
        for array, copy in getattr(self, "held", ()):
            np.testing.assert_array_equal(array, copy)


def any_settings(examples, steps):
    """Return the settings of a machine that depends on time."""
    return settings(
        max_examples=examples,
        stateful_step_count=steps,
        deadline=None,
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
    )


def test_any_order_of_calls():
    run_state_machine_as_test(PoolMachine, settings=any_settings(150, 40))


@pytest.mark.parametrize(
    "examples", [pytest.param(300, marks=pytest.mark.slow), pytest.param(1500, marks=pytest.mark.sweep)]
)
def test_any_order_of_calls_at_length(examples):
    run_state_machine_as_test(PoolMachine, settings=any_settings(examples, 100))
