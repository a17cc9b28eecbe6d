"""Self-play: PPO learns connect four against itself, and is measured against two opponents with fixed rules.

    python examples/connect_four.py --plot connect_four.png

The pool plays the other player of each game (``controlled="alternate"``), so the learner sees its own turns only, in
alternating seats, and PPO is the same as for a task with one player. After each update, a copy of the network replaces
``env.opponents``: half of the time the newest one, otherwise an older one. An opponent is a function of a batch of
observations and of info. Those with rules are ``random_moves`` and ``minimax``, which looks two moves ahead. In
training, the learner meets ``minimax`` in every third game.
"""

import argparse
import copy
import time

import numpy as np
import torch
from torch import nn
from torch.nn import functional

import envpool
from envpool.rollout import Progress, Sampler, gae
from envpool.training.options import natural, number, positive, positive_number, share

TASK = "ConnectFour-v0"
MOVES = 7
#: Older networks that are kept as opponents, and the number of updates between two of them.
LEAGUE, LEAGUE_EVERY = 20, 5
RANDOM_MOVES = 0.1  # share of the moves of these opponents
PASSES, MINIBATCHES, CLIP, VALUE_COEF, MAX_GRAD_NORM = 3, 16, 0.2, 0.5, 0.5


def parse_args(argv=None):
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add, default = parser.add_argument, " (default: %(default)s)"
    add("--seed", type=natural, default=1, help="seed of the network, the sampling and the pools" + default)
    add("--num-envs", type=positive, default=128, help="games that are played at once" + default)
    add("--num-steps", type=positive, default=32, help="moves of the learner in each game per update" + default)
    add("--updates", type=positive, default=150, help="number of updates" + default)
    add("--learning-rate", type=positive_number, default=1e-3, help="Adam's step size; falls to 0" + default)
    add("--gamma", type=share, default=0.99, help="discount" + default)
    add("--gae-lambda", type=share, default=0.9, help="decay of the advantage estimate" + default)
    add("--entropy-coef", type=positive_number, default=0.02, help="weight of the entropy bonus" + default)
    add("--hidden", type=positive, default=256, help="units in the hidden layer" + default)
    add("--games", type=positive, default=200, help="games of an evaluation, for each opponent" + default)
    add("--evaluate-every", type=positive, default=20, help="updates between evaluations" + default)
    add("--target", type=number, help="score against minimax, from 0 to 1; exit with an error if it is not reached")
    add("--plot", help="write the scores to this PNG file")
    return parser.parse_args(argv)


# ---- opponents with rules --------------------------------------------------------------------------------------------


def choose(mask, rng):
    """Return the index of a random True of each row of a mask (n, moves)."""
    return (mask * rng.random(mask.shape)).argmax(1)


def random_moves(rng):
    """Return an opponent that makes any legal move."""
    return lambda obs, info: choose(info["legal_action_mask"], rng)


def drop(boards):
    """Return the boards (..., 7, 6, 7) after a disc of the player to move in each column, and which moves are legal.

    Boards are int8 (..., 6, 7), the top row first: 1 for the discs of the player to move, -1 for those of the other.
    """
    height = (boards == 0).sum(-2)  # free cells of each column
    lands = np.arange(6)[:, None] == height[..., None, :] - 1  # (..., 6, 7): where a disc in each column comes to rest
    columns = np.eye(MOVES, dtype=bool)[:, None, :]
    return boards[..., None, :, :] + (lands[..., None, :, :] & columns), height > 0


def wins(boards):
    """Return whether four discs of value 1 are in a line, bool (...)."""
    b = boards == 1
    rows = b[..., :, :4] & b[..., :, 1:5] & b[..., :, 2:6] & b[..., :, 3:]
    columns = b[..., :3, :] & b[..., 1:4, :] & b[..., 2:5, :] & b[..., 3:, :]
    down = b[..., :3, :4] & b[..., 1:4, 1:5] & b[..., 2:5, 2:6] & b[..., 3:, 3:]
    up = b[..., 3:, :4] & b[..., 2:5, 1:5] & b[..., 1:4, 2:6] & b[..., :3, 3:]
    return rows.any((-2, -1)) | columns.any((-2, -1)) | down.any((-2, -1)) | up.any((-2, -1))


