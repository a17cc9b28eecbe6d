"""`RayPool`: the trajectories of a local pool, first come first served, and actors that are lost."""

import os
import signal
import time

import gymnasium
import numpy as np
import pytest
import ray

import envpool
from envpool.adapters.ray import RayPool
from envpool.adapters.ray.actor import PoolActor, PoolMaker
from envpool.errors import ActionError, ConfigError, EnvCreateError, EnvIdError, EnvStepError, PoolStateError
from tests.support.process import PATIENCE
from tests.support.python_envs import FaultyEnv, SpaceEnv, same

N = 6


@pytest.fixture(scope="module", autouse=True)
def cluster():
    ray.init(num_cpus=2, include_dashboard=False)
    yield
    ray.shutdown()


def pool_of(task, num_envs=N, num_actors=2, **options):
    return RayPool(task, num_envs, num_actors, **{"num_threads": 1, "num_cpus": 0} | options)


def kill(pool, index):
    """Kill an actor and wait until Ray knows."""
    actor = pool._fleet.actors[index]
    os.kill(pid_of(actor), signal.SIGKILL)
    with pytest.raises(ray.exceptions.RayActorError):
        for _ in range(600):
            ray.get(actor.call.remote("stats"))
            time.sleep(0.05)


def pid_of(actor):
    return ray.get(actor.__ray_call__.remote(lambda self: os.getpid()))


@pytest.mark.parametrize(
    ("task", "mode"), [("CartPole-v1", "next_step"), ("Pong-v5", "same_step"), ("Ant-v4", "next_step")]
)
def test_equals_a_local_pool(task, mode):
    options = {"seed": 5, "max_episode_steps": 6, "autoreset_mode": mode}
    with pool_of(task, **options) as pool, envpool.make_gymnasium(task, num_envs=N, **options) as local:
        assert pool.observation_space == local.observation_space and pool.action_space == local.action_space
        same(pool.reset(), local.reset())
        for k in range(15):
            actions = local.sample_actions(k)
            same(pool.step(actions), local.step(actions))
        ids = [5, 0, 3, 1]
        same(pool.reset(ids, seed=[1, None, 3, 4]), local.reset(ids, seed=[1, None, 3, 4]))
        actions = local.sample_actions(99, ids)
        assert np.array_equal(pool.step(actions, ids)[0], local.step(actions, np.array(ids))[0])
        pool.send(actions[:2], [5, 0])
        pool.send(actions[2:], [3, 1])
        assert pool.reset([4])[1]["env_id"].tolist() == [4]  # while others are in flight
        assert [pool.recv()[-1]["env_id"].tolist() for _ in range(2)] == [[5, 0], [3, 1]]


def test_python_environments():
    def make():
        return SpaceEnv("dict", "dict")

    with pool_of(make, 5, seed=3) as pool, envpool.make_python(make, 5, seed=3) as local:
        same(pool.reset(), local.reset())
        for k in range(12):
            actions = local.sample_actions(k)
            same(pool.step(actions), local.step(actions))
    with pool_of([FaultyEnv] * 4, None, 4, workers="process", num_threads=1) as pool:
        assert pool.reset()[0].shape == (4, 4)


