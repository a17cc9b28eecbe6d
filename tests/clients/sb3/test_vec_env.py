"""The VecEnv of Stable-Baselines3: its contract, its wrappers, and the same values as its own DummyVecEnv."""

import pickle

import gymnasium
import numpy as np
import pytest
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import EvalCallback
from stable_baselines3.common.env_util import is_wrapped, make_vec_env
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import (
    DummyVecEnv,
    VecCheckNan,
    VecExtractDictObs,
    VecFrameStack,
    VecMonitor,
    VecNormalize,
    VecTransposeImage,
    VecVideoRecorder,
    is_vecenv_wrapped,
)

import envpool
from envpool.adapters.sb3 import VecEnv
from envpool.errors import ConfigError, EnvIdError
from tests.support import plugin
from tests.support.gate import eventually
from tests.support.interrupts import ENDINGS, ending_in

N = 3


@pytest.fixture
def make():
    made = []

    def make_one(task="CartPole-v1", num_envs=N, **options):
        made.append(VecEnv(task, num_envs=num_envs, **options))
        return made[-1]

    yield make_one
    for env in made:
        env.close()


def sample(env):
    return np.stack([env.action_space.sample() for _ in range(env.num_envs)])


@pytest.mark.parametrize("task", ["CartPole-v1", "Pendulum-v1", "MountainCar-v0", "FrozenLake-v1"])
def test_same_values_as_dummy_vec_env(make, task):
    """The same seeds and actions give the same obs, rewards, dones and final infos."""
    dummy = DummyVecEnv([lambda: gymnasium.make(task, max_episode_steps=20)] * N)
    ours = make(task, max_episode_steps=20)
    assert ours.observation_space == dummy.observation_space
    assert ours.action_space.n == dummy.action_space.n if hasattr(ours.action_space, "n") else True
    assert dummy.seed(5) == ours.seed(5) == [5, 6, 7]
    assert np.array_equal(dummy.reset(), ours.reset())
    ours.action_space.seed(0)
    ends = 0
    for _ in range(100):
        actions = sample(ours)
        for a, b in zip(dummy.step(actions)[:3], (got := ours.step(actions))[:3], strict=True):
            assert np.array_equal(a, b)
        for a, b, done in zip(dummy.buf_infos, got[3], got[2], strict=True):
            assert a["TimeLimit.truncated"] == b["TimeLimit.truncated"]
            assert ("terminal_observation" in a) == ("terminal_observation" in b) == done
            if done:
                assert np.array_equal(a["terminal_observation"], b["terminal_observation"])
                ends += 1
    assert ends > N
    dummy.close()


def test_forms(make):
    env = make()
    obs = env.reset()
    assert obs.dtype == np.float32
    assert obs.shape == (N, 4)
    assert len(env.reset_infos) == N
    obs, reward, done, infos = env.step(sample(env))
    assert all(row in env.observation_space for row in obs)
    assert (reward.dtype, reward.shape, done.dtype, done.shape) == (np.float32, (N,), np.bool_, (N,))
    assert isinstance(infos, list)
    assert [type(info) for info in infos] == [dict] * N
    assert all(type(info["TimeLimit.truncated"]) is bool for info in infos)
    assert all(info["elapsed_step"] == 1 and "env_id" not in info for info in infos)


def test_the_first_step_resets_if_reset_was_not_called(make):
    env = make("FrozenLake-v1", max_episode_steps=3)
    dones = [env.step(np.zeros(N, np.int64))[2].tolist() for _ in range(5)]
    assert dones == [[False] * N] * 3 + [[True] * N, [False] * N]
    assert env.reset_infos == [{"prob": 1.0, "elapsed_step": 0}] * N


def test_last_observation_is_a_copy(make):
    """Later changes to the arrays or the pool do not affect it."""
    env = make(max_episode_steps=2)
    env.reset()
    env.step(sample(env))
    obs, _, done, infos = env.step(sample(env))
    assert done.all()
    last = [info["terminal_observation"] for info in infos]
    kept = [row.copy() for row in last]
    assert not any(np.shares_memory(row, obs) for row in last)
    assert not any(np.array_equal(row, first) for row, first in zip(last, obs, strict=True))
    obs[:] = 0
    for _ in range(20):
        env.step(sample(env))
    assert all(np.array_equal(row, same) for row, same in zip(last, kept, strict=True))


