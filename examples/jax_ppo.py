"""PPO entirely under jax.jit: environments, networks and optimizer are one compiled function (Schulman et al., 2017).

    python examples/jax_ppo.py --target 475 --plot jax_ppo.png

This example needs jax, but no library built on it. It supports tasks with discrete actions whose observation is one
vector. Points to note about a pool inside compiled code:

- ``handle, recv, send, step = env.xla()``: each call takes the handle and returns the next one, which orders the calls.
- The step after the last one of an episode ignores its action and returns the first observation of the next episode.
  That row is not a transition of the task. Shapes are fixed in compiled code, so the row gets weight 0 in the loss.
- A truncated episode (time limit) is bootstrapped from the value of its last observation; a terminated one is not.
"""

import argparse
import time
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from gymnasium.spaces import Box, Discrete
from jax import lax

import envpool
from envpool.rollout import Progress
from envpool.training.curves import plot
from envpool.training.options import natural, natural_number, number, positive, positive_number, share

OPTIONS = {
    "task": ("CartPole-v1", "task id, see envpool.list_all_envs()", str),
    "seed": (1, "seed of the network, the sampling and the environments", natural),
    "num-envs": (64, "environments in the pool", positive),
    "num-steps": (64, "steps of each environment between two updates", positive),
    "total-timesteps": (1_000_000, "largest number of environment steps", positive),
    "updates-per-call": (8, "updates in one call of the compiled function", positive),
    "learning-rate": (1e-3, "Adam's step size at the start; falls to 0 over total-timesteps", positive_number),
    "gamma": (0.99, "discount", share),
    "gae-lambda": (0.95, "decay of the advantage estimate", share),
    "epochs": (4, "passes over the data of an update", positive),
    "minibatches": (8, "gradient steps in a pass", positive),
    "clip": (0.2, "clipping range of the probability ratio", positive_number),
    "entropy-coef": (0.005, "weight of the entropy bonus", natural_number),
    "value-coef": (0.5, "weight of the value loss", natural_number),
    "max-grad-norm": (0.5, "gradient clipping", positive_number),
    "reward-scale": (0.1, "factor applied to rewards, so that values are of ordinary size", positive_number),
    "hidden": (64, "units in each of the two hidden layers", positive),
}


class State(NamedTuple):
    """Everything that an update changes."""

    params: Any
    moments: Any  # of Adam: (first, second), each like params
    count: jax.Array  # gradient steps so far
    key: jax.Array
    handle: jax.Array  # of the pool
    obs: jax.Array  # (num_envs, inputs)
    was_done: jax.Array  # (num_envs,): whether the next step only starts an episode
    episode: jax.Array  # (num_envs,): return of the episode so far


class Data(NamedTuple):
    """The data of a rollout: arrays (num_steps, num_envs, ...)."""

    obs: jax.Array
    action: jax.Array
    log_prob: jax.Array
    value: jax.Array
    reward: jax.Array
    terminated: jax.Array
    done: jax.Array
    weight: jax.Array  # 1 if the row is a transition, otherwise 0
    returned: jax.Array  # return of an episode that ends in this row, otherwise NaN


def parse_args(argv=None):
    """Parse the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    for name, (default, text, kind) in OPTIONS.items():
        parser.add_argument(f"--{name}", type=kind, default=default, help=f"{text} (default: {default})")
    parser.add_argument(
        "--target",
        type=number,
        help="mean return of 100 episodes at which to stop; exit with an error if it is never reached",
    )
    parser.add_argument("--plot", help="write the learning curve to this PNG file")
    args = parser.parse_args(argv)
    if args.num_envs * args.num_steps % args.minibatches:
        parser.error("num-envs times num-steps must be a multiple of minibatches")
    return args


# ---- networks --------------------------------------------------------------------------------------------------------


def init_mlp(key, sizes, gain):
    """Return weights and biases of a network with two hidden layers; `gain` scales the last one."""
    gains = (2**0.5, 2**0.5, gain)
    init = jax.nn.initializers.orthogonal
    layers = zip(jax.random.split(key, 3), sizes, sizes[1:], gains, strict=False)
    return [(init(g)(k, (n, m)), jnp.zeros(m)) for k, n, m, g in layers]


def mlp(layers, x):
    """Apply a network to rows (..., inputs)."""
    for weights, bias in layers[:-1]:
        x = jnp.tanh(x @ weights + bias)
    return x @ layers[-1][0] + layers[-1][1]


def log_probs(params, obs):
    """Return the log-probability of each action."""
    return jax.nn.log_softmax(mlp(params["actor"], obs))


def value_of(params, obs):
    """Return the expected discounted return."""
    return mlp(params["critic"], obs)[..., 0]


def pick(table, action):
    """Return the entry of each row's action."""
    return jnp.take_along_axis(table, action[..., None], -1)[..., 0]


