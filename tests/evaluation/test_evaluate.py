"""`envpool.evaluate`: which episodes count, their returns and lengths, intervals, and videos."""

import sys

import gymnasium
import imageio.v3
import numpy as np
import pytest

import envpool
from envpool.errors import ConfigError, PoolStateError
from envpool.evaluation.playing import quotas, seeds_of
from envpool.evaluation.result import interval_of


class Lengths(gymnasium.Env):
    """Episodes of 1 + seed % 7 steps, each with a reward of 1; those of an odd length are truncated."""

    observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (2,), np.float64)
    action_space = gymnasium.spaces.Discrete(2)
    metadata = {"render_modes": ["rgb_array"], "render_fps": 10}

    def __init__(self, render_mode=None):
        self.render_mode, self.length = render_mode, None

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.length = self.length if seed is None else 1 + seed % 7
        self.steps = 0
        return np.array([self.length, 0.0]), {}

    def step(self, action):
        self.steps += 1
        over = self.steps == self.length
        obs, is_odd = np.array([self.length, self.steps], float), self.length % 2 == 1
        return obs, 1.0, over and not is_odd, over and is_odd, {}

    def render(self):
        return np.full((32, 32, 3), 20 * self.steps, np.uint8)


def wait(obs):
    return np.zeros(len(obs), int)


def test_each_environment_contributes_its_first_episodes():
    result = envpool.evaluate(wait, Lengths, 17, seeds=7, num_envs=7)
    expected = [1 + i for i in range(7) for _ in range(3 if i < 3 else 2)]
    assert result.lengths.tolist() == result.returns.tolist() == expected
    assert result.env_ids.tolist() == [i for i in range(7) for _ in range(3 if i < 3 else 2)]
    assert result.numbers.tolist() == [k for i in range(7) for k in range(3 if i < 3 else 2)]
    assert result.terminated.tolist() == [length % 2 == 0 for length in expected]
    assert result.seeds == tuple(range(7, 14)) and len(result) == 17


@pytest.mark.parametrize("mode", ["next_step", "same_step", "disabled"])
@pytest.mark.parametrize("env_type", ["gymnasium", "gym", "dm"])
def test_pools_of_all_styles_and_modes(env_type, mode):
    options = {"num_envs": 3, "autoreset_mode": mode, "seed": 5, "env_type": env_type}
    with envpool.make_python(Lengths, **options) as pool:
        if env_type == "dm" and mode == "same_step":
            with pytest.raises(ConfigError, match="must be 'next_step' or 'disabled'"):
                envpool.evaluate("random", pool)
            return
        result = envpool.evaluate("random", pool, episodes=7)
        assert result.lengths.tolist() == [6, 6, 6, 7, 7, 1, 1] and result.returns.tolist() == result.lengths.tolist()
        assert result.terminated.tolist() == [True] * 3 + [False] * 4
        assert not pool.closed
        again = envpool.evaluate("random", pool, episodes=7, seeds=[2, 2, 2])
    assert again.lengths.tolist() == [3] * 7


def test_statistics_of_games_count_before_clipping():
    options = {"preset": "ppo-cleanrl", "max_episode_steps": 200, "num_envs": 2}
    result = envpool.evaluate("random", "Breakout-v5", 2, seeds=3, **options)
    with envpool.make_gymnasium("Breakout-v5", env_seed=[3, 4], episode_statistics=True, **options) as pool:
        rng, games = np.random.default_rng(0), {}
        pool.reset(seed=[3, 4])
        while len(games) < 2:
            *_, info = pool.step(pool.sample_actions(rng))
            if "game" in info:
                for i in np.flatnonzero(info["_game"]):
                    games.setdefault(int(i), (info["game"]["r"][i], info["game"]["l"][i]))
    assert list(zip(result.returns, result.lengths, strict=True)) == [games[0], games[1]]


def test_evaluations_repeat_and_depend_on_seeds():
    runs = [envpool.evaluate("random", "CartPole-v1", 12, seeds=seed).returns.tolist() for seed in (0, 0, 1)]
    assert runs[0] == runs[1] != runs[2]
    assert len(envpool.evaluate("random", "CartPole-v1", seeds=range(5))) == 5
    assert len(envpool.evaluate("random", "Blackjack-v1", 3)) == 3


