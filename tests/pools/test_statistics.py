"""Statistics of episodes: the entries of info in every API style, and what `EnvPool.stats` returns."""

import copy
import dataclasses
import pickle
import threading

import numpy as np
import pytest
from gymnasium.wrappers.vector import RecordEpisodeStatistics

import envpool
from envpool.errors import ConfigError, PoolStateError
from envpool.gymnasium_api.vector_env import EnvPoolVectorEnv
from envpool.native import GameFields
from tests.support.episodes import EpisodeModel, check_entry, same

MODES = ("next_step", "same_step", "disabled")
#: A task of each family, and of each kind of reward.
TASKS = {
    "CartPole-v1": {},
    "CliffWalking-v1": {"max_episode_steps": 40},
    "Blackjack-v1": {},
    "Pendulum-v1": {"max_episode_steps": 23},
    "LunarLander-v3": {},
    "Hopper-v5": {},
    "CheetahRun-v1": {"max_episode_steps": 17},
    "Breakout-v5": {"episodic_life": True, "reward_clip": True},
}


def actions_of(space, steps, num_envs, seed=0):
    space.seed(seed)
    return [np.array([space.sample() for _ in range(num_envs)]) for _ in range(steps)]


def assert_same_infos(expected, actual):
    """Compare nested infos in every bit but the times."""
    assert set(expected) == set(actual)
    for key, value in expected.items():
        if isinstance(value, dict):
            assert list(value) == list(actual[key]) or key != "episode"
            assert_same_infos(value, actual[key])
        elif key == "t":
            assert actual["t"].dtype == value.dtype and actual["t"].shape == value.shape
            assert same(actual["t"] > 0, actual["l"] > 0)
            assert same(np.round(actual["t"], 6), actual["t"])
        elif isinstance(value, np.ndarray) and value.dtype != object:
            assert same(value, actual[key]), key


def compare_with_wrapper(task_id, mode, num_envs, steps, options, reset_some=0):
    """Play two equal vector envs, one with gymnasium's wrapper, one with the option; return the number of episodes."""
    options = {"seed": 5, "autoreset_mode": mode, **options}
    wrapped = RecordEpisodeStatistics(EnvPoolVectorEnv(task_id, num_envs, **options))
    native = EnvPoolVectorEnv(task_id, num_envs, episode_statistics=True, num_threads=2, **options)
    with wrapped.env.pool, native.pool:
        assert_same_infos(wrapped.reset()[1], native.reset()[1])
        rng = np.random.default_rng(3)
        for t, action in enumerate(actions_of(native.single_action_space, steps, num_envs)):
            *_, terminated, truncated, expected = wrapped.step(action)
            *_, actual = native.step(action)
            actual.pop("game", None), actual.pop("_game", None)
            assert_same_infos(expected, actual)
            mask = terminated | truncated if mode == "disabled" else np.zeros(num_envs, bool)
            if reset_some and t % reset_some == 0:
                mask |= rng.random(num_envs) < 0.5
            if mask.any():
                for envs in (wrapped, native):
                    envs.reset(options={"reset_mask": mask.copy()})
        stats = native.pool.stats()
        assert stats.episodes == wrapped.episode_count
        if stats.episodes:
            assert stats.mean_return == np.mean(np.array(wrapped.return_queue))
            assert stats.mean_length == np.mean(np.array(wrapped.length_queue))
        return stats.episodes


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("task_id", TASKS)
def test_entries_equal_those_of_gymnasiums_wrapper(task_id, mode):
    assert compare_with_wrapper(task_id, mode, 5, 300, TASKS[task_id]) > 5


@pytest.mark.parametrize("mode", MODES)
def test_masked_resets(mode):
    assert compare_with_wrapper("CartPole-v1", mode, 70, 300, {}, reset_some=7) > 100


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
def test_100_000_steps_of_cartpole(mode):
    assert compare_with_wrapper("CartPole-v1", mode, 8, 100_000, {}) > 30_000


