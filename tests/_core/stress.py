"""Random pools under random use, for sanitizers: ``python -m tests._core.stress SECONDS [SEED]``.

Every batch is compared with the model, and everything held with its copy. What threads do to a pool behind each other's
backs may raise the documented exceptions and nothing else. Sleeps move the threads against each other.
"""

import functools
import gc
import queue
import random
import sys
import threading
import time

import numpy as np

import envpool
from envpool.errors import ActionError, EnvIdError, EnvStepError, PoolStateError, RenderError
from tests.support import plugin
from tests.support.background_call import BackgroundCall
from tests.support.checked_pool import FAIL, REFUSED, TERMINATE, TRUNCATE, CheckedPool
from tests.support.process import wait_until, workers

ACTIONS = (0, 1, 2, 3, 4, 5, 6, 7, TRUNCATE, TERMINATE, FAIL)


def any_options(pick):
    """Return options of any pool."""
    num_envs = pick.choice([1, 2, 3, 5, 8, 16, 33, 64, 200])
    return {
        "num_envs": num_envs,
        "batch_size": pick.choice([0, 0, 1, max(1, num_envs // 3), max(1, num_envs // 2)]),
        "num_threads": pick.choice([1, 2, 3, 4, 20]),
        "autoreset_mode": pick.choice(["next_step", "same_step", "disabled"]),
        "fused": pick.random() < 0.5,
        "cost_ns": pick.choice([0.0, 200.0, 2e3, 20e3]),
        "distribution": pick.choice(["fixed", "exponential", "heavy_tailed"]),
        "episode_length": pick.choice([0, 1, 3]),
        "truncate_after": pick.choice([0, 0, 4]),
        "max_episode_steps": pick.choice([2, 5, 2**31 - 1]),
        "fail_reset": pick.choice([-1, -1, 0, 2]),
        "on_error": pick.choice(["raise", "restart"]),
        "step_timeout": pick.choice([None, None, 600]),
        "frame_ns": pick.choice([0, 0, 0, 300000]),
        "seed": pick.randrange(1000),
    }


def some(pick, ids):
    """Return some of `ids` in any order, and actions for them."""
    chosen = pick.sample(ids, pick.randint(0, len(ids)))
    return chosen, [pick.choice(ACTIONS) for _ in chosen]


def any_wish(pick, flying):
    """Return arguments of recv() that ask for some of the envs in flight."""
    wish = {"min_ready": pick.randint(0, len(flying))} if pick.random() < 0.5 else {}
    if pick.random() < 0.5:
        wish["timeout"] = pick.choice([0, 1e-5, 1e-3, 600])
    if not wish:
        wish["env_id"] = some(pick, flying)[0]
    return wish


def one_thread(pick):
    """Make any calls in any order, check every result, and hold some batches."""
    c = CheckedPool(**any_options(pick))
    held, batch = [], None
    is_picky = pick.random() < 0.5
    for _ in range(pick.choice([5, 40, 150])):
        act = pick.random()
        if 0.3 < act < 0.5 and c.in_flight and is_picky:
            c.recv_some(**any_wish(pick, list(c.in_flight)))
        elif act < 0.5 and c.can_receive():
            batch = c.recv()
            if pick.random() < 0.2:
                view = pick.choice([batch[0], batch[0][1:], batch[0].T, np.from_dlpack(batch[0])])
                held.append((view, view.copy()))
            if len(held) > 30:
                del held[pick.randrange(30)]
        elif act < 0.6:
            c.render(pick.choices(range(c.num_envs), k=pick.choice([0, 1, 3, 100])))
        elif act < 0.9:
            c.send(*some(pick, c.steppable()))
        elif act < 0.94:
            c.sent_reset()
            c.pool.async_reset()
        elif act < 0.96:
            c.reset(some(pick, c.idle())[0])
        elif act < 0.98:
            ids = [i for i in c.idle() if c.envs[i].flag == REFUSED or pick.random() < 0.2]
            seeds = [pick.randrange(99) for _ in ids]
            c.pool._send_reset(np.array(ids, np.int32), seeds)
            c.sent_reset(ids, seeds)
        else:
            time.sleep(0.0005)
    if pick.random() < 0.5:
        c.close()
    del c, batch
    gc.collect(0)
    for view, copy in held:
        np.testing.assert_array_equal(view, copy)


def two_threads(pick):
    """Send in one thread while another receives, and check every result."""
    options = any_options(pick) | {"autoreset_mode": "next_step", "fail_reset": -1}
    c = CheckedPool(**options)
    batches, stop = queue.SimpleQueue(), threading.Event()

    wishes = pick.choice([[{}], [{"min_ready": 1}], [{"timeout": 1e-4}], [{}, {"min_ready": 1}, {"timeout": 0}]])

    def receive():
        mine = random.Random(options["seed"])
        while not stop.is_set():
            wish = mine.choice(wishes)
            try:
                batches.put((c.pool.recv(**wish), wish))
            except EnvStepError:
                continue
            except PoolStateError:  # not enough in flight at this moment, or closed
                time.sleep(0.0002)

    c.sent_reset()
    c.pool.async_reset()  # before the other thread receives: this drops the rows in flight, which is receiving them
    receiver = BackgroundCall(receive)
    for _ in range(pick.choice([20, 200])):
        c.send(*some(pick, c.idle()))
        while not batches.empty():
            batch, wish = batches.get()
            c.received(batch, may_be_part=True, wish=None if wish == {} else {"min_ready": 0})
    stop.set()
    c.close()
    receiver.finish()


def a_crowd(pick):
    """Use one pool from independent threads until one or two of them close it."""
    pool = plugin.make(render_mode="rgb_array", **any_options(pick))
    over = threading.Event()

    def use(seed):
        mine = random.Random(seed)
        while not over.is_set():
            n = mine.randint(0, len(pool))
            ids = np.array(mine.sample(range(len(pool)), n), mine.choice([np.int32, np.int64, np.uint8]))
            actions = np.array([mine.choice(ACTIONS) for _ in range(n)], mine.choice([np.int32, np.int64, np.float64]))
            try:
                mine.choice(
                    [
                        pool.recv,
                        pool.recv,
                        lambda ids=ids: pool.recv(env_id=ids, timeout=mine.choice([None, 0, 1e-4])),
                        lambda n=n: pool.recv(min_ready=n, timeout=mine.choice([None, 0, 1e-4])),
                        lambda: pool.recv(timeout=1e-3),
                        lambda ids=ids, actions=actions: pool.send(actions, ids),
                        lambda ids=ids, actions=actions: pool.send(actions, ids),
                        lambda ids=ids, actions=actions: pool.step(actions, ids),
                        lambda: pool.send(np.zeros(len(pool), np.float32)),
                        lambda ids=ids: pool.reset(ids),
                        pool.reset,
                        pool.async_reset,
                        lambda: pool.num_outstanding,
                        lambda ids=ids: pool.render(ids),
                    ]
                )()
            except (ActionError, EnvIdError, EnvStepError, PoolStateError, RenderError):
                time.sleep(0)

    callers = [BackgroundCall(functools.partial(use, pick.random())) for _ in range(3)]
    time.sleep(pick.uniform(0, 0.05))
    closers = [BackgroundCall(pool.close) for _ in range(pick.choice([1, 2]))]
    for caller in closers:
        caller.finish()
    over.set()
    for caller in callers:
        caller.finish()
    assert pool.is_closed


def dropped(pick):
    """Drop a pool while its envs step: with its last reference, or through the garbage collector."""
    pool = plugin.make(layout=pick.choice(["flat", "rich"]), **any_options(pick))
    if pick.random() < 0.5:
        gc.collect(0)  # what is made from here on is younger than the pool: the collector comes to it first
    pool._send_reset()
    if pick.random() < 0.5:
        try:
            pool.recv()
        except EnvStepError:
            pool.recv()
        pool._send_reset()
    if pick.random() < 0.5:
        pool.itself = pool
    del pool
    if pick.random() < 0.5:
        gc.collect()


def parameters(pick):
    """Parameters and draws of some envs change while threads step others; each has its own from its next episode on."""
    num_envs, rng = pick.choice([3, 17, 300]), np.random.default_rng(pick.randrange(10**9))
    options = {
        "num_envs": num_envs,
        "batch_size": pick.choice([num_envs, max(1, num_envs // 3)]),
        "num_threads": pick.choice([1, 2, 4]),
        "autoreset_mode": pick.choice(["next_step", "same_step"]),
        "max_episode_steps": 3,
    }
    pending = np.full(num_envs, 9.8)
    in_force = pending.copy()
    draws, has_drawn = np.zeros((2, num_envs), np.bool_)
    with envpool.make_gymnasium("CartPole-v1", **options) as pool:
        pool.async_reset()
        for _ in range(pick.choice([30, 300])):
            info = pool.recv()[-1]
            ids = info["env_id"].copy()
            begins = ids[info["elapsed_step"] == 0]
            in_force[begins] = pending[begins]
            has_drawn[begins] = draws[begins]
            some = ids[rng.random(len(ids)) < 0.3]
            values = rng.uniform(1, 20, len(some))
            pool.set_params({"gravity": values}, some)
            pending[some] = values
            assert np.array_equal(pool.get_params(ids, in_force=True)["gravity"], in_force[ids])
            assert np.array_equal(pool.get_params(ids)["gravity"], pending[ids])
            lengths = pool.get_params(ids, in_force=True)["length"]
            assert np.array_equal((lengths >= 0.6) & (lengths <= 0.9), has_drawn[ids])
            some = ids[rng.random(len(ids)) < 0.2]
            draws[some] = rng.random() < 0.7
            if len(some):
                pool.set_randomize({"length": ("uniform", 0.6, 0.9)} if draws[some[0]] else None, some)
            pool.send(rng.integers(0, 2, len(ids), dtype=np.int32), ids)


def main(seconds, seed):
    plugin.load()
    end = time.monotonic() + seconds
    rounds = 0
    while time.monotonic() < end:
        pick = random.Random(seed * 1_000_003 + rounds)
        scenario = pick.choice([one_thread, one_thread, two_threads, a_crowd, dropped, parameters])
        try:
            scenario(pick)
        except BaseException:
            print(f"seed {seed}, round {rounds}: {scenario.__name__}", file=sys.stderr, flush=True)
            raise
        rounds += 1
    gc.collect()
    wait_until(lambda: not workers())
    assert plugin.load().native.num_violations() == 0, "two threads in one env"
    print(f"{rounds} rounds in {seconds:g} s, seed {seed}: nothing found")


if __name__ == "__main__":
    main(float(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else time.time_ns() % 10**6)
