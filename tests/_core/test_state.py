"""Saving, restoring and copying states: what they contain, and which calls are refused."""

import gc

import numpy as np
import pytest

import envpool
from envpool.errors import EnvIdError, PoolStateError, StateError
from envpool.pools.states import EnvStates
from tests.support import plugin
from tests.support.saved import CORE, HEADER, make, play, sealed
from tests.support.snapshots import Snapshots, pool_with


@pytest.fixture
def pool():
    with make() as pool:
        pool.reset()
        play(pool)
        yield pool


# ---- what is saved ---------------------------------------------------------------------------------------------------


def test_the_layout_of_a_state(pool):
    state = bytes(pool.get_state(1))
    magic, fmt, prefix, env_bytes, _, version, task, name, zero = HEADER.unpack_from(state)
    assert (magic, fmt, env_bytes, version, zero) == (b"envpool\n", 1, 136, 0, 0)
    assert state[HEADER.size :][: task + name] == b"CartPole-v1CartPole"
    assert prefix % 16 == 0
    assert len(state) == prefix + CORE.size + 136 + 8
    assert sealed(state[:-8]) == pool.get_state(1)


def test_saving_selects_envs_in_order_and_changes_nothing(pool):
    everything = pool.get_state()
    assert pool.get_state([2, 0]) == everything[[2, 0]]
    assert pool.get_state(2) == everything[2]
    assert len(pool.get_state([])) == 0
    assert pool.get_state() == everything


def test_a_restore_changes_no_other_env(pool):
    before = pool.get_state()
    play(pool)
    after = pool.get_state()
    pool.set_state(before[1], 1)
    assert pool.get_state() == after[0] + before[1] + after[2]


@pytest.mark.parametrize("num_envs", [1, 511, 512, 513, 1500])
def test_any_number_of_envs(num_envs):
    with make(num_envs=num_envs) as pool, make(num_envs=num_envs, seed=1) as other:
        pool.reset()
        states = pool.get_state()
        other.set_state(states)
        assert play(pool) == play(other)
        pool.copy_state(np.zeros(num_envs - 1, int), np.arange(1, num_envs))
        assert len(set(pool.get_state().states)) == 1


def test_a_pending_user_reset_is_part_of_the_state():
    with make(max_episode_steps=3, autoreset_mode="disabled") as pool:
        unseeded = pool.get_state()
        pool.reset()
        running = pool.get_state()
        play(pool, 3)
        ended = pool.get_state()
        for states in (ended, unseeded):
            pool.set_state(running)
            pool.step(np.zeros(3, np.int32))
            pool.set_state(states)
            with pytest.raises(EnvIdError, match="call reset"):
                pool.step(np.zeros(3, np.int32))
        pool.set_state(running, [0, 1, 2])
        assert pool.step(np.zeros(3, np.int32))[4]["elapsed_step"].tolist() == [1, 1, 1]


def test_copies_of_envs_that_were_never_reset():
    with make(seed=4) as pool:
        pool.copy_state([0, 0], [1, 2])
        first = pool.reset()[0].tolist()
        assert first[0] == first[1] == first[2]
        with make(seed=4) as other:
            assert other.reset()[0].tolist()[0] == first[0]
    with make(seed=4) as pool:
        pool.reset([0])
        pool.copy_state(0, 1)
        assert pool.get_state(0) == pool.get_state(1)
        pool.copy_state(2, 0)
        assert pool.reset()[0].tolist()[0] != first[0]


def test_states_pass_between_api_styles(pool):
    states = pool.get_state()
    expected = play(pool)
    with envpool.make_dm("CartPole-v1", num_envs=3) as dm:
        dm.set_state(states)
        rng = np.random.default_rng(0)
        for obs, a in zip(expected, rng.integers(0, 2, (20, 3)).astype(np.int32), strict=True):
            assert dm.step(a).observation.obs.tolist() == obs
        assert dm.get_state() == pool.get_state()


# ---- ids and calls that are refused ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ids", "text"),
    [
        ([0, 3], r"env_id\[1\] must be between 0 and 2, got 3"),
        ([-1], r"env_id\[0\] must be between 0 and 2, got -1"),
        ([2**40], r"env_id\[0\] must be between 0 and 2, got 1099511627776"),
        ([1, 1], r"env_id\[1\] is 1, which appears twice"),
        ([0.5], r"env_id must be a 1-D array of integers"),
        ([[0]], r"env_id must be a 1-D array of integers"),
    ],
)
def test_bad_ids(pool, ids, text):
    before = pool.get_state()
    with pytest.raises(EnvIdError, match=text):
        pool.get_state(ids)
    with pytest.raises(EnvIdError, match=text):
        pool.set_state(before[[0] * len(ids)], ids)
    with pytest.raises(EnvIdError, match=text.replace("env_id", "target_ids")):
        pool.copy_state([0] * len(ids), ids)
    if ids != [1, 1]:
        with pytest.raises(EnvIdError, match=text.replace("env_id", "source_ids")):
            pool.copy_state(ids, [0] * len(ids))
    assert pool.get_state() == before
    assert play(pool)


