"""Training loops to compare with: those of CleanRL on gymnasium's vector environments, and of Stable-Baselines3.

Each function makes a loop as a generator. One turn of the generator is an iteration, a rollout and its updates, and
yields the number of environment steps. `timed(part, call)` returns the call itself, or one that also adds its CPU time
to a part of the loop.

The loops in the style of CleanRL follow its ppo.py, ppo_continuous_action.py, ppo_atari.py and dqn_atari.py: storage in
torch tensors, Categorical and Normal, GAE in torch, indices per minibatch. They leave out TensorBoard and the
diagnostics of a minibatch (approximate KL divergence, share of clipped ratios). Environments step one after the other
(SyncVectorEnv, DummyVecEnv): per CPU time, processes cost more.
"""

from functools import partial

import ale_py
import gymnasium
import numpy as np
import torch
from gymnasium import wrappers
from gymnasium.spaces import Box
from gymnasium.vector import SyncVectorEnv
from torch import nn
from torch.distributions import Categorical, Normal

gymnasium.register_envs(ale_py)

#: Observations and rewards beyond this are clipped where they are normalised.
BOUND = 10.0


# ---- CleanRL ---------------------------------------------------------------------------------------------------------


def make_env(cell):
    """Return one environment of a task with the wrappers of CleanRL."""
    if cell.task == "Pong-v5":
        env = gymnasium.make("ALE/Pong-v5", frameskip=1, repeat_action_probability=0.0)
        env = wrappers.RecordEpisodeStatistics(env)
        env = wrappers.AtariPreprocessing(env, noop_max=30, frame_skip=4, screen_size=84, terminal_on_life_loss=True)
        env = wrappers.TransformReward(env, np.sign)
        return wrappers.FrameStackObservation(env, 4)
    env = wrappers.RecordEpisodeStatistics(gymnasium.make(cell.task))
    if isinstance(env.action_space, Box):
        env = wrappers.NormalizeObservation(wrappers.ClipAction(env))
        env = wrappers.TransformObservation(env, lambda obs: np.clip(obs, -BOUND, BOUND), env.observation_space)
        env = wrappers.NormalizeReward(env, gamma=cell.gamma)
        env = wrappers.TransformReward(env, lambda reward: np.clip(reward, -BOUND, BOUND))
    return env


def layer_init(layer, std=2**0.5):
    """Initialise a layer with orthogonal weights and zero biases."""
    nn.init.orthogonal_(layer.weight, std)
    nn.init.zeros_(layer.bias)
    return layer


def convolutions(hidden):
    """Return the convolutions of examples/ppo.py."""
    return nn.Sequential(
        *(layer_init(nn.Conv2d(4, 16, 8, 4)), nn.ReLU()),
        *(layer_init(nn.Conv2d(16, 32, 4, 2)), nn.ReLU()),
        *(nn.Flatten(), layer_init(nn.Linear(32 * 9 * 9, hidden)), nn.ReLU()),
    )


class Agent(nn.Module):
    """The networks of examples/ppo.py in the style of CleanRL."""

    def __init__(self, envs, hidden):
        super().__init__()
        obs, actions = envs.single_observation_space, envs.single_action_space
        self.is_continuous = isinstance(actions, Box)
        outputs = int(np.prod(actions.shape)) if self.is_continuous else int(actions.n)
        self.network = convolutions(hidden) if len(obs.shape) == 3 else None
        inputs = int(np.prod(obs.shape))
        self.actor, self.critic = (self.head(inputs, hidden, *last) for last in ((outputs, 0.01), (1, 1.0)))
        self.log_std = nn.Parameter(torch.zeros(1, outputs), requires_grad=self.is_continuous)

    def head(self, inputs, hidden, outputs, std):
        """Return the network of the policy or of the value, after the convolutions if there are any."""
        if self.network is not None:
            return layer_init(nn.Linear(hidden, outputs), std)
        layers = [layer_init(nn.Linear(inputs, hidden)), nn.Tanh(), layer_init(nn.Linear(hidden, hidden)), nn.Tanh()]
        return nn.Sequential(*layers, layer_init(nn.Linear(hidden, outputs), std))

    def get_value(self, x):
        """Return the values of observations."""
        return self.critic(x if self.network is None else self.network(x / 255.0))

    def get_action_and_value(self, x, action=None):
        """Return actions, their log-probabilities, the entropies and the values."""
        hidden = x if self.network is None else self.network(x / 255.0)
        if self.is_continuous:
            mean = self.actor(hidden)
            probs = Normal(mean, torch.exp(self.log_std.expand_as(mean)))
            action = probs.sample() if action is None else action
            return action, probs.log_prob(action).sum(1), probs.entropy().sum(1), self.critic(hidden)
        probs = Categorical(logits=self.actor(hidden))
        action = probs.sample() if action is None else action
        return action, probs.log_prob(action), probs.entropy(), self.critic(hidden)


