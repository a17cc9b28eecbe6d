"""What the functions of an env definition that save, restore and copy may rely on, and what follows if they fail."""

import re

import numpy as np
import pytest

from envpool.errors import EnvIdError, EnvStepError, PoolStateError, StateError
from tests.support import plugin
from tests.support.definitions import Definition, pool_of
from tests.support.snapshots import BAD_SNAPSHOT, Snapshots, pool_with


def test_the_calls_of_a_restore():
    """Every snapshot is checked before the first env changes, and targets are seeded before."""
    snapshots = Snapshots()
    with pool_with(snapshots, num_envs=1100, seed=0) as pool:
        pool.reset()
        states = pool.get_state()
        assert [(c.name, c.n) for c in snapshots.calls] == [("get", 1)] * 1100
        snapshots.calls.clear()
        pool.set_state(states)
        assert [(c.name, c.n, c.only_checks) for c in snapshots.calls] == [
            *(("set", n, 1) for n in (512, 512, 76)),
            *(("set", n, 0) for n in (512, 512, 76)),
        ]
        assert [i for c in snapshots.calls[:3] for i in c.ids] == list(range(1100))
        snapshots.calls.clear()
        pool.copy_state([5] * 600, np.arange(500, 1100))
        assert [(c.name, c.n) for c in snapshots.calls] == [("copy", 512), ("copy", 88)]
    with pool_with(Snapshots(), num_envs=3) as fresh, pool_with(Snapshots(), num_envs=1) as source:
        source.reset()
        fresh.set_state(source.get_state()[[0, 0]], [2, 0])
        assert [c.seeded for c in fresh.snapshots.calls] == [[True, True]] * 2
        fresh.copy_state(2, 1)
        assert fresh.snapshots.calls[-1].seeded == [True]
    assert plugin.load().native.num_violations() == 0


def test_a_snapshot_that_is_smaller_than_the_largest():
    snapshots = Snapshots()
    with pool_with(snapshots, num_envs=2) as pool:
        pool.reset()
        snapshots.size = 3
        small = pool.get_state(0)
        snapshots.size = 24
        large = pool.get_state(0)
        assert len(bytes(large)) - len(bytes(small)) == 24 - 8
        pool.set_state(small, 1)
        assert snapshots.calls[-1].sizes == [3]


def test_the_calls_of_a_slow_definition():
    """It gets few envs at once, and memory for the snapshots as they are, instead of the largest ones."""
    snapshots = Snapshots(is_slow=True)
    with pool_with(snapshots, num_envs=5) as pool:
        pool.reset()
        snapshots.size = 100
        states = pool.get_state()
        snapshots.calls.clear()
        pool.set_state(states)
        pool.copy_state([0, 0], [1, 2])
        assert [(c.name, c.n, c.only_checks) for c in snapshots.calls] == [
            ("set", 5, 1),
            *[("set", 1, 0)] * 5,
            *[("copy", 1, 0)] * 2,
        ]
        assert snapshots.calls[0].sizes == [100] * 5


@pytest.mark.parametrize("kind", ["set", "copy"])
def test_envs_that_are_restored_slowly_are_refused(kind):
    """The GIL is released meanwhile, so that other threads may call the pool. The callback stands for one of them."""
    with pool_with(Snapshots(is_slow=True), num_envs=4) as pool:
        pool.reset()
        states = pool.get_state()
        failures = []

        def call_others():
            for call in (
                lambda: pool.get_state(1),
                lambda: pool.set_state(states[1], 1),
                lambda: pool.copy_state(1, 3),
                lambda: pool.copy_state(3, 1),
                lambda: pool.send(np.zeros(1, np.int32), [1]),
                lambda: pool.send(np.zeros(4, np.int32)),
                lambda: pool.reset([1]),
                pool.reset,
            ):
                with pytest.raises(EnvIdError) as caught:
                    call()
                failures.append(str(caught.value))
            with pytest.raises(PoolStateError, match="env 1 cannot be rendered, since another call is restoring or"):
                pool._render_frames([1], 8, 12, -1)
            assert pool.get_state(3).nbytes == states[3].nbytes
            assert len(pool.step(np.zeros(1, np.int32), [3])[1]) == 1

        pool.snapshots.on_change = call_others
        if kind == "set":
            pool.set_state(states[:2], [0, 1])
        else:
            pool.copy_state([1, 1], [0, 2])
        assert pool.snapshots.raised == []
        assert len(failures) == 16
        assert all("another call" in text for text in failures), failures
        pool.snapshots.on_change = None
        pool.step(np.zeros(4, np.int32))


