"""Many random faults in a row: every environment answers every step, and those that were not hit do not notice."""

import contextlib
import os
import random
import signal
import time

import numpy as np
import pytest

import envpool
from tests.support.python_envs import FaultyEnv, LargeEnv, children, resources

NUM_ENVS, NUM_WORKERS = 8, 4

#: Environments of the processes that are hit; all others must not notice.
HIT = [i for i in range(NUM_ENVS) if i % NUM_WORKERS < 2]


class Lost:
    """Actions that end or block the process of the environment."""

    def step(self, action):
        if action == 3:
            time.sleep(1000)
        if action == 4:
            os._exit(7)
        return super().step(action)


class Env(Lost, FaultyEnv):
    pass


class WithLargeRows(Lost, LargeEnv):
    pass


class Team:
    """The same environment for two agents of PettingZoo's form, who see the same; the first one acts."""

    possible_agents = ("first_0", "second_0")

    def __init__(self):
        self.env = Env()

    def observation_space(self, agent):
        return self.env.observation_space

    def action_space(self, agent):
        return self.env.action_space

    def of_all(self, value):
        return dict.fromkeys(self.agents, value)

    def reset(self, seed=None, options=None):
        self.agents = list(self.possible_agents)
        obs, info = self.env.reset(seed=seed)
        return self.of_all(obs), self.of_all(info)

    def step(self, actions):
        results = tuple(map(self.of_all, self.env.step(actions["first_0"])))
        if results[2]["first_0"] or results[3]["first_0"]:
            self.agents = []
        return results


#: What an environment for one player is for several ones.
ALONE = {Team: Env}


class Reference:
    """What an environment that is not hit returns."""

    def __init__(self, env, seed):
        self.env = ALONE.get(env, env)()
        self.row, self.is_over = self.env.reset(seed=seed)[0], False

    def check(self, obs, terminated, truncated):
        rows = obs if obs.ndim > self.row.ndim else [obs]
        assert all(np.array_equal(row, self.row) for row in rows) and terminated == self.is_over and not truncated

    def step(self):
        if self.is_over:
            self.row, self.is_over = self.env.reset()[0], False
        else:
            self.row, _, self.is_over, _, _ = self.env.step(0)


#: How many faults of each kind a run has.
SOME = {"raise": 5, "exit": 1, "kill": 1}
ALL = {"raise": 20, "exit": 2, "hang": 2, "kill": 2, "stop": 2}
MANY = {kind: 15 * count for kind, count in ALL.items()}


def schedule(faults, steps, rng):
    """Return the steps at which faults happen and their kinds, the last one first."""
    kinds = [kind for kind, count in faults.items() for _ in range(count)]
    return sorted(((rng.randrange(9 * steps // 10), kind) for kind in kinds), reverse=True)


def hit(pool, kind, rng):
    """Do something to a process, or return the action that lets an environment fail."""
    if kind in ("kill", "stop"):
        worker = pool.envs.supervisor.workers[rng.randrange(2)]
        with contextlib.suppress(ProcessLookupError):  # it has just been replaced
            if worker is not None:  # else it is being replaced
                os.kill(worker.pid, signal.SIGKILL if kind == "kill" else signal.SIGSTOP)
    return {"raise": 1, "exit": 4, "hang": 3}.get(kind, 0)


def run(method, batch_size, steps, faults, env=Env):
    """Step a pool, at least this many times and until all faults have happened.

    While a process starts, an async pool steps the others, and the environments that are hit do not turn up.
    """
    before, others = resources(), children()
    rng = random.Random(f"{method} {batch_size} {steps}")
    references = {i: Reference(env, 42 + i) for i in range(NUM_ENVS) if i not in HIT}
    kept = []  # batches, with copies: no process writes to a batch that was handed out
    answers, errors, due = np.zeros(NUM_ENVS, int), 0, schedule(faults, steps, rng)
    with envpool.make_python(
        env,
        NUM_ENVS,
        batch_size,
        workers="process",
        num_threads=NUM_WORKERS,
        start_method=method,
        on_error="restart",
        step_timeout=1.0,
        players="grid" if env in ALONE else None,
    ) as pool:
        pool.async_reset()
        step = 0
        while step < steps or due:
            step += 1
            obs, _, terminated, truncated, info = pool.recv()
            answers[info["env_id"]] += 1
            kept.append((obs, obs.copy()))
            failed = info.get("_error", np.zeros(len(obs), bool))
            errors += int(failed.sum())
            assert truncated[failed].all() and not obs[failed].any()
            actions = np.zeros(len(obs), int)
            for row, i in enumerate(info["env_id"].tolist()):
                if i in HIT:
                    if due and due[-1][0] <= step:
                        actions[row] = hit(pool, due.pop()[1], rng)
                else:
                    references[i].check(obs[row], terminated[row], truncated[row])
                    references[i].step()
            if env in ALONE:
                assert info["player_mask"][~failed].all()
                actions = np.stack([actions, actions], 1)
            pool.send(actions, info["env_id"])
            del obs
            if len(kept) > 8:
                assert np.array_equal(*kept.pop(rng.randrange(8)))
        pids = [worker.pid for worker in pool.envs.supervisor.workers if worker is not None]
    assert answers.sum() == step * batch_size and (answers > 0).all() and errors
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
    assert children() <= others
    assert all(np.array_equal(*pair) for pair in kept)
    del pool, _, terminated, truncated, info
    kept.clear()
    assert resources() == before


@pytest.mark.parametrize(
    ("batch_size", "env"), [(NUM_ENVS, Env), (3, Env), (NUM_ENVS, WithLargeRows), (NUM_ENVS, Team), (3, Team)]
)
def test_some_faults(batch_size, env):
    run("fork", batch_size, 30, SOME, env)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "batch_size"), [("fork", NUM_ENVS), ("fork", 3), ("spawn", NUM_ENVS), ("spawn", 3), ("forkserver", 3)]
)
def test_a_thousand_steps_with_faults(method, batch_size):
    run(method, batch_size, 1000, ALL)


@pytest.mark.slow
@pytest.mark.parametrize(("batch_size", "env"), [(NUM_ENVS, WithLargeRows), (NUM_ENVS, Team), (3, Team)])
def test_a_thousand_steps_with_faults_of_other_envs(batch_size, env):
    run("fork", batch_size, 1000, ALL, env)


@pytest.mark.sweep
@pytest.mark.parametrize("batch_size", [NUM_ENVS, 3])
@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_a_thousand_steps_with_many_faults(method, batch_size):
    run(method, batch_size, 1000, MANY)