def test_async():
    """Batches come from single actors; every environment sees its own actions."""
    refs = [gymnasium.make("CartPole-v1", max_episode_steps=9) for _ in range(8)]
    waiting, over = [env.reset(seed=7 + i)[0] for i, env in enumerate(refs)], [False] * 8
    seen = set()
    with pool_of("CartPole-v1", 8, batch_size=2, seed=7, max_episode_steps=9) as pool:
        pool.async_reset()
        for _ in range(80):
            obs, _, terminated, truncated, info = pool.recv()
            ids = info["env_id"]
            assert len(set(ids // 4)) == 1
            seen |= set(ids.tolist())
            for row, i in enumerate(ids):
                assert np.allclose(obs[row], waiting[i], atol=1e-6)
                assert (terminated[row] or truncated[row]) == over[i]
                if over[i]:
                    waiting[i], over[i] = refs[i].reset()[0] * np.nan, False
                else:
                    waiting[i], _, ended, cut, _ = refs[i].step(int(i % 2))
                    over[i] = ended or cut
            if any(np.isnan(waiting[i]).any() for i in ids):
                break
            pool.send(ids % 2, ids)
    assert seen == set(range(8))


def test_rows_are_not_copied():
    with pool_of("Pong-v5", 8, batch_size=4) as pool:
        obs, _ = pool.reset()
        assert obs.shape[0] == 4 and not obs.flags.writeable and not obs.flags.owndata


@pytest.mark.parametrize("restarts", [False, True])
def test_a_lost_actor(restarts):
    options = {"seed": 1} | ({"on_error": "restart"} if restarts else {})
    with pool_of("CartPole-v1", **options) as pool, envpool.make_gymnasium("CartPole-v1", num_envs=N, seed=1) as local:
        pool.reset(), local.reset()
        ones = np.ones(N, int)
        pool.step(ones), local.step(ones)
        kill(pool, 1)
        if restarts:
            obs, reward, terminated, truncated, info = pool.step(ones)
            assert info["_error"].tolist() == [False] * 3 + [True] * 3
            assert info["error"][0] is None and "actor 1 with the environments 3 to 5 was lost" in info["error"][3]
        else:
            with pytest.raises(EnvStepError, match="actor 1 with the environments 3 to 5 was lost") as caught:
                pool.step(ones)
            assert sorted(caught.value.failures) == [3, 4, 5]
            obs, reward, terminated, truncated, info = pool.recv()
        assert truncated.tolist() == [False] * 3 + [True] * 3 and not terminated.any()
        assert np.array_equal(obs[:3], local.step(ones)[0][:3]) and not obs[3:].any() and not reward[3:].any()
        obs, *_, info = pool.step(ones)
        assert np.array_equal(obs[:3], local.step(ones)[0][:3])
        assert info["elapsed_step"].tolist() == [3, 3, 3, 0, 0, 0] and (obs[3:] != 0).all()
        assert pool.step(ones)[-1]["elapsed_step"].tolist() == [4, 4, 4, 1, 1, 1]


def test_environments_that_were_idle_when_their_actor_was_lost():
    with pool_of("CartPole-v1", on_error="restart", seed=list(range(N))) as pool:
        pool.reset()
        pool.send([1, 1], [4, 0])
        kill(pool, 1)
        *_, info = pool.recv()  # the answer had arrived
        assert info["env_id"].tolist() == [4, 0] and "error" not in info
        *_, info = pool.step([1, 1, 1], [3, 0, 1])
        assert info["_error"].tolist() == [True, False, False]
        *_, truncated, info = pool.step(np.ones(4, int), [5, 4, 3, 2])
        assert info["_error"].tolist() == truncated.tolist() == [True, True, False, False]
        assert info["elapsed_step"].tolist() == [0, 0, 0, 1]


@pytest.mark.parametrize("restarts", [False, True])
def test_a_lost_actor_of_an_async_pool(restarts):
    options = {"on_error": "restart"} if restarts else {}
    with pool_of("CartPole-v1", 8, batch_size=2, **options) as pool:
        pool.async_reset()
        held = [pool.recv()[-1]["env_id"] for _ in range(2)]
        kill(pool, 0)
        for ids in held:
            pool.send(ids % 2, ids)
        answers, failed, deadline = np.zeros(8, int), set(), time.monotonic() + PATIENCE
        while (answers < 3).any():  # the other actor keeps stepping while the new one starts
            assert time.monotonic() < deadline
            try:
                result = pool.recv()
            except EnvStepError as error:
                failed |= set(error.failures)
                result = pool.recv()
            ids, truncated = result[-1]["env_id"], result[3]
            if restarts:
                failed |= set(ids[result[-1].get("_error", np.zeros(len(ids), bool))].tolist())
            assert not truncated.any() or set(ids) <= set(range(4))
            answers[ids] += bool(failed)
            pool.send(ids % 2, ids)
        assert failed == set(range(4))


class Dying(FaultyEnv):
    """Ends its process in the step with action 3, and cannot be made where a file exists."""

    def __init__(self, path):
        super().__init__()
        if os.path.exists(path):
            os._exit(3)

    def step(self, action):
        if action == 3:
            os._exit(3)
        return super().step(action)


def test_an_actor_that_cannot_be_replaced(tmp_path):
    path = tmp_path / "exists"
    with pool_of(Dying, 4, on_error="restart", env_kwargs={"path": str(path)}) as pool:
        pool.reset()
        assert pool.step([0, 3, 0, 0])[-1]["_error"].tolist() == [True, True, False, False]
        pool.step(np.zeros(4, int))
        path.touch()
        with pytest.raises(PoolStateError, match="4 times in a row, actor 0"):
            pool.step([3, 0, 0, 0])
    with pytest.raises(EnvCreateError, match="an actor could not make its pool"):
        pool_of(Dying, 2, env_kwargs={"path": str(path)})


def test_failures_of_environments():
    with pool_of(FaultyEnv) as pool:
        pool.reset()
        with pytest.raises(EnvStepError, match="broken on purpose") as caught:
            pool.step([0, 1, 0, 0, 1, 0])
        assert sorted(caught.value.failures) == [1, 4]
        obs, *_, truncated, _ = pool.recv()
        assert truncated.tolist() == [False, True, False, False, True, False] and obs[0, 0] == 1


class Policy:
    """Acts by the sign of an observation, plus what it was updated with."""

    offset = 0

    def update(self, offset):
        self.offset = offset

    def __call__(self, result):
        obs = result[0]
        return (obs[:, 2] + self.offset > 0).astype(int), {"value": obs[:, 0].astype(np.float32)}


@pytest.mark.parametrize("loses", [False, True])
def test_rollouts_of_a_policy_next_to_the_environments(loses):
    policy, extras = Policy(), {"value": np.float32}
    options = {"seed": 2, "max_episode_steps": 7}
    with pool_of("CartPole-v1", policy=policy, **options, on_error="restart" if loses else "raise") as pool:
        with envpool.make_gymnasium("CartPole-v1", num_envs=N, **options) as local:
            rollout = envpool.Rollout(local, 5, extras)
            result = rollout.reset()
            for update in range(3):
                if loses and update == 1:
                    kill(pool, 0)
                policy.update(update)
                data, result = rollout.collect(policy, result)
                found = pool.collect(5, extras=extras, weights=update if update else None)
                assert sorted(f.actor for f in found) == [0, 1]
                for actor, ids, own in found:
                    if loses and update and actor == 0:
                        assert own["obs"].shape == (5, 3, 4) and own["first"][0].all() == (update == 1)
                        continue
                    for name in ("obs", "action", "reward", "truncated", "first", "valid", "last_obs", "value"):
                        rows = getattr(data, name) if name == "last_obs" else np.swapaxes(getattr(data, name), 0, 1)
                        mine = own[name] if name == "last_obs" else np.swapaxes(own[name], 0, 1)
                        assert np.array_equal(mine, rows[ids]), name
                    assert np.array_equal(own["last"]["value"], data.last("value")[ids])
        pool.send_collect(2, [1], extras=extras)
        with pytest.raises(PoolStateError, match="while actors collect"):
            pool.send(np.zeros(N, int))
        with pytest.raises(ConfigError, match=r"actors must be .*, got 1"):
            pool.send_collect(2, extras=extras)
        assert pool.recv_collect().actor == 1
        with pytest.raises(PoolStateError, match="wait forever"):
            pool.recv_collect()


def test_placement():
    with pool_of("CartPole-v1", placement="numa") as pool:
        cpus = ray.get([a.__ray_call__.remote(lambda self: os.sched_getaffinity(0)) for a in pool._fleet.actors])
        nodes = [set(node) for node in envpool._support.machine.numa_nodes()]
        assert cpus == [nodes[k % len(nodes)] for k in range(2)]
    with pool_of("CartPole-v1", placement="any") as pool:
        assert pool.reset()[0].shape == (N, 4)


def test_more_nodes_than_environments(monkeypatch):
    (node,) = envpool.adapters.ray.placement.nodes()
    monkeypatch.setattr("envpool.adapters.ray.placement.nodes", lambda: [node] * 3)
    with pool_of("CartPole-v1", 2, None) as pool:
        assert pool.num_actors == 2


def test_mistakes():
    for options, text in [
        ({"placement": "moon"}, "placement must be one of 'node', 'numa', 'any', got 'moon'"),
        ({"num_actors": 7}, "num_actors must be between 1 and num_envs=6, got 7"),
        ({"batch_size": 4}, "batch_size must be num_envs=6, or between 1 and 3.*, got 4"),
        ({"num_cpus": -1}, "num_cpus must be at least 0"),
        ({"start_timeout": 0}, "start_timeout must be greater than 0"),
        ({"num_cpus": 2}, "2 actors need 2 CPUs each, but the cluster has 2"),
        ({"render_mode": "rgb_array"}, "render_mode is not an option of a RayPool"),
        ({"seed": [1, 2]}, "seed must have one entry for each of the 6"),
        ({"policy": Policy(), "batch_size": 2}, "policy needs a sync pool"),
    ]:
        with pytest.raises(ConfigError, match=text):
            pool_of("CartPole-v1", **options)
    with pytest.raises(EnvCreateError, match="NoSuchTask"):
        pool_of("NoSuchTask-v0")
    pool = pool_of("CartPole-v1")
    with pytest.raises(PoolStateError, match="recv\\(\\) would wait forever"):
        pool.recv()
    pool.reset()
    for ids, text in [([9], "between 0 and 5"), ([1, 1], "twice"), ([], "between 0 and 5")]:
        with pytest.raises(EnvIdError, match=text):
            pool.step(np.zeros(len(ids), int), ids)
    pool.send([0, 1], [0, 5])
    with pytest.raises(EnvIdError, match=r"env_id\[0\] is 5, which is still in flight"):
        pool.reset([5])
    pool.recv()
    with pytest.raises(ActionError, match="one row for each of the 6"):
        pool.step(np.zeros(5, int))
    with pytest.raises(ActionError):
        pool.step([0, 0, 0, 9, 0, 0])  # the actor of environment 3 refuses it
    assert pool.recv()[-1]["env_id"].tolist() == [0, 1, 2]  # the others have stepped
    assert pool.step([1, 1], [3, 0])[0].shape == (2, 4)
    with pytest.raises(PoolStateError, match="needs a policy"):
        pool.collect(3)
    pool.close()
    pool.close()
    with pytest.raises(PoolStateError, match="closed"):
        pool.step(np.zeros(N, int))


def test_an_actor_forgets_what_an_interrupted_driver_has_forgotten():
    """A driver that is interrupted does not ask for the batch of a failed step; a reset of all drops it."""
    actor = PoolActor(PoolMaker(FaultyEnv, 2, {}), 0, None)
    ids = np.arange(2, dtype=np.int32)
    actor.reset(ids, None, None)
    failures, _ = actor.exchange(np.array([1, 0]), ids, None)  # action 1 fails
    assert list(failures) == [0]
    failures, (obs, _) = actor.reset(ids, None, None)
    assert failures is None and obs[:, 0].tolist() == [0, 0]
    actor.close()


def test_a_pool_that_waits_for_cpus_says_so(monkeypatch, caplog):
    monkeypatch.setattr("envpool.adapters.ray.fleet.NOTICE", 0.5)
    with pool_of("CartPole-v1", num_cpus=1):
        with pytest.raises(EnvCreateError, match="1 of 1 actors have not started within start_timeout=1 seconds"):
            pool_of("CartPole-v1", num_actors=1, num_cpus=1, start_timeout=1)
        assert "RayPool waits for CPUs: 1 of 1 actors have not started after 0.5 seconds" in caplog.text
        assert "They need 1 CPUs each, and 0 CPUs of the cluster were idle" in caplog.text
        caplog.clear()
        pool_of("CartPole-v1").close()
        assert not caplog.records
