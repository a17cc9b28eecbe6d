"""MAPPO on tasks with several agents: PPO with a critic that sees all of them (Yu et al., 2022).

    python examples/mappo.py --plot mappo.png
    python examples/mappo.py --task MPE/simple_reference-v3 --seeds 3 --plot mappo.png
    python examples/mappo.py --independent  # each agent's critic sees no more than the agent does
    python examples/mappo.py --save mappo.pt
    envpool watch MPE/simple_spread-v3 --policy examples/mappo.py:load --load mappo.pt

Points to note about a pool with players:

- ``players="grid"`` returns arrays (num_envs, players, ...). All agents share one policy, which also sees the number of
  its agent; the critic sees the observations of all agents of an environment, and estimates a value for each.
- Agents may have different numbers of actions: the policy never takes one that its agent does not have.
- The episode of an agent may end before that of its environment. ``player_valid`` of a rollout marks the steps in which
  an agent acted; only these count in the loss.
- The pool normalises the observations of all agents with the same statistics, and the rewards of each agent.
"""

import json
import time
from dataclasses import dataclass, replace

import numpy as np
import torch
from gymnasium.spaces import Box, MultiDiscrete
from torch import nn
from torch.distributions import Categorical

import envpool
from envpool.rollout import Progress, Sampler, gae, shuffled
from envpool.training import options as command_line
from envpool.training.curves import Measure, Returns, plot, plot_seeds
from envpool.training.files import check_files
from envpool.training.options import RunArgs, natural, natural_number, option, positive, positive_number, share

#: Observations beyond this number of standard deviations are clipped.
CLIP = 10.0
#: Seed of evaluations, far from the seeds of training.
EVALUATION_SEED = 1_000_000
#: What the curve shows.
MEASURE = Measure(value="return of all agents together")


@dataclass(frozen=True)
class Args(RunArgs):
    """Options of the command line."""

    task: str = option("MPE/simple_spread-v3", "task with players whose actions are discrete")
    num_envs: int = option(128, "environments in the pool", positive)
    total_timesteps: int = option(1_500_000, "largest number of environment steps", natural)
    num_steps: int = option(52, "steps of each environment between two updates", positive)
    learning_rate: float = option(
        2e-3, "Adam's step size at the start; falls to 0 over total_timesteps", positive_number
    )
    gamma: float = option(0.95, "discount", share)
    gae_lambda: float = option(0.95, "decay of the advantage estimate", share)
    epochs: int = option(8, "passes over the data of an update", positive)
    minibatches: int = option(4, "gradient steps in a pass", positive)
    clip: float = option(0.2, "clipping range of the probability ratio", positive_number)
    entropy_coef: float = option(0.01, "weight of the entropy bonus", natural_number)
    max_grad_norm: float = option(0.5, "gradient clipping", positive_number)
    hidden: int = option(64, "units in each of the two hidden layers", positive)
    independent: bool = option(False, "independent PPO: the critic of an agent sees only what the agent sees")
    episodes: int = option(1000, "episodes of the evaluations after the training; 0 for none", natural)
    save: str = option(None, "write the policy to this file at the end", str)