# ---- one update ------------------------------------------------------------------------------------------------------


def collect(args, env_step, start, state):
    """Step all environments num_steps times; `start` is the smallest action."""

    def body(state, _):
        key, draw = jax.random.split(state.key)
        table = log_probs(state.params, state.obs)
        action = jax.random.categorical(draw, table)
        handle, (obs, reward, terminated, truncated, _) = env_step(state.handle, action + start)
        done = terminated | truncated
        episode = state.episode + reward
        row = Data(
            state.obs,
            action,
            pick(table, action),
            value_of(state.params, state.obs),
            reward * args.reward_scale,
            terminated,
            done,
            1.0 - state.was_done,
            jnp.where(done, episode, jnp.nan),
        )
        episode = jnp.where(done, 0.0, episode)
        return state._replace(key=key, handle=handle, obs=obs, was_done=done, episode=episode), row

    return lax.scan(body, state, None, args.num_steps)


def estimate_advantages(args, data, last_value):
    """Estimate advantages (GAE). If an episode ended at row t, the value after t is that of its last observation."""
    next_values = jnp.concatenate([data.value[1:], last_value[None]])

    def body(following, row):
        data, next_value = row
        delta = data.reward + args.gamma * next_value * ~data.terminated - data.value
        following = delta + args.gamma * args.gae_lambda * following * ~data.done
        return following, following

    return lax.scan(body, jnp.zeros_like(last_value), (data, next_values), reverse=True)[1]


def loss_of(params, args, data, advantage, target):
    """Return the loss of one minibatch."""

    def mean(x):
        return (x * data.weight).sum() / jnp.maximum(data.weight.sum(), 1)

    table = log_probs(params, data.obs)
    ratio = jnp.exp(pick(table, data.action) - data.log_prob)
    centred = advantage - mean(advantage)
    gain = centred / jnp.sqrt(mean(centred**2) + 1e-8)
    policy_loss = mean(jnp.maximum(-gain * ratio, -gain * ratio.clip(1 - args.clip, 1 + args.clip)))
    value_loss = mean((value_of(params, data.obs) - target) ** 2) / 2
    entropy = mean(-(jnp.exp(table) * table).sum(-1))
    return policy_loss + args.value_coef * value_loss - args.entropy_coef * entropy


def adam(args, state, gradient):
    """Clip a gradient and apply it."""
    norm = jnp.sqrt(sum((g**2).sum() for g in jax.tree.leaves(gradient)))
    gradient = jax.tree.map(lambda g: g * jnp.minimum(1, args.max_grad_norm / (norm + 1e-6)), gradient)
    count = state.count + 1
    steps = args.total_timesteps / (args.num_envs * args.num_steps) * args.epochs * args.minibatches
    rate = args.learning_rate * jnp.maximum(1 - count / steps, 0)
    first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, state.moments[0], gradient)
    second = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g**2, state.moments[1], gradient)
    rate = rate * jnp.sqrt(1 - 0.999**count) / (1 - 0.9**count)
    params = jax.tree.map(lambda p, m, v: p - rate * m / (jnp.sqrt(v) + 1e-5), state.params, first, second)
    return state._replace(params=params, moments=(first, second), count=count)


