"""The single-file programs in examples/cleanrl run for a few updates, alone in an empty folder."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.python import environment

FOLDER = Path(__file__).parents[2] / "examples" / "cleanrl"
SMALL = {
    "ppo_atari_envpool": "--env-id Pong-v5 --num-envs 2 --num-steps 8 --total-timesteps 48 --num-minibatches 2",
    "ppo_continuous_action": "--env-id Hopper-v5 --num-envs 2 --num-steps 64 --total-timesteps 384 --num-minibatches 2",
    "dqn_atari": "--env-id Pong-v5 --num-envs 2 --total-timesteps 60 --learning-starts 20 --buffer-size 30 "
    "--target-network-frequency 8",
    "sac_continuous_action": "--env-id Hopper-v5 --num-envs 2 --total-timesteps 200 --learning-starts 150 "
    "--buffer-size 100 --batch-size 16",
}


def test_every_program_is_run():
    assert {path.stem for path in FOLDER.glob("*.py")} == set(SMALL)


@pytest.mark.slow
@pytest.mark.parametrize("name", SMALL)
def test_program(name, tmp_path):
    shutil.copy(FOLDER / f"{name}.py", tmp_path)
    done = subprocess.run(
        [sys.executable, f"{name}.py", *SMALL[name].split(), "--no-cuda"],
        cwd=tmp_path,
        env=environment() | {"OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert list(tmp_path.glob("runs/*/events*"))
    if name.startswith("ppo"):
        assert len(re.findall(r"^SPS: \d+$", done.stdout, re.M)) == 3
    if "Hopper" in SMALL[name]:
        assert re.search(r"^global_step=\d+, episodic_return=\d+\.", done.stdout, re.M)


@pytest.mark.parametrize("name", SMALL)
def test_a_program_needs_nothing_from_its_folder(name):
    imported = set(re.findall(r"^(?:from|import) (\w+)", (FOLDER / f"{name}.py").read_text(), re.M))
    standard = {"argparse", "dataclasses", "random", "time"}
    assert imported <= standard | {"envpool", "numpy", "torch"}
