"""A PettingZoo game: one player of rock paper scissors learns the habit of the other, with a softmax per observation.

    python examples/rock_paper_scissors.py --updates 300 --target 0.6

``envpool.make_python`` recognises environments of PettingZoo, whose agents are the players of a pool. With
``players="grid"``, observations, actions and rewards have the shape (B, 2). Player 1 mostly plays the move after its
last one; player 0 sees that last move and learns to beat the next.
"""

import argparse
import sys

import numpy as np
from pettingzoo.classic import rps_v2

import envpool
from envpool.training.options import number, positive

NUM_MOVES, NOTHING_YET = 3, 3
HABIT = 0.9


def opponent(last, rng):
    """Return the moves of player 1: the move after its last one with probability `HABIT`, else any."""
    follows = (rng.random(len(last)) < HABIT) & (last != NOTHING_YET)
    return np.where(follows, (last + 1) % NUM_MOVES, rng.integers(NUM_MOVES, size=len(last)))


def softmax(logits):
    """Return probabilities (B, 3)."""
    scaled = np.exp(logits - logits.max(1, keepdims=True))
    return scaled / scaled.sum(1, keepdims=True)


def train(updates, num_envs=64, rate=1.0, seed=1, **options):
    """Return the mean reward of player 0 in each update."""
    rng = np.random.default_rng(seed)
    logits, means = np.zeros((NUM_MOVES + 1, NUM_MOVES)), []
    with envpool.make_python(rps_v2.parallel_env, num_envs, seed=seed, players="grid", **options) as pool:
        obs, _ = pool.reset()
        while len(means) < updates:
            seen = obs[:, 0]  # the last move of player 1
            chances = softmax(logits[seen])
            moves = (chances.cumsum(1) > rng.random((num_envs, 1))).argmax(1)
            obs, rewards, *_, info = pool.step(np.stack([moves, opponent(seen, rng)], 1))
            reward, played = rewards[:, 0], info["elapsed_step"] > 0
            if not played.any():  # all episodes have ended, and this step has only reset the environments
                continue
            advantage = (reward - reward[played].mean())[:, None] * played[:, None]
            np.add.at(logits, seen, rate / num_envs * advantage * (np.eye(NUM_MOVES)[moves] - chances))
            means.append(float(reward[played].mean()))
    return means


def main(argv=None):
    """Train and report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--updates", type=positive, default=300)
    parser.add_argument("--workers", default="inline", help="see envpool.make_python")
    parser.add_argument("--target", type=number, help="exit with an error if the mean reward stays below")
    args = parser.parse_args(argv)
    means = train(args.updates, workers=args.workers)
    mean = float(np.mean(means[-20:]))
    print(f"rock paper scissors: mean reward {means[0]:.2f} at first, {mean:.2f} in the last 20 updates")
    if args.target is not None and mean < args.target:
        sys.exit(f"the target {args.target:g} was not reached")


if __name__ == "__main__":
    main()
