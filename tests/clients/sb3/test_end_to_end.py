"""The loops of benchmarks/end_to_end.py do the same work: the same steps and gradient steps in each iteration."""

import itertools
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from tests.examples.load import load

sys.path.append(str(Path(__file__).parents[3] / "benchmarks"))

import end_to_end
import usual_loops

load("ppo"), load("dqn")  # the benchmark imports these examples

SMALL = {
    "cartpole": {"num_steps": 16},
    "cartpole64": {"num_steps": 4},
    "halfcheetah": {"num_steps": 8, "epochs": 2},
    "pong": {"num_envs": 2, "num_steps": 8, "hidden": 8},
    "pong_dqn": {"num_envs": 4, "learning_starts": 32, "capacity": 512},
}


def test_every_cell_is_compared():
    assert set(SMALL) == set(end_to_end.CELLS)


@pytest.mark.parametrize("name", SMALL)
def test_loops_do_the_same_work(name, monkeypatch):
    cell, counts, sizes = replace(end_to_end.CELLS[name], **SMALL[name]), {}, {}
    step = torch.optim.Adam.step
    for who, function in end_to_end.contenders_of(cell).items():
        updates = itertools.count()
        monkeypatch.setattr(torch.optim.Adam, "step", lambda *args, **more: (next(updates), step(*args, **more))[1])  # noqa: B023
        timers = end_to_end.Timers()
        make = getattr(end_to_end, function, None) or getattr(usual_loops, function)
        loop = make(cell, timers.timed)
        next(loop), next(loop)
        before = next(updates)
        sizes[who] = next(loop), next(loop)
        counts[who] = next(updates) - before - 1
        has_policy = who != "with MLP"  # there the native loop includes the policy
        assert all(timers.seconds[part] for part in end_to_end.PARTS if has_policy or part != "policy")
        loop.close()
    assert set(sizes.values()) == {(cell.num_steps * cell.num_envs,) * 2}
    per_iteration = (
        cell.num_steps * cell.updates_per_step if cell.algorithm == "DQN" else cell.epochs * cell.minibatches
    )
    assert counts == dict.fromkeys(counts, 2 * per_iteration)
