"""`evaluate` and `record` in pools that normalise: they use the statistics without changing them."""

import json

import gymnasium
import numpy as np
import pytest

import envpool
from envpool.errors import ConfigError
from envpool.evaluation.datasets import read_episodes, read_normalization

OPTIONS = {"num_envs": 4, "normalize_obs": True, "normalize_reward": True, "max_episode_steps": 30}


@pytest.fixture
def pool():
    """A pool that has been trained for some steps."""
    with envpool.make_gymnasium("Pendulum-v1", seed=1, **OPTIONS) as pool:
        train(pool)
        yield pool


def train(pool):
    rng = np.random.default_rng(0)
    pool.reset()
    for _ in range(50):
        pool.step(pool.sample_actions(rng))


def act(obs):
    """Return actions that depend on the normalised observations."""
    return np.clip(obs[:, 1:2] - obs[:, 2:3], -2, 2).astype(np.float32)


def evaluate(policy, pool, tmp_path):
    return envpool.evaluate(policy, pool, 6, seeds=7)


def record(policy, pool, tmp_path):
    return envpool.record(pool, policy, tmp_path / "a.npz", episodes=6, seeds=7)


def record_steps(policy, pool, tmp_path):
    return envpool.record(pool, policy, tmp_path / "a.npz", steps=200, seeds=7)


def statistics(pool):
    """Return all statistics without the discounted sums, which belong to the episodes that are running."""
    return {name: x.tobytes() for name, x in pool.normalization.get().items() if name != "reward.discounted"}


CALLS = [evaluate, record, record_steps]


@pytest.mark.parametrize("is_frozen", [False, True])
@pytest.mark.parametrize("call", CALLS)
def test_statistics_stay_as_they_are(call, is_frozen, pool, tmp_path):
    before = statistics(pool)
    pool.normalization.is_frozen = is_frozen
    call(act, pool, tmp_path)
    assert statistics(pool) == before and pool.normalization.is_frozen is is_frozen


@pytest.mark.parametrize(
    ("env_type", "mode"),
    # evaluate() refuses pools of the dm style with same_step.
    [(style, mode) for style in ("gymnasium", "gym") for mode in ("next_step", "same_step", "disabled")]
    + [("dm", "next_step"), ("dm", "disabled")],
)
def test_statistics_in_all_styles_and_modes(env_type, mode, tmp_path):
    with envpool.make("Pendulum-v1", env_type=env_type, autoreset_mode=mode, seed=1, **OPTIONS) as pool:
        before = statistics(pool)
        evaluate("random", pool, tmp_path)
        record("random", pool, tmp_path)
        assert statistics(pool) == before
        pool.reset()
        assert statistics(pool) != before


def test_results_equal_those_of_a_frozen_pool(pool, tmp_path):
    with envpool.make_gymnasium("Pendulum-v1", seed=9, **OPTIONS) as other:
        other.normalization.set(pool.normalization.get())
        other.normalization.is_frozen = True
        for call in CALLS[1:]:
            (tmp_path / call.__name__).mkdir()
            assert call(act, pool, tmp_path)[1:] == call(act, other, tmp_path / call.__name__)[1:]
            pairs = zip(*map(read_episodes, (tmp_path / "a.npz", tmp_path / call.__name__ / "a.npz")), strict=True)
            assert all(a.obs["obs"].tobytes() == b.obs["obs"].tobytes() for a, b in pairs)
        own, expected = (evaluate(act, one, tmp_path).returns for one in (pool, other))
    assert own.tobytes() == expected.tobytes()


@pytest.mark.parametrize("call", CALLS)
def test_an_exception_in_the_policy_restores_the_flag(call, pool, tmp_path):
    before, actions = statistics(pool), [np.zeros((4, 1), np.float32)] * 40
    with pytest.raises(IndexError):
        call(lambda obs: actions.pop(), pool, tmp_path)
    assert pool.normalization.is_frozen is False and statistics(pool) == before


@pytest.mark.parametrize("fails", [False, True])
@pytest.mark.parametrize("call", CALLS)
def test_training_goes_on_as_if_nothing_had_been_played(call, fails, pool, tmp_path):
    with envpool.make_gymnasium("Pendulum-v1", seed=1, **OPTIONS) as other:
        train(other)
        actions = [np.zeros((4, 1), np.float32)] * 20
        try:
            call((lambda obs: actions.pop()) if fails else act, pool, tmp_path)
        except IndexError:
            assert fails
        rng = np.random.default_rng(0)
        firsts = [one.reset(seed=3)[0].tobytes() for one in (pool, other)]
        assert firsts[0] == firsts[1]
        for _ in range(40):
            action = pool.sample_actions(rng)
            own, expected = pool.step(action), other.step(action)
            assert own[0].tobytes() == expected[0].tobytes() and own[1].tobytes() == expected[1].tobytes()
        own, expected = pool.normalization.get(), other.normalization.get()
        assert all(own[name].tobytes() == expected[name].tobytes() for name in expected)


