"""Rollouts of pools with opponents: what is recorded are the results of the pool."""

import numpy as np
import pytest

import envpool
from envpool.errors import ActionError, ConfigError, EnvStepError, PoolClosedError, PoolStateError
from envpool.pools import opponents
from envpool.rollout import Rollout, gae
from tests.pools.test_opponents_in_flight import NUM_ENVS, TASKS, actions_of, make
from tests.support import plugin
from tests.support.bytecodes import interrupted_at

T = 12


@pytest.mark.parametrize("mode", ["next_step", "same_step", "disabled"])
@pytest.mark.parametrize("task", TASKS)
def test_arrays_are_those_of_the_steps(task, mode):
    with make(task, mode) as pool, make(task, mode) as plain:
        rollout = Rollout(pool, T, {"value": (np.float32, (2,))})
        rollout.reset()
        obs, info = plain.reset()
        for update in range(3):
            steps = []
            for t in range(T):
                action = actions_of(task, obs, info)
                value = np.full((NUM_ENVS, 2), update + t, np.float32)
                step = {"obs": obs, "action": action, "value": value, "player_mask": info["player_mask"]}
                if task == "Turns-v0":
                    step["current_player"] = info["current_player"]
                got = rollout.step(action, value=value)
                obs, reward, terminated, truncated, info = plain.step(action)
                np.testing.assert_array_equal(got[0], obs)
                step |= {"next_obs": obs, "reward": reward, "terminated": terminated, "truncated": truncated}
                step |= {name: info[name] for name in ("player_terminated", "player_truncated")}
                steps.append(step)
                ended = np.flatnonzero(terminated | truncated)
                if mode == "disabled" and len(ended):
                    rollout.reset(ended)
                    first, more = plain.reset(ended)
                    obs, info = obs.copy(), {k: np.array(v) for k, v in info.items() if k != "players"}
                    obs[ended] = first
                    for name in more.keys() & info.keys() - {"env_id"}:
                        info[name][ended] = more[name]
                    step["next_obs"] = obs
            data = rollout.finish(value=np.full((NUM_ENVS, 2), 7, np.float32))
            for name in steps[0]:
                expected = np.stack([step[name] for step in steps])
                if name == "action":
                    acts = data.player_valid if task == "Crowd-v0" else data.player_valid.any(2)
                    np.testing.assert_array_equal(data.action[acts], expected[acts])
                    continue
                np.testing.assert_array_equal(getattr(data, name), expected, err_msg=name)
            assert (data.player_id == [0, 2]).all() and (data.last("value") == 7).all()
            np.testing.assert_array_equal(data.last_obs, obs)
            if task == "Turns-v0":
                assert (data.player_valid.sum(2) <= 1).all()
                np.testing.assert_array_equal(data.player_valid.any(2), (data.current_player >= 0) & data.valid)
            assert data.done.any()


def test_self_play_by_exchanging_the_opponent():
    """Rewards between two moves of the user are those of its own move, so that `gae` can use them."""
    options = {"num_envs": 4, "controlled": "alternate", "autoreset_mode": "same_step", "seed": 3}
    with envpool.make_gymnasium("ConnectFour-v0", **options) as pool:
        rollout = Rollout(pool, 40, {"value": np.float32})
        _, info = rollout.reset()
        for update in range(3):
            seats = []
            for _ in range(40):
                seats.append(info["players"]["id"])
                move = np.where(info["legal_action_mask"], np.arange(7), -1).argmax(1)
                *_, info = rollout.step(move, value=np.zeros(4, np.float32))
            data = rollout.finish()
            assert data.obs.shape == (40, 4, 1, 6, 7, 2)
            np.testing.assert_array_equal(data.player_id[..., 0], np.stack(seats))
            np.testing.assert_array_equal(data.current_player, np.stack(seats))
            assert data.legal_action_mask[np.arange(40)[:, None], np.arange(4), data.action].all()
            assert data.terminated.sum() > 5 and ((data.reward[..., 0] != 0) <= data.terminated).all()
            zeros = np.zeros((40, 4), np.float32)
            advantages, _ = gae(
                data.reward[..., 0], zeros, zeros[0], data.terminated, data.truncated, gamma=1, lam=1, mask=data.valid
            )
            ends = np.argwhere(data.terminated)
            assert all(advantages[t, i] == data.reward[t, i, 0] for t, i in ends)
            pool.opponents = leftmost if update == 0 else "random"


def leftmost(obs, info):
    return info["legal_action_mask"].argmax(1)