def test_a_pool_that_is_closed_during_a_slow_restore():
    with pool_with(Snapshots(is_slow=True), num_envs=3) as pool:
        pool.reset()
        states = pool.get_state()
        pool.snapshots.on_change = pool.close
        with pytest.raises(PoolStateError, match=r"the pool was closed during set_state\(\)"):
            pool.set_state(states)
        assert [c.only_checks for c in pool.snapshots.calls if c.name == "set"] == [1, 0]


def test_failures_of_an_env():
    snapshots = Snapshots()
    with pool_with(snapshots, num_envs=600) as pool:
        pool.reset()
        states = pool.get_state()
        snapshots.fails = {"get": {7: 1}}
        with pytest.raises(StateError, match="env 7 could not be saved: was asked to fail at step 0"):
            pool.get_state()
        snapshots.fails = {"check": {590: BAD_SNAPSHOT}}
        snapshots.calls.clear()
        with pytest.raises(StateError, match=r"states\[590\] cannot be restored: it has values that get_state"):
            pool.set_state(states)
        assert all(c.only_checks for c in snapshots.calls)
        snapshots.fails = {"set": {3: -1}}
        with pytest.raises(StateError, match=r"env 3 could not be restored, and its next step .*: there is not enough"):
            pool.set_state(states)
        assert_starts_anew(pool, [3])
        snapshots.fails = {"copy": {4: 1, 5: 1}}
        with pytest.raises(StateError, match=r"env 0 could not be copied to env 5, .*: was asked to fail"):
            pool.copy_state([0, 0, 0], [4, 5, 6])
        assert_starts_anew(pool, [4, 5])


def assert_starts_anew(pool, ids):
    """Assert that these envs have no state, and that their next step starts an episode."""
    with pytest.raises(StateError, match=rf"env {ids[0]} has no state, since its last step failed"):
        pool.get_state(ids)
    assert pool.step(np.zeros(len(ids), np.int32), ids)[4]["elapsed_step"].tolist() == [0] * len(ids)
    pool.snapshots.fails = {}
    pool.get_state(ids)


def test_envs_that_failed():
    with pool_with(Snapshots(), num_envs=3) as pool:
        pool.reset()
        states = pool.get_state()
        with pytest.raises(EnvStepError):
            pool.step(np.array([0, 97, 0], np.int32))
        pool.recv()
        for call in (pool.get_state, lambda: pool.copy_state(1, 0)):
            with pytest.raises(StateError, match="env 1 has no state, since its last step failed: reset it"):
                call()
        pool.set_state(states[1], 1)
        assert pool.get_state(1) == states[1]
        with pytest.raises(EnvStepError):
            pool.step(np.array([0, 97, 0], np.int32))
        pool.recv()
        pool.copy_state(0, 1)
        assert pool.get_state([1])


def test_targets_that_cannot_be_seeded():
    with pool_with(Snapshots(), num_envs=2) as source, pool_with(Snapshots(fails_to_seed=True), num_envs=2) as pool:
        source.reset()
        with pytest.raises(StateError, match=r"env 0 could not be seeded: .*; nothing was restored"):
            pool.set_state(source.get_state())


def test_a_state_of_another_version_of_an_env():
    first, second = Snapshots(), Snapshots(version=2)
    with pool_with(first, num_envs=1) as pool, pool_with(second, num_envs=1) as other:
        pool.reset()
        text = "was saved by version 0 of StaticSynthetic, but this is version 2: restore it with the"
        with pytest.raises(StateError, match=re.escape(text)):
            other.set_state(pool.get_state())


@pytest.mark.parametrize("missing", ["state_size", "get_state", "set_state", "copy_state"])
def test_a_definition_has_all_functions_or_none(missing):
    definition = Definition()
    Snapshots().install(definition)
    setattr(definition.env, missing, None)
    with pytest.raises(ValueError, match="state_size, get_state, set_state and copy_state must all be given"):
        pool_of(definition.capsule())
