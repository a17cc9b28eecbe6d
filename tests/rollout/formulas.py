"""The formulas of advantages and returns in NumPy, one row at a time, in the dtype of rewards; see docs/rollout.md."""

import numpy as np


def next_values(t, values, last_values, lengths):
    """Return the values of the observations after row t."""
    following = values[t + 1] if t + 1 < len(values) else last_values
    return np.where(t + 1 < lengths, following, last_values)


def bootstrap(gamma, after, terminated):
    return np.where(terminated, after.dtype.type(0), gamma * after)


def arguments(rewards, truncated, final_values, mask, lengths):
    steps, columns = rewards.shape
    mask = np.ones(rewards.shape, np.bool_) if mask is None else mask
    lengths = np.full(columns, steps) if lengths is None else lengths
    return mask & (np.arange(steps)[:, None] < lengths), lengths, rewards.dtype.type


def gae(rewards, values, last_values, terminated, truncated, *, gamma, lam, final_values=None, mask=None, lengths=None):
    mask, lengths, real = arguments(rewards, truncated, final_values, mask, lengths)
    decay, gamma = real(gamma * lam), real(gamma)
    advantages, returns, carry = np.zeros_like(rewards), np.zeros_like(rewards), np.zeros_like(last_values)
    for t in reversed(range(len(rewards))):
        done = terminated[t] | truncated[t]
        following = next_values(t, values, last_values, lengths)
        after = np.where(done, following if final_values is None else final_values[t], following)
        delta = (rewards[t] + bootstrap(gamma, after, terminated[t])) - values[t]
        carry = np.where(mask[t], delta + np.where(done, real(0), decay * carry), real(0))
        advantages[t] = carry
        returns[t] = np.where(mask[t], carry + values[t], real(0))
    return advantages, returns


def vtrace(
    log_ratios, rewards, values, last_values, terminated, truncated, *, gamma, lam, clip_rho, clip_c, clip_pg_rho,
    final_values=None, mask=None, lengths=None,
):  # fmt: skip
    mask, lengths, real = arguments(rewards, truncated, final_values, mask, lengths)
    gamma, lam = real(gamma), real(lam)
    ratios = np.exp(log_ratios)
    rhos, cs, pgs = (np.minimum(real(clip), ratios) for clip in (clip_rho, clip_c, clip_pg_rho))
    targets, advantages, carry = np.zeros_like(rewards), np.zeros_like(rewards), np.zeros_like(last_values)
    target = last_values
    for t in reversed(range(len(rewards))):
        done = terminated[t] | truncated[t]
        following = next_values(t, values, last_values, lengths)
        last = following if final_values is None else final_values[t]
        reached = np.where(t + 1 < lengths, target, last_values)
        delta = rhos[t] * ((rewards[t] + bootstrap(gamma, np.where(done, last, following), terminated[t])) - values[t])
        correction = delta + np.where(done, real(0), (gamma * (lam * cs[t])) * carry)
        advantage = (rewards[t] + bootstrap(gamma, np.where(done, last, reached), terminated[t])) - values[t]
        target = np.where(mask[t], values[t] + correction, values[t])
        carry = np.where(mask[t], correction, real(0))
        targets[t] = np.where(mask[t], target, real(0))
        advantages[t] = np.where(mask[t], pgs[t] * advantage, real(0))
    return targets, advantages


def lambda_returns(
    rewards, values, last_values, terminated, truncated, *, gamma, lam, final_values=None, mask=None, lengths=None
):
    mask, lengths, real = arguments(rewards, truncated, final_values, mask, lengths)
    gamma, keep, fade = real(gamma), real(1.0 - lam), real(lam)
    returns, carry = np.zeros_like(rewards), last_values
    for t in reversed(range(len(rewards))):
        done = terminated[t] | truncated[t]
        following = next_values(t, values, last_values, lengths)
        carry = np.where(t + 1 < lengths, carry, last_values)
        last = following if final_values is None else final_values[t]
        after = np.where(done, last, (keep * following) + (fade * carry))
        total = rewards[t] + bootstrap(gamma, after, terminated[t])
        carry = np.where(mask[t], total, values[t])
        returns[t] = np.where(mask[t], total, real(0))
    return returns


def nstep_returns(
    rewards, values, last_values, terminated, truncated, n, *, gamma, final_values=None, mask=None, lengths=None
):
    """One element at a time."""
    mask, lengths, real = arguments(rewards, truncated, final_values, mask, lengths)
    gamma = real(gamma)
    returns = np.zeros_like(rewards)
    for t, i in np.argwhere(mask):
        end = t
        while True:  # the rows t to end - 1 are added up
            done = terminated[end, i] or truncated[end, i]
            end += 1
            if done or end == t + n or end == lengths[i] or not mask[end, i]:
                break
        total = values[end, i] if end < lengths[i] else last_values[i]
        if terminated[end - 1, i]:
            total = real(0)
        elif truncated[end - 1, i] and final_values is not None:
            total = final_values[end - 1, i]
        for s in reversed(range(t, end)):
            total = rewards[s, i] + gamma * total
        returns[t, i] = total
    return returns