# ---- pools -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", MODES)
def test_steps_of_some_envs_in_any_order(mode):
    rng = np.random.default_rng(1)
    with envpool.make_gymnasium("CartPole-v1", num_envs=9, autoreset_mode=mode, episode_statistics=True) as pool:
        model = EpisodeModel(9, mode)
        assert "episode" not in pool.reset()[1]
        for _ in range(300):
            ids = rng.permutation(9)[: rng.integers(1, 10)]
            batch = pool.step(rng.integers(0, 2, len(ids)), ids)
            model.check(batch)
            ended = ids[batch[2] | batch[3]] if mode == "disabled" else ids[rng.random(len(ids)) < 0.02]
            if len(ended):
                assert "episode" not in pool.reset(ended)[1]
                model.reset(ended)
        assert len(model.ended) > 40
        returns, lengths = np.array(model.ended[-100:]).T
        stats = pool.stats()
        assert (stats.episodes, stats.mean_return) == (len(model.ended), np.mean(returns))
        assert stats.mean_length == np.mean(lengths)


@pytest.mark.parametrize("num_threads", [1, 3])
@pytest.mark.parametrize("mode", ["next_step", "same_step"])
@pytest.mark.parametrize("batch_size", [1, 5, 12])
def test_async_pools(batch_size, mode, num_threads):
    rng = np.random.default_rng(2)
    with envpool.make_gymnasium(
        "CartPole-v1",
        num_envs=24,
        batch_size=batch_size,
        num_threads=num_threads,
        autoreset_mode=mode,
        episode_statistics=True,
    ) as pool:
        model = EpisodeModel(24, mode)
        pool.async_reset()
        for _ in range(3000 // batch_size):
            batch = pool.recv()
            model.check(batch)
            pool.send(rng.integers(0, 2, batch_size), batch[4]["env_id"])
        assert pool.stats().episodes == len(model.ended) > 30
        pool.reset()  # rows in flight are dropped, and every env starts again
        model.reset(np.arange(24))
        for _ in range(300 // batch_size):
            ids = np.arange(batch_size)
            model.check(pool.step(rng.integers(0, 2, batch_size), ids) if batch_size == 24 else pool.recv())
            break
        assert pool.stats().episodes == len(model.ended)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("batch_size", [4, 12])
def test_partial_batches(batch_size, mode):
    rng = np.random.default_rng(4)
    with envpool.make_gymnasium(
        "CartPole-v1", num_envs=12, batch_size=batch_size, num_threads=2, autoreset_mode=mode, episode_statistics=True
    ) as pool:
        model = EpisodeModel(12, mode)
        pool.reset() if batch_size == 12 else pool.reset(np.arange(12))
        idle = list(range(12))
        for t in range(500):
            if idle:
                pool.send(rng.integers(0, 2, len(idle)), idle)
            flying = rng.permutation(12)
            batch = (
                pool.recv(min_ready=3)
                if t % 3 == 0
                else pool.recv(env_id=flying[:4])
                if t % 3 == 1
                else pool.recv(timeout=0)
            )
            model.check(batch)
            idle = batch[4]["env_id"].tolist()
            ended = batch[4]["env_id"][batch[2] | batch[3]]
            if mode == "disabled" and len(ended):
                assert "episode" not in pool.reset(ended)[1]
                model.reset(ended)
        assert pool.stats().episodes == len(model.ended) > 10


def test_the_arrays_belong_to_the_user():
    """Rows without an ended episode are zero, whatever the user has written into earlier arrays."""
    with envpool.make_gymnasium("Blackjack-v1", num_envs=8, episode_statistics=True) as pool:
        pool.reset()
        model, held = EpisodeModel(8, "next_step"), []
        for t in range(100):
            batch = pool.step(np.full(8, t % 2))
            model.check(batch)
            if "episode" in batch[4]:
                before = copy.deepcopy(batch[4]["episode"])
                held.append((batch[4]["episode"], before))
                if t % 3:
                    for values in [*batch[4]["episode"].values(), batch[4]["_episode"]]:
                        values[:] = 7
                    held.pop()
        assert len(held) > 10
        for now, before in held:
            assert all(same(now[part], before[part]) for part in "rlt")


def test_without_the_option_nothing_is_added():
    with envpool.make_gymnasium("Blackjack-v1", num_envs=4) as pool:
        pool.reset()
        for _ in range(20):
            assert set(pool.step(np.ones(4, int))[4]) == {"env_id", "players", "elapsed_step"}
        assert pool.stats().episodes is pool.stats().mean_return is pool.stats().step_times is None
        assert not any("episode" in name for name in pool.spec.state_array_spec)


def test_legacy_gym():
    with envpool.make_gym("CartPole-v1", num_envs=6, gym_api="legacy", episode_statistics=True) as pool:
        pool.reset()
        model = EpisodeModel(6, "next_step")
        for _ in range(100):
            obs, reward, done, info = pool.step(np.ones(6, int))
            truncated = info["TimeLimit.truncated"]
            model.check((obs, reward, done & ~truncated, truncated, info))
        assert len(model.ended) > 10
        done[:] = True
        assert info.get("_episode") is not done


@pytest.mark.parametrize("mode", MODES)
def test_dm(mode):
    """A named tuple has the same fields in every step, so the arrays are always there."""
    with envpool.make_dm("CartPole-v1", num_envs=6, autoreset_mode=mode, episode_statistics=True) as pool:
        first = pool.reset().observation
        assert first.episode._fields == ("r", "l", "t", "mask")
        assert not first.episode.mask.any() and not first.episode.l.any()
        spec = pool.observation_spec().episode
        assert [(s.dtype, s.shape) for s in spec] == [(a.dtype, ()) for a in first.episode]
        model = EpisodeModel(6, mode)
        for _ in range(100):
            step = pool.step(np.ones(6, int))
            entry = step.observation.episode
            mask = step.step_type == 2
            info = {"env_id": step.observation.env_id, "elapsed_step": np.where(step.step_type == 0, 0, 1)}
            _, r, length = model.step(step.reward, mask, mask, info)
            check_entry({"x": {"r": entry.r, "l": entry.l, "t": entry.t}, "_x": entry.mask}, "x", mask, r, length)
            if mode == "disabled" and mask.any():
                pool.reset(np.flatnonzero(mask))
                model.reset(mask)
        assert len(model.ended) > 10


# ---- what stats() returns --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("num_envs", [1, 3, 8, 16, 24])
def test_step_times_count_all_steps(num_envs):
    """Of cheap steps, samples are measured; each counts for the steps for which it stands."""
    with envpool.make_gymnasium("CartPole-v1", num_envs=num_envs, num_threads=1, episode_statistics=True) as pool:
        pool.reset()
        for _ in range(2000):
            pool.step(np.ones(num_envs, int))
        assert 0.5 < sum(pool.stats().step_times) / (2000 * num_envs) < 2


def test_totals():
    with envpool.make_gymnasium("CartPole-v1", num_envs=6, num_threads=2, episode_statistics=True) as pool:
        assert pool.stats() == envpool.pools.statistics.PoolStats(
            0, 0, 0.0, 0, pool._blocks_allocated, 0, 2, 0, step_times=(0,) * 40
        )
        pool.reset()
        pool.reset([1, 2])
        for _ in range(50):
            pool.step(np.ones(6, int))
        pool.step([0], [3])
        stats = pool.stats()
        assert (stats.steps, stats.resets) == (301, 8)
        assert stats.blocks_allocated == pool._blocks_allocated
        assert stats.blocks_reused + stats.blocks_allocated >= 53
        assert stats.recv_wait >= 0 and stats.wakes >= 0
        assert stats.queue_wait >= 0
        assert sum(stats.step_times) > 0
        assert stats.games is stats.mean_game_return is None
        with pytest.raises(dataclasses.FrozenInstanceError):
            stats.steps = 1
        assert pickle.loads(pickle.dumps(stats)) == stats
    assert pool.stats() == stats  # a closed pool returns its last values


def test_threads_in_force(monkeypatch):
    """The option is 0 by default: one thread per CPU, and at most one per environment of a batch."""
    monkeypatch.setattr("envpool.pools.env_pool.cpu_limit", lambda: 3)
    for options, threads in (
        ({"num_envs": 8}, 3),
        ({"num_envs": 8, "batch_size": 2}, 2),
        ({"num_envs": 2, "num_threads": 5}, 2),
        ({"num_envs": 8, "num_threads": 5}, 5),
    ):
        with envpool.make_gymnasium("CartPole-v1", **options) as pool:
            assert pool.config["num_threads"] == pool.stats().num_threads == pool.num_threads == threads
            assert pool.spec.config.num_threads == options.get("num_threads", 0)
            assert pickle.loads(pickle.dumps(pool)).num_threads == threads


def test_means_are_those_of_the_last_100_episodes():
    with envpool.make_gymnasium("CartPole-v1", num_envs=50, episode_statistics=True) as pool:
        pool.reset()
        assert pool.stats().mean_return is None
        model = EpisodeModel(50, "next_step")
        rng = np.random.default_rng(0)
        while len(model.ended) < 450:
            model.check(pool.step(rng.integers(0, 2, 50)))
            last = np.array(model.ended[-100:]).reshape(-1, 2)
            stats = pool.stats()
            if len(last):
                assert (stats.mean_return, stats.mean_length) == (np.mean(last[:, 0]), np.mean(last[:, 1]))


def test_a_pool_that_was_never_initialized():
    cls = envpool.pools.classes.pool_class(type(envpool.make_spec("CartPole-v1")), "gymnasium")
    with pytest.raises(PoolStateError, match="never initialized"):
        cls.__new__(cls).stats()


def test_any_thread_at_any_time():
    pool = envpool.make_gymnasium("CartPole-v1", num_envs=64, num_threads=2, episode_statistics=True)
    pool.reset()
    errors, seen, stop = [], [], threading.Event()

    def watch():
        try:
            while not stop.is_set():
                seen.append(pool.stats().steps)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=watch) for _ in range(3)]
    for thread in threads:
        thread.start()
    for _ in range(2000):
        pool.step(np.ones(64, int))
    pool.close()
    stop.set()
    for thread in threads:
        thread.join()
    assert not errors
    assert pool.stats().steps == 2000 * 64
    assert max(seen) <= 2000 * 64


