"""A curriculum: the task becomes harder as soon as the policy succeeds, and easier if it fails.

    python examples/curriculum.py --plot curriculum.png

The car of MountainCar-v0 is too weak for its hill, and random pushes hardly ever take it to the flag, so PPO learns
slowly. With the curriculum, the motor is strong at first. Whenever most episodes reach the flag, it becomes weaker,
until it is that of the task; if most of them fail, it becomes stronger. ``envpool.Curriculum`` counts the successes and
tells the pool the force of the next episodes. The policy is evaluated on the unchanged task, next to one that was
trained on it without a curriculum.
"""

import argparse
from collections import deque

import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical

import envpool
from envpool.rollout import Progress, Sampler, gae, shuffled
from envpool.training.options import natural, number, positive

TASK = "MountainCar-v0"
FORCE = envpool.make_spec(TASK).param_spec["force"].default  # of the motor
EASIEST = 5.0  # the force at level 0, in multiples of FORCE
#: How the level follows the success: `step` up or down, as the share of successes among `window` episodes says.
LEVELS = {"step": 0.05, "harder_at": 0.7, "easier_at": 0.3, "window": 32}
#: Settings of PPO, as in ppo.py.
NUM_ENVS, NUM_STEPS, HIDDEN, LEARNING_RATE, EPOCHS, MINIBATCHES = 64, 64, 64, 2e-3, 4, 8
GAMMA, GAE_LAMBDA, CLIP, CLIP_OBS, ENTROPY_COEF, VALUE_COEF, MAX_GRAD_NORM = 0.99, 0.95, 0.2, 10.0, 0.005, 0.5, 0.5
#: Seed of evaluations, far from the seeds of training.
EVALUATION_SEED = 1_000_000


def parse_args(argv=None):
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add(
        "--seed",
        type=natural,
        default=1,
        help="seed of networks, sampling and pools (default: %(default)s)",
    )
    add("--total-timesteps", type=natural, default=1_000_000, help="steps of each training (default: %(default)s)")
    add("--episodes", type=positive, default=100, help="episodes of an evaluation (default: %(default)s)")
    add(
        "--evaluate-every",
        type=positive,
        default=10,
        help="updates between evaluations (default: %(default)s)",
    )
    add("--target", type=number, help="mean return on the task; exit with an error if it is not reached")
    add("--plot", help="write the curves to this PNG file")
    return parser.parse_args(argv)


def motor(level):
    """Return the distribution of the force at a level from 0, the strongest motor, to 1, that of the task."""
    return {"force": ("choice", [FORCE * EASIEST ** (1 - level)])}


# ---- PPO -------------------------------------------------------------------------------------------------------------


class Agent(nn.Module):
    """A policy and a value network for vectors and discrete actions, and the scale of the observations."""

    def __init__(self, pool):
        super().__init__()
        inputs, actions = pool.observation_space.shape[0], int(pool.action_space.n)
        self.actor, self.critic = mlp(inputs, actions, 0.01), mlp(inputs, 1, 1.0)
        self.mean, self.std = np.zeros(inputs), np.ones(inputs)

    @torch.no_grad()
    def best(self, obs):
        """Return the likeliest actions for observations of the task as it is."""
        inputs = np.clip((obs - self.mean) / self.std, -CLIP_OBS, CLIP_OBS).astype(np.float32)
        return self.actor(torch.from_numpy(inputs)).argmax(dim=1).numpy()


def mlp(inputs, outputs, gain):
    """Return a network with two hidden tanh layers and orthogonal weights; `gain` scales the last layer."""
    layers = []
    for size, units, scale in ((inputs, HIDDEN, 2**0.5), (HIDDEN, HIDDEN, 2**0.5), (HIDDEN, outputs, gain)):
        layer = nn.Linear(size, units)
        nn.init.orthogonal_(layer.weight, scale)
        nn.init.zeros_(layer.bias)
        layers += [layer, nn.Tanh()]
    return nn.Sequential(*layers[:-1])


def make_pool(seed):
    """Seed torch, and return a pool that prepares observations and rewards for the networks."""
    torch.manual_seed(seed)
    torch.set_num_threads(1)  # networks this small run fastest on one thread
    return envpool.make_gymnasium(
        TASK,
        num_envs=NUM_ENVS,
        # Environment i has the seed of the pool plus i: runs with the seeds 1, 2, ... have no environments in common.
        seed=seed * NUM_ENVS,
        normalize_obs=True,
        clip_obs=CLIP_OBS,
        normalize_reward={"gamma": GAMMA},
        episode_statistics=True,
        finished_episodes=True,
    )


@torch.no_grad()
def collect(pool, rollout, agent, sampler, obs, curriculum, returns):
    """Fill the rollout; return its data and the last observations.

    An episode that terminated has reached the flag; the others end by the time limit. The next step resets their
    environments (autoreset_mode "next_step"), with the force of the level that the curriculum then has.
    """
    for _ in range(NUM_STEPS):
        sample = sampler.categorical(agent.actor(torch.from_numpy(obs)).numpy())
        obs, _, terminated, truncated, info = rollout.step(sample.actions, log_prob=sample.log_probs)
        ended = terminated | truncated
        if curriculum is not None and ended.any():
            curriculum.update(terminated[ended])
        returns.extend(info["finished"]["r"] if "finished" in info else ())
    scale = pool.normalization.get()
    agent.mean, agent.std = scale["obs.mean"].copy(), np.sqrt(scale["obs.var"] + 1e-8)
    return rollout.finish(), obs


