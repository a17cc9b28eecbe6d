"""Replay buffers: what they contain equals what a slow reference has, whatever the pool and its user do."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import envpool
from tests.rollout.replay_reference import MOVES, N, Pair
from tests.support import plugin

MODES = ("next_step", "same_step", "disabled")
LIKELY = (0.35, 0.35, 0.12, 0.12, 0.06)


def play(pair, steps, seed=1):
    """Step with random moves, which end episodes and fail."""
    rng = np.random.default_rng(seed)
    for _ in range(steps):
        pair.step(rng.choice(MOVES, N, p=LIKELY).astype(np.int32))


@pytest.mark.parametrize("n_step", [1, 3])
@pytest.mark.parametrize("frames", [None, "stacks", "any"])
@pytest.mark.parametrize("mode", MODES)
def test_contents_equal_the_reference(mode, frames, n_step):
    """Before and after the ring is full; observations as they are, stacked, and of frames that are no stacks."""
    options = {"pool_options": {"frame_stack": 3}} if frames == "stacks" else {}
    if frames == "any":
        options["frames_once"] = 3
    pair = Pair(mode, n_step=n_step, **options)
    pair.reset()
    for steps in (1, 4, 7, 40):
        play(pair, steps, steps)
        pair.check()
    pair.reset()
    pair.check()
    play(pair, 3)
    pair.check()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("options", [{}, {"gray_scale": False}], ids=["gray", "colour"])
def test_atari(mode, options):
    def make(**shared):
        return envpool.make_gymnasium("Pong-v5", max_episode_steps=9, **options, **shared)

    pair = Pair(mode, make, capacity=60, n_step=2)
    pair.reset()
    rng = np.random.default_rng(2)
    for _ in range(30):
        pair.step(rng.integers(0, 6, N).astype(np.int32))
    assert pair.check().obs.shape[1] == (4 if not options else 12)
    assert pair.reference.steps[-1][4].any() or any(step[4].any() for step in pair.reference.steps[-20:])


@pytest.mark.parametrize("mode", MODES)
def test_nested_observations_and_actions(mode):
    pair = Pair(mode, pool_options={"layout": "rich"}, n_step=2)
    pair.reset()
    rng = np.random.default_rng(3)
    for _ in range(25):
        move = rng.choice(MOVES, N, p=LIKELY).astype(np.int32)
        push = rng.uniform(-1, 1, (N, 2)).astype(np.float32)
        pair.step(
            {"action": {"move": move, "push": push, "mode": np.tile(np.int8([0, 1, 2]), (N, 1)), "count": np.arange(N)}}
        )
    got = pair.check()
    assert got.obs["b"]["c"].shape == (len(got.index), 2, 3)
    assert got.action["push"].dtype == np.float32


OPERATIONS = st.one_of(
    st.tuples(st.just("step"), st.lists(st.sampled_from(MOVES), min_size=N, max_size=N), st.booleans()),
    st.tuples(st.just("reset")),
    st.tuples(st.just("reset_ended")),
    st.tuples(st.just("sample"), st.integers(1, 5)),
    st.tuples(st.just("copy")),
)


@settings(max_examples=60, deadline=None)
@given(
    mode=st.sampled_from(MODES),
    capacity=st.integers(N, 8 * N),
    n_step=st.integers(1, 4),
    frames=st.sampled_from([None, 2, 3]),
    prioritized=st.booleans(),
    operations=st.lists(OPERATIONS, max_size=40),
)
def test_any_operations(mode, capacity, n_step, frames, prioritized, operations):
    n_step = min(n_step, capacity // N)
    pool_options = {"frame_stack": 3} if frames == 3 else {}
    pair = Pair(
        mode, capacity=capacity, n_step=n_step, prioritized=prioritized, frames_once=frames, pool_options=pool_options
    )
    pair.reset()
    with pair.pool, pair.plain:
        for name, *arguments in operations:
            if name == "step":
                moves, apart = arguments
                pair.step(np.int32(moves), apart)
            elif name == "reset":
                pair.reset()
            elif name == "reset_ended" and mode == "disabled" and pair.ended.any():
                pair.reset_ended()
            elif name == "sample" and len(pair.buffer):
                got = pair.buffer.sample(*arguments)
                assert set(got.index.tolist()) <= set(pair.reference.transitions())
                if prioritized:
                    pair.buffer.update_priorities(got.index, np.arange(len(got.index)))
            elif name == "copy":
                state = pair.buffer.state_dict()
                newest = pair.obs
                copy = envpool.ReplayBuffer(pair.pool, capacity, n_step, prioritized, frames_once=frames, seed=1)
                copy.load_state_dict(state)
                copy.begin(next(iter(newest.values())))
                if len(copy):
                    np.testing.assert_array_equal(copy.sample(4).index, pair.buffer.sample(4).index)
                pair.buffer = copy
        pair.check()


@pytest.mark.parametrize("style", ["gym", "dm"])
def test_other_styles(style):
    a, b = plugin.make("gymnasium", num_envs=N), plugin.make(style, num_envs=N)
    buffers = [envpool.ReplayBuffer(pool, 20, n_step=2) for pool in (a, b)]
    rng = np.random.default_rng(3)
    for buffer in buffers:
        buffer.reset()
    for _ in range(15):
        action = rng.choice([3, 17, 95, 96], N).astype(np.int32)
        for buffer in buffers:
            buffer.step(action)
    found = [buffer.transitions(buffer.indices()) for buffer in buffers]
    assert len(found[0].index) > 10
    for name, one, other in zip(found[0]._fields[:-1], *(f[:-1] for f in found), strict=True):
        np.testing.assert_array_equal(one, other, err_msg=name)


def test_uniform_sampling():
    """Each transition is drawn about equally often; draws of two buffers with the same seed are equal."""
    pool = plugin.make(num_envs=N)
    one, other = (envpool.ReplayBuffer(pool, 30, seed=7) for _ in range(2))
    one.reset()
    rng = np.random.default_rng(5)
    for _ in range(25):
        one.step(rng.choice([3, 17, 95, 96], N).astype(np.int32))
    index = one.indices()
    assert 10 < len(index) < 30  # steps that only reset are in the ring as well
    draws = one.sample(20_000).index
    numbers, counts = np.unique(draws, return_counts=True)
    np.testing.assert_array_equal(numbers, index)
    assert abs(counts / counts.mean() - 1).max() < 0.2  # more than five standard deviations
    other.load_state_dict(one.state_dict())
    np.testing.assert_array_equal(one.sample(50).index, other.sample(50).index)


def test_few_transitions_among_many_steps():
    """Drawing does not depend on luck if almost all steps failed."""
    pool = plugin.make(num_envs=N, on_error="restart", autoreset_mode="same_step")
    buffer = envpool.ReplayBuffer(pool, 3000, seed=7)
    buffer.reset()
    buffer.step(np.full(N, 3))
    for _ in range(900):
        buffer.step(np.full(N, 97))
    assert buffer.indices().tolist() == [0, 1, 2]
    assert set(buffer.sample(64).index.tolist()) == {0, 1, 2}


def filled(**options):
    """Return a prioritized buffer with 12 transitions."""
    pool = plugin.make(num_envs=N, autoreset_mode="same_step")
    buffer = envpool.ReplayBuffer(pool, 12, prioritized=True, seed=3, **options)
    buffer.reset()
    for _ in range(4):
        buffer.step(np.full(N, 3))
    return buffer


def test_prioritized_sampling():
    buffer = filled(alpha=0.5, beta=0.7)
    index = buffer.indices()
    priority = np.arange(12.0)
    buffer.update_priorities(index, priority)
    share = (priority + 1e-6) ** 0.5
    share /= share.sum()
    got = buffer.sample(6000)
    counts = np.bincount(np.searchsorted(index, got.index), minlength=12)
    np.testing.assert_allclose(counts / 6000, share, atol=2 / 6000)  # one draw from each of 6000 equal parts
    weights = (share / share[np.unique(np.searchsorted(index, got.index))].min()) ** -0.7
    np.testing.assert_allclose(got.weight, weights[np.searchsorted(index, got.index)], rtol=1e-5)
    assert got.weight.max() == 1
    np.testing.assert_allclose(buffer.sample(12, beta=0.0).weight, 1)
    assert buffer.transitions(index).weight.shape == (12,)


def test_new_transitions_have_the_highest_priority():
    buffer = filled(alpha=1.0)
    buffer.update_priorities(buffer.indices(), np.full(12, 0.0))
    buffer.update_priorities(buffer.indices()[:1], [24.0])
    buffer.step(np.full(N, 3))  # the oldest transition, which has this priority, leaves the buffer
    counts = np.bincount(buffer.sample(300).index - buffer.indices()[0], minlength=12)
    np.testing.assert_allclose(counts[-N:], 100, atol=2)


def test_priorities_of_transitions_that_have_left_are_ignored():
    buffer = filled(alpha=1.0)
    old = buffer.indices()
    for _ in range(4):
        buffer.step(np.full(N, 3))
    buffer.update_priorities(old, np.full(12, 1000.0))
    counts = np.bincount(buffer.sample(1200).index - buffer.indices()[0], minlength=12)
    np.testing.assert_allclose(counts, 100, atol=2)


@pytest.mark.parametrize("prioritized", [False, True])
def test_prefetched_minibatches(prioritized):
    """Each minibatch is the one that was drawn when the previous one was returned, as it was then."""
    pool = plugin.make(num_envs=N, on_error="restart")
    buffer = envpool.ReplayBuffer(pool, 12, 2, prioritized, seed=3, prefetch=True)
    rng, expected = np.random.default_rng(5), None
    buffer.reset()
    for k in range(60):
        (buffer.send if k % 2 else buffer.step)(rng.choice(MOVES, N, p=LIKELY).astype(np.int32))
        if k >= 9 and k % 3:
            got = buffer.sample(6)
            assert expected is None or set(got.index.tolist()) <= set(expected)
            for index, obs, action in zip(got.index.tolist(), got.obs, got.action, strict=True):
                if expected is not None:
                    np.testing.assert_array_equal(obs, expected[index][0])
                    assert action == expected[index][1]
            every = buffer.transitions(buffer.indices())
            expected = dict(zip(every.index.tolist(), zip(every.obs, every.action, strict=True), strict=True))
            if prioritized:
                assert got.weight.max() == 1
                buffer.update_priorities(got.index, rng.random(6))
        if k % 2:
            buffer.recv()
    assert len(buffer.sample(5).index) == 5  # another number: drawn now
    assert set(buffer.sample(6).index.tolist()) <= set(buffer.indices().tolist())


def test_the_first_prefetched_minibatches_are_those_of_the_generator():
    """Without steps in between, the draws are those of a buffer that prefetches nothing."""
    pool = plugin.make(num_envs=N)
    one = envpool.ReplayBuffer(pool, 30, seed=7)
    one.reset()
    for _ in range(4):
        one.step(np.full(N, 3))
    other = envpool.ReplayBuffer(pool, 30, prefetch=True)
    other.load_state_dict(one.state_dict())
    for _ in range(3):
        for a, b in zip(one.sample(8), other.sample(8), strict=True):
            np.testing.assert_array_equal(a, b)


def test_a_prefetched_minibatch_of_transitions_that_have_left():
    """It is returned although nothing is left to draw the next one from."""
    pool = plugin.make(num_envs=N, on_error="restart", autoreset_mode="same_step")
    buffer = envpool.ReplayBuffer(pool, N, prefetch=True)
    buffer.reset()
    buffer.step(np.full(N, 3))
    buffer.sample(4)
    buffer.step(np.full(N, 97))  # fails
    assert len(buffer) == 0
    assert set(buffer.sample(4).index.tolist()) <= {0, 1, 2}
    with pytest.raises(envpool.errors.PoolStateError, match="has no transition to sample yet"):
        buffer.sample(4)