def test_time_limit(make):
    """A step that terminates and truncates counts as a termination: its value must not be bootstrapped."""
    env = make(max_episode_steps=9)  # pushed one way, the pole falls in step 9 or 10
    env.seed(0)
    env.reset()
    seen = set()
    for _ in range(200):
        _, _, done, infos = env.step(np.ones(N, int))
        for i in np.flatnonzero(done):
            seen.add((int(infos[i]["elapsed_step"]), infos[i]["TimeLimit.truncated"]))
    assert (9, True) in seen
    assert (9, False) in seen


def test_reset_drops_a_step_under_way(make):
    env = make()
    env.reset()
    env.step_async(np.zeros(N, int))
    with pytest.raises(EnvIdError, match="in flight"):
        env.step_async(np.zeros(N, int))
    assert env.reset().shape == (N, 4)
    *_, infos = env.step(np.zeros(N, int))
    assert [info["elapsed_step"] for info in infos] == [1] * N


@pytest.mark.filterwarnings("error")
def test_evaluation_reads_the_statistics(make):
    env, other = (make(episode_statistics=True, max_episode_steps=7) for _ in range(2))
    model = PPO("MlpPolicy", env, n_steps=8, batch_size=8, device="cpu", seed=0)
    callback = EvalCallback(other, n_eval_episodes=6, eval_freq=8, verbose=0)
    model.learn(16, callback)
    assert callback.last_mean_reward == 7 and model.ep_info_buffer[0]["l"] == 7


def test_a_pool_itself_is_refused():
    with envpool.make_gymnasium("CartPole-v1", num_envs=N) as pool:
        for use in (lambda: PPO("MlpPolicy", pool), lambda: DummyVecEnv([lambda: pool]), Monitor(pool).reset):
            with pytest.raises(TypeError, match=r"pass envpool\.adapters\.sb3\.VecEnv\(pool\) instead of the pool"):
                use()


def test_seeds(make):
    env = make()
    assert env.seed(3) == [3, 4, 5]
    first = env.reset()
    assert np.array_equal(first[1], gymnasium.make("CartPole-v1").reset(seed=4)[0])
    assert not np.array_equal(first, env.reset())
    env.seed(3)
    assert np.array_equal(first, env.reset())
    assert len(env.seed()) == N
    assert not np.array_equal(first, env.reset())
    assert env.seed(np.uint32(2**32 - 1)) == [2**32 - 1 + i for i in range(N)]


def test_random_seeds(make, monkeypatch):
    """They are those that SB3 draws; the generators of dm_control's tasks take at most 32 bits."""
    env, dummy = make("CheetahRun-v1"), DummyVecEnv([lambda: gymnasium.make("CartPole-v1")] * N)
    for s in range(5):
        seeds = [(np.random.seed(s), e.seed())[1] for e in (env, dummy)]
        assert seeds[0] == seeds[1]
    monkeypatch.setattr(np.random, "randint", lambda high, dtype: dtype(high - 1))
    assert env.seed() == [2**32 - 3, 2**32 - 2, 2**32 - 1]
    env.reset()


def test_seeds_that_sb3_draws():
    """Up to 2**32 - 1, and more with several environments; larger ones are passed on as well."""
    envs = [make_vec_env(id, 2, seed=2**32 - 2) for id in ("envpool/CartPole-v1", "CartPole-v1")]
    envs.append(VecEnv("CartPole-v1", num_envs=2))
    envs[2].seed(2**32 - 2)
    first = [env.reset() for env in envs]
    assert np.array_equal(first[0], first[1]) and np.array_equal(first[1], first[2])
    envs[2].seed(2**64 - 2)
    assert not np.array_equal(envs[2].reset(), first[2])
    for env in envs:
        env.close()


