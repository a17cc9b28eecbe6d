"""Players as rows of the VecEnv: the values of SuperSuit's, absent players, and training."""

import numpy as np
import pytest
import supersuit
from mpe2 import simple_spread_v3, simple_tag_v3
from stable_baselines3 import PPO
from stable_baselines3.common.evaluation import evaluate_policy
from stable_baselines3.common.vec_env import VecMonitor, VecNormalize

import envpool
from envpool.adapters.sb3 import VecEnv
from envpool.errors import ActionError, ConfigError
from tests.support import plugin
from tests.support.crowd import DIE

SPREAD = "MPE/simple_spread-v3"


@pytest.fixture
def make():
    made = []

    def make_one(task=SPREAD, num_envs=2, **options):
        plugin.load()
        made.append(VecEnv(task, num_envs=num_envs, **options))
        return made[-1]

    yield make_one
    for env in made:
        env.close()


@pytest.mark.parametrize(("task", "module"), [(SPREAD, simple_spread_v3), ("MPE/simple_tag-v3", simple_tag_v3)])
def test_the_values_of_supersuit(make, task, module):
    """Unequal observations are padded as `pad_observations_v0` pads them."""
    theirs = supersuit.pettingzoo_env_to_vec_env_v1(supersuit.pad_observations_v0(module.parallel_env()))
    ours = make(task, num_envs=1)
    assert (ours.num_envs, ours.action_space.n) == (theirs.num_envs, theirs.action_space.n)
    assert ours.observation_space == theirs.observation_space
    ours.seed(7)
    assert np.array_equal(ours.reset(), theirs.reset(seed=7)[0])
    rng = np.random.default_rng(0)
    for step in range(25):
        actions = rng.integers(0, 5, ours.num_envs)
        obs, reward, terminated, truncated, infos = theirs.step(actions)
        our_obs, our_reward, done, our_infos = ours.step(actions)
        assert np.array_equal(our_reward, reward)
        assert np.array_equal(done, terminated | truncated)
        if step < 24:
            assert np.array_equal(our_obs, obs)
    assert done.all()
    for ours_of_row, theirs_of_row in zip(our_infos, infos, strict=True):
        assert np.array_equal(ours_of_row["terminal_observation"], theirs_of_row["terminal_observation"])
        assert ours_of_row["TimeLimit.truncated"] is True