def minimax(rng):
    """Return an opponent that looks two moves ahead: it wins if it can, else leaves no win if it can."""

    def act(obs, info):
        boards = obs[..., 0] - obs[..., 1]
        after, legal = drop(boards)
        replies, may_reply = drop(-after)
        value = wins(after) - 1.0 * (wins(replies) & may_reply).any(-1) * ~wins(after)
        value[~legal] = -np.inf
        return choose(value == value.max(1, keepdims=True), rng)

    return act


# ---- the learner -----------------------------------------------------------------------------------------------------


class Agent(nn.Module):
    """A policy and a value; the convolution sees each square of 4 x 4 cells, where the lines are."""

    def __init__(self, hidden):
        super().__init__()
        self.lines = nn.Conv2d(2, 64, 4)
        self.hidden = nn.Linear(64 * 3 * 4, hidden)
        self.actor, self.critic = nn.Linear(hidden, MOVES), nn.Linear(hidden, 1)
        nn.init.orthogonal_(self.actor.weight, 0.01)

    def forward(self, obs, mask):
        """Return logits (n, 7), which are -inf for illegal moves, and values (n,)."""
        x = functional.relu(self.lines(obs.movedim(-1, 1).float())).flatten(1)
        x = functional.relu(self.hidden(x))
        return self.actor(x).masked_fill(~mask, -torch.inf), self.critic(x)[:, 0]

    @torch.no_grad()
    def evaluate(self, obs, mask):
        """Return logits and values for arrays, as arrays."""
        logits, value = self(torch.from_numpy(obs), torch.from_numpy(mask | ~mask.any(1, keepdims=True)))
        return logits.numpy(), value.numpy()

    def policy(self, sampler=None):
        """Return a function of observations and info that samples moves, or without a sampler takes the likeliest."""

        def act(obs, info):
            logits, _ = self.evaluate(obs, info["legal_action_mask"])
            return logits.argmax(1) if sampler is None else sampler.categorical(logits).actions

        return act

    def opponent(self, sampler, rng):
        """Return an opponent: a copy of the network, and in every third game minimax, which punishes each oversight.

        Some of the moves are random, so that games differ.
        """
        policy, rules = copy.deepcopy(self).policy(sampler), minimax(rng)

        def act(obs, info):
            moves = np.where(info["env_id"] % 3 == 0, rules(obs, info), policy(obs, info))
            return np.where(rng.random(len(obs)) < RANDOM_MOVES, choose(info["legal_action_mask"], rng), moves)

        return act


class Data:
    """The transitions between two updates: arrays (T, N, ...)."""

    def __init__(self, num_steps, num_envs):
        shape = (num_steps, num_envs)
        self.obs = np.zeros((*shape, 6, 7, 2), np.int8)
        self.mask = np.zeros((*shape, MOVES), np.bool_)
        self.action = np.zeros(shape, np.int64)
        self.logprob, self.value, self.reward = (np.zeros(shape, np.float32) for _ in range(3))
        self.terminated = np.zeros(shape, np.bool_)

    def collect(self, env, agent, sampler, result):
        """Play `num_steps` moves in each game; `result` is (obs, info), and so is what the function returns."""
        obs, info = result
        for t in range(len(self.obs)):
            logits, self.value[t] = agent.evaluate(obs, info["legal_action_mask"])
            self.obs[t], self.mask[t] = obs, info["legal_action_mask"]
            self.action[t], self.logprob[t], _ = sampler.categorical(logits)
            obs, self.reward[t], self.terminated[t], _, info = env.step(self.action[t])
        return obs, info


def update(args, agent, optimizer, data, last_value, sampler):
    """Improve the network with the data."""
    advantage, target = gae(
        data.reward,
        data.value,
        last_value,
        data.terminated,
        np.zeros_like(data.terminated),
        gamma=args.gamma,
        lam=args.gae_lambda,
    )
    advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
    arrays = (data.obs, data.mask, data.action, data.logprob, advantage, target)
    obs, mask, action, logprob, advantage, target = (torch.from_numpy(a.reshape(-1, *a.shape[2:])) for a in arrays)
    for _ in range(PASSES):
        for part in torch.from_numpy(sampler.permutation(len(obs))).chunk(MINIBATCHES):
            logits, value = agent(obs[part], mask[part])
            log_probs = functional.log_softmax(logits, 1)
            ratio = (log_probs.gather(1, action[part, None])[:, 0] - logprob[part]).exp()
            gain = torch.minimum(ratio * advantage[part], ratio.clamp(1 - CLIP, 1 + CLIP) * advantage[part])
            entropy = -(log_probs.exp() * log_probs.masked_fill(~mask[part], 0)).sum(1)
            loss = -gain.mean() - args.entropy_coef * entropy.mean()
            loss = loss + VALUE_COEF * (value - target[part]).square().mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(agent.parameters(), MAX_GRAD_NORM)
            optimizer.step()


