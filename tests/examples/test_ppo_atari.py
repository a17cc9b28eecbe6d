"""The Atari example has the losses of CleanRL's ppo_atari_envpool.py, whose algorithm is written out here.

The random numbers are the same by construction: those of torch, in the same order, for the network and the actions, and
permutations of NumPy's default_rng for the minibatches, for which CleanRL has np.random.shuffle.
"""

import numpy as np
import pytest
import torch
from torch import nn
from torch.distributions import Categorical

import envpool
from tests.examples.load import load

SMALL = {"task": "Breakout-v5", "num_envs": 4, "num_steps": 32, "epochs": 2, "minibatches": 2, "seed": 5}
UPDATES = 3


@pytest.fixture(scope="module")
def ppo_atari():
    return load("ppo_atari")


class CleanAgent(nn.Module):
    """CleanRL's network."""

    def __init__(self, num_actions):
        super().__init__()
        self.network = nn.Sequential(
            layer_init(nn.Conv2d(4, 32, 8, stride=4)),
            nn.ReLU(),
            layer_init(nn.Conv2d(32, 64, 4, stride=2)),
            nn.ReLU(),
            layer_init(nn.Conv2d(64, 64, 3, stride=1)),
            nn.ReLU(),
            nn.Flatten(),
            layer_init(nn.Linear(64 * 7 * 7, 512)),
            nn.ReLU(),
        )
        self.actor = layer_init(nn.Linear(512, num_actions), std=0.01)
        self.critic = layer_init(nn.Linear(512, 1), std=1)

    def act(self, x, action=None):
        hidden = self.network(x / 255.0)
        probs = Categorical(logits=self.actor(hidden))
        action = probs.sample() if action is None else action
        return action, probs.log_prob(action), probs.entropy(), self.critic(hidden)


def layer_init(layer, std=2**0.5, bias=0.0):
    nn.init.orthogonal_(layer.weight, std)
    nn.init.constant_(layer.bias, bias)
    return layer


def cleanrl(args):
    """Return the losses of each minibatch, float32 observations, advantages and returns of each update."""
    torch.manual_seed(args.seed)
    rng = np.random.default_rng(args.seed)
    sizes = {"num_envs": args.num_envs, "seed": args.seed * args.num_envs}
    envs = envpool.make(args.task, "gym", gym_api="legacy", episodic_life=True, reward_clip=True, **sizes)
    agent = CleanAgent(envs.action_space.n)
    optimizer = torch.optim.Adam(agent.parameters(), lr=args.learning_rate, eps=1e-5)
    shape = (args.num_steps, args.num_envs)
    obs = torch.zeros((*shape, *envs.observation_space.shape))
    actions, logprobs, rewards, dones, values = (torch.zeros(shape) for _ in range(5))
    next_obs, next_done = torch.Tensor(envs.reset()), torch.zeros(args.num_envs)
    num_updates = args.total_timesteps // obs[:, :, 0, 0, 0].numel()
    losses, stored = [], []
    for update in range(1, UPDATES + 1):
        optimizer.param_groups[0]["lr"] = (1.0 - (update - 1.0) / num_updates) * args.learning_rate
        for step in range(args.num_steps):
            obs[step], dones[step] = next_obs, next_done
            with torch.no_grad():
                action, logprob, _, value = agent.act(next_obs)
            values[step], actions[step], logprobs[step] = value.flatten(), action, logprob
            next_obs, reward, done, _ = envs.step(action.numpy())
            rewards[step] = torch.tensor(reward)
            next_obs, next_done = torch.Tensor(next_obs), torch.Tensor(done)
        with torch.no_grad():
            next_value = agent.act(next_obs, action)[3].reshape(1, -1)
            advantages, lastgaelam = torch.zeros_like(rewards), 0
            for t in reversed(range(args.num_steps)):
                is_last = t == args.num_steps - 1
                nonterminal = 1.0 - (next_done if is_last else dones[t + 1])
                nextvalues = next_value if is_last else values[t + 1]
                delta = rewards[t] + args.gamma * nextvalues * nonterminal - values[t]
                advantages[t] = lastgaelam = delta + args.gamma * args.gae_lambda * nonterminal * lastgaelam
            returns = advantages + values
        stored.append([x.clone().numpy() for x in (obs, advantages, returns, dones)])
        flat = [x.reshape((-1, *x.shape[2:])) for x in (obs, actions, logprobs, advantages, returns, values)]
        for _ in range(args.epochs):
            order = rng.permutation(len(flat[0]))
            for inds in np.split(order, args.minibatches):
                o, a, lp, adv, ret, val = (x[inds] for x in flat)
                _, newlogprob, entropy, newvalue = agent.act(o, a.long())
                ratio = (newlogprob - lp).exp()
                adv = (adv - adv.mean()) / (adv.std() + 1e-8)
                pg_loss = torch.max(-adv * ratio, -adv * torch.clamp(ratio, 1 - args.clip, 1 + args.clip)).mean()
                newvalue = newvalue.view(-1)
                v_clipped = val + torch.clamp(newvalue - val, -args.clip, args.clip)
                v_loss = 0.5 * torch.max((newvalue - ret) ** 2, (v_clipped - ret) ** 2).mean()
                loss = pg_loss - args.entropy_coef * entropy.mean() + v_loss * args.value_coef
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(agent.parameters(), args.max_grad_norm)
                optimizer.step()
                losses.append((pg_loss.item(), v_loss.item(), entropy.mean().item()))
    envs.close()
    return losses, stored