def update(agent, optimizer, data, sampler):
    """Improve the networks on a rollout."""
    inputs = torch.from_numpy(data.obs).flatten(0, 1)
    with torch.no_grad():
        old = agent.critic(inputs).numpy().reshape(data.reward.shape)
        last = agent.critic(torch.from_numpy(data.last_obs)).numpy()[:, 0]
    estimate = gae(
        data.reward, old, last, data.terminated, data.truncated, mask=data.valid, gamma=GAMMA, lam=GAE_LAMBDA
    )
    columns = inputs, *(torch.from_numpy(x).flatten(0, 1) for x in (data.action, data.log_prob, old, *estimate))
    size = -(-int(data.valid.sum()) // MINIBATCHES)
    for _ in range(EPOCHS):
        for rows in map(torch.from_numpy, shuffled(data.valid, size, sampler)):
            descend(agent, optimizer, *(x[rows] for x in columns))


def descend(agent, optimizer, inputs, action, log_prob, old_value, advantage, target):
    """Take a gradient step on a minibatch."""
    policy, value = Categorical(logits=agent.actor(inputs), validate_args=False), agent.critic(inputs).squeeze(1)
    ratio = (policy.log_prob(action) - log_prob).exp()
    gain = (advantage - advantage.mean()) / (advantage.std(correction=0) + 1e-8)
    policy_loss = torch.max(-gain * ratio, -gain * ratio.clamp(1 - CLIP, 1 + CLIP)).mean()
    clipped = old_value + (value - old_value).clamp(-CLIP, CLIP)
    value_loss = torch.max((value - target) ** 2, (clipped - target) ** 2).mean() / 2
    loss = policy_loss + VALUE_COEF * value_loss - ENTROPY_COEF * policy.entropy().mean()
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(agent.parameters(), MAX_GRAD_NORM)
    optimizer.step()


def learn(pool, agent, seed, total_timesteps, curriculum, after_update):
    """Train an agent on a pool whose task follows a curriculum, or stays as it is if that is None."""
    returns, sampler = deque(maxlen=100), Sampler(seed)
    optimizer = torch.optim.Adam(agent.parameters(), lr=LEARNING_RATE, eps=1e-5)
    rollout = envpool.Rollout(pool, NUM_STEPS, {"log_prob": np.float32})
    obs, _ = rollout.reset()
    with Progress(total_timesteps) as progress:
        for step in range(0, total_timesteps, NUM_STEPS * NUM_ENVS):
            optimizer.param_groups[0]["lr"] = LEARNING_RATE * (1 - step / total_timesteps)
            data, obs = collect(pool, rollout, agent, sampler, obs, curriculum, returns)
            update(agent, optimizer, data, sampler)
            progress.update(NUM_STEPS * NUM_ENVS, f"mean return {np.mean(returns):.1f}" if returns else "")
            after_update(step + NUM_STEPS * NUM_ENVS)


# ---- the comparison --------------------------------------------------------------------------------------------------


def train(args, has_curriculum):
    """Train an agent; return rows (steps, level, mean return on the task) of the evaluations."""
    rows = []
    with make_pool(args.seed) as pool:
        agent, curriculum = Agent(pool), envpool.Curriculum(pool, motor, **LEVELS) if has_curriculum else None

        def after_update(step):
            if step // (NUM_ENVS * NUM_STEPS) % args.evaluate_every == 0:
                n = args.episodes  # the first one of each environment
                returns = envpool.evaluate(agent.best, TASK, n, EVALUATION_SEED, num_envs=n).returns
                rows.append((step, curriculum.level if has_curriculum else 1.0, returns.mean()))

        learn(pool, agent, args.seed, args.total_timesteps, curriculum, after_update)
    return np.array(rows)


def plot(path, results, seed):
    """Plot the return on the task and the level over the steps."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
    for label, rows in results.items():
        left.plot(rows[:, 0], rows[:, 2], label=label)
    threshold = envpool.make_spec(TASK).reward_threshold
    left.axhline(threshold, color="0.5", linestyle="--", label=f"solved: {threshold:g}")
    left.set(xlabel="environment steps", ylabel=f"mean return on {TASK}")
    left.legend()
    right.plot(*results["with a curriculum"][:, :2].T)
    right.set(xlabel="environment steps", ylabel="level of the curriculum", ylim=(-0.02, 1.02))
    figure.suptitle(f"PPO on {TASK}, seed {seed}")
    figure.savefig(path, dpi=120)
    plt.close(figure)


def main(argv=None):
    """Train with and without the curriculum, and report; exit with an error if a target was set and not reached."""
    args = parse_args(argv)
    results = {}
    for label, has_curriculum in (("without", False), ("with a curriculum", True)):
        results[label] = train(args, has_curriculum)
        print(f"{TASK}, {label}: mean return {results[label][-1, 2]:.1f} at the end, seed {args.seed}")
    if args.plot:
        plot(args.plot, results, args.seed)
    if args.target is not None and not results["with a curriculum"][-1, 2] >= args.target:
        raise SystemExit(f"the target {args.target:g} was not reached")
    return results


if __name__ == "__main__":
    main()