def score(policy, opponent, games, seed):
    """Return the mean score of a policy against an opponent: 1 for a win, 0.5 for a draw; it begins half of them."""
    num_envs = (games + 1) // 2
    points, left = [], np.full(num_envs, 2)  # one game in each seat
    with envpool.make_gymnasium(
        TASK, num_envs=num_envs, seed=seed, controlled="alternate", opponents=opponent, autoreset_mode="same_step"
    ) as env:
        obs, info = env.reset()
        while left.any():
            obs, reward, terminated, _, info = env.step(policy(obs, info))
            points += ((1 + reward[terminated & (left > 0)]) / 2).tolist()
            left -= terminated & (left > 0)
    return float(np.mean(points))


def train(args):
    """Return the numbers of moves of the learner, and the scores against each opponent, at each evaluation."""
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    sampler, rng = Sampler(args.seed), np.random.default_rng(args.seed)
    agent, data = Agent(args.hidden), Data(args.num_steps, args.num_envs)
    optimizer = torch.optim.Adam(agent.parameters(), lr=args.learning_rate, eps=1e-5)
    rules = {"random moves": random_moves(rng), "minimax, two moves deep": minimax(rng)}
    league, steps, scores = [agent.opponent(sampler, rng)], [], {name: [] for name in rules}
    env = envpool.make_gymnasium(
        TASK, num_envs=args.num_envs, seed=args.seed, controlled="alternate", autoreset_mode="same_step"
    )
    per_update = args.num_steps * args.num_envs
    with env, Progress(args.updates * per_update, "moves") as progress:
        env.opponents = league[0]
        result = env.reset()
        for k in range(args.updates + 1):
            if k % args.evaluate_every == 0 or k == args.updates:
                steps.append(k * per_update)
                for name, opponent in rules.items():
                    scores[name].append(score(agent.policy(), opponent, args.games, args.seed))
                text = ", ".join(f"{name} {values[-1]:.3f}" for name, values in scores.items())
                print(f"{steps[-1]} moves: {text}", flush=True)
            if k == args.updates:
                break
            optimizer.param_groups[0]["lr"] = args.learning_rate * (1 - k / args.updates)
            result = data.collect(env, agent, sampler, result)
            _, last_value = agent.evaluate(result[0], result[1]["legal_action_mask"])
            update(args, agent, optimizer, data, last_value, sampler)
            progress.update(per_update)
            env.opponents = agent.opponent(sampler, rng)
            if k % LEAGUE_EVERY == 0:
                league = [*league[-LEAGUE:], env.opponents]
            if rng.random() < 0.5:
                env.opponents = league[rng.integers(len(league))]
    return steps, scores


def plot(path, title, steps, scores):
    """Write the scores to a PNG file."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(6.4, 3.6), layout="constrained")
    for name, values in scores.items():
        axes.plot(steps, values, label=f"against {name}")
    axes.set(xlabel="moves of the learner", ylabel="score", ylim=(0, 1.02), title=title)
    axes.grid(alpha=0.3)
    axes.legend(loc="lower right")
    figure.savefig(path, dpi=100)


def main(argv=None):
    """Train and report."""
    args = parse_args(argv)
    start = time.perf_counter()
    steps, scores = train(args)
    results = ", ".join(f"{values[-1]:.3f} against {name}" for name, values in scores.items())
    print(f"PPO on {TASK}: scores {results}, seed {args.seed}, {time.perf_counter() - start:.1f} s")
    if args.plot:
        plot(args.plot, f"Self-play PPO on {TASK}, seed {args.seed}", steps, scores)
    last = scores["minimax, two moves deep"][-1]
    if args.target is not None and last < args.target:
        raise SystemExit(f"the target {args.target:g} was not reached")


if __name__ == "__main__":
    main()
