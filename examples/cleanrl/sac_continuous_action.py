"""SAC with continuous actions in a single file, in the style of CleanRL. It imports nothing from this folder: copy it.

    python sac_continuous_action.py --env-id Hopper-v5 --total-timesteps 1000000
    tensorboard --logdir runs

The pool resets an environment in the step that ends its episode (autoreset_mode="same_step"), so that every row is a
transition; info["final_obs"] has the observations that the ended episodes led to. Episodes that a time limit has
truncated are bootstrapped from them.
"""

import argparse
import random
import time
from dataclasses import asdict, dataclass, fields

import numpy as np
import torch
from torch import nn
from torch.distributions import Normal
from torch.utils.tensorboard import SummaryWriter

import envpool


@dataclass
class Args:
    """Options of the command line."""

    exp_name: str = "sac_continuous_action"
    seed: int = 1
    cuda: bool = True
    env_id: str = "Hopper-v5"
    total_timesteps: int = 1_000_000
    num_envs: int = 1
    buffer_size: int = 1_000_000
    gamma: float = 0.99
    tau: float = 0.005
    batch_size: int = 256
    learning_starts: int = 5000
    policy_lr: float = 3e-4
    q_lr: float = 1e-3
    policy_frequency: int = 2
    alpha: float = 0.2
    autotune: bool = True