@pytest.mark.parametrize("option", [{"seed": 3}, {"env_seed": [3, 4]}])
def test_seeds_have_one_name(option):
    with pytest.raises(TypeError, match=rf"pass seeds=\.\.\. instead of {next(iter(option))}="):
        envpool.evaluate("random", "CartPole-v1", 2, **option)
    with pytest.raises(ConfigError, match="seeds must have a seed for each environment, got none"):
        envpool.evaluate("random", "CartPole-v1", seeds=[])


def test_declared_mujoco_tasks():
    with envpool.make_gymnasium("Hopper-v5", num_envs=2, max_episode_steps=20) as pool:
        result = envpool.evaluate(lambda obs: np.zeros((len(obs), 3), np.float32), pool)
    assert len(result) == 2 and result.lengths.max() <= 20


def test_the_table():
    result = envpool.evaluate(wait, Lengths, 7, seeds=7, num_envs=7)
    lines = str(result).splitlines()
    assert lines[0] == "Lengths: 7 episodes of 7 envs"
    assert lines[1].split("  ")[-1] == "max" and "95 % interval" in lines[1]
    assert lines[2].split()[:2] == ["return", "4"]
    summary = result.summary()["return"]
    assert (summary.mean, summary.min, summary.median, summary.max) == (4, 1, 4, 7)
    assert summary.low < 4 < summary.high and (summary.low, summary.high) == result.interval
    saved = result.to_dict()
    assert saved["episodes"][3] == {"env_id": 3, "number": 0, "return": 4.0, "length": 4, "terminated": True}
    assert [result.returns[result.episode(which)] for which in ("best", "median", "worst")] == [7, 4, 1]
    with pytest.raises(ConfigError, match="which must be one of 'best', 'median', 'worst', got 'mean'"):
        result.episode("mean")


def test_intervals():
    rng = np.random.default_rng(1)
    hits = 0
    for _ in range(40):
        low, high = interval_of(rng.exponential(size=50), 0.9)
        hits += low <= 1 <= high
    assert 32 <= hits <= 39
    many = rng.normal(size=2001)
    low, high = interval_of(many, 0.95)
    assert np.isclose(high - low, 2 * 1.96 * many.std(ddof=1) / 2001**0.5, rtol=1e-3)
    resampled = interval_of(many[:2000], 0.95)
    assert np.isclose(resampled[1] - resampled[0], high - low, rtol=0.05)
    assert np.isnan(interval_of(np.array([3.0]), 0.95)).all()
    assert "-" in str(envpool.evaluate(wait, Lengths, 1))


def test_quotas_and_seeds():
    assert quotas(7, 3).tolist() == [3, 2, 2] and quotas(2, 4).tolist() == [1, 1, 0, 0]
    assert seeds_of(5, 3) == [5, 6, 7] and seeds_of([9, 2], 2) == [9, 2] and seeds_of(None, 2) is None


@pytest.mark.parametrize(
    ("arguments", "options", "error", "text"),
    [
        ((wait, Lengths, 0), {}, ConfigError, "episodes must be"),
        ((wait, Lengths, 3), {"seeds": [1, 2], "num_envs": 3}, ConfigError, "one entry for each of the 3"),
        ((wait, Lengths), {"seeds": "abc"}, TypeError, "seeds must be of type int, got 'abc'"),
        ((wait, Lengths), {"seeds": [0.5, 3.7]}, TypeError, r"seeds\[0\] must be of type int, got 0.5"),
        ((wait, Lengths), {"seeds": 1.5}, TypeError, "seeds must be of type int, got 1.5"),
        ((wait, Lengths), {"seeds": -1}, ConfigError, r"seeds must be between 0 and 2\*\*64 - 1, got -1"),
        ((wait, Lengths, 2), {"seeds": 2**64 - 1}, ConfigError, "seeds must be at most 18446744073709551614, since"),
        ((wait, Lengths), {"confidence": 1.5}, ConfigError, "confidence must be between 0 and 1, got 1.5"),
        ((wait, Lengths), {"confidence": "a"}, TypeError, "confidence must be of type float, got 'a'"),
        (("best", Lengths), {}, TypeError, "policy must be 'random' or a function"),
        ((wait, 3), {}, TypeError, "pool must be a pool of .*, got int"),
        ((wait, "CartPole-v1"), {"video": "a.webm"}, ConfigError, r"must end in .mp4 or .gif, got 'a.webm'"),
        ((wait, "CartPole-v1"), {"video": "nowhere/a.mp4"}, ConfigError, "the directory nowhere does not exist"),
    ],
)
def test_arguments_are_checked(arguments, options, error, text):
    with pytest.raises(error, match=text):
        envpool.evaluate(*arguments, **options)