class Agents(nn.Module):
    """A policy that all agents share, and their critic.

    Parameters
    ----------
    pool : EnvPool
        A pool with ``players="grid"``.
    hidden : int
        Units in a hidden layer.
    independent : bool
        If True, the value of an agent is computed from its own observation.
    """

    def __init__(self, pool, hidden, independent=False):
        super().__init__()
        obs, actions = pool.observation_space, pool.action_space
        if not (isinstance(obs, Box) and isinstance(actions, MultiDiscrete)):
            raise SystemExit(f"this example needs observations from a Box and discrete actions; got {obs}, {actions}")
        self.players, size = obs.shape[0], int(np.prod(obs.shape[1:]))
        choices = torch.from_numpy(actions.nvec)
        # Which of the outputs (players, actions) are actions of an agent.
        self.register_buffer("allowed", torch.arange(int(choices.max())) < choices[:, None])
        self.register_buffer("number", torch.eye(self.players))
        self.register_buffer("mean", torch.zeros(size))
        self.register_buffer("std", torch.ones(size))
        self.independent = independent
        self.actor = mlp(size + self.players, hidden, self.allowed.shape[1], 0.01)
        if independent:
            self.critic = mlp(size + self.players, hidden, 1)
        else:
            self.critic = mlp(size * self.players, hidden, self.players)

    def numbered(self, obs):
        """Return observations (n, players, size) to which the number of the agent is appended, one-hot."""
        return torch.cat([obs, self.number.expand(len(obs), -1, -1)], dim=2)

    def logits(self, obs):
        """Return the logits of the actions (n, players, actions) for observations (n, players, size)."""
        return self.actor(self.numbered(obs)).masked_fill(~self.allowed, -torch.inf)

    def values(self, obs):
        """Return the expected discounted returns (n, players)."""
        return self.critic(self.numbered(obs)).squeeze(2) if self.independent else self.critic(obs.flatten(1))

    def learn_scale(self, normalization):
        """Keep the scale of observations, given `pool.normalization`."""
        found = normalization.get()
        self.mean.copy_(torch.from_numpy(found["obs.mean"].ravel()))
        self.std.copy_(torch.from_numpy(np.sqrt(found["obs.var"].ravel() + 1e-8)))

    @torch.no_grad()
    def best(self, obs):
        """Return the likeliest actions (n, players) for observations of the task as it is, a grid."""
        inputs = torch.from_numpy(np.asarray(obs, np.float32)).flatten(2)
        return self.logits(((inputs - self.mean) / self.std).clamp(-CLIP, CLIP)).argmax(dim=2).numpy()


def mlp(inputs, hidden, outputs, gain=1.0):
    """Return a network with two hidden tanh layers and orthogonal weights."""
    sizes = [(inputs, hidden, 2**0.5), (hidden, hidden, 2**0.5), (hidden, outputs, gain)]
    layers = []
    for size, units, scale in sizes:
        layer = nn.Linear(size, units)
        nn.init.orthogonal_(layer.weight, scale)
        nn.init.zeros_(layer.bias)
        layers += [layer, nn.Tanh()]
    return nn.Sequential(*layers[:-1])


def train(args):
    """Train until the target or the last step is reached; return the Agents and the Returns of all agents together."""
    torch.manual_seed(args.seed)
    torch.set_num_threads(args.torch_threads)
    options = {"normalize_obs": True, "clip_obs": CLIP, "normalize_reward": {"gamma": args.gamma}}
    pool = envpool.make_gymnasium(
        args.task,
        num_envs=args.num_envs,
        # Environment i has the seed of the pool plus i: runs with the seeds 1, 2, ... have no environments in common.
        seed=args.seed * args.num_envs,
        num_threads=args.env_threads,
        players="grid",
        episode_statistics=True,
        finished_episodes=True,
        **options | json.loads(args.options),
    )
    returns, sampler = Returns(), Sampler(args.seed)
    with pool, Progress(args.total_timesteps) as progress:
        agents = Agents(pool, args.hidden, args.independent)
        optimizer = torch.optim.Adam(agents.parameters(), lr=args.learning_rate, eps=1e-5)
        of_players = (np.float32, (agents.players,))
        rollout = envpool.Rollout(pool, args.num_steps, {"log_prob": of_players})
        obs, _ = rollout.reset()
        per_update = args.num_envs * args.num_steps
        for step in range(0, args.total_timesteps, per_update):
            optimizer.param_groups[0]["lr"] = args.learning_rate * (1 - step / args.total_timesteps)
            for t in range(args.num_steps):
                actions, log_probs = act(agents, obs, sampler)
                obs, *_, info = rollout.step(actions, log_prob=log_probs)
                returns.add(info, step + (t + 1) * args.num_envs)
            update(args, agents, optimizer, rollout.finish(), sampler)
            progress.update(per_update, f"mean return {returns.mean:.1f}")
            if args.target is not None and returns.has_reached(args.target):
                break
        agents.learn_scale(pool.normalization)
    return agents, returns


@torch.no_grad()
def act(agents, obs, sampler):
    """Return actions and their log-probabilities, arrays (num_envs, players)."""
    logits = agents.logits(torch.from_numpy(obs).flatten(2))
    sample = sampler.categorical(logits.flatten(0, 1).numpy())
    return tuple(x.reshape(len(obs), agents.players) for x in (sample.actions, sample.log_probs))


