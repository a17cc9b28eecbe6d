"""PPO on a pool of environments (Schulman et al., 2017; layout after CleanRL).

    python examples/ppo.py --task CartPole-v1 --target 475 --plot ppo.png
    python examples/ppo.py --task Pendulum-v1 --gamma 0.9 --total-timesteps 400000 --target -200
    python examples/ppo.py --checkpoint run.pt  # again after an interruption: the run continues, with the same results
    python examples/ppo.py --save policy.pt     # Ctrl-C saves what was learned
    envpool watch CartPole-v1 --policy examples/ppo.py:load --load policy.pt

Actions may be discrete or continuous, and observations may come from any Box, or from a Dict of them. Images, uint8
with the channels first or last, pass through convolutions. Points to note about the pool:

- ``env.step(actions)`` steps all environments at once and returns NumPy arrays with one row per environment.
- The step after the last one of an episode ignores its action and returns the first observation of the next episode
  (autoreset_mode "next_step"). That row is not a transition of the task, so it is left out of the loss.
- ``envpool.Rollout`` records the steps: the pool writes them in place, and marks the rows that are transitions.
- Options of the pool (`pool_options`) normalise observations and rewards, scale actions, and count returns.
- The row of the last step contains the true last observation. A truncated episode (time limit) is bootstrapped from the
  value of this observation; a terminated one is not.
"""

import math
from dataclasses import asdict, dataclass

import numpy as np
import torch
from gymnasium.spaces import Box, Dict, Discrete
from gymnasium.vector.utils import create_empty_array
from torch import nn

import envpool
from envpool.rollout import Progress, Sampler, gae
from envpool.training import checkpoint, policies
from envpool.training import options as command_line
from envpool.training.curves import Returns
from envpool.training.files import check_files
from envpool.training.options import PolicyArgs, RunArgs, natural_number, option, positive, positive_number, share
from envpool.training.runs import run_seeds, start
from envpool.training.scalars import Scalars


@dataclass(frozen=True)
class Args(PolicyArgs, RunArgs):
    """Options of the command line."""

    num_steps: int = option(64, "steps of each environment between two updates", positive)
    learning_rate: float = option(
        2e-3, "Adam's step size at the start; falls to 0 over total_timesteps", positive_number
    )
    gamma: float = option(0.99, "discount", share)
    gae_lambda: float = option(0.95, "decay of the advantage estimate", share)
    epochs: int = option(4, "passes over the data of an update", positive)
    minibatches: int = option(8, "gradient steps in a pass", positive)
    clip: float = option(0.2, "clipping range of the probability ratio and of the value", positive_number)
    entropy_coef: float = option(0.005, "weight of the entropy bonus", natural_number)
    value_coef: float = option(0.5, "weight of the value loss", natural_number)
    max_grad_norm: float = option(0.5, "gradient clipping", positive_number)
    hidden: int = option(
        64, "units in each of the two hidden layers, or in the hidden layer after the convolutions", positive
    )
    checkpoint: str = option(None, "write checkpoints to this file; if it exists, continue the run from it", str)
    checkpoint_every: int = option(10, "number of updates between two checkpoints", positive)
    device: str = option("cpu", "device of the networks, e.g. cuda")
    tensorboard: str = option(None, "write curves for TensorBoard to this folder", str)


def parse_args(argv=None):
    """Return the command line as Args."""
    return command_line.parse_args(argv, Args)


#: Observations beyond this number of standard deviations are clipped.
CLIP = 10.0


class Scale:
    """Mean and standard deviation of observations, arrays (inputs,)."""

    def __init__(self, inputs):
        self.mean, self.std = np.zeros(inputs), np.ones(inputs)


