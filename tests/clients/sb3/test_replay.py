"""ReplayBuffer beside the replay buffers of Stable-Baselines3, which CleanRL's DQN and SAC use as well.

Both are fed by the same steps; a pool with "same_step" returns what a VecEnv of Stable-Baselines3 does: the first
observation of the next episode, and the last one of the episode in its infos.
"""

import numpy as np
import pytest
from stable_baselines3.common.buffers import DictReplayBuffer, NStepReplayBuffer, ReplayBuffer

import envpool

N = 3


def collected(pool, theirs, steps, **options):
    """Return a ReplayBuffer of the pool after some random steps, which were added to theirs as well."""
    buffer = envpool.ReplayBuffer(pool, theirs.buffer_size * N, **options)
    obs, _ = buffer.reset()
    obs = copied(obs)
    for step in range(steps):
        action = pool.sample_actions(step)
        following, reward, terminated, truncated, info = buffer.step(action)
        last, infos = copied(following), [{} for _ in range(N)]
        for i in np.flatnonzero(terminated | truncated):
            infos[i]["TimeLimit.truncated"] = bool(truncated[i] and not terminated[i])
            for name, array in last.items():
                final = info["final_obs"][i] if name is None else info["final_obs"][name][i]
                array[i] = final
        theirs.add(bare(obs), bare(last), np.asarray(action), reward, terminated | truncated, infos)
        obs = copied(following)
    return buffer


def copied(obs):
    return {name: np.array(array) for name, array in (obs.items() if isinstance(obs, dict) else [(None, obs)])}


def bare(arrays):
    return arrays.get(None, arrays)


@pytest.mark.parametrize("steps", [7, 60])
@pytest.mark.parametrize(
    ("task", "options"),
    [("CartPole-v1", {}), ("Pendulum-v1", {"max_episode_steps": 9}), ("Pong-v5", {"max_episode_steps": 9})],
)
def test_contents(task, options, steps):
    pool = envpool.make_gymnasium(task, num_envs=N, autoreset_mode="same_step", **options)
    space = pool.single_observation_space
    theirs = ReplayBuffer(20 * N, space, pool.single_action_space, n_envs=N, handle_timeout_termination=True)
    buffer = collected(pool, theirs, steps)
    ours = buffer.transitions(buffer.indices())
    size = theirs.size()
    rows = (np.arange(size) + (theirs.pos if theirs.full else 0)) % size
    assert len(ours.index) == size * N
    for name, array in (
        ("obs", theirs.observations),
        ("next_obs", theirs.next_observations),
        ("action", theirs.actions),
        ("reward", theirs.rewards),
        ("terminated", theirs.dones * (1 - theirs.timeouts)),
    ):
        got = getattr(ours, name)
        np.testing.assert_array_equal(got, array[rows].reshape(got.shape), err_msg=name)


@pytest.mark.parametrize("n_step", [2, 5])
def test_n_step_returns(n_step):
    """Their buffer ends the newest transitions at the newest step; ours has them once all of their steps are known."""
    pool = envpool.make_gymnasium("CartPole-v1", num_envs=N, autoreset_mode="same_step", max_episode_steps=11)
    theirs = NStepReplayBuffer(
        40 * N, pool.single_observation_space, pool.single_action_space, n_envs=N, n_steps=n_step, gamma=0.9
    )
    buffer = collected(pool, theirs, 40, n_step=n_step, gamma=0.9)
    ours = buffer.transitions(buffer.indices())
    steps, envs = ours.index // N, ours.index % N
    wanted = np.random.randint  # their sampling draws the environments with numpy's global generator
    try:
        np.random.randint = lambda low, high, size: envs
        batch = theirs._get_samples(steps)
    finally:
        np.random.randint = wanted
    np.testing.assert_array_equal(ours.obs, batch.observations.numpy())
    np.testing.assert_array_equal(ours.next_obs, batch.next_observations.numpy())
    np.testing.assert_array_equal(ours.action, batch.actions.numpy()[:, 0])
    np.testing.assert_allclose(ours.reward, batch.rewards.numpy()[:, 0], rtol=1e-5)
    discount = batch.discounts.numpy()[:, 0] * (1 - batch.dones.numpy()[:, 0])
    np.testing.assert_allclose(ours.discount, discount, rtol=1e-5)


def test_goals():
    pool = envpool.make_gymnasium("PointMaze_UMaze-v3", num_envs=N, autoreset_mode="same_step", max_episode_steps=9)
    theirs = DictReplayBuffer(20 * N, pool.single_observation_space, pool.single_action_space, n_envs=N)
    buffer = collected(pool, theirs, 33)
    ours = buffer.transitions(buffer.indices())
    rows = (np.arange(20) + theirs.pos) % 20
    for name, array in theirs.observations.items():
        np.testing.assert_array_equal(ours.obs[name], array[rows].reshape(ours.obs[name].shape))
        np.testing.assert_array_equal(
            ours.next_obs[name], theirs.next_observations[name][rows].reshape(ours.obs[name].shape)
        )