def test_pools_are_checked():
    pool = envpool.make_gymnasium("CartPole-v1", num_envs=4, batch_size=2)
    with pool, pytest.raises(ConfigError, match="batch_size must be num_envs=4, got 2"):
        envpool.evaluate("random", pool)
    with envpool.make_gymnasium("CartPole-v1", num_envs=2) as pool:
        with pytest.raises(TypeError, match="num_envs is an option of a task, but a pool was passed"):
            envpool.evaluate("random", pool, num_envs=2)
        with pytest.raises(ConfigError, match="render_mode='rgb_array'"):
            envpool.evaluate("random", pool, video="a.mp4")
        pool.reset()
        pool.send(np.zeros(2, int))
        with pytest.raises(PoolStateError, match=r"2 envs of the pool are in flight: call recv\(\)"):
            envpool.evaluate("random", pool)
        pool.recv()
        assert len(envpool.evaluate("random", pool)) == 2
    envs = envpool.make_vec("CartPole-v1", 2)
    with pytest.raises(TypeError, match=r"pool must be a pool of .*, got EnvPoolVectorEnv: make one with"):
        envpool.evaluate("random", envs)
    envs.close()


def test_episodes_that_do_not_end():
    with pytest.raises(PoolStateError, match=r"1 of 2 environments of Lengths .* within max_steps=5 steps: pass"):
        envpool.evaluate(wait, Lengths, 2, seeds=[3, 6], max_steps=5)


@pytest.mark.parametrize("mode", ["next_step", "same_step", "disabled"])
def test_videos_show_the_best_the_median_and_the_worst_episode(mode, tmp_path):
    envpool.evaluate(
        wait, Lengths, 6, seeds=[2, 6, 4], video=tmp_path / "a.mp4", autoreset_mode=mode, render_mode="rgb_array"
    )
    for which, length in (("best", 7), ("median", 5), ("worst", 3)):
        frames = imageio.v3.imread(tmp_path / f"a-{which}.mp4")
        assert len(frames) == length + (mode == "next_step")
        shown = frames[:, frames.shape[1] // 2, frames.shape[2] // 2, 0].astype(int)
        assert np.abs(shown - 20 * np.arange(len(frames))).max() < 8


def test_videos_of_pools(tmp_path):
    with envpool.make_gymnasium(
        "CartPole-v1", num_envs=2, render_mode="rgb_array", render_width=60, render_height=40
    ) as pool:
        result = envpool.evaluate("random", pool, 4, video=tmp_path / "a.mp4")
    frames = imageio.v3.imread(tmp_path / "a-best.mp4")
    assert len(frames) == result.lengths[result.episode("best")] + 1


class Forgetful(Lengths):
    """Does not depend on its seed."""

    count = 0

    def reset(self, *, seed=None, options=None):
        Forgetful.count += 1
        return super().reset(seed=1 + Forgetful.count)


def test_an_episode_that_cannot_be_repeated_is_no_video(tmp_path):
    with pytest.raises(PoolStateError, match="depend on more than their seeds and actions"):
        envpool.evaluate(wait, Forgetful, 2, video=tmp_path / "a.mp4")


def test_missing_packages(monkeypatch):
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    with pytest.raises(
        ImportError, match=r"videos need Pillow and imageio-ffmpeg: pip install 'envpool-cython\[render\]'"
    ):
        envpool.evaluate(wait, Lengths, video="a.mp4")
