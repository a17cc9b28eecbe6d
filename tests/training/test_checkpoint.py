"""Checkpoints: which objects they restore, and which files are refused."""

from dataclasses import dataclass

import numpy as np
import pytest
import torch

import envpool
from envpool.training import checkpoint


@dataclass
class Args:
    checkpoint: str
    seed: int = 1


@pytest.fixture
def parts(tmp_path):
    agent = torch.nn.Linear(2, 1)
    with envpool.make_gymnasium("CartPole-v1", num_envs=2) as pool:
        pool.reset()
        yield Args(str(tmp_path / "run.pt")), pool, agent, torch.optim.SGD(agent.parameters())


def test_generators_continue(parts):
    sampler, rng = envpool.rollout.Sampler(3), np.random.default_rng(4)
    objects = {"sampler": sampler, "rng": rng}
    sampler.permutation(9)
    checkpoint.save(*parts, objects, step=5)
    expected = sampler.permutation(9).tolist(), rng.random()
    assert checkpoint.load(*parts, objects) == {"step": 5}
    assert (sampler.permutation(9).tolist(), rng.random()) == expected
    with pytest.raises(TypeError, match=r"objects\['x'\] must have attributes or a __setstate__, got 3"):
        checkpoint.save(*parts, {"x": 3})


def test_nothing_is_restored_for_other_objects(parts):
    checkpoint.save(*parts, {"a": Args("")})
    obs = parts[1].step(np.zeros(2, int))[0]
    with pytest.raises(SystemExit, match=r"with the objects \['a'\] instead of \['b'\]: name another file"):
        checkpoint.load(*parts, {"b": Args("")})
    assert parts[1].step(np.zeros(2, int))[0].tolist() != obs.tolist()


@pytest.mark.parametrize("content", ["empty", "truncated", "foreign"])
def test_files_that_are_no_checkpoints(parts, content):
    path = parts[0].checkpoint
    checkpoint.save(*parts, {})
    with open(path, "rb") as file:
        whole = file.read()
    if content == "foreign":
        torch.save({"x": 1}, path)
    else:
        with open(path, "wb") as file:
            file.write(whole[: 0 if content == "empty" else len(whole) // 2])
    with pytest.raises(SystemExit, match=r"run\.pt is not a checkpoint that this program can read, or is damaged: "):
        checkpoint.load(*parts, {})