@pytest.mark.parametrize("batch_size", [3, 2])
@pytest.mark.parametrize("mode", ["next_step", "same_step", "disabled"])
@pytest.mark.parametrize("controlled", [[1], "alternate"])
def test_episodes_that_opponents_begin(controlled, mode, batch_size):
    options = {"num_envs": 3, "batch_size": batch_size, "autoreset_mode": mode}
    with envpool.make_gymnasium("ConnectFour-v0", controlled=controlled, opponents=leftmost, **options) as pool:
        rollout = Rollout(pool, 40)
        obs, info = rollout.reset()
        action = leftmost(obs, info)
        while not rollout.is_full:
            rollout.send(action, info["env_id"])
            obs, _, terminated, truncated, info = rollout.recv()
            ended = terminated | truncated
            action = np.where(ended, 0, leftmost(obs, info))
            if mode == "disabled" and ended.any():
                rollout.reset(info["env_id"][ended])
        if pool.is_async:
            rollout.send(action, info["env_id"])
        data = rollout.finish()
        for i, n in enumerate(data.lengths):
            ends = data.done[:n, i]
            resets = np.append(False, ends[:-1]) if mode == "next_step" else np.zeros(n, np.bool_)
            assert ends[:-2].any()
            np.testing.assert_array_equal(data.valid[:n, i], ~resets)
            begins = np.append(data.first[:n, i], data.last_first[i])
            np.testing.assert_array_equal(begins, np.append(True, resets if mode == "next_step" else ends))


def test_an_episode_that_opponents_begin_and_end():
    options = {"max_episode_steps": 1, "controlled": [1], "opponents": leftmost, "players": "grid"}
    with envpool.make_gymnasium("ConnectFour-v0", num_envs=1, **options) as pool:
        rollout = Rollout(pool, 3)
        rollout.reset()
        for _ in range(3):
            rollout.step([0])
        data = rollout.finish()
        assert data.first.all() and data.last_first.all() and data.done.all() and not data.valid.any()


@pytest.mark.parametrize("task", TASKS)
def test_async_rollouts_have_the_transitions_of_each_env(task):
    with make(task, "next_step") as sync, make(task, "next_step", batch_size=2, num_threads=2) as pool:
        expected = Rollout(sync, 2 * T)
        obs, info = expected.reset()
        for _ in range(2 * T):
            obs, *_, info = expected.step(actions_of(task, obs, info))
        want = expected.finish()
        rollout = Rollout(pool, T)
        result, start = rollout.reset(), np.zeros(NUM_ENVS, int)

        def act(result):
            return actions_of(task, result[0], result[-1]), {}

        for _ in range(2):
            got, result = rollout.collect(act, result)
            assert rollout.num_in_flight == NUM_ENVS == pool.num_outstanding
            for i in range(NUM_ENVS):
                count = min(int(got.lengths[i]), 2 * T - start[i])
                for name in ("obs", "reward", "player_mask", "player_valid", "terminated"):
                    part = getattr(want, name)[start[i] : start[i] + count, i]
                    np.testing.assert_array_equal(getattr(got, name)[:count, i], part, err_msg=name)
            start += got.lengths


@pytest.mark.parametrize("view", ["rows", "dict"])
def test_other_views(view):
    options = {"num_envs": 3, "controlled": [0, 3], "seed": 1}
    found = []
    for players in ("grid", view):
        with envpool.make_gymnasium("MPE/simple_tag-v3", players=players, **options) as pool:
            rollout = Rollout(pool, 5, {"value": (np.float32, (2,))})
            rollout.reset()
            for t in range(5):
                value = np.arange(6, dtype=np.float32).reshape(3, 2) + t
                form = {"adversary": value[:, :1], "agent": value[:, 1:]} if players == "dict" else value
                rollout.step(np.full((3, 2), t % 5), value=value.ravel() if players == "rows" else form)
            found.append(rollout.finish())
    for name in found[0].names:
        np.testing.assert_array_equal(found[0].array(name), found[1].array(name), err_msg=name)
    assert (found[0].player_id == [0, 3]).all()


def test_a_rollout_may_begin_with_observations():
    with make("Turns-v0", "next_step") as pool:
        obs, info = pool.reset()
        obs, *_, info = pool.step(actions_of("Turns-v0", obs, info))
        rollout = Rollout(pool, 1)
        rollout.begin(obs)
        rollout.step(actions_of("Turns-v0", obs, info))
        data = rollout.finish()
        np.testing.assert_array_equal(data.obs[0], obs)
        np.testing.assert_array_equal(data.current_player[0], info["current_player"])
        np.testing.assert_array_equal(data.player_mask[0], info["player_mask"])