@pytest.mark.parametrize("wrapper", [None, VecNormalize, lambda e: VecFrameStack(e, n_stack=2)])
def test_attributes_and_methods(make, wrapper):
    env = make() if wrapper is None else wrapper(make())
    assert env.get_attr("render_mode") == [None] * N
    assert env.has_attr("spec")
    assert not env.has_attr("nonsense")
    assert env.get_attr("spec")[0].id == "CartPole-v1"
    for i in range(N):
        assert env.set_attr("note", i, indices=i) is None
    assert env.get_attr("note") == [0, 1, 2]
    env.set_attr("note", 12, indices=[0, -1])
    assert env.get_attr("note") == [12, 1, 12]
    assert env.get_attr("note", indices=[-1]) == [12]
    env.set_attr("note", 42)
    assert env.get_attr("note", [0, 2]) == [42, 42]
    results = env.env_method("reset", indices=[0, 2], seed=9)
    assert len(results) == 2
    assert np.array_equal(results[0][0], results[1][0])
    assert np.array_equal(results[0][0], gymnasium.make("CartPole-v1").reset(seed=9)[0])
    with pytest.raises(AttributeError):
        env.env_method("custom_method")


def test_is_wrapped(make):
    env = make()
    assert env.env_is_wrapped(Monitor) == [False] * N
    assert env.env_is_wrapped(Monitor, indices=[0, 1]) == [False] * 2
    counting = make(episode_statistics=True)
    assert counting.env_is_wrapped(Monitor) == [True] * N
    assert counting.env_is_wrapped(Monitor, indices=[2]) == [True]
    assert counting.env_is_wrapped(gymnasium.wrappers.TimeLimit) == [False] * N
    assert not is_vecenv_wrapped(env, VecMonitor)
    assert is_vecenv_wrapped(VecMonitor(env), VecMonitor)
    assert env.unwrapped is env
    assert not is_wrapped(env.envs[0], Monitor)


def test_monitor(make):
    env = VecMonitor(make(max_episode_steps=6))
    env.reset()
    for t in range(1, 7):
        _, _, done, infos = env.step(np.arange(N) % 2)
        assert done.all() == (t == 6)
    assert all(info["episode"]["r"] == info["episode"]["l"] == 6 for info in infos)
    assert all("terminal_observation" in info for info in infos)


def test_normalize(make):
    env = VecNormalize(make(max_episode_steps=5))
    obs = env.reset()
    for _ in range(20):
        last, (obs, reward, done, infos) = obs, env.step(sample(env))
        assert obs.shape == (N, 4)
        assert np.isfinite(obs).all() and np.isfinite(reward).all()
        for i in np.flatnonzero(done):
            assert not np.array_equal(infos[i]["terminal_observation"], obs[i])
            assert infos[i]["terminal_observation"].shape == last[i].shape
    assert env.get_original_obs().dtype == np.float32


def test_frame_stack(make):
    env = VecFrameStack(make(max_episode_steps=3), n_stack=4)
    first = env.reset()
    assert first.shape == (N, 16)
    assert not first[:, :12].any()
    frames = [first[:, 12:]]
    for _ in range(2):
        obs, *_ = env.step(sample(env))
        frames.append(obs[:, 12:])
    obs, _, done, infos = env.step(sample(env))
    assert done.all()
    assert not obs[:, :12].any()  # the stack starts anew with the episode
    for i in range(N):
        assert np.array_equal(infos[i]["terminal_observation"][:12], np.concatenate([f[i] for f in frames]))


def test_images(make):
    """Channels already come first: nothing is transposed, and stacks grow along the first axis."""
    env = make("Pong-v5", num_envs=2)
    assert VecTransposeImage(make("CarRacing-v3", num_envs=1)).observation_space.shape == (3, 96, 96)
    stacked = VecFrameStack(env, n_stack=2)
    assert stacked.reset().shape == (2, 8, 84, 84)
    obs, *_ = stacked.step(np.zeros(2, int))
    assert (obs.shape, obs.dtype) == ((2, 8, 84, 84), np.uint8)


