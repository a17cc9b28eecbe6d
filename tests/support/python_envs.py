"""Python environments for tests: deterministic, of every kind of space, with faults on demand."""

import gc
import os

import gymnasium
import numpy as np
from gymnasium import spaces

SPACES = {
    "box": spaces.Box(-10, 10, (3, 2), np.float32),
    "image": spaces.Box(0, 255, (8, 8, 2), np.uint8),
    "int16": spaces.Box(-500, 500, (2,), np.int16),
    "float16": spaces.Box(0, 60_000, (2,), np.float16),  # carried as objects, as dtypes that no field has
    "uint64": spaces.Box(2**40, 2**62, (2,), np.uint64),
    "empty": spaces.Box(-1, 1, (0,), np.float32),
    "discrete": spaces.Discrete(5, start=2),
    "multi_discrete": spaces.MultiDiscrete([3, 4]),
    "multi_binary": spaces.MultiBinary(4),
    "dict": spaces.Dict({"a": spaces.Discrete(3), "b": spaces.Dict({"c.d": spaces.Box(0, 1, (2,), np.float64)})}),
    "tuple": spaces.Tuple([spaces.Discrete(3), spaces.Tuple([spaces.MultiBinary(2), spaces.Box(0, 1, (1,))])]),
    "keys": spaces.Dict({"a.b": spaces.Discrete(3), "a:b": spaces.Discrete(4)}),
    "text": spaces.Text(8),
    "sequence": spaces.Sequence(spaces.Discrete(4)),
    "graph": spaces.Graph(spaces.Box(0, 1, (2,)), spaces.Discrete(3)),
    "mixed": spaces.Dict({"text": spaces.Text(5), "x": spaces.Box(0, 1, (2,), np.float32)}),
}
ACTIONS = {k: v for k, v in SPACES.items() if k not in ("float16", "empty", "text", "sequence", "graph", "mixed")}


class SpaceEnv(gymnasium.Env):
    """Returns samples of a space; its info and reward depend on the action, and episodes have random lengths."""

    def __init__(self, observation="box", action="discrete"):
        self.observation_space = SPACES[observation]
        self.action_space = SPACES[action]
        self.last_action = None

    def sample(self):
        self.observation_space.seed(int(self.np_random.integers(2**31)))
        return self.observation_space.sample()

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.left = int(self.np_random.integers(1, 6))
        return self.sample(), {"length": self.left} if self.left % 2 else {}

    def step(self, action):
        assert self.action_space.contains(action), action
        self.last_action = action
        self.left -= 1
        info = {"left": self.left, "half": self.left / 2} if self.left % 2 else {"name": f"{self.left}"}
        if self.left == 2:
            info["nested"] = {"vector": np.arange(2) + self.left, "flag": True}
        return self.sample(), float(self.np_random.normal()), self.left == 0, False, info


class FaultyEnv(gymnasium.Env):
    """Counts its steps; the action decides which fault happens."""

    observation_space = spaces.Box(-np.inf, np.inf, (4,), np.float32)
    action_space = spaces.Discrete(8)
    resets_fail = False

    def __init__(self, render_mode=None):
        self.render_mode = render_mode
        self.count = 0
        self.steps = 0
        self.last_seed = None

    def obs(self):
        return np.array([self.count, self.steps, self.draw, 0], np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.last_seed = seed if seed is not None else self.last_seed
        if self.resets_fail:
            raise RuntimeError("reset is broken")
        self.count, self.draw = 0, self.np_random.random()
        return self.obs(), {}

    def step(self, action):
        self.count += 1
        self.steps += 1
        self.draw = self.np_random.random()
        if action == 1:
            raise ValueError("broken on purpose")
        if action == 2:
            raise KeyboardInterrupt
        return self.obs(), 1.0, self.count == 20, False, {}

    def render(self):
        return np.full((6, 5, 3), self.count, np.uint8)

    def square(self, x):
        return x * x


class LargeEnv(FaultyEnv):
    """A FaultyEnv whose observations are so large that worker processes write them into the batches."""

    observation_space = spaces.Box(-np.inf, np.inf, (3000,), np.float32)

    def obs(self):
        return np.resize(super().obs(), 3000)


def children():
    """Return the pids of the children of this process, dead or alive."""
    found = set()
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat") as file:
                if int(file.read().rpartition(") ")[2].split()[1]) == os.getpid():
                    found.add(int(name))
        except (FileNotFoundError, ProcessLookupError):
            pass  # it has ended
    return found


def resources():
    """Return the numbers of open files and of mappings of a pool's shared memory that this process has."""
    gc.collect()
    with open("/proc/self/maps") as maps:
        shared = sum("memfd:envpool" in line for line in maps)
    return len(os.listdir("/proc/self/fd")), shared


def same(a, b):
    """Assert that two nests of arrays are equal, with equal structures, dtypes and shapes."""
    if isinstance(b, dict):
        assert isinstance(a, dict) and list(a) == list(b), (a, b)
        for key in b:
            same(a[key], b[key])
    elif type(b) is tuple:
        assert type(a) is tuple and len(a) == len(b), (a, b)
        for x, y in zip(a, b, strict=True):
            same(x, y)
    elif isinstance(b, np.ndarray) and b.dtype == object:
        assert a.dtype == object and a.shape == b.shape
        for x, y in zip(a, b, strict=True):
            same(x, y)
    elif isinstance(b, np.ndarray):
        assert a.dtype == b.dtype and a.shape == b.shape and np.array_equal(a, b), (a, b)
    else:
        np.testing.assert_equal(a, b)


def interrupted_step(base, seconds):
    """Return a program in which Ctrl-C ends the wait for a step of env 0 that takes some seconds; `base` is its class.

    It prints "interrupted" and the failures. Lines that are appended with four spaces run before the pool is closed.
    """
    return f"""
import os, signal, threading, time
import numpy as np
import envpool
from envpool.errors import EnvStepError
from tests.support.python_envs import {base}

class Env({base}):
    def step(self, action):
        if action == 3:
            time.sleep({seconds})
        return super().step(action)

with envpool.make_python(Env, 2, workers="process", num_threads=2) as pool:
    pool.reset()
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    try:
        pool.step(np.array([3, 0]))
    except KeyboardInterrupt:
        print("interrupted")
    try:
        pool.recv()
    except EnvStepError as error:
        print(error.failures)
"""