class Agent(nn.Module):
    """A policy and a value network for the observations and actions of a pool with `pool_options`.

    Parameters
    ----------
    env : EnvPool
        A pool of the task as it is, without these options.
    hidden : int
        Units in a hidden layer.
    """

    def __init__(self, env, hidden):
        super().__init__()
        obs_space, self.action_space = env.observation_space, env.action_space
        parts = list(obs_space.values()) if isinstance(obs_space, Dict) else [obs_space]
        if not all(isinstance(x, Box) for x in parts) or not isinstance(self.action_space, (Box, Discrete)):
            raise SystemExit(
                "this example needs observations from a Box or a Dict of them, and Box or Discrete actions; "
                f"got {obs_space}, {self.action_space}"
            )
        self.is_discrete, self.is_image = isinstance(self.action_space, Discrete), has_images(env)
        self.keys = list(obs_space) if isinstance(obs_space, Dict) else []
        outputs = int(self.action_space.n if self.is_discrete else np.prod(self.action_space.shape))
        if self.is_image:  # both networks see the same features
            height, width, channels = obs_space.shape
            self.has_channels_last = channels < height
            shape = (channels, height, width) if self.has_channels_last else obs_space.shape
            self.features = convolutions(shape, hidden).to(memory_format=torch.channels_last)
            self.actor, self.critic = head(hidden, outputs, 0.01), head(hidden, 1, 1.0)
        else:
            inputs = sum(int(np.prod(x.shape)) for x in parts)
            self.actor, self.critic = mlp(inputs, hidden, outputs, 0.01), mlp(inputs, hidden, 1, 1.0)
        self.scale = Scale(() if self.is_image else (inputs,))  # images are divided by 255 instead
        self.log_std = nn.Parameter(torch.zeros(outputs), requires_grad=not self.is_discrete)

    @property
    def device(self):
        """The device of the networks."""
        return self.log_std.device

    def join(self, obs, dims=1):
        """Return images as they are, and other observations with one row of inputs each.

        The observations, an array or a dict of arrays, have `dims` dimensions before their own.
        """
        if self.is_image:
            return obs
        parts = [x.reshape(*x.shape[:dims], -1) for x in ([obs[key] for key in self.keys] or [obs])]
        return np.concatenate(parts, axis=dims) if len(parts) > 1 else parts[0]

    def prepare(self, obs, dims=1):
        """Return observations of a pool with `pool_options` as inputs of the networks."""
        return torch.from_numpy(self.join(obs, dims)).to(self.device, None if self.is_image else torch.float32)

    def see(self, inputs):
        """Return the features of inputs, which the actor and the critic take; those of vectors are the vectors."""
        if not self.is_image:
            return inputs
        if self.has_channels_last:
            inputs = inputs.movedim(-1, -3)
        # The precision of bfloat16 is sufficient for the features. Convolutions are faster with the channels last.
        is_fast = is_bfloat16_fast(self.device.type)
        inputs = inputs.to(torch.bfloat16 if is_fast else torch.float32, memory_format=torch.channels_last)
        with torch.autocast(self.device.type, torch.bfloat16, enabled=is_fast):
            return self.features(inputs / 255).float()

    def value(self, features):
        """Return the expected discounted returns (...) for features (..., size)."""
        return self.critic(features).squeeze(-1)

    def sample(self, features, sampler):
        """Return actions for features (n, size), an `envpool.rollout.Sample`."""
        outputs = self.actor(features).cpu().numpy()
        if self.is_discrete:
            return sampler.categorical(outputs)
        return sampler.gaussian(outputs, self.log_std.cpu().numpy())

    def forward(self, inputs, actions):
        """Return the log-probabilities of actions, the entropies of the policy and the expected discounted returns.

        Each is (n,). The formulas take less time than the distributions of torch, which have them, too.
        """
        features = self.see(inputs)
        outputs, value = self.actor(features), self.value(features)
        if self.is_discrete:
            log_probs = outputs.log_softmax(dim=1)
            entropy = -(log_probs.exp() * log_probs).sum(dim=1)
            return log_probs.gather(1, actions[:, None]).squeeze(1), entropy, value
        deviations = (actions - outputs) * (-self.log_std).exp()
        log_probs = -(deviations**2 / 2 + self.log_std + math.log(2 * math.pi) / 2).sum(dim=1)
        entropy = (self.log_std + (1 + math.log(2 * math.pi)) / 2).sum()
        return log_probs, entropy.expand(len(outputs)), value

    def to_pool(self, actions):
        """Return sampled actions as those of a pool with `pool_options`."""
        return actions + self.action_space.start if self.is_discrete else actions.reshape(-1, *self.action_space.shape)

    def learn_scale(self, normalization):
        """Keep the scale of the observations of a pool, given `pool.normalization`."""
        found, names = normalization.get() if normalization else {}, [f"obs:{key}" for key in self.keys] or ["obs"]
        if all(f"{name}.mean" in found for name in names):
            parts = ([found[f"{name}.{part}"].ravel() for name in names] for part in ("mean", "var"))
            self.scale.mean, var = (np.concatenate(x, dtype=np.float64) for x in parts)
            self.scale.std = np.sqrt(var + 1e-8)

    @torch.no_grad()
    def best(self, obs):
        """Return the likeliest actions for observations of the task as it is, without `pool_options`."""
        inputs = self.join(obs)
        if not self.is_image:
            inputs = np.clip((inputs - self.scale.mean) / self.scale.std, -CLIP, CLIP).astype(np.float32)
        outputs = self.actor(self.see(torch.from_numpy(inputs).to(self.device))).cpu().numpy()
        actions = self.to_pool(outputs.argmax(axis=1) if self.is_discrete else outputs)
        if self.is_discrete or not is_bounded(self.action_space):
            return actions
        low, high = self.action_space.low, self.action_space.high
        return low + (np.clip(actions, -1, 1) + 1) / 2 * (high - low)