def test_dict_observations(make):
    env = make("CheetahRun-v1", max_episode_steps=4)
    obs = env.reset()
    for _ in range(4):
        assert obs.keys() == env.observation_space.spaces.keys()
        assert all({k: v[i] for k, v in obs.items()} in env.observation_space for i in range(N))
        obs, _, done, infos = env.step(sample(env))
    assert done.all()
    for i in range(N):
        last = infos[i]["terminal_observation"]
        assert last in env.observation_space
        assert not np.array_equal(last["position"], obs["position"][i])
    picked = VecExtractDictObs(env, "velocity")
    assert picked.reset().shape == (N, 9)
    picked.step(sample(env))


def test_nan_checker(make):
    env = VecCheckNan(make("Pendulum-v1"), raise_exception=True)
    env.reset()
    env.step(sample(env))


def test_discrete_observations_and_infos(make):
    env = make("Taxi-v3", num_envs=2)
    obs = env.reset()
    assert obs.shape == (2,)
    assert all(o in env.observation_space for o in obs)
    *_, infos = env.step(np.zeros(2, int))
    assert infos[1]["action_mask"].shape == (6,)


@pytest.mark.parametrize("mode", ["next_step", "disabled"])
def test_a_pool_that_is_made_already(mode):
    with envpool.make_gymnasium("CartPole-v1", num_envs=N, autoreset_mode=mode, max_episode_steps=2) as pool:
        env = VecEnv(pool)
        env.reset()
        steps = [env.step(sample(env)) for _ in range(6)]
        assert [s[2].tolist() for s in steps] == [[False] * N, [True] * N] * 3
        assert all((s[1] == 1).all() for s in steps)


def test_what_it_refuses(make):
    with envpool.make_gymnasium("CartPole-v1", num_envs=4, batch_size=2) as pool, pytest.raises(ConfigError, match="2"):
        VecEnv(pool)
    with envpool.make_gymnasium("CartPole-v1") as pool, pytest.raises(TypeError, match="num_envs"):
        VecEnv(pool, num_envs=3)
    with pytest.raises(TypeError, match="DummyVecEnv"):
        VecEnv(DummyVecEnv([lambda: gymnasium.make("CartPole-v1")]))
    env = make()
    env.set_options({})
    env.set_options({"no_such": 0})
    with pytest.raises(ConfigError, match="no_such"):
        env.reset()
    env.set_options()
    env.reset()


def test_frames(make, tmp_path):
    env = make(num_envs=2, render_mode="rgb_array")
    env.reset()
    images = env.get_images()
    assert [(image.shape, image.dtype) for image in images] == [((400, 600, 3), np.uint8)] * 2
    assert np.array_equal(env.env_method("render", indices=1)[0], images[1])
    assert np.array_equal(env.render(), env.render(mode="rgb_array"))
    assert env.render().shape == (800, 600, 3)
    assert env.metadata == {"render_modes": ["human", "rgb_array"], "render_fps": 50}
    assert [metadata["render_fps"] for metadata in env.get_attr("metadata")] == [50, 50]
    assert VecVideoRecorder(env, str(tmp_path), record_video_trigger=bool).frames_per_sec == 50
    with pytest.warns(UserWarning, match="something_else"):
        env.render(mode="something_else")
    with pytest.warns(UserWarning, match="no `render_mode`"):
        assert make().render() is None


def test_close_twice(make):
    env = make()
    env.close()
    env.close()


@pytest.mark.parametrize("task", ["CartPole-v1", "CheetahRun-v1", "Pong-v5", "HalfCheetah-v5"])
@pytest.mark.parametrize("statistics", [False, True])
def test_infos_are_the_same_however_they_are_read(make, task, statistics):
    """And those of a pool that the user resets."""
    options = {"max_episode_steps": 7, "episode_statistics": statistics}
    lazy, whole, reset = make(task, **options), make(task, **options), make(task, **options, autoreset_mode="disabled")
    rng = np.random.default_rng(0)
    for env in (lazy, whole, reset):
        env.reset()
    for _ in range(20):
        actions = [lazy.action_space.sample() for _ in range(N)]
        one, other, third = (env.step(np.stack(actions))[3] for env in (lazy, whole, reset))
        for i in rng.permutation(N)[:2]:
            one[i]["TimeLimit.truncated"]  # the others are made together
        assert are_same(list(one), list(other)) and are_same(list(one), third)
        assert are_same(lazy.reset_infos, whole.reset_infos) and are_same(lazy.reset_infos, reset.reset_infos)


