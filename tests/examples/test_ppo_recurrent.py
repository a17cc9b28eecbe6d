"""The recurrent example carries its state right, in acting and in learning, and learns what needs memory."""

import numpy as np
import pytest
import torch

from tests.examples.load import load

SMALL = {"num_envs": 6, "num_steps": 24, "sequence": 8, "minibatches": 2, "hidden": 8}


@pytest.fixture(scope="module")
def recurrent():
    return load("ppo_recurrent")


@pytest.fixture
def learner(recurrent):
    made = []

    def make(**options):
        args = recurrent.Args(**SMALL | options)
        made.append(recurrent.make_pool(args))
        return recurrent.Learner(args, made[-1])

    yield make
    for pool in made:
        pool.close()


def collect(learner):
    """Return the data of a rollout, as `update` does."""
    data, learner.result = learner.rollout.collect(learner.act, learner.result)
    learner.state = torch.from_numpy(data.last("state"))
    return data


@torch.no_grad()
def test_states_follow_from_the_observations(learner):
    """Over several rollouts: the state of a step is that after the step before; an episode begins with zeros."""
    one = learner()
    state, starts = torch.zeros(6, 8), 0
    for _ in range(4):
        data = collect(one)
        np.testing.assert_array_equal(data.inputs, data.obs[..., [0, 2]])
        np.testing.assert_array_equal(data.keep, ~data.first)
        for t in range(24):
            np.testing.assert_array_equal(data.state[t], state)
            kept = torch.from_numpy(np.where(data.first[t][:, None], np.float32(0), state.numpy()))
            logits, value, state = one.agent(torch.from_numpy(data.inputs[t : t + 1]), kept, torch.ones(1, 6))
            np.testing.assert_array_equal(data.value[t], value[0])
            log_probs = torch.log_softmax(logits[0], 1)[torch.arange(6), torch.from_numpy(data.action[t]).long()]
            np.testing.assert_allclose(data.logprob[t], log_probs, atol=1e-6)
        starts += data.first.sum()
    assert starts > 6


@torch.no_grad()
@pytest.mark.parametrize("burn_in", [0, 3])
def test_sequences_reproduce_the_values(learner, burn_in):
    """Before the first gradient step, the network computes the values that it had when it acted, in every row."""
    one = learner(burn_in=burn_in, epochs=1)
    counted = 0

    def check(mask, inputs, keep, state, action, logprob, old_value, advantage, target):
        nonlocal counted
        _, value, _ = one.agent(inputs, state[0], keep)
        np.testing.assert_allclose(value[mask], old_value[mask], atol=1e-6)
        counted += int(mask.sum())

    one.descend = check
    for _ in range(3):
        data = collect(one)
        one.learn(data)
        assert counted == data.valid.sum()
        counted = 0


def test_forgetful(learner):
    one = learner(forgetful=True)
    assert (collect(one).keep == 0).all()


@pytest.mark.slow
def test_learns_what_needs_memory(recurrent, tmp_path, capsys):
    """With its memory, the network does far better after the same number of steps."""
    curve = tmp_path / "curve.png"
    options = ["--total-timesteps", "81920", "--num-envs", "16"]
    recurrent.main([*options, "--plot", str(curve)])
    with_memory = mean_return(capsys)
    assert curve.read_bytes().startswith(b"\x89PNG")
    recurrent.main([*options, "--forgetful"])
    assert with_memory > 2 * mean_return(capsys)


def mean_return(capsys):
    return float(capsys.readouterr().out.split("mean return ")[1].split()[0])


def test_seeds(recurrent, tmp_path, capsys):
    curve = tmp_path / "seeds.png"
    options = ["--total-timesteps", "8192", "--seeds", "2", "--seed", "4", "--plot", str(curve)]
    with pytest.raises(SystemExit, match=r"the target 475 was not reached in 8192 steps with the seeds \[4, 5\]"):
        recurrent.main([*options, "--target", "475"])
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2 and ", seed 4, " in lines[0] and ", seed 5, " in lines[1]
    assert curve.read_bytes().startswith(b"\x89PNG")
