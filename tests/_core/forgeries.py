"""Forged states, for sanitizers too: ``python -m tests._core.forgeries SECONDS [SEED]``.

States with other bytes, and the checksum that belongs to them, are refused, or restored: then the environment must be
able to step, to be drawn and to be saved. test_state_format.py tries a fixed number of them.
"""

import faulthandler
import importlib.util
import random
import struct
import sys
import time

import numpy as np

import envpool
from envpool.errors import EnvIdError, EnvStepError, RenderError, StateError
from envpool.pools.states import EnvStates
from tests.support import plugin
from tests.support.process import PATIENCE
from tests.support.saved import body_of, core_at, play, sealed

#: The tasks, of which a tree may lack some, with the steps after which their states have most parts.
TASKS = {
    "CartPole-v1": 3,
    "Acrobot-v1": 3,
    "Pendulum-v1": 3,
    "MountainCarContinuous-v0": 3,
    "Taxi-v4": 3,
    "Blackjack-v1": 1,
    "MinAtar/Seaquest-v0": 30,
    "LunarLander-v3": 85,
    "BipedalWalkerHardcore-v3": 30,
    "CarRacing-v3": 20,
    "MiniGrid-Dynamic-Obstacles-8x8-v0": 5,
    "MPE/collect_treasure-v1": 20,
}
#: Options that add parts to a state.
OPTIONS = [{}, {}, {"episode_statistics": True}, {"frame_stack": 3}, {"autoreset_mode": "disabled"}]
VALUES = [struct.pack("<q", v) for v in (-1, 0, 1, 2**31 - 1, 2**31, 2**62, -(2**63))]
VALUES += [struct.pack("<d", v) for v in (np.nan, np.inf, -np.inf, 1e308, 1e-310, -0.0)]
VALUES += [struct.pack("<i", v) for v in (-1, 1, 255, 2**20, 2**31 - 1)]


def has_pygame():
    """Return whether all tasks can be drawn; the package is not among the requirements of envpool."""
    return importlib.util.find_spec("pygame") is not None


def make(pick):
    """Return a small pool of any of the tasks, after some steps."""
    task_id = pick.choice([task_id for task_id in TASKS if task_id in envpool.list_all_envs()])
    options = pick.choice(OPTIONS)
    frames = {"render_mode": "rgb_array", "render_height": 24, "render_width": 24} if has_pygame() else {}
    pool = envpool.make_gymnasium(task_id, num_envs=2, num_threads=1, **frames, **options)
    pool.reset()
    if "autoreset_mode" not in options:
        play(pool, TASKS[task_id])
    return pool


def forged(pick, states):
    """Return a state made of genuine ones."""
    state = pick.choice(states)
    body = body_of(state)
    start = pick.choice([0, core_at(state), core_at(state)])
    for _ in range(pick.choice([1, 1, 2, 8])):
        kind, at = pick.random(), pick.randrange(start, len(body))
        if kind < 0.4:
            value = pick.choice(VALUES)
            body[at : at + len(value)] = value
        elif kind < 0.6:
            body[at] ^= 1 << pick.randrange(8)
        elif kind < 0.8:  # a part of another state
            other, end = body_of(pick.choice(states)), at + pick.randrange(1, 64)
            body[at:end] = other[at:end]
        elif kind < 0.9:
            del body[at : at + 8 * pick.randrange(1, 5)]
        else:
            body[at:at] = pick.randbytes(8 * pick.randrange(1, 5))
        if len(body) <= start:
            break
    return EnvStates([bytes(body)]) if pick.random() < 0.05 else sealed(body + bytes(-len(body) % 8))


def attack(pool, pick, number):
    """Restore forged states, and use what was restored; return the number of states that were accepted."""
    states, accepted = [pool.get_state(i) for i in (0, 1)], 0
    for _ in range(number):
        try:
            pool.set_state(forged(pick, states), pick.randrange(2))
        except StateError:
            continue
        accepted += 1
        try:
            if pool.render_mode and pick.random() < 0.1:
                pool.render([0, 1])
            if pool.config["autoreset_mode"] == "disabled":
                pool.reset()
            play(pool, 2, pick.randrange(1000))
            states.append(pool.get_state(pick.randrange(2)))
        except (EnvIdError, EnvStepError, RenderError, StateError):  # an episode has ended, or a simulation failed
            pool.reset()
        del states[2 : max(2, len(states) - 20)]
    return accepted


def main(seconds, seed):
    plugin.load()
    faulthandler.enable()
    end, rounds, accepted = time.monotonic() + seconds, 0, 0
    while time.monotonic() < end:
        faulthandler.dump_traceback_later(PATIENCE, exit=True)
        pick = random.Random(seed * 1_000_003 + rounds)
        try:
            with make(pick) as pool:
                accepted += attack(pool, pick, 100)
        except BaseException:
            print(f"seed {seed}, round {rounds}", file=sys.stderr, flush=True)
            raise
        rounds += 1
    faulthandler.cancel_dump_traceback_later()
    print(f"{100 * rounds} forged states in {seconds:g} s, seed {seed}, {accepted} accepted: nothing found")


if __name__ == "__main__":
    main(float(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else time.time_ns() % 10**6)