def cleanrl_ppo(cell, timed):
    """PPO in the style of CleanRL."""
    envs = SyncVectorEnv([partial(make_env, cell)] * cell.num_envs)
    agent = Agent(envs, cell.hidden)
    optimizer = torch.optim.Adam(agent.parameters(), lr=cell.learning_rate, eps=1e-5)
    shape, size = (cell.num_steps, cell.num_envs), cell.num_steps * cell.num_envs
    obs = torch.zeros(shape + envs.single_observation_space.shape)
    actions = torch.zeros(shape + envs.single_action_space.shape)
    logprobs, rewards, dones, values = (torch.zeros(shape) for _ in range(4))

    def update(advantages, returns):
        flat = [x.reshape(-1, *x.shape[2:]) for x in (obs, logprobs, actions, advantages, returns, values)]
        b_obs, b_logprobs, b_actions, b_advantages, b_returns, b_values = flat
        b_inds = np.arange(size)
        for _ in range(cell.epochs):
            np.random.shuffle(b_inds)
            for start in range(0, size, size // cell.minibatches):
                mb_inds = b_inds[start : start + size // cell.minibatches]
                chosen = b_actions[mb_inds] if agent.is_continuous else b_actions.long()[mb_inds]
                _, newlogprob, entropy, newvalue = agent.get_action_and_value(b_obs[mb_inds], chosen)
                ratio = (newlogprob - b_logprobs[mb_inds]).exp()
                mb_advantages = b_advantages[mb_inds]
                mb_advantages = (mb_advantages - mb_advantages.mean()) / (mb_advantages.std() + 1e-8)
                pg_loss1 = -mb_advantages * ratio
                pg_loss2 = -mb_advantages * torch.clamp(ratio, 1 - cell.clip, 1 + cell.clip)
                pg_loss = torch.max(pg_loss1, pg_loss2).mean()
                newvalue = newvalue.view(-1)
                v_loss_unclipped = (newvalue - b_returns[mb_inds]) ** 2
                v_clipped = b_values[mb_inds] + torch.clamp(newvalue - b_values[mb_inds], -cell.clip, cell.clip)
                v_loss = 0.5 * torch.max(v_loss_unclipped, (v_clipped - b_returns[mb_inds]) ** 2).mean()
                loss = pg_loss - cell.entropy_coef * entropy.mean() + v_loss * cell.value_coef
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(agent.parameters(), cell.max_grad_norm)
                optimizer.step()

    step, update = timed("environment", envs.step), timed("learner", update)
    act = timed("policy", torch.no_grad()(agent.get_action_and_value))
    next_obs, next_done = torch.Tensor(envs.reset(seed=1)[0]), torch.zeros(cell.num_envs)
    episodes = []
    while True:
        for t in range(cell.num_steps):
            obs[t], dones[t] = next_obs, next_done
            action, logprob, _, value = act(next_obs)
            values[t], actions[t], logprobs[t] = value.flatten(), action, logprob
            next_obs, reward, terminations, truncations, infos = step(action.numpy())
            rewards[t] = torch.tensor(reward).view(-1)
            next_obs, next_done = torch.Tensor(next_obs), torch.Tensor(np.logical_or(terminations, truncations))
            if "episode" in infos:
                episodes.extend(infos["episode"]["r"][infos["_episode"]])
        with torch.no_grad():
            next_value = agent.get_value(next_obs).reshape(1, -1)
            advantages, lastgaelam = torch.zeros_like(rewards), 0
            for t in reversed(range(cell.num_steps)):
                is_last = t == cell.num_steps - 1
                nextnonterminal = 1.0 - (next_done if is_last else dones[t + 1])
                nextvalues = next_value if is_last else values[t + 1]
                delta = rewards[t] + cell.gamma * nextvalues * nextnonterminal - values[t]
                advantages[t] = lastgaelam = delta + cell.gamma * cell.gae_lambda * nextnonterminal * lastgaelam
        update(advantages, advantages + values)
        yield size


class Replay:
    """A replay buffer in NumPy; the next observation is that of the following row."""

    def __init__(self, cell, envs):
        self.size, self.count = cell.capacity // cell.num_envs, 0
        shape = (self.size, cell.num_envs)
        self.obs = np.zeros(shape + envs.single_observation_space.shape, np.uint8)
        self.actions, self.rewards = np.zeros(shape, np.int64), np.zeros(shape, np.float32)
        self.dones = np.zeros(shape, np.float32)

    def add(self, obs, next_obs, actions, rewards, dones):
        """Add a transition of each environment."""
        row = self.count % self.size
        self.obs[row], self.obs[(row + 1) % self.size] = obs, next_obs
        self.actions[row], self.rewards[row], self.dones[row] = actions, rewards, dones
        self.count += 1

    def sample(self, size):
        """Return random transitions as tensors."""
        newest = self.count % self.size
        rows = np.random.randint(0, min(self.count, self.size), size)
        if self.count >= self.size:  # the row after the newest one is being overwritten
            rows = (newest + 1 + np.random.randint(0, self.size - 1, size)) % self.size
        envs = np.random.randint(0, self.obs.shape[1], size)
        arrays = self.obs[rows, envs], self.obs[(rows + 1) % self.size, envs], self.actions[rows, envs]
        return map(torch.as_tensor, (*arrays, self.rewards[rows, envs], self.dones[rows, envs]))


def nature(num_actions):
    """Return the network of Mnih et al. (2015)."""
    return nn.Sequential(
        *(nn.Conv2d(4, 32, 8, 4), nn.ReLU(), nn.Conv2d(32, 64, 4, 2), nn.ReLU(), nn.Conv2d(64, 64, 3), nn.ReLU()),
        *(nn.Flatten(), nn.Linear(64 * 7 * 7, 512), nn.ReLU(), nn.Linear(512, num_actions)),
    )


def cleanrl_dqn(cell, timed):
    """DQN in the style of CleanRL, with several environments."""
    envs = SyncVectorEnv([partial(make_env, cell)] * cell.num_envs)
    num_actions = int(envs.single_action_space.n)
    q_network, target_network = nature(num_actions), nature(num_actions)
    target_network.load_state_dict(q_network.state_dict())
    optimizer = torch.optim.Adam(q_network.parameters(), lr=cell.learning_rate)
    replay = Replay(cell, envs)

    def update():
        obs, next_obs, actions, rewards, dones = replay.sample(cell.batch_size)
        with torch.no_grad():
            target_max = target_network(next_obs / 255.0).max(dim=1).values
            td_target = rewards + cell.gamma * target_max * (1 - dones)
        old_val = q_network(obs / 255.0).gather(1, actions[:, None]).squeeze()
        loss = nn.functional.mse_loss(td_target, old_val)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(q_network.parameters(), cell.max_grad_norm)
        optimizer.step()

    @torch.no_grad()
    def act(obs):
        actions = np.random.randint(0, num_actions, len(obs))
        greedy = np.random.random(len(obs)) >= cell.epsilon
        if greedy.any():
            actions = np.where(greedy, q_network(torch.as_tensor(obs) / 255.0).argmax(1).numpy(), actions)
        return actions

    step, act, update = timed("environment", envs.step), timed("policy", act), timed("learner", update)
    obs, _ = envs.reset(seed=1)
    episodes, updates, steps = [], 0, 0
    while True:
        for _ in range(cell.num_steps):
            actions = act(obs)
            next_obs, rewards, terminations, _, infos = step(actions)
            if "episode" in infos:
                episodes.extend(infos["episode"]["r"][infos["_episode"]])
            replay.add(obs, next_obs, actions, rewards, terminations)
            obs, steps = next_obs, steps + cell.num_envs
            if steps >= cell.learning_starts:
                for _ in range(cell.updates_per_step):
                    update()
                    updates += 1
                    if updates % cell.target_every == 0:
                        target_network.load_state_dict(q_network.state_dict())
        yield cell.num_steps * cell.num_envs


# ---- Stable-Baselines3 -----------------------------------------------------------------------------------------------


def sb3_envs(cell):
    """Return vector environments as Stable-Baselines3 makes them."""
    from stable_baselines3.common.env_util import make_atari_env, make_vec_env
    from stable_baselines3.common.vec_env import VecFrameStack, VecNormalize

    if cell.task == "Pong-v5":
        return VecFrameStack(make_atari_env("PongNoFrameskip-v4", cell.num_envs, seed=1), 4)
    envs = make_vec_env(cell.task, cell.num_envs, seed=1)
    is_continuous = isinstance(envs.action_space, Box)
    return VecNormalize(envs, gamma=cell.gamma, clip_obs=BOUND, clip_reward=BOUND) if is_continuous else envs


def sb3_features(hidden):
    """Return the class of a feature extractor with the convolutions of examples/ppo.py."""
    from stable_baselines3.common.torch_layers import BaseFeaturesExtractor

    class Features(BaseFeaturesExtractor):
        def __init__(self, space):
            super().__init__(space, hidden)
            self.layers = convolutions(hidden)

        def forward(self, x):
            return self.layers(x)

    return Features


def iterations(model, timed, count):
    """Run an algorithm of Stable-Baselines3; each turn does `count` environment steps."""
    model.env.step, model.train = timed("environment", model.env.step), timed("learner", model.train)
    model.learn(count)
    yield count
    while True:
        model.learn(count, reset_num_timesteps=False)
        yield count


def sb3_ppo(cell, timed):
    """PPO of Stable-Baselines3."""
    from stable_baselines3 import PPO

    size, is_image = cell.num_steps * cell.num_envs, cell.task == "Pong-v5"
    network = {"net_arch": [cell.hidden, cell.hidden]}
    if is_image:
        network = {"net_arch": [], "features_extractor_class": sb3_features(cell.hidden)}
    model = PPO(
        "CnnPolicy" if is_image else "MlpPolicy",
        sb3_envs(cell),
        learning_rate=cell.learning_rate,
        n_steps=cell.num_steps,
        batch_size=size // cell.minibatches,
        n_epochs=cell.epochs,
        gamma=cell.gamma,
        gae_lambda=cell.gae_lambda,
        clip_range=cell.clip,
        clip_range_vf=cell.clip,
        ent_coef=cell.entropy_coef,
        vf_coef=cell.value_coef,
        max_grad_norm=cell.max_grad_norm,
        policy_kwargs=network,
        seed=1,
        device="cpu",
    )
    model.policy.forward = timed("policy", model.policy.forward)
    return iterations(model, timed, size)


def sb3_dqn(cell, timed):
    """DQN of Stable-Baselines3."""
    from stable_baselines3 import DQN

    model = DQN(
        "CnnPolicy",
        sb3_envs(cell),
        learning_rate=cell.learning_rate,
        buffer_size=cell.capacity,
        learning_starts=cell.learning_starts,
        batch_size=cell.batch_size,
        gamma=cell.gamma,
        train_freq=1,
        gradient_steps=cell.updates_per_step,
        target_update_interval=cell.target_every * cell.num_envs // cell.updates_per_step,
        exploration_initial_eps=cell.epsilon,
        exploration_final_eps=cell.epsilon,
        max_grad_norm=cell.max_grad_norm,
        optimize_memory_usage=True,
        replay_buffer_kwargs={"handle_timeout_termination": False},
        seed=1,
        device="cpu",
    )
    model._sample_action = timed("policy", model._sample_action)
    return iterations(model, timed, cell.num_steps * cell.num_envs)
