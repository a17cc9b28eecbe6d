"""DQN on Atari in a single file, in the style of CleanRL. It imports nothing from this folder: copy it.

    python dqn_atari.py --env-id Breakout-v5 --total-timesteps 10000000
    tensorboard --logdir runs

The pool resets an environment in the step that ends its episode (autoreset_mode="same_step"), so that every row is a
transition; info["final_obs"] has the observations that the ended episodes led to. The replay buffer stores a stack of
four frames and the newest frame of the next stack: 35 KB per transition rather than 56.
"""

import argparse
import random
import time
from dataclasses import asdict, dataclass, fields

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.tensorboard import SummaryWriter

import envpool


@dataclass
class Args:
    """Options of the command line."""

    exp_name: str = "dqn_atari"
    seed: int = 1
    cuda: bool = True
    env_id: str = "Breakout-v5"
    total_timesteps: int = 10_000_000
    learning_rate: float = 1e-4
    num_envs: int = 1
    buffer_size: int = 1_000_000
    gamma: float = 0.99
    target_network_frequency: int = 1000
    batch_size: int = 32
    start_e: float = 1.0
    end_e: float = 0.01
    exploration_fraction: float = 0.1
    learning_starts: int = 80_000
    train_frequency: int = 4


def parse_args(argv=None):
    """Return the command line as Args."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for field in fields(Args):
        kind = {"action": argparse.BooleanOptionalAction} if field.type is bool else {"type": field.type}
        parser.add_argument("--" + field.name.replace("_", "-"), default=field.default, **kind)
    return Args(**vars(parser.parse_args(argv)))


class ReplayBuffer:
    """The last transitions; memory is taken as it fills."""

    def __init__(self, size, shape):
        self.size, self.count = size, 0
        self.obs = np.empty((size, *shape), np.uint8)
        self.newest = np.empty((size, *shape[1:]), np.uint8)  # the last frame of the next observation
        self.actions = np.empty(size, np.int64)
        self.rewards, self.terminated = np.empty(size, np.float32), np.empty(size, np.float32)

    def add(self, obs, next_obs, actions, rewards, terminated):
        """Add a transition of each environment."""
        rows = (self.count + np.arange(len(obs))) % self.size
        self.obs[rows], self.newest[rows] = obs, next_obs[:, -1]
        self.actions[rows], self.rewards[rows], self.terminated[rows] = actions, rewards, terminated
        self.count += len(obs)

    def sample(self, count, device):
        """Return random transitions as tensors: obs, next_obs, actions, rewards, terminated."""
        rows = np.random.randint(0, min(self.count, self.size), count)
        obs = self.obs[rows]
        next_obs = np.concatenate([obs[:, 1:], self.newest[rows][:, None]], 1)
        arrays = obs, next_obs, self.actions[rows], self.rewards[rows], self.terminated[rows]
        return [torch.as_tensor(array, device=device) for array in arrays]


class QNetwork(nn.Module):
    """The network of the DQN paper."""

    def __init__(self, num_actions):
        super().__init__()
        self.network = nn.Sequential(
            nn.Conv2d(4, 32, 8, stride=4),
            nn.ReLU(),
            nn.Conv2d(32, 64, 4, stride=2),
            nn.ReLU(),
            nn.Conv2d(64, 64, 3),
            nn.ReLU(),
            nn.Flatten(),
            nn.Linear(64 * 7 * 7, 512),
            nn.ReLU(),
            nn.Linear(512, num_actions),
        )

    def forward(self, obs):
        """Return the values of all actions."""
        return self.network(obs / 255.0)


def main(argv=None):
    """Train a Q network."""
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
        preset="sb3",  # the wrappers of CleanRL's dqn_atari.py
        autoreset_mode="same_step",
        episode_statistics=True,
    )
    num_actions = envs.action_space.n
    q_network, target_network = QNetwork(num_actions).to(device), QNetwork(num_actions).to(device)
    target_network.load_state_dict(q_network.state_dict())
    optimizer = torch.optim.Adam(q_network.parameters(), lr=args.learning_rate)
    buffer = ReplayBuffer(args.buffer_size, envs.observation_space.shape)

    start, decay = time.time(), (args.end_e - args.start_e) / max(args.exploration_fraction * args.total_timesteps, 1)
    obs, _ = envs.reset()
    for global_step in range(0, args.total_timesteps, args.num_envs):
        epsilon = max(args.start_e + decay * global_step, args.end_e)
        actions = np.random.randint(0, num_actions, args.num_envs)
        greedy = np.random.random(args.num_envs) >= epsilon
        if greedy.any():
            with torch.no_grad():
                best = q_network(torch.as_tensor(obs, device=device)).argmax(1).cpu().numpy()
            actions = np.where(greedy, best, actions)

        next_obs, rewards, terminated, truncated, info = envs.step(actions)
        if "game" in info:  # whole games, with the rewards before clipping
            for score in info["game"]["r"][info["_game"]]:
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
        # One update for each `train_frequency` steps, however many environments there are.
        for _ in range(max(args.num_envs // args.train_frequency, global_step % args.train_frequency < args.num_envs)):
            b_obs, b_next_obs, b_actions, b_rewards, b_terminated = buffer.sample(args.batch_size, device)
            with torch.no_grad():
                following = target_network(b_next_obs).max(1).values
                target = b_rewards + args.gamma * following * (1 - b_terminated)
            q_values = q_network(b_obs).gather(1, b_actions[:, None]).squeeze(1)
            loss = F.mse_loss(q_values, target)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if global_step % args.target_network_frequency < args.num_envs:
            target_network.load_state_dict(q_network.state_dict())
        if global_step % 1000 < args.num_envs:
            writer.add_scalar("losses/td_loss", loss.item(), global_step)
            writer.add_scalar("losses/q_values", q_values.mean().item(), global_step)
            rate = int(global_step / (time.time() - start))
            print("SPS:", rate)
            writer.add_scalar("charts/SPS", rate, global_step)

    envs.close()
    writer.close()


if __name__ == "__main__":
    main()
