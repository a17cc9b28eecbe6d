"""Domain randomization: a policy that was trained on many carts and poles, beside one that was trained on one of each.

    python examples/domain_randomization.py --plot randomization.png

Two policies are trained by PPO with the same seed and the same number of steps: one on CartPole as it is, one on a pool
in which each environment draws the mass of its cart, the mass and the length of its pole and the duration of a step
again for each episode (the option `randomize`). Both are then evaluated on carts that neither has seen.
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

TASK = "CartPole-v1"
#: Parameter -> range of the values, which are drawn log-uniformly.
RANGES = {"masscart": (0.3, 3.0), "masspole": (0.03, 1.0), "length": (0.2, 8.0), "tau": (0.01, 0.06)}
RANDOMIZE = {name: ("loguniform", *limits) for name, limits in RANGES.items()}
#: Parameter -> values of the evaluation along one axis, within the range and beyond it.
AXES = {"length": np.geomspace(0.1, 16.0, 13), "tau": np.geomspace(0.005, 0.1, 13)}
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
    add("--total-timesteps", type=natural, default=300_000, help="steps of each training (default: %(default)s)")
    add("--episodes", type=positive, default=200, help="episodes of an evaluation (default: %(default)s)")
    add("--target", type=number, help="mean return on unseen carts; exit with an error if it is not reached")
    add("--plot", help="write the returns to this PNG file")
    return parser.parse_args(argv)


def drawn(rng, count):
    """Return values of all parameters in RANGES for the `count` environments of an evaluation."""
    return {name: np.exp(rng.uniform(*np.log(limits), count)) for name, limits in RANGES.items()}


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


def make_pool(seed, randomize):
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
        randomize=randomize,
    )


@torch.no_grad()
def collect(pool, rollout, agent, sampler, obs, returns):
    """Fill the rollout; return its data and the last observations."""
    for _ in range(NUM_STEPS):
        sample = sampler.categorical(agent.actor(torch.from_numpy(obs)).numpy())
        obs, *_, info = rollout.step(sample.actions, log_prob=sample.log_probs)
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


def learn(pool, agent, seed, total_timesteps):
    """Train an agent on a pool."""
    returns, sampler = deque(maxlen=100), Sampler(seed)
    optimizer = torch.optim.Adam(agent.parameters(), lr=LEARNING_RATE, eps=1e-5)
    rollout = envpool.Rollout(pool, NUM_STEPS, {"log_prob": np.float32})
    obs, _ = rollout.reset()
    with Progress(total_timesteps) as progress:
        for step in range(0, total_timesteps, NUM_STEPS * NUM_ENVS):
            optimizer.param_groups[0]["lr"] = LEARNING_RATE * (1 - step / total_timesteps)
            data, obs = collect(pool, rollout, agent, sampler, obs, returns)
            update(agent, optimizer, data, sampler)
            progress.update(NUM_STEPS * NUM_ENVS, f"mean return {np.mean(returns):.1f}" if returns else "")


# ---- the comparison --------------------------------------------------------------------------------------------------


def train(args, is_randomized):
    """Return an agent that was trained on CartPole, or on carts that differ from episode to episode."""
    with make_pool(args.seed, RANDOMIZE if is_randomized else None) as pool:
        agent = Agent(pool)
        learn(pool, agent, args.seed, args.total_timesteps)
    return agent


def returns_of(agent, count, seed, **params):
    """Return the returns of one episode in each of `count` environments with parameters of their own."""
    return envpool.evaluate(agent.best, TASK, count, seed, num_envs=count, **params).returns


def evaluate(args, agent):
    """Return the returns on random unseen carts, and the mean return along each axis."""
    unseen = drawn(np.random.default_rng(args.seed + 1000), args.episodes)
    everywhere = returns_of(agent, args.episodes, EVALUATION_SEED, **unseen)
    means = {}
    for name, values in AXES.items():
        own = {name: np.repeat(values, args.episodes)}
        returns = returns_of(agent, len(own[name]), EVALUATION_SEED, **own)
        means[name] = returns.reshape(len(values), -1).mean(axis=1)
    return everywhere, means


def plot(path, results, seed):
    """Plot the mean return along each axis, and the distribution of returns on unseen carts."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, 3, figsize=(11, 3.8), layout="constrained", sharey=True)
    texts = {"length": "half length of the pole (m)", "tau": "duration of a step (s)"}
    for chart, (name, values) in zip(axes, AXES.items(), strict=False):
        chart.axvspan(*RANGES[name], color="0.93", label="range of the training")
        for label, (_, means) in results.items():
            chart.plot(values, means[name], ".-", label=label)
        chart.axvline(getattr(envpool.make_spec(TASK).config, name), color="0.5", linestyle=":", label="CartPole-v1")
        chart.set(xscale="log", xlabel=texts[name])
    axes[0].set_ylabel("mean return")
    axes[0].legend(loc="lower left", fontsize="small")
    for label, (everywhere, _) in results.items():
        axes[2].plot(np.linspace(0, 100, len(everywhere)), np.sort(everywhere), label=label)
    axes[2].set(xlabel="percentile of carts with unseen masses,\nlengths and durations")
    figure.suptitle(f"CartPole with other parameters, seed {seed}")
    figure.savefig(path, dpi=120)
    plt.close(figure)


def main(argv=None):
    """Train both policies, evaluate and report; exit with an error if a target was set and not reached."""
    args = parse_args(argv)
    results = {}
    for label, is_randomized in (("trained on CartPole-v1", False), ("trained on random carts", True)):
        results[label] = evaluate(args, train(args, is_randomized))
        print(f"{label}: mean return {results[label][0].mean():.1f} on unseen carts, seed {args.seed}")
    if args.plot:
        plot(args.plot, results, args.seed)
    reached = results["trained on random carts"][0].mean()
    if args.target is not None and not reached >= args.target:
        raise SystemExit(f"the target {args.target:g} was not reached")
    return results


if __name__ == "__main__":
    main()