def has_images(env):
    """Return whether the observations of a task are images: uint8, with the channels first or last."""
    space = env.observation_space
    return isinstance(space, Box) and len(space.shape) == 3 and space.dtype == np.uint8


def is_bounded(space):
    """Return whether all actions of a Box have finite bounds."""
    return bool(np.isfinite(space.low).all() and np.isfinite(space.high).all())


def pool_options(env, gamma):
    """Return the options with which a pool prepares a task for the networks of an Agent.

    Observations, unless they are images, have mean 0 and standard deviation 1. Rewards are divided by the standard
    deviation of their discounted sums; `gamma` is the discount. Continuous actions are scaled from [-1, 1] to their
    bounds. The pool also returns the episodes that have ended, with their original rewards.
    """
    options = {"normalize_reward": {"gamma": gamma}, "episode_statistics": True, "finished_episodes": True}
    if not has_images(env):
        options |= {"normalize_obs": True, "clip_obs": CLIP}
    if isinstance(env.action_space, Box):
        bounded = is_bounded(env.action_space)
        options |= {"clip_action": True, "rescale_action": True} if bounded else {}
    return options


def is_bfloat16_fast(device_type):
    """Return whether a device multiplies bfloat16 itself.

    The convolutions are then faster than with float32; a device that emulates bfloat16 is far slower with it.
    """
    if device_type == "cpu":
        return any(has for name, has in torch.cpu.get_capabilities().items() if name.endswith("bf16"))
    return device_type == "cuda" and torch.cuda.is_bf16_supported(including_emulation=False)


def head(inputs, outputs, gain):
    """Return a linear layer with orthogonal weights."""
    return orthogonal(nn.Linear(inputs, outputs), gain)


def mlp(inputs, hidden, outputs, gain):
    """Return a network with two hidden tanh layers."""
    first, second = (head(n, hidden, 2**0.5) for n in (inputs, hidden))
    return nn.Sequential(first, Tanh(), second, Tanh(), head(hidden, outputs, gain))


class Tanh(nn.Module):
    """The hyperbolic tangent. On a CPU, NumPy computes it, in a sixth of the time that torch takes."""

    def forward(self, x):
        """Return the values for a tensor, which is overwritten if no gradients are needed."""
        if not x.is_cpu:
            return x.tanh()
        if torch.is_grad_enabled():
            return TanhWithGradient.apply(x)
        np.tanh(x.numpy(), out=x.numpy())
        return x


class TanhWithGradient(torch.autograd.Function):
    """The values of NumPy's tanh, with their gradient."""

    @staticmethod
    def forward(ctx, x):
        """Return the values for a tensor."""
        y = torch.from_numpy(np.tanh(x.numpy()))
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, gradient):
        """Return the gradient of the loss with respect to the tensor, given that with respect to the values."""
        (y,) = ctx.saved_tensors
        return (y * y).neg_().add_(1).mul_(gradient)


