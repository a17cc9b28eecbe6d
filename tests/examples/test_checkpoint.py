"""A training run continues from its checkpoint as if it had never been interrupted."""

import json
import signal
import subprocess
import sys
import time

import pytest
import torch

from tests.examples.load import FOLDER, load

OPTIONS = ["--num-envs", "8", "--num-steps", "32", "--total-timesteps", "20480", "--seed", "3"]
#: Trains with the options of the command line and prints the learning curve.
RUN = """
import json, sys
sys.path.append({folder!r})
import ppo
returns = ppo.train(ppo.parse_args(sys.argv[1:]))
print(json.dumps([returns.steps, returns.values]))
"""
DEADLINE = 120


@pytest.fixture(scope="module")
def ppo():
    return load("ppo")


def start(*options):
    """Start a training run in a process of its own."""
    command = [sys.executable, "-c", RUN.format(folder=FOLDER), *OPTIONS, *options]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)


def wait_for_step(path, step):
    """Wait until a checkpoint is written after at least `step` steps, and return its number of steps."""
    end = time.monotonic() + DEADLINE
    while time.monotonic() < end:
        if path.exists():
            found = torch.load(path, weights_only=False)["progress"]["step"]
            if found >= step:
                return found
        time.sleep(0.01)
    raise TimeoutError(f"no checkpoint after {step} steps")


@pytest.mark.slow
@pytest.mark.parametrize("task", ["CartPole-v1", "Pendulum-v1"])
def test_a_killed_run_continues_bit_for_bit(task, tmp_path):
    path = tmp_path / "runs" / "run.pt"
    keeps = ["--task", task, "--checkpoint", str(path), "--checkpoint-every", "3"]
    with start("--task", task) as run:
        expected = json.loads(run.communicate(timeout=DEADLINE)[0])
    with start(*keeps) as run:
        reached = wait_for_step(path, 5000)
        run.send_signal(signal.SIGKILL)
        assert run.wait(DEADLINE) == -signal.SIGKILL
    assert reached < 20480
    with start(*keeps) as run:
        assert json.loads(run.communicate(timeout=DEADLINE)[0]) == expected
    assert max(expected[0]) > 5000
    assert len(set(expected[1])) > 5


def test_other_options_are_refused(ppo, tmp_path):
    options = [*OPTIONS, "--checkpoint", str(tmp_path / "run.pt"), "--checkpoint-every", "1"]
    ppo.train(ppo.parse_args([*options, "--total-timesteps", "512"]))
    with pytest.raises(SystemExit, match="was written with other options: pass --total-timesteps 512 to continue"):
        ppo.train(ppo.parse_args(options))


def test_an_interval_is_positive(ppo, capsys):
    with pytest.raises(SystemExit):
        ppo.parse_args(["--checkpoint-every", "0"])
    assert "0 is not a positive integer" in capsys.readouterr().err
