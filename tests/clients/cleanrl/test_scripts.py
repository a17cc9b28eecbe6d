"""CleanRL's scripts for EnvPool, as they are, with options of the command line only, under gym 0.23.1."""

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

SCRIPTS = Path(find_spec("cleanrl").submodule_search_locations[0])
SMALL = "--cuda False --env-id Breakout-v5 --num-envs 2 --num-steps 16 --total-timesteps 96 --num-minibatches 2"


@pytest.mark.parametrize(
    ("name", "options"), [("ppo_atari_envpool", []), ("ppo_rnd_envpool", ["--num-iterations-obs-norm-init", "1"])]
)
def test_script(name, options, tmp_path):
    done = subprocess.run(
        [sys.executable, SCRIPTS / f"{name}.py", *SMALL.split(), "--update-epochs", "1", *options],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert len(re.findall(r"^SPS: \d+$", done.stdout, re.M)) == 3
    assert list(tmp_path.glob("runs/*/events*"))