def convolutions(shape, hidden):
    """Return the network of Mnih et al. (2013) for images of this shape: two convolutions, one hidden layer."""
    layers = [orthogonal(nn.Conv2d(shape[0], 16, 8, 4)), nn.ReLU(), orthogonal(nn.Conv2d(16, 32, 4, 2)), nn.ReLU()]
    flat = nn.Sequential(*layers, nn.Flatten())
    return nn.Sequential(flat, head(flat(torch.zeros(1, *shape)).shape[1], hidden, 2**0.5), nn.ReLU())


def orthogonal(layer, gain=2**0.5):
    """Initialise a layer with orthogonal weights and zero biases."""
    nn.init.orthogonal_(layer.weight, gain)
    nn.init.zeros_(layer.bias)
    return layer


class Rollout:
    """The data of `num_steps` steps of all environments: tensors (num_steps, num_envs, ...)."""

    def __init__(self, args, env, agent):
        self.env, self.agent, self.sampler = env, agent, Sampler(args.seed)
        _, example = self.act(create_empty_array(env.observation_space, fn=np.zeros))
        self.steps = envpool.Rollout(env, args.num_steps, {k: (x.dtype, x.shape[1:]) for k, x in example.items()})

    @torch.no_grad()
    def act(self, obs):
        """Return actions for the pool, and what is recorded with them."""
        features = self.agent.see(self.agent.prepare(obs))
        sample = self.agent.sample(features, self.sampler)
        extras = {"sample": sample.actions, "log_prob": sample.log_probs}
        if self.agent.is_image:  # now that the features are there, the value is cheap
            extras["value"] = self.agent.value(features).cpu().numpy()
        return self.agent.to_pool(sample.actions), extras

    def collect(self, args, returns, obs, step):
        """Take num_steps steps from `obs`, the last observation, and return the next one."""
        for t in range(args.num_steps):
            actions, extras = self.act(obs)
            obs, *_, info = self.steps.step(actions, **extras)
            returns.add(info, step + (t + 1) * args.num_envs)
        self.take(self.steps.finish())
        return obs

    @torch.no_grad()
    def take(self, data):
        """Keep the arrays of a finished rollout as tensors, and the scale of its observations."""
        agent, self.data = self.agent, data
        arrays = data.sample, data.log_prob, data.valid
        self.actions, self.log_probs, self.is_transition = map(torch.from_numpy, arrays)
        self.inputs = agent.prepare(data.obs, dims=2)
        # Values of all steps at once take less time than one step after the other.
        self.values = torch.from_numpy(data.value) if agent.is_image else agent.value(self.inputs)
        self.last_values = agent.value(agent.see(agent.prepare(data.last_obs)))
        agent.learn_scale(self.env.normalization)

    def estimate_advantages(self, gamma, gae_lambda):
        """Estimate advantages (GAE). If an episode ended at t, the value at t + 1 is that of its last observation."""
        data, values, last_values = self.data, self.values.cpu().numpy(), self.last_values.cpu().numpy()
        arrays = data.reward, values, last_values, data.terminated, data.truncated
        options = {"mask": data.valid, "lengths": data.lengths}
        self.advantages = torch.from_numpy(gae(*arrays, gamma=gamma, lam=gae_lambda, **options).advantages)

    def transitions(self):
        """Return what `update` learns from: inputs, actions, log_probs, advantages and values, one row a transition."""
        rows = self.inputs, self.actions, self.log_probs, self.advantages, self.values
        return [x[self.is_transition].to(self.agent.device) for x in rows]


def normalized(advantages):
    """Return advantages with mean 0 and standard deviation 1; a single one becomes 0."""
    return (advantages - advantages.mean()) / (advantages.std(correction=int(len(advantages) > 1)) + 1e-8)