def update(args, agents, optimizer, data, sampler):
    """Improve the networks on a rollout."""
    with torch.no_grad():
        inputs = torch.from_numpy(data.obs).flatten(0, 1).flatten(2)  # (num_steps * num_envs, players, size)
        values = agents.values(inputs).numpy().reshape(data.reward.shape)
        last = agents.values(torch.from_numpy(data.last_obs).flatten(2)).numpy()
    ends = data.player_terminated, data.player_truncated
    advantages, targets = gae(
        data.reward, values, last, *ends, gamma=args.gamma, lam=args.gae_lambda, mask=data.player_valid
    )
    counted = advantages[data.player_valid]
    advantages = (advantages - counted.mean()) / (counted.std() + 1e-8)
    columns = data.action, data.log_prob, advantages, targets, data.player_valid
    actions, log_probs, gains, targets, counts = (torch.from_numpy(x).flatten(0, 1) for x in columns)
    size = max(int(data.valid.sum()) // args.minibatches, 1)
    for _ in range(args.epochs):
        for rows in map(torch.from_numpy, shuffled(data.valid, size, sampler)):
            policy = Categorical(logits=agents.logits(inputs[rows]), validate_args=False)
            ratio = (policy.log_prob(actions[rows]) - log_probs[rows]).exp()
            gain = gains[rows]
            policy_loss = torch.max(-gain * ratio, -gain * ratio.clamp(1 - args.clip, 1 + args.clip))
            value_loss = nn.functional.huber_loss(agents.values(inputs[rows]), targets[rows], reduction="none")
            loss = policy_loss + value_loss - args.entropy_coef * policy.entropy()
            optimizer.zero_grad()
            loss[counts[rows]].mean().backward()
            nn.utils.clip_grad_norm_(agents.parameters(), args.max_grad_norm)
            optimizer.step()


def save(path, agents, args):
    """Write a policy to a file, from which `load` makes it again."""
    about = {name: getattr(args, name) for name in ("task", "options", "hidden", "independent")}
    torch.save({"networks": agents.state_dict(), **about}, path)


def load(path):
    """Return the policy of a file that `save` has written: a function from observations to the likeliest actions."""
    content = torch.load(path, map_location="cpu", weights_only=True)
    with envpool.make_gymnasium(content["task"], players="grid", **json.loads(content["options"])) as pool:
        agents = Agents(pool, content["hidden"], content["independent"])
    agents.load_state_dict(content["networks"])
    return agents.best


def evaluate(args, agents):
    """Print the mean returns of the likeliest actions and of random ones."""
    for name, policy in (("random actions", "random"), ("likeliest actions", agents.best)):
        options = json.loads(args.options)
        result = envpool.evaluate(policy, args.task, args.episodes, EVALUATION_SEED, num_envs=args.episodes, **options)
        low, high = result.interval
        print(f"{name}: mean return {result.mean:.1f} ({low:.1f} to {high:.1f}) over {len(result)} episodes")


def main(argv=None):
    """Train with each seed and report; exit with an error if a target was set and not reached."""
    args = command_line.parse_args(argv, Args)
    if args.seeds > 1 and args.save:
        raise SystemExit("--save belongs to a single run: leave out --seeds")
    check_files(args.save, None)
    runs, missed = [], []
    for seed in range(args.seed, args.seed + args.seeds):
        start = time.perf_counter()
        agents, returns = train(replace(args, seed=seed))
        runs.append((returns.steps, returns.values))
        print(
            f"{args.task}: {MEASURE.mean} {returns.mean:.1f} over {returns.counted}, "
            f"seed {seed}, {time.perf_counter() - start:.1f} s"
        )
        if args.episodes:
            evaluate(args, agents)
        if args.target is not None and not returns.has_reached(args.target):
            missed.append(seed)
    if args.save:
        save(args.save, agents, args)
    algorithm = "Independent PPO" if args.independent else "MAPPO"
    if args.plot and args.seeds == 1:
        plot(args.plot, f"{algorithm} on {args.task}, seed {args.seed}", *runs[0], args.target, MEASURE)
    elif args.plot:
        title = f"{algorithm} on {args.task}, seeds {args.seed} to {args.seed + args.seeds - 1}"
        plot_seeds(args.plot, title, runs, args.target, MEASURE)
    if missed:
        raise SystemExit(f"the target {args.target:g} was not reached with the seeds {missed}")


if __name__ == "__main__":
    main()