# ---- whole games -----------------------------------------------------------------------------------------------------


def test_fields_that_do_not_exist():
    definition = envpool.make_spec("CartPole-v1").definition

    class Wrong(definition):
        @staticmethod
        def game_fields(config):
            return GameFields("info:reward", "info:over", "info:lives", False)

    spec_cls = envpool.tasks.spec.spec_class(Wrong)
    spec = spec_cls(spec_cls.gen_config(episode_statistics=True))
    with pytest.raises(ConfigError, match="names 'info:reward', but the environment has no field"):
        envpool.pools.classes.pool_class(spec_cls, "gymnasium")(spec)


@pytest.mark.parametrize("options", [{}, {"controlled": "adversary"}, {"players": "dict", "controlled": [3]}])
def test_means_of_players_and_groups(options):
    options = {"num_envs": 5, "episode_statistics": True, "max_episode_steps": 7, "seed": 1} | options
    with envpool.make_gymnasium("MPE/simple_tag-v3", **options) as pool:
        pool.reset()
        assert pool.stats().mean_player_returns is pool.stats().mean_group_returns is None
        found = []
        for k in range(200):
            *_, info = pool.step(pool.sample_actions(k))
            if "episode" in info:
                found += list(info["episode"]["player_r"][info["_episode"]])
        stats = pool.stats()
        assert stats.episodes == len(found) > 100
        means = np.mean(found[-100:], axis=0)
        np.testing.assert_allclose(stats.mean_player_returns, means)
        assert stats.mean_group_returns == pytest.approx({"adversary": means[:3].sum(), "agent": means[3]})
        assert stats.mean_return == pytest.approx(means.sum())
    assert pool.stats().mean_player_returns == stats.mean_player_returns
    with envpool.make_gymnasium("CartPole-v1", episode_statistics=True) as pool:
        assert pool.stats().mean_player_returns is None
