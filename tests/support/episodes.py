"""What statistics of episodes must be, in plain Python, from the rows that a pool hands out."""

import numpy as np


class EpisodeModel:
    """The running sums of all envs of a pool.

    Parameters
    ----------
    num_envs : int
        Number of envs.
    mode : str
        The auto-reset mode.
    """

    def __init__(self, num_envs, mode):
        self.mode = mode
        self.returns = np.zeros(num_envs)
        self.lengths = np.zeros(num_envs, int)
        self.ended = []  # return and length of every episode, in order

    def reset(self, ids):
        """The user has reset these envs."""
        self.returns[ids] = 0
        self.lengths[ids] = 0

    def step(self, reward, terminated, truncated, info):
        """Return mask, r and l of a batch."""
        n = len(reward)
        mask, r, length = terminated | truncated, np.zeros(n), np.zeros(n, int)
        for i, k in enumerate(info["env_id"]):
            if info["elapsed_step"][i] == 0 and not (self.mode == "same_step" and mask[i]):
                self.returns[k] = self.lengths[k] = 0
            else:
                self.returns[k] += reward[i]
                self.lengths[k] += 1
            if mask[i]:
                r[i], length[i] = self.returns[k], self.lengths[k]
                self.ended.append((r[i], length[i]))
                self.returns[k] = self.lengths[k] = 0
        return mask, r, length

    def check(self, batch):
        """Raise AssertionError unless the info of a batch in gymnasium's form has the right entries."""
        mask, r, length = self.step(*batch[1:])
        info = batch[4]
        assert ("episode" in info) == ("_episode" in info) == mask.any()
        if mask.any():
            check_entry(info, "episode", mask, r, length)


def check_entry(info, entry, mask, r, length):
    """Raise AssertionError unless an entry of info has these values, bit for bit, and times that are possible."""
    assert same(info[f"_{entry}"], mask)
    assert list(info[entry]) == ["r", "l", "t"]
    assert same(info[entry]["r"], r)
    assert same(info[entry]["l"], length)
    t = info[entry]["t"]
    assert t.dtype == np.float64 and t.shape == mask.shape
    assert (t[~mask] == 0).all() and (t >= 0).all() and (t < 3600).all()
    assert same(t, np.round(t, 6))


def same(a, b):
    """Whether two arrays agree in dtype, shape and every bit."""
    return (a.dtype, a.shape, a.tobytes()) == (b.dtype, b.shape, b.tobytes())