def test_losses_equal_those_of_cleanrl(ppo_atari):
    """Bit for bit, with the observations, advantages and returns that they come from."""
    torch.set_num_threads(1)
    args = ppo_atari.Args(**SMALL)
    expected, stored = cleanrl(args)
    torch.manual_seed(args.seed)
    losses, done = [], 0
    updates = args.total_timesteps // (args.num_envs * args.num_steps)
    with ppo_atari.make_pool(args) as pool:
        learner = ppo_atari.Learner(args, pool)
        for update in range(UPDATES):
            learner.optimizer.param_groups[0]["lr"] = (1 - update / updates) * args.learning_rate
            data, learner.result = learner.collect()
            obs, advantages, returns, dones = stored[update]
            np.testing.assert_array_equal(data.obs, obs)
            estimate = learner.estimate(data, np.ones_like(data.valid))
            np.testing.assert_array_equal(estimate.advantages, advantages)
            np.testing.assert_array_equal(estimate.returns, returns)
            np.testing.assert_array_equal(data.done[:-1], dones[1:])
            losses += learner.learn(data)
            done += data.done.sum()
    assert losses == expected
    assert len(losses) == UPDATES * args.epochs * args.minibatches and done > 1
    assert len({loss for loss, _, _ in losses}) == len(losses)


def test_rows_of_resets_can_be_left_out(ppo_atari):
    args = ppo_atari.Args(**SMALL | {"skip_resets": True, "epochs": 1})
    torch.manual_seed(args.seed)
    with ppo_atari.make_pool(args) as pool:
        learner = ppo_atari.Learner(args, pool)
        seen = []
        learner.descend = lambda images, *rows: seen.append((images, *rows))
        data, _ = learner.collect()
        assert not data.valid.all()
        learner.learn(data)
        assert sum(len(images) for images, *_ in seen) == data.valid.sum() // 2 * 2
        resets = data.obs[~data.valid].astype(np.float32)
        learned = {image.numpy().tobytes() for images, *_ in seen for image in images}
        kept = {image.astype(np.float32).tobytes() for image in data.obs[data.valid]}
        assert learned <= kept and len(resets)


def test_command_line(ppo_atari, capsys, tmp_path):
    sizes = ["--num-envs", "2", "--num-steps", "16", "--total-timesteps", "64", "--epochs", "1", "--minibatches", "1"]
    ppo_atari.main([*sizes, "--skip-resets"])
    assert "Pong-v5: mean return nan over the last 0 of 0 episodes, seed 1" in capsys.readouterr().out
    with pytest.raises(SystemExit, match="the target 18 was not reached in 64 steps"):
        ppo_atari.main([*sizes, "--target", "18"])
