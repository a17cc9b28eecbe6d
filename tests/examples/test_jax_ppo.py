"""The PPO example under jax.jit learns, its estimates are correct, and a seed reproduces a run."""

from functools import partial

import jax
import numpy as np
import pytest

import envpool
from tests.examples.load import load


@pytest.fixture(scope="module")
def ppo():
    return load("jax_ppo")


def test_solves_cartpole(ppo, tmp_path, capsys):
    curve = tmp_path / "curve.png"
    ppo.main(["--target", "475", "--plot", str(curve)])
    assert "CartPole-v1: mean return " in capsys.readouterr().out
    assert curve.read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
def test_a_seed_gives_the_same_run_again(ppo):
    options = ["--total-timesteps", "1024", "--num-envs", "16", "--num-steps", "32", "--updates-per-call", "2"]
    first, second, other = (ppo.train(ppo.parse_args([*options, "--seed", s])) for s in ("3", "3", "4"))
    np.testing.assert_array_equal(first, second)
    assert first[0].tolist() != other[0].tolist()


@pytest.fixture(scope="module")
def rollout(ppo):
    """Return the options, a rollout, the value after it and its advantages."""
    args = ppo.parse_args(["--num-envs", "4", "--num-steps", "64"])
    with envpool.make_gymnasium(args.task, num_envs=args.num_envs, seed=args.seed) as env:
        state, step = ppo.begin(args, env)
        state, data = jax.jit(partial(ppo.collect, args, step, 0))(state)
        last = ppo.value_of(state.params, state.obs)
        return args, jax.tree.map(np.asarray, data), np.asarray(last), ppo.estimate_advantages(args, data, last)


def test_rows_that_start_an_episode_are_no_transitions(rollout):
    _, data, _, _ = rollout
    assert (data.weight[0] == 1).all()
    np.testing.assert_array_equal(data.weight[1:], ~data.done[:-1])
    assert 0 < (data.weight == 0).sum() < data.weight.size / 4
    assert (data.reward[data.weight == 0] == 0).all()
    np.testing.assert_array_equal(np.isfinite(data.returned), data.done)


def test_advantages_equal_the_definition(rollout):
    """The sum over the rest of an episode of (gamma lambda)^k delta, bootstrapped unless the episode terminated."""
    args, data, last, advantages = rollout
    values = np.concatenate([data.value, last[None]])
    for t in range(args.num_steps):
        for i in range(args.num_envs):
            expected, weight = 0.0, 1.0
            for k in range(t, args.num_steps):
                bootstrap = 0.0 if data.terminated[k, i] else args.gamma * values[k + 1, i]
                expected += weight * (data.reward[k, i] + bootstrap - values[k, i])
                weight *= args.gamma * args.gae_lambda
                if data.done[k, i]:
                    break
            assert advantages[t, i] == pytest.approx(expected, abs=1e-4)


def test_adam_equals_the_definition(ppo):
    """Two steps computed by hand, without clipping, and with the falling learning rate."""
    args = ppo.parse_args(["--max-grad-norm", "1e9", "--learning-rate", "0.1", "--total-timesteps", "40960"])
    state = ppo.State(np.float32(1), (np.float32(0),) * 2, np.int32(0), *[None] * 5)
    m = v = 0.0
    x = 1.0
    for k, gradient in enumerate((0.5, -2.0), 1):
        state = ppo.adam(args, state, np.float32(gradient))
        m, v = 0.9 * m + 0.1 * gradient, 0.999 * v + 0.001 * gradient**2
        rate = 0.1 * (1 - k / (10 * args.epochs * args.minibatches))
        x -= rate * np.sqrt(1 - 0.999**k) / (1 - 0.9**k) * m / (np.sqrt(v) + 1e-5)
        assert float(state.params) == pytest.approx(x, rel=1e-5)


def test_tasks_that_do_not_fit(ppo):
    with pytest.raises(SystemExit, match="needs vector observations and Discrete actions"):
        ppo.train(ppo.parse_args(["--task", "Pendulum-v1"]))
    with pytest.raises(SystemExit):
        ppo.parse_args(["--num-envs", "3", "--num-steps", "5"])