def update(args, env_step, start, state, _):
    """Collect a rollout and learn from it; return the new state, and `Data.returned` of the rollout."""
    state, data = collect(args, env_step, start, state)
    advantage = estimate_advantages(args, data, value_of(state.params, state.obs))
    rows = jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), (data, advantage, advantage + data.value))

    def minibatch(state, rows):
        return adam(args, state, jax.grad(loss_of)(state.params, args, *rows)), None

    def epoch(state, _):
        key, draw = jax.random.split(state.key)
        order = jax.random.permutation(draw, args.num_envs * args.num_steps).reshape(args.minibatches, -1)
        return lax.scan(minibatch, state._replace(key=key), jax.tree.map(lambda x: x[order], rows))

    state, _ = lax.scan(epoch, state, None, args.epochs)
    return state, data.returned


# ---- training --------------------------------------------------------------------------------------------------------


def begin(args, env):
    """Reset all environments; return the first State and the step function of the pool."""
    obs_space, action_space = env.single_observation_space, env.single_action_space
    if not isinstance(obs_space, Box) or len(obs_space.shape) != 1 or not isinstance(action_space, Discrete):
        raise SystemExit(
            f"this example needs vector observations and Discrete actions, got {obs_space} and {action_space}"
        )
    key, actor, critic = jax.random.split(jax.random.key(args.seed), 3)
    sizes = (obs_space.shape[0], args.hidden, args.hidden)
    params = {
        "actor": init_mlp(actor, (*sizes, int(action_space.n)), 0.01),
        "critic": init_mlp(critic, (*sizes, 1), 1.0),
    }
    zeros = jax.tree.map(jnp.zeros_like, params)
    handle, recv, _, step = env.xla()
    env.async_reset()
    handle, (obs, *_) = recv(handle)
    nothing = jnp.zeros(args.num_envs)
    return State(params, (zeros, zeros), jnp.zeros((), int), key, handle, obs, nothing > 0, nothing), step


def train(args):
    """Train until the target or the last step is reached; return episode returns, and the step at which each ended."""
    per_call = args.updates_per_call * args.num_envs * args.num_steps
    values, ends, progress = np.zeros(0), np.zeros(0, int), Progress(args.total_timesteps)
    # Environment i has the seed of the pool plus i: runs with the seeds 1, 2, ... have no environments in common.
    with envpool.make_gymnasium(args.task, num_envs=args.num_envs, seed=args.seed * args.num_envs) as env, progress:
        state, env_step = begin(args, env)
        learn = jax.jit(partial(update, args, env_step, int(env.single_action_space.start)))
        several = jax.jit(lambda state: lax.scan(learn, state, None, args.updates_per_call))
        for step in range(0, args.total_timesteps, per_call):
            state, returned = several(state)
            returned = np.asarray(returned).reshape(-1, args.num_envs)
            row, column = np.nonzero(np.isfinite(returned))
            values = np.append(values, returned[row, column])
            ends = np.append(ends, step + (row + 1) * args.num_envs)
            progress.update(per_call, f"mean return {mean_of(values):.1f}")
            if args.target is not None and has_reached(values, args.target):
                break
    return values, ends


def mean_of(values):
    """Return the mean return of the last 100 episodes, or of all if there are fewer; NaN before the first."""
    return float(np.mean(values[-100:])) if len(values) else float("nan")


def has_reached(values, target):
    """Return whether 100 episodes have ended, and the last 100 have at least this mean return."""
    return len(values) >= 100 and mean_of(values) >= target


def main(argv=None):
    """Train and report; exit with an error if a target was set and not reached."""
    args = parse_args(argv)
    began = time.perf_counter()
    values, ends = train(args)
    seconds = time.perf_counter() - began
    if args.plot:
        title = f"PPO under jax.jit on {args.task}, seed {args.seed}"
        plot(args.plot, title, ends, values, args.target)
    print(
        f"{args.task}: mean return {mean_of(values):.1f} over the last {min(len(values), 100)} of {len(values)} "
        f"episodes, {ends[-1] if len(ends) else 0} steps, seed {args.seed}, {seconds:.1f} s with compiling"
    )
    if args.target is not None and not has_reached(values, args.target):
        raise SystemExit(f"the target {args.target:g} was not reached in {args.total_timesteps} steps")


if __name__ == "__main__":
    main()