def are_same(a, b):
    """Compare nests of arrays; times of episodes differ."""
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(k == "t" or are_same(a[k], b[k]) for k in a)
    if isinstance(a, list):
        return len(a) == len(b) and all(map(are_same, a, b))
    return type(a) is type(b) and np.array_equal(a, b)


def test_infos_can_be_changed_and_pickled(make):
    """VecNormalize writes into the infos of ended episodes, VecMonitor replaces them."""
    env = make(max_episode_steps=2)
    env.reset()
    env.step(sample(env))
    *_, infos = env.step(sample(env))
    infos[0]["terminal_observation"] = "other"
    assert infos[0]["terminal_observation"] == "other"
    assert [info["TimeLimit.truncated"] for info in infos] == [True] * N
    copied = pickle.loads(pickle.dumps(infos))
    assert type(copied) is list and copied[0]["terminal_observation"] == "other"


def test_envs_stepped_alone(make):
    """env_method("step") returns the last observation of an episode, as a gymnasium.Env does."""
    env = make(max_episode_steps=3)
    env.reset()
    single = gymnasium.make("CartPole-v1", max_episode_steps=3)
    single.reset(seed=43)
    for _ in range(3):
        [(obs, *ends, info)] = env.env_method("step", 1, indices=[1])
        expected = single.step(1)
        assert np.array_equal(obs, expected[0]) and ends == list(expected[1:4])
    assert ends[2] and info == {"elapsed_step": 3}
    obs, info = env.env_method("reset", indices=[1])[0]
    assert info == {"elapsed_step": 0} and not np.array_equal(obs, expected[0])


@pytest.mark.parametrize("resets", [{}, {"autoreset_mode": "disabled"}], ids=["same_step", "disabled"])
@pytest.mark.parametrize("ending", ENDINGS)
def test_after_a_step_that_did_not_end_well(make, ending, resets):
    """step_wait() still returns the step, and reset() drops it; the texts name no method of pools."""
    plugin.load()
    action, _, options = ENDINGS[ending]
    env = make("Synthetic-v0", episode_length=0, num_threads=2, **options, **resets)
    for is_fetched in (True, False):
        eventually(env.reset)
        with ending_in(ending) as caught:
            env.step(np.array([0, 0, action]))
        assert "recv" not in str(caught.value)
        with pytest.raises(EnvIdError, match=r"call step_wait\(\).* or reset\(\)"):
            env.step(np.zeros(N, int))
        if is_fetched:
            assert eventually(env.step_wait)[2].tolist() == [False, False, ending == "failure"]
    assert eventually(env.reset)[:, 2].tolist() == [0] * N
    assert eventually(lambda: env.step(np.zeros(N, int)), env.step_wait)[0][:, 2].tolist() == [1] * N


def test_an_interrupt_while_ended_environments_are_reset(make, monkeypatch):
    """The step is not lost: step_wait() returns it, with the first observations of the next episodes."""
    env = make(max_episode_steps=2, autoreset_mode="disabled")
    other = make(max_episode_steps=2, autoreset_mode="disabled")
    reset, is_sent = env.pool.reset, [False, True]

    def interrupted(ended):
        if is_sent.pop():
            env.pool._send_reset(ended)
        raise KeyboardInterrupt

    env.reset(), other.reset()
    for _ in range(2):
        env.step([0, 1, 1]), other.step([0, 1, 1])
        monkeypatch.setattr(env.pool, "reset", interrupted)
        with pytest.raises(KeyboardInterrupt):
            env.step([0, 1, 1])
        with pytest.raises(EnvIdError, match="step_wait"):
            env.step([0, 1, 1])
        monkeypatch.setattr(env.pool, "reset", reset)
        got, expected = env.step_wait(), other.step([0, 1, 1])
        assert np.array_equal(got[0], expected[0]) and got[2].all() and are_same(got[3], expected[3])
