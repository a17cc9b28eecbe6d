"""The replay memory contains the transitions of a pool and no others, and new goals come from the same episode."""

import numpy as np
import pytest

import envpool
from tests.examples.load import load


@pytest.fixture(scope="module")
def hindsight():
    return load("sac_her")


def flags(*rows):
    return np.array([[letter == "1" for letter in row] for row in rows])


@pytest.mark.parametrize(
    ("valid", "done", "last"),
    [
        # One episode ends and another begins after its reset; the other environment never ends.
        (flags("111011", "111111"), flags("001000", "000000"), [2, 2, 2, 4, 4, 10, 10, 10, 10, 10, 10]),
        (flags("0111", "1110"), flags("0001", "0010"), [2, 2, 2, 5, 5, 5]),  # resets at both ends
        (flags("1111"), flags("0100"), [1, 1, 3, 3]),  # a pool that resets in the last step of an episode
        (flags("1", "1"), flags("1", "0"), [0, 1]),
    ],
)
def test_last_of_episodes(hindsight, valid, done, last):
    assert hindsight.last_of_episodes(valid, done).tolist() == last


def test_goals_are_achieved_later_in_the_same_episode(hindsight):
    """Goals and achievements are numbers that say where they come from; every step from the sampled one on is drawn."""
    last = np.repeat([3, 9, 10], [4, 6, 1])
    achieved, goals = np.arange(11.0)[:, None], 100 + np.arange(11.0)[:, None]
    rows = np.tile(np.arange(11), 2000)
    rng = np.random.default_rng(0)
    assert (hindsight.relabel(goals, achieved, last, rows, 0.0, rng)[:, 0] == 100 + rows).all()
    found = hindsight.relabel(goals, achieved, last, rows, 1.0, rng)[:, 0].astype(int).reshape(2000, 11)
    for row in range(11):
        steps, counts = np.unique(found[:, row], return_counts=True)
        assert steps.tolist() == list(range(row, last[row] + 1))
        np.testing.assert_allclose(counts / 2000, 1 / len(steps), atol=0.05)
    found = hindsight.relabel(goals, achieved, last, rows, 0.8, rng)[:, 0]
    assert np.mean(found < 100) == pytest.approx(0.8, abs=0.02)
    assert (goals[:, 0] == 100 + np.arange(11)).all()  # the memory is unchanged


@pytest.mark.parametrize("num_steps", [51, 70])
def test_memory_of_a_pool(hindsight, num_steps):
    """All steps but resets, in order; the rewards of their own goals are those that the pool returned."""
    expected, replay = [], hindsight.Replay(4 * num_steps, 0.8, 3)
    with envpool.make_gymnasium("FetchReach-v4", num_envs=2, seed=5) as pool:
        rollout = envpool.Rollout(pool, num_steps, {"unit_action": (np.float32, (4,))})
        rng = np.random.default_rng(1)
        obs, _ = rollout.reset()
        is_done = np.zeros(2, bool)
        for _ in range(2):
            rows = ([], [])
            for _ in range(num_steps):
                before = {name: x.copy() for name, x in obs.items()}
                actions = rng.uniform(-1, 1, (2, 4)).astype(np.float32)
                obs, reward, terminated, truncated, _ = rollout.step(actions, unit_action=actions)
                for i in np.flatnonzero(~is_done):
                    rows[i].append((*(x[i] for x in before.values()), actions[i], obs["observation"][i].copy()))
                    rows[i][-1] += (obs["achieved_goal"][i].copy(), reward[i])
                is_done = terminated | truncated
            replay.add(rollout.finish())
            expected += rows[0] + rows[1]
        names = [*before, "action", "next_observation", "achieved", "reward"]
        columns = dict(zip(names, (np.array(x) for x in zip(*expected, strict=True)), strict=True))
        arrays = {name: x[: replay.size] for name, x in replay.arrays.items()}
        assert replay.size == len(expected) == 4 * num_steps - 4
        for name, source in {"goal": "desired_goal", "observation": "observation"}.items():
            np.testing.assert_array_equal(arrays[name], columns[source])
        for name in ("action", "next_observation", "achieved"):
            np.testing.assert_array_equal(arrays[name], columns[name])
        np.testing.assert_array_equal(pool.compute_reward(arrays["achieved"], arrays["goal"]), columns["reward"])
        follows = np.arange(replay.size - 1)[arrays["last"][:-1] > np.arange(replay.size - 1)]
        np.testing.assert_array_equal(arrays["next_observation"][follows], arrays["observation"][follows + 1])
        np.testing.assert_array_equal(arrays["goal"], arrays["goal"][arrays["last"]])
        batch = replay.sample(500, pool.compute_reward)
        assert {name: x.shape for name, x in batch.items()} == {
            "observation": (500, 10),
            "action": (500, 4),
            "next_observation": (500, 10),
            "goal": (500, 3),
            "reward": (500,),
        }
        achieved = batch["next_observation"][:, :3]  # in this task, part of the observation
        np.testing.assert_array_equal(batch["reward"], pool.compute_reward(achieved, batch["goal"]))
        assert batch["reward"].dtype == np.float32
        assert (batch["reward"] == 0).mean() > 0.1  # hindsight finds goals that were reached
