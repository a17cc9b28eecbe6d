"""A slow replay buffer in plain Python, and a pair of pools that feed it and a ReplayBuffer with the same steps."""

import numpy as np

import envpool
from tests.rollout.reference import flat
from tests.support import plugin

N = 3
#: Moves of the synthetic environments: two ordinary ones, truncation, termination, failure.
MOVES = (3, 17, 95, 96, 97)


class Reference:
    """Steps in a list, from which every transition is put together anew."""

    def __init__(self, capacity, n_step=1, gamma=0.99):
        self.num_steps, self.n_step, self.gamma = -(-capacity // N), n_step, gamma
        self.steps = []

    def add(self, obs, action, reward, terminated, done, valid, next_obs):
        self.steps.append((obs, action, reward, terminated, done, valid, next_obs))

    def cut(self):
        """Add what a reset of all environments adds, if the last step was a transition of any of them."""
        if self.steps and self.steps[-1][5].any():
            self.steps.append((None, None, None, None, np.zeros(N, bool), np.zeros(N, bool), None))

    def transition(self, step, env):
        """Return the fields of a transition, None if there is none, or its last step is not known yet."""
        reward, k, end = 0.0, 0, step
        while True:
            if end == len(self.steps):
                return None
            _, _, rewards, terminated, done, valid, _ = self.steps[end]
            if not valid[env]:
                if k == 0:
                    return None
                end -= 1
                break
            reward += self.gamma**k * float(rewards[env])
            k += 1
            if done[env] or k == self.n_step:
                break
            end += 1
        terminated, next_obs = self.steps[end][3][env], self.steps[end][6]
        obs, action = self.steps[step][:2]
        discount = 0.0 if terminated else self.gamma**k
        return rows(obs, env), rows(action, env), reward, rows(next_obs, env), terminated, discount

    def transitions(self):
        """Return all transitions by their numbers."""
        first = max(0, len(self.steps) - self.num_steps)
        every = {
            step * N + env: self.transition(step, env) for step in range(first, len(self.steps)) for env in range(N)
        }
        return {index: fields for index, fields in every.items() if fields is not None}


def rows(nest, env):
    """Return the rows of one environment of a dict of arrays."""
    return {name: array[env] for name, array in nest.items()}


class Pair:
    """A ReplayBuffer, and a pool with the same environments whose plain results go to the reference.

    Parameters
    ----------
    mode : str
        The auto-reset mode.
    make : callable
        ``make(**options)`` makes a pool of N environments of the gymnasium style.
    capacity, n_step, **options
        As for ReplayBuffer.
    """

    def __init__(self, mode, make=None, capacity=30, n_step=1, pool_options=None, **options):
        make = make or plugin.make
        pool_options = {"num_envs": N, "seed": 9, "on_error": "restart"} | (pool_options or {})
        self.mode = mode
        self.pool, self.plain = (make(**pool_options, autoreset_mode=mode) for _ in range(2))
        self.buffer = envpool.ReplayBuffer(self.pool, capacity, n_step, seed=4, **options)
        self.reference = Reference(capacity, n_step, self.buffer.gamma)
        self.ended = np.zeros(N, bool)

    def reset(self):
        """Reset all environments."""
        self.reference.cut()
        self.obs = copied(self.plain.reset()[0])
        assert_equal(flat(self.buffer.reset()[0]), self.obs)
        self.ended[:] = False

    def reset_ended(self):
        """Reset the environments whose episodes have ended; those whose reset fails remain ended."""
        obs, info = self.plain.reset(options={"reset_mask": self.ended})
        self.buffer.reset(options={"reset_mask": self.ended.copy()})
        for name, array in flat(obs).items():
            self.obs[name] = self.obs[name].copy()  # the reference has the other one
            self.obs[name][self.ended] = array
        self.ended[self.ended] = info.get("_error", False)

    def step(self, action, apart=False):
        """Step both, with ``send`` and ``recv`` if `apart`; reset ended environments first if nobody else does."""
        while self.mode == "disabled" and self.ended.any():
            self.reset_ended()
        if apart:
            self.buffer.send(action)
            got = self.buffer.recv()
        else:
            got = self.buffer.step(action)
        obs, reward, terminated, truncated, info = self.plain.step(action)
        assert_equal(flat(got[0]), flat(obs))
        done, elapsed = terminated | truncated, info["elapsed_step"]
        failed = info.get("_error", np.zeros(N, bool))
        valid = ~failed & (elapsed != 0 if self.mode == "next_step" else (elapsed != 0) | done)
        next_obs = copied(obs)
        if "_final_obs" in info:
            for name, final in flat(info["final_obs"]).items():
                for env in np.flatnonzero(info["_final_obs"]):
                    next_obs[name][env] = final[env]
        taken = flat(action["action"]) if isinstance(action, dict) else {"": np.asarray(action)}
        self.reference.add(self.obs, copied(taken), reward.copy(), terminated.copy(), done, valid, next_obs)
        self.obs, self.ended = copied(obs), done.copy()

    def check(self):
        """Compare the transitions of the buffer with those of the reference."""
        expected = self.reference.transitions()
        index = self.buffer.indices()
        assert index.tolist() == list(expected)
        assert len(self.buffer) == len(expected)
        got = self.buffer.transitions(index)
        names = ("obs", "action", "next_obs")
        found = {name: flat(getattr(got, name)) for name in names}
        for k, fields in enumerate(expected.values()):
            obs, action, reward, next_obs, terminated, discount = fields
            for name, arrays in zip(names, (obs, action, next_obs), strict=True):
                assert_equal({key: array[k] for key, array in found[name].items()}, arrays, f"{name} of {index[k]}")
            assert (got.reward[k], got.terminated[k]) == (np.float32(reward), terminated)
            np.testing.assert_allclose(got.discount[k], np.float32(discount), rtol=1e-6)
        return got


def copied(nest):
    """Return copies of the arrays of a nest, by their keys."""
    return {name: np.array(array) for name, array in flat(nest).items()}


def assert_equal(got, expected, text=""):
    """Compare dicts of arrays."""
    assert sorted(got) == sorted(expected)
    for name, array in got.items():
        np.testing.assert_array_equal(array, expected[name], err_msg=f"{text} {name}")
