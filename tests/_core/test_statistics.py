"""Statistics in the core: failed envs, saved states, and what is counted without the option."""

import numpy as np
import pytest

import envpool
from envpool.errors import EnvStepError, StateError
from tests.support import plugin
from tests.support.episodes import EpisodeModel
from tests.support.process import is_asleep, wait_until, worker_ids
from tests.support.saved import CORE, body_of, core_at, play, sealed

FAIL = 97
MODES = ("next_step", "same_step", "disabled")
SUMS = 48  # bytes of the Sums of a state


def make(num_envs=4, **options):
    options = {"episode_statistics": True, "autoreset_mode": "next_step"} | options
    return envpool.make_gymnasium("CartPole-v1", num_envs=num_envs, **options)


@pytest.mark.parametrize("mode", MODES)
def test_failed_envs_end_their_episodes(mode):
    """A failed step is truncated with a reward of zero, and counts as one step."""
    rng = np.random.default_rng(0)
    with plugin.make(num_envs=6, autoreset_mode=mode, episode_length=7, num_threads=2, episode_statistics=True) as pool:
        pool.reset()
        model, num_failed = EpisodeModel(6, mode), 0
        for _ in range(200):
            pool.send(np.where(rng.random(6) < 0.05, FAIL, 1))
            try:
                batch = pool.recv()
            except EnvStepError as error:
                num_failed += len(error.failures)
                batch = pool.recv()
            model.check(batch)
            ended = np.flatnonzero(batch[2] | batch[3])
            if mode == "disabled" and len(ended):
                pool.reset(ended)
                model.reset(ended)
        assert num_failed > 20
        assert pool.stats().episodes == len(model.ended) > 100


def test_a_reset_that_fails_ends_an_empty_episode():
    with plugin.make(num_envs=2, fail_reset=1, episode_length=3, episode_statistics=True) as pool:
        pool.reset()
        for _ in range(3):
            info = pool.step(np.ones(2, int))[4]
        assert info["episode"]["l"].tolist() == [3, 3]
        with pytest.raises(EnvStepError):
            pool.step(np.ones(2, int))
        info = pool.recv()[4]
        assert info["_episode"].tolist() == [True, True]
        assert info["episode"]["r"].tolist() == info["episode"]["l"].tolist() == [0, 0]


def test_steps_before_the_first_reset():
    """The first step of an env that was not reset resets it, and counts as no step."""
    with plugin.make(num_envs=2, episode_length=3, episode_statistics=True) as pool:
        model = EpisodeModel(2, "next_step")
        for _ in range(20):
            model.check(pool.step(np.ones(2, int)))
        assert len(model.ended) > 5


def test_counters_of_the_engine_need_no_option():
    with make(episode_statistics=False, num_threads=2) as pool:
        pool.reset()
        play(pool, 10)
        stats = pool.stats()
        assert (stats.steps, stats.resets) == (40, 4)
        assert stats.blocks_allocated > 0 and stats.blocks_reused > 0
        assert stats.episodes is stats.queue_wait is stats.step_times is None


def test_wakes_are_counted():
    with plugin.make(num_envs=4, num_threads=2, cost_ns=2e6, sleeps=True) as pool:
        pool.reset()
        pool.step(np.ones(4, int))  # by now the pool knows what a step costs
        wait_until(lambda: all(map(is_asleep, worker_ids())))
        before = pool.stats().wakes
        pool.step(np.ones(4, int))
        assert pool.stats().wakes > before


def test_the_time_of_waiting_is_counted():
    with plugin.make(num_envs=4, batch_size=2, num_threads=2, cost_ns=2e6, sleeps=True) as pool:
        pool.async_reset()
        for _ in range(10):
            pool.send(np.ones(2, int), pool.recv()[4]["env_id"])
        assert pool.stats().recv_wait > 0.001


def test_step_times():
    with plugin.make(num_envs=2, num_threads=1, cost_ns=4e6, sleeps=True, episode_statistics=True) as pool:
        pool.reset()
        before = pool.stats().step_times
        for _ in range(5):
            pool.step(np.ones(2, int))
        times = np.array(pool.stats().step_times) - before
        assert times.sum() == 10
        assert times[: np.log2(4e6).astype(int)].sum() == 0


# ---- saved states ----------------------------------------------------------------------------------------------------


def ended(pool, steps=60):
    """Return r, l and env of the episodes that end in steps with the action 1."""
    found = []
    for _ in range(steps):
        info = pool.step(np.ones(pool.num_envs, int))[4]
        if "episode" in info:
            rows = info["_episode"]
            found += zip(
                info["episode"]["r"][rows].tolist(),
                info["episode"]["l"][rows].tolist(),
                np.flatnonzero(rows).tolist(),
                strict=True,
            )
    return found


@pytest.mark.parametrize("mode", ["next_step", "same_step"])
def test_sums_are_part_of_a_state(mode):
    with make(autoreset_mode=mode) as pool, make(autoreset_mode=mode, num_threads=2, seed=9) as other:
        pool.reset()
        for before in (1, 3, 4, 9, 10, 11, 30):
            play(pool, before)
            states = pool.get_state()
            expected = ended(pool)
            assert len(expected) > 10
            pool.set_state(states)
            assert ended(pool) == expected
            other.set_state(states)
            assert ended(other) == expected


def test_copies_have_the_sums_of_their_source():
    with make() as pool:
        pool.reset()
        play(pool, 5)
        pool.copy_state([0, 0, 0], [1, 2, 3])
        found = ended(pool, 40)
        assert {(r, length) for r, length, k in found if k == 0} == {(r, length) for r, length, k in found if k == 3}


def test_pools_with_and_without_the_option_exchange_states():
    """The option only adds results, so the states stay compatible; a return that was not counted is NaN."""
    with make() as on, make(episode_statistics=False) as off:
        on.reset()
        off.reset()
        assert len(bytes(on.get_state(0))) == len(bytes(off.get_state(0))) + SUMS
        play(off, 3)
        on.set_state(off.get_state())
        first = {k: (r, length) for r, length, k in reversed(ended(on))}
        assert all(np.isnan(r) and length > 3 for r, length in first.values())
        assert all(not np.isnan(r) for r, _, _ in ended(on))
        assert not np.isnan(on.stats().mean_return)
        expected = play(on, 20) if off.set_state(on.get_state()) is None else None
        assert play(off, 20) == expected


def test_an_episode_that_begins_with_the_restore_is_known():
    with make() as on, make(episode_statistics=False) as off:
        off.reset()
        on.reset()
        play(on, 4)
        on.set_state(off.get_state())
        assert all(r == length for r, length, _ in ended(on))


@pytest.mark.parametrize(
    ("at", "forged"),
    [(14, b"\2"), (CORE.size + 8, b"\xff" * 8), (CORE.size + 24, b"\xff" * 8), (CORE.size + 39, b"\x7f")],
    ids=["has_sums", "episode_ns", "game_length", "game_ns"],
)
def test_forged_sums_are_refused(at, forged):
    with make() as pool:
        pool.reset()
        body = body_of(pool.get_state(0))
        start = core_at(pool.get_state(0))
        body[start + at : start + at + len(forged)] = forged
        with pytest.raises(StateError, match="values that get_state"):
            pool.set_state(sealed(body), 0)


def test_a_state_too_short_for_its_sums_is_refused():
    with make(episode_statistics=False) as off, make() as on:
        body = body_of(off.get_state(0))  # never seeded: no snapshot
        body[core_at(off.get_state(0)) + 14] = 1
        for pool in (on, off):
            with pytest.raises(StateError, match="values that get_state"):
                pool.set_state(sealed(body), 0)
