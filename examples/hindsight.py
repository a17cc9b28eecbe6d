"""Hindsight experience replay (Andrychowicz et al., 2017): a replay memory that gives transitions other goals."""

import numpy as np


def last_of_episodes(valid, done):
    """Return for each transition of a rollout the number of the last transition of its episode, int (transitions,).

    If an episode continues after the rollout, its last transition in the rollout counts.

    Parameters
    ----------
    valid, done : numpy.ndarray
        bool (N, T): which rows are transitions, and which of them end an episode. The transitions are numbered in the
        order of the arrays: first those of the first environment.
    """
    is_followed = np.append(valid[:, 1:], np.zeros((len(valid), 1), bool), axis=1)
    ends = np.flatnonzero((done | ~is_followed)[valid])
    return ends[np.searchsorted(ends, np.arange(valid.sum()))]


def relabel(goals, achieved, last, rows, share, rng):
    """Return the goals of sampled transitions (batch, goal), some of them replaced in hindsight.

    A new goal is one that the episode achieved in the sampled transition or later; all of these are equally likely (the
    strategy "future").

    Parameters
    ----------
    goals, achieved : numpy.ndarray
        (n, goal): the goal of each transition, and the goal that its step achieved. The transitions of an episode are
        adjacent.
    last : numpy.ndarray
        int (n,): number of the last transition of the same episode.
    rows : numpy.ndarray
        int (batch,): numbers of the sampled transitions.
    share : float
        Probability with which a goal is replaced.
    rng : numpy.random.Generator
        Source of randomness.
    """
    is_replaced = rng.random(len(rows)) < share
    source = rng.integers(rows, last[rows], endpoint=True)
    return np.where(is_replaced[:, None], achieved[source], goals[rows])


class Replay:
    """All transitions of a run.

    Parameters
    ----------
    capacity : int
        Largest number of transitions.
    share : float
        Share of the goals in a minibatch that are replaced.
    seed : int
        Seed of the minibatches.

    Attributes
    ----------
    size : int
        Number of transitions so far.
    """

    def __init__(self, capacity, share, seed):
        self.capacity, self.share, self.rng = capacity, share, np.random.default_rng(seed)
        self.size, self.arrays = 0, {}

    def add(self, data):
        """Append the transitions of a finished rollout, whose actions are an extra `unit_action`, and return them.

        Auto-reset rows are left out. The last transition of an episode has the true last observation as its next one.
        """
        valid = data.valid.T
        obs, next_obs = data.obs, data.next_obs
        rollout = {
            "observation": obs["observation"],
            "goal": obs["desired_goal"],
            "action": data.unit_action,
            "next_observation": next_obs["observation"],
            "achieved": next_obs["achieved_goal"],
        }
        rows = {name: x.swapaxes(0, 1)[valid] for name, x in rollout.items()}
        rows["last"] = self.size + last_of_episodes(valid, data.done.T)
        end = self.size + len(rows["last"])
        for name, x in rows.items():
            self.arrays.setdefault(name, np.empty((self.capacity, *x.shape[1:]), x.dtype))[self.size : end] = x
        self.size = end
        return rows

    def sample(self, size, compute_reward):
        """Return a minibatch as a dict of arrays (size, ...); see `relabel` for the goals.

        Parameters
        ----------
        size : int
            Number of transitions.
        compute_reward : callable
            The pool's method of this name, which computes the rewards for the new goals.
        """
        rows = self.rng.integers(self.size, size=size)
        arrays = self.arrays
        names = "observation", "action", "next_observation"
        batch = {name: arrays[name][rows] for name in names}
        batch["goal"] = relabel(arrays["goal"], arrays["achieved"], arrays["last"], rows, self.share, self.rng)
        batch["reward"] = compute_reward(arrays["achieved"][rows], batch["goal"]).astype(np.float32)
        return batch