def update(args, agent, optimizer, transitions):
    """Improve the networks on the transitions of one rollout; return the losses of the last minibatch by name."""
    if not len(transitions[0]):  # in a tiny rollout, every step may be a reset
        return {}
    advantages, values = transitions[-2:]
    columns, parameters = (*transitions, advantages + values), [*agent.parameters()]
    for _ in range(args.epochs):
        # Rows are gathered once a pass: minibatches are parts of shuffled tensors.
        order = torch.randperm(len(advantages))
        parts = (x[order].chunk(args.minibatches) for x in columns)
        for inputs, actions, old_log_probs, gain, old_values, targets in zip(*parts, strict=True):
            log_probs, entropies, values = agent(inputs, actions)
            ratio, gain = (log_probs - old_log_probs).exp(), normalized(gain)
            gains = torch.min(gain * ratio, gain * ratio.clamp(1 - args.clip, 1 + args.clip))
            clipped = old_values + (values - old_values).clamp(-args.clip, args.clip)
            errors = torch.max((values - targets) ** 2, (clipped - targets) ** 2) / 2
            loss = (args.value_coef * errors - gains - args.entropy_coef * entropies).mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(parameters, args.max_grad_norm)
            optimizer.step()
    means = {"policy loss": -gains, "value loss": errors, "entropy": entropies}
    return {name: x.mean().item() for name, x in means.items()}


def check_device(name):
    """Exit with a message unless the device can be used."""
    try:
        torch.zeros(1, device=name)
    except (RuntimeError, AssertionError) as error:  # AssertionError: torch was built without CUDA
        raise SystemExit(f"--device {name} cannot be used here: {str(error).splitlines()[0]}") from error


def begin(args):
    """Return the pool of a run with `pool_options`, and an untrained agent for it; see `start`."""
    with start(args) as plain:
        agent, prepares = Agent(plain, args.hidden), pool_options(plain, args.gamma)
    return start(args, **prepares), agent


def train(args):
    """Train until the target or the last step is reached, or until Ctrl-C, and return the Returns."""
    check_device(args.device)
    check_files(args.save, args.capture_video)
    (env, agent), returns = begin(args), Returns()
    progress = Progress(args.total_timesteps)
    with env, progress, Scalars(args.tensorboard, f"{args.task}-seed{args.seed}", asdict(args)) as scalars:
        agent.to(args.device)
        try:
            learn(args, env, agent, returns, progress, scalars)
        except KeyboardInterrupt:
            returns.is_interrupted = True
    policies.use(args, agent, returns.is_interrupted, __file__)
    return returns


def load(path):
    """Return the policy of a file of ``--save``: a function from observations to the likeliest actions."""
    return policies.restore(path, Agent)[0].best


def learn(args, env, agent, returns, progress, scalars):
    """Train an agent."""
    optimizer = torch.optim.Adam(agent.parameters(), lr=args.learning_rate, eps=1e-5, fused=True)
    data = Rollout(args, env, agent)
    obs, _ = data.steps.reset()
    per_update, first = args.num_envs * args.num_steps, 0
    changing = {"returns": returns, "scale": agent.scale}
    if saved := checkpoint.load(args, env, agent, optimizer, changing):
        first, obs, data.sampler = saved["step"], saved["obs"], saved["sampler"]
        data.steps.begin(obs)
        progress.resume(first)
    for step in range(first, args.total_timesteps, per_update):
        optimizer.param_groups[0]["lr"] = args.learning_rate * (1 - step / args.total_timesteps)
        obs = data.collect(args, returns, obs, step)
        data.estimate_advantages(args.gamma, args.gae_lambda)
        losses = update(args, agent, optimizer, data.transitions())
        progress.update(per_update, f"mean return {returns.mean:.1f}")
        following = step + per_update
        scalars.add(following, {"return of 100 episodes": returns.mean, **losses})
        if args.checkpoint and following // per_update % args.checkpoint_every == 0:
            checkpoint.save(args, env, agent, optimizer, changing, step=following, obs=obs, sampler=data.sampler)
        if args.target is not None and returns.has_reached(args.target):
            break


def main(argv=None):
    """Train with each seed and report; exit with an error if a target was set and not reached."""
    args = parse_args(argv)
    if args.eval:
        return policies.evaluate_file(args.eval, Agent)
    run_seeds(args, train, "PPO")


if __name__ == "__main__":
    main()