def test_mistakes():
    with make("Turns-v0", "next_step") as pool:
        rollout = Rollout(pool, 3)
        with pytest.raises(PoolStateError, match="no observations yet"):
            rollout.step(np.zeros(NUM_ENVS, int))
        rollout.reset()
        with pytest.raises(ActionError):
            rollout.step(np.full(NUM_ENVS, 99))
        with pytest.raises(PoolStateError, match="steps all 5 envs at once"):
            rollout.step(np.zeros(2, int), [0, 1])
        assert rollout.recorded == rollout.num_in_flight == pool.num_outstanding == 0
        rollout.step(np.zeros(NUM_ENVS, int))
        pool.step(np.zeros(NUM_ENVS, int))
        with pytest.raises(PoolStateError, match="stepped or reset without the rollout"):
            rollout.step(np.zeros(NUM_ENVS, int))
        rollout.reset()

        def again(obs, info):
            rollout.step(np.zeros(NUM_ENVS, int))

        pool.opponents = again
        with pytest.raises(PoolStateError, match="another call is inside this rollout"):
            while True:
                rollout.step(np.zeros(NUM_ENVS, int))
        pool.opponents = TASKS["Turns-v0"][0]
        rollout.recv()
        with pytest.raises(ConfigError, match="frames_once does not support"):
            Rollout(pool, 3, frames_once=2)
    with pytest.raises(PoolClosedError):
        rollout.step(np.zeros(NUM_ENVS, int))
    with pytest.raises(PoolClosedError):
        rollout.reset()


@pytest.mark.parametrize("task", TASKS)
def test_an_opponent_may_close_the_pool(task):
    pool = make(task, "next_step")
    rollout = Rollout(pool, 3)
    rollout.reset()

    def close(obs, info):
        pool.close()
        return np.zeros(len(obs), int)

    pool.opponents = close
    with pytest.raises(PoolClosedError):
        for _ in range(3):
            rollout.step(np.zeros((NUM_ENVS, 2), int))


def test_a_step_that_fails_is_no_transition():
    with plugin.make_task("Turns-v0", num_envs=2, masks="none", controlled=[0], players="grid") as pool:
        rollout = Rollout(pool, 4)
        rollout.reset()
        pool.opponents = lambda obs, info: np.where(info["env_id"] == 1, 6, 0)
        with pytest.raises(EnvStepError):
            rollout.step(np.zeros(2, int))
        rollout.recv()
        pool.opponents = lambda obs, info: np.zeros(len(obs), int)
        while not rollout.is_full:
            rollout.step(np.zeros(2, int))
        data = rollout.finish()
        assert data.valid[0].tolist() == [True, False] and data.truncated[0].tolist()[1]


def test_an_opponent_that_raises_leaves_the_step_in_flight():
    def broken(obs, info):
        raise KeyError("no weights")

    with make("Turns-v0", "next_step") as pool, make("Turns-v0", "next_step") as plain:
        rollouts = Rollout(pool, 4), Rollout(plain, 4)
        obs, info = rollouts[0].reset()
        rollouts[1].reset()
        for _ in range(4):
            action = actions_of("Turns-v0", obs, info)
            expected = rollouts[1].step(action)
            pool.opponents = broken
            try:
                result = rollouts[0].step(action)
            except KeyError:
                pool.opponents = TASKS["Turns-v0"][0]
                result = rollouts[0].recv()
            np.testing.assert_array_equal(result[1], expected[1])
            obs, *_, info = result
        one, other = (rollout.finish() for rollout in rollouts)
        for name in one.names:
            np.testing.assert_array_equal(one.array(name), other.array(name), err_msg=name)


@pytest.mark.parametrize("task", TASKS)
def test_ctrl_c_loses_no_step(task):
    with make(task, "same_step", num_envs=2) as pool, make(task, "same_step", num_envs=2) as plain:
        rollouts = Rollout(pool, 60), Rollout(plain, 60)
        obs, info = rollouts[0].reset()
        rollouts[1].reset()
        for n in range(60):
            action, result = actions_of(task, obs, info), None
            rollouts[1].step(action)
            with interrupted_at(opponents, 3 * n + 1):
                result = rollouts[0].step(action)
            if result is None:
                result = rollouts[0].recv() if rollouts[0].num_in_flight else rollouts[0].step(action)
            obs, *_, info = result
        one, other = (rollout.finish() for rollout in rollouts)
        for name in one.names:
            np.testing.assert_array_equal(one.array(name), other.array(name), err_msg=name)