def test_videos_leave_the_statistics_alone(tmp_path):
    size = {"render_width": 64, "render_height": 64}
    with envpool.make_gymnasium("Pendulum-v1", render_mode="rgb_array", **size, **OPTIONS) as pool:
        train(pool)
        before = statistics(pool)
        envpool.evaluate(act, pool, 4, video=tmp_path / "a.gif")
        envpool.record(pool, act, tmp_path / "b.gif", steps=10)
        assert statistics(pool) == before and pool.normalization.is_frozen is False


@pytest.mark.parametrize(
    ("options", "names", "way_out"),
    [
        ({"normalize_obs": True}, "normalize_obs needs", "normalize_obs=False"),
        ({"normalize_reward": {"gamma": 0.9}}, "normalize_reward needs", "normalize_reward=False"),
        (
            {"normalize_obs": True, "normalize_reward": True},
            "normalize_obs and normalize_reward need",
            "normalize_obs=False, normalize_reward=False",
        ),
    ],
)
def test_a_task_has_no_statistics(options, names, way_out):
    with pytest.raises(ConfigError) as error:
        envpool.evaluate(act, "Pendulum-v1", 4, **options)
    text = str(error.value)
    assert text.startswith(f"{names} statistics, which a new pool does not have: ")
    assert "normalization.set(...)" in text and text.endswith(f"pass {way_out}")


def test_python_environments_have_no_statistics_either():
    with pytest.raises(ConfigError, match=r"normalize_obs needs statistics.*normalization\.set"):
        envpool.evaluate("random", lambda: gymnasium.make("CartPole-v1"), 2, normalize_obs=True)


def test_the_preset_has_no_statistics():
    pytest.importorskip("mujoco")
    options = {"preset": "ppo-continuous", "max_episode_steps": 5}
    with pytest.raises(ConfigError, match=r"normalize_obs and normalize_reward need statistics"):
        envpool.evaluate("random", "HalfCheetah-v5", 2, **options)
    options |= {"normalize_obs": False, "normalize_reward": False}
    assert len(envpool.evaluate("random", "HalfCheetah-v5", 2, **options)) == 2


def test_a_dataset_says_how_its_observations_were_normalised(pool, tmp_path):
    path, values = tmp_path / "a.npz", pool.normalization.get()
    record(act, pool, tmp_path)
    with np.load(path) as file:
        about = json.loads(str(file["about"]))
    assert about["normalization"].keys() == values.keys() - {"reward.discounted"}
    assert about["normalization"]["obs.mean"] == values["obs.mean"].tolist()
    assert about["normalization"]["reward.count"] == values["reward.count"]
    assert about["normalize_obs"] == {"epsilon": 1e-8}
    assert about["normalize_reward"] == {"gamma": 0.99, "epsilon": 1e-8}
    found = read_normalization(path)
    with envpool.make_gymnasium("Pendulum-v1", **OPTIONS) as other:
        other.normalization.set(found)
        assert statistics(other) == statistics(pool)
    plain = {"num_envs": 4, "max_episode_steps": 30}
    with envpool.make_gymnasium("Pendulum-v1", **plain) as raw:
        actions = {e.env_id: e.action["action"] for e in read_episodes(path) if e.number == 0}
        obs = [raw.reset(seed=7)[0]] + [raw.step(np.stack([actions[i][t] for i in range(4)]))[0] for t in range(30)]
    scaled = (np.stack(obs) - found["obs.mean"]) / np.sqrt(found["obs.var"] + about["normalize_obs"]["epsilon"])
    for episode in read_episodes(path):
        if episode.number == 0:
            assert np.allclose(episode.obs["obs"], scaled[:, episode.env_id], atol=1e-5)


def test_a_dataset_that_is_not_normalised(tmp_path):
    path = tmp_path / "a.npz"
    with envpool.make_gymnasium("CartPole-v1", num_envs=2, clip_obs=1.0) as pool:
        envpool.record(pool, "random", path)
    assert read_normalization(path) is None
    with np.load(path) as file:
        arrays = {name: file[name] for name in file.files}
    about = json.loads(str(arrays["about"]))
    assert not any(name.startswith("normal") for name in about)
    for damage in (3, {"obs.mean": "text"}, {"obs.mean": [[1], [1, 2]]}):
        np.savez(path, **arrays | {"about": np.array(json.dumps(about | {"normalization": damage}))})
        with pytest.raises(ConfigError, match=r"path must be a dataset .* damaged"):
            read_normalization(path)
    with pytest.raises(ConfigError, match=r"path must end in \.npz"):
        read_normalization(tmp_path / "a.txt")