def test_rows_are_those_of_the_pool(make):
    env = make(num_envs=4, episode_statistics=True)
    assert env.seed(5) == [5 + i // 3 for i in range(12)]
    options = {"num_envs": 4, "seed": 5, "autoreset_mode": "same_step", "episode_statistics": True}
    with envpool.make_gymnasium(SPREAD, **options) as pool:
        assert np.array_equal(env.reset(), pool.reset()[0])
        assert len(env.reset_infos) == 12
        rng = np.random.default_rng(0)
        for step in range(60):
            actions = rng.integers(0, 5, 12)
            obs, reward, done, infos = env.step(actions)
            theirs = pool.step(actions)
            assert np.array_equal(obs, theirs[0]) and np.array_equal(reward, theirs[1])
            assert done.all() if step % 25 == 24 else not done.any()
            if done.all():
                returns = theirs[-1]["episode"]["player_r"].reshape(-1)
                assert [info["episode"]["r"] for info in infos] == returns.tolist()
                assert {info["episode"]["l"] for info in infos} == {25}
            else:
                assert not any("episode" in info for info in infos)


def test_players_that_come_and_go(make):
    """Absent: zeros, never done before the episode ends, and a last observation for whatever is done."""
    env = make("Crowd-v0", num_envs=3, places=4, episode_length=12)
    obs, rng = env.reset(), np.random.default_rng(0)
    absent = obs[:, 7] == 0
    seen = np.zeros(3, int)
    for _ in range(80):
        actions = rng.choice([0, 1, DIE], 12, p=[0.5, 0.4, 0.1])
        before, (obs, reward, done, infos) = absent, env.step(actions)
        absent = obs[:, 7] == 0
        mask = np.array([info["player_mask"] for info in infos])
        for i in range(12):
            assert ("terminal_observation" in infos[i]) == done[i]
            env_ended = done[i // 4 * 4 : i // 4 * 4 + 4].all()
            if before[i] and not done[i]:
                seen[0] += 1
                assert reward[i] == 0 and absent[i] == (not mask[i])
            if done[i] and not before[i]:
                last = infos[i]["terminal_observation"]
                seen[1] += 1
                assert last[7] == 1 and last[4] == actions[i] and mask[i]
                assert env_ended or absent[i]
            if done[i] and before[i]:
                seen[2] += 1
                assert env_ended and infos[i]["TimeLimit.truncated"] is False
    assert seen.min() > 5


def test_training(make):
    env = make(num_envs=4, episode_statistics=True)
    model = PPO("MlpPolicy", env, n_steps=32, batch_size=64, n_epochs=1, device="cpu").learn(768)
    assert {info["l"] for info in model.ep_info_buffer} == {25}
    mean, _ = evaluate_policy(model, env, n_eval_episodes=12)
    assert mean < 0
    wrapped = VecNormalize(VecMonitor(make("MPE/simple_tag-v3", continuous_actions=True)))
    model = PPO("MlpPolicy", wrapped, n_steps=32, batch_size=64, n_epochs=1, device="cpu").learn(512)
    assert {info["l"] for info in model.ep_info_buffer} == {25}


def test_training_against_opponents(make):
    """In a game with turns, each environment has one row: that of the player who learns."""
    env = make("ConnectFour-v0", num_envs=3, controlled=[1], illegal_actions="lose", episode_statistics=True)
    assert env.num_envs == 3 and env.observation_space.shape == (6, 7, 2) and env.action_space.n == 7
    model = PPO("MlpPolicy", env, n_steps=16, batch_size=16, n_epochs=1, device="cpu").learn(240)
    assert {info["r"] for info in model.ep_info_buffer} <= {-1, 0, 1}
    obs = env.reset()
    for _ in range(40):
        legal = np.array([info["legal_action_mask"] for info in env.reset_infos])
        assert legal.shape == (3, 7) and (obs[..., 0].sum((1, 2)) < obs[..., 1].sum((1, 2))).all()
        obs, rewards, dones, infos = env.step(np.full(3, 3))
        for i in np.flatnonzero(dones):
            assert infos[i]["episode"]["r"] == rewards[i] and infos[i]["terminal_observation"].any()


def test_attributes_belong_to_environments(make):
    env = make()
    assert env.num_envs == 6 and len(env.envs) == 2
    assert env.get_attr("env_id") == [0, 0, 0, 1, 1, 1]
    env.set_attr("mark", 3, indices=[4])
    assert (env.has_attr("mark"), env.get_attr("mark", 5)) == (False, [3])
    env.set_options({"option": 1})
    with pytest.raises(ConfigError):
        env.reset()  # the task has no options of resets
    env.set_options([{"option": i} for i in range(6)])
    with pytest.raises(ConfigError, match="different options for players of one environment"):
        env.reset()
    with pytest.raises(ConfigError, match=r"env_method\('step'\) is not available for tasks with players"):
        env.env_method("step", 0)


def test_mistakes(make):
    with pytest.raises(ConfigError, match=r"or control one player, as with controlled=\[0\]"):
        make("ConnectFour-v0")
    with pytest.raises(ConfigError, match=r"must name players for an adapter, such as \[0\]"):
        make("ConnectFour-v0", controlled="alternate")
    with pytest.raises(ConfigError, match="Stable-Baselines3 needs players with equal action spaces"):
        make("MPE/simple_speaker_listener-v4")
    with pytest.raises(ConfigError, match="players must be 'grid' for an adapter in which each player is a row"):
        make(players="rows")
    pool = envpool.make_gymnasium(SPREAD, players="grid")
    with pool, pytest.raises(ConfigError, match="autoreset_mode must be 'same_step'"):
        VecEnv(pool)
    env = make()
    env.reset()
    with pytest.raises(ActionError, match="a row for each of the 6 players"):
        env.step(np.zeros(2, int))
    assert env.step(np.zeros(6, int))[1].shape == (6,)