def parse_args(argv=None):
    """Return the command line as Args."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for field in fields(Args):
        kind = {"action": argparse.BooleanOptionalAction} if field.type is bool else {"type": field.type}
        parser.add_argument("--" + field.name.replace("_", "-"), default=field.default, **kind)
    return Args(**vars(parser.parse_args(argv)))


class ReplayBuffer:
    """The last transitions; memory is taken as it fills."""

    def __init__(self, size, obs_shape, action_shape):
        self.size, self.count = size, 0
        self.obs, self.next_obs = (np.empty((size, *obs_shape), np.float32) for _ in range(2))
        self.actions = np.empty((size, *action_shape), np.float32)
        self.rewards, self.terminated = np.empty(size, np.float32), np.empty(size, np.float32)

    def add(self, *arrays):
        """Add a transition of each environment: obs, next_obs, actions, rewards, terminated."""
        rows = (self.count + np.arange(len(arrays[0]))) % self.size
        for stored, array in zip(self.arrays(), arrays, strict=True):
            stored[rows] = array
        self.count += len(arrays[0])

    def arrays(self):
        """Return the arrays in the order of `add`."""
        return self.obs, self.next_obs, self.actions, self.rewards, self.terminated

    def sample(self, count, device):
        """Return random transitions as tensors, in the order of `add`."""
        rows = np.random.randint(0, min(self.count, self.size), count)
        return [torch.as_tensor(array[rows], device=device) for array in self.arrays()]


def layers(num_inputs, num_outputs):
    """Return a network with two hidden layers."""
    return nn.Sequential(
        nn.Linear(num_inputs, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, num_outputs)
    )


class Actor(nn.Module):
    """A Gaussian policy whose actions are squashed into the bounds of the action space."""

    def __init__(self, num_inputs, space):
        super().__init__()
        self.network = layers(num_inputs, 2 * space.shape[0])
        self.register_buffer("scale", torch.as_tensor((space.high - space.low) / 2, dtype=torch.float32))
        self.register_buffer("middle", torch.as_tensor((space.high + space.low) / 2, dtype=torch.float32))

    def forward(self, obs):
        """Return actions, and their log probabilities."""
        mean, log_std = self.network(obs).chunk(2, 1)
        policy = Normal(mean, (-5 + 3.5 * (log_std.tanh() + 1)).exp())  # log_std from -5 to 2
        raw = policy.rsample()
        squashed = raw.tanh()
        log_probs = policy.log_prob(raw) - (self.scale * (1 - squashed**2) + 1e-6).log()
        return squashed * self.scale + self.middle, log_probs.sum(1)


class Critic(nn.Module):
    """Two Q functions, the smaller of which counts."""

    def __init__(self, num_inputs, num_actions):
        super().__init__()
        self.networks = nn.ModuleList([layers(num_inputs + num_actions, 1) for _ in range(2)])

    def forward(self, obs, actions):
        """Return the values of both functions, (2, B)."""
        inputs = torch.cat([obs, actions], 1)
        return torch.stack([network(inputs).squeeze(1) for network in self.networks])


def main(argv=None):
    """Train an actor."""
    args = parse_args(argv)
    writer = SummaryWriter(f"runs/{args.env_id.replace('/', '-')}__{args.exp_name}__{args.seed}__{int(time.time())}")
    writer.add_text("hyperparameters", "\n".join(f"    {name}: {value}" for name, value in asdict(args).items()))
    random.seed(args.seed)
    np.random.seed(args.seed)
    torch.manual_seed(args.seed)
    device = torch.device("cuda" if torch.cuda.is_available() and args.cuda else "cpu")

    envs = envpool.make_gymnasium(
        args.env_id,
        num_envs=args.num_envs,
        seed=args.seed * args.num_envs,  # environment i gets this plus i: seeds 1, 2, ... share no environments
        autoreset_mode="same_step",
        episode_statistics=True,
    )
    num_inputs, space = envs.observation_space.shape[0], envs.action_space
    actor = Actor(num_inputs, space).to(device)
    critic, target = (Critic(num_inputs, space.shape[0]).to(device) for _ in range(2))
    target.load_state_dict(critic.state_dict())
    q_optimizer = torch.optim.Adam(critic.parameters(), lr=args.q_lr)
    actor_optimizer = torch.optim.Adam(actor.parameters(), lr=args.policy_lr)
    log_alpha = torch.full((), float(np.log(1.0 if args.autotune else args.alpha)), device=device, requires_grad=True)
    alpha_optimizer = torch.optim.Adam([log_alpha], lr=args.q_lr)
    buffer = ReplayBuffer(args.buffer_size, envs.observation_space.shape, space.shape)

    start, updates = time.time(), 0
    obs, _ = envs.reset()
    for global_step in range(0, args.total_timesteps, args.num_envs):
        if global_step < args.learning_starts:
            actions = np.random.uniform(space.low, space.high, (args.num_envs, *space.shape)).astype(np.float32)
        else:
            with torch.no_grad():
                actions = actor(torch.as_tensor(obs, dtype=torch.float32, device=device))[0].cpu().numpy()

        next_obs, rewards, terminated, truncated, info = envs.step(actions)
        if "episode" in info:
            for score in info["episode"]["r"][info["_episode"]]:
                print(f"global_step={global_step}, episodic_return={score}")
                writer.add_scalar("charts/episodic_return", score, global_step)
        real_next_obs, ended = next_obs, terminated | truncated
        if ended.any():
            real_next_obs = next_obs.copy()
            real_next_obs[ended] = info["final_obs"][ended]
        buffer.add(obs, real_next_obs, actions, rewards, terminated)
        obs = next_obs

        if global_step <= args.learning_starts:
            continue
        for _ in range(args.num_envs):  # one update per transition
            updates += 1
            b_obs, b_next_obs, b_actions, b_rewards, b_terminated = buffer.sample(args.batch_size, device)
            alpha = log_alpha.exp().detach()
            with torch.no_grad():
                next_actions, next_log_probs = actor(b_next_obs)
                following = target(b_next_obs, next_actions).min(0).values - alpha * next_log_probs
                goal = b_rewards + args.gamma * (1 - b_terminated) * following
            q_loss = ((critic(b_obs, b_actions) - goal) ** 2).mean(1).sum()
            q_optimizer.zero_grad()
            q_loss.backward()
            q_optimizer.step()
            if updates % args.policy_frequency == 0:
                for _ in range(args.policy_frequency):  # as many updates as without the delay
                    new_actions, log_probs = actor(b_obs)
                    actor_loss = (alpha * log_probs - critic(b_obs, new_actions).min(0).values).mean()
                    actor_optimizer.zero_grad()
                    actor_loss.backward()
                    actor_optimizer.step()
                    if args.autotune:
                        excess = log_probs.detach().mean() - space.shape[0]  # of the target entropy
                        alpha_loss = -log_alpha.exp() * excess
                        alpha_optimizer.zero_grad()
                        alpha_loss.backward()
                        alpha_optimizer.step()
                        alpha = log_alpha.exp().detach()
            with torch.no_grad():
                for slow, fast in zip(target.parameters(), critic.parameters(), strict=True):
                    slow.lerp_(fast, args.tau)
        if global_step % 1000 < args.num_envs:
            writer.add_scalar("losses/q_loss", q_loss.item() / 2, global_step)
            writer.add_scalar("losses/alpha", alpha.item(), global_step)
            rate = int(global_step / (time.time() - start))
            print("SPS:", rate)
            writer.add_scalar("charts/SPS", rate, global_step)

    envs.close()
    writer.close()


if __name__ == "__main__":
    main()