@pytest.mark.parametrize(
    ("sources", "targets", "text"),
    [
        ([0, 1], [1, 0], r"source_ids\[0\] is 0, which is also in target_ids"),
        ([2, 0], [0, 1], r"source_ids\[1\] is 0, which is also in target_ids"),
        ([0, 1], [2], "source_ids has 2 entries and target_ids has 1"),
        (None, [1], "source_ids has 0 entries and target_ids has 1"),
    ],
)
def test_copies_that_are_refused(pool, sources, targets, text):
    before = pool.get_state()
    with pytest.raises(EnvIdError, match=text):
        pool.copy_state(sources, targets)
    assert pool.get_state() == before


def test_copies_to_themselves_change_nothing(pool):
    before = pool.get_state()
    pool.copy_state([0, 1, 2], [0, 1, 2])
    pool.copy_state([], [])
    assert pool.get_state() == before
    pool.copy_state([0, 0, 2], [0, 1, 2])
    assert pool.get_state() == before[[0, 0, 2]]


def test_envs_in_flight_are_refused():
    with make(num_envs=4, batch_size=2) as pool:
        states = pool.get_state()
        pool.async_reset()
        done = pool.recv()[-1]["env_id"]
        busy = [i for i in range(4) if i not in done]
        for call in (
            lambda: pool.get_state(),
            lambda: pool.get_state(busy),
            lambda: pool.set_state(states[busy], busy),
            lambda: pool.copy_state(done, busy),
            lambda: pool.copy_state(busy, done),
        ):
            with pytest.raises(EnvIdError, match="still in flight: call recv"):
                call()
        saved = pool.get_state(done)
        pool.set_state(saved, done)
        pool.copy_state(done[:1], done[1:])
        assert sorted([*done, *pool.recv()[-1]["env_id"]]) == [0, 1, 2, 3]


def test_envs_that_are_being_drawn_are_refused():
    with pool_with(Snapshots(), num_envs=2) as pool:
        pool.reset()
        states = pool.get_state()
        failures = []

        def draw(frames):
            for call in (
                lambda: pool.get_state(0),
                lambda: pool.set_state(states[0], 0),
                lambda: pool.copy_state(1, 0),
                lambda: pool.copy_state(0, 1),
            ):
                with pytest.raises(EnvIdError) as caught:
                    call()
                failures.append(str(caught.value))
            pool.set_state(states[1], 1)
            return 0

        pool.snapshots.on_draw = draw
        pool._render_frames([0], 8, 12, -1)
        assert len(failures) == 4
        assert all("which another thread is rendering" in text for text in failures)
        assert pool.get_state() == states


def test_closed_pools_and_pools_that_close_meanwhile(pool):
    states = pool.get_state()

    class Closes:
        def __array__(self, *args, **kwargs):
            pool.close()
            return np.array([0])

    with pytest.raises(PoolStateError, match=r"closed during get_state\(\)"):
        pool.get_state(Closes())
    for call in (pool.get_state, lambda: pool.set_state(states), lambda: pool.copy_state(0, 1)):
        with pytest.raises(PoolStateError, match="the pool is closed"):
            call()


def test_what_is_not_a_state(pool):
    for wrong in (b"", [b""], None, pool.get_state().states):
        with pytest.raises(TypeError, match="states must be an EnvStates"):
            pool.set_state(wrong)
    with pytest.raises(StateError, match="2 states cannot be restored to 3 envs"):
        pool.set_state(pool.get_state([0, 1]))


def test_tasks_without_snapshots():
    with plugin.make(num_envs=2) as pool:
        for call in (pool.get_state, lambda: pool.set_state(EnvStates([])), lambda: pool.copy_state(0, 1)):
            with pytest.raises(StateError, match=r"the states of '.*' cannot be .* Synthetic has no snapshots"):
                call()


def test_garbage_collection_may_send_during_a_call(pool):
    """A destructor that steps the envs runs before or after the call, never in the middle."""

    class Steps:
        def __init__(self):
            self.cycle = self

        def __del__(self):
            pool.send(np.zeros(3, np.int32))
            pool.recv()

    before = gc.get_threshold()
    gc.set_threshold(1)
    try:
        for _ in range(50):
            Steps()
            states = pool.get_state()
            pool.set_state(states)
            pool.copy_state(0, [1])
    finally:
        gc.set_threshold(*before)
    gc.collect()
    assert play(pool)
