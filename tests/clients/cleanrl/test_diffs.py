"""The diffs of docs/clients.md, applied to CleanRL's scripts, which then run for a few updates."""

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import gymnasium
import numpy as np
import pytest

import envpool

SCRIPTS = Path(find_spec("cleanrl").submodule_search_locations[0])
PAGE = (Path(__file__).parents[3] / "docs" / "clients.md").read_text()
DIFFS = dict(re.findall(r'^```diff title="([\w.]+)"\n(.*?)^```$', PAGE, re.M | re.S))
SMALL = {
    "ppo_atari_envpool.py": "--env-id Breakout-v5 --num-envs 2 --num-steps 16 --total-timesteps 96 --num-minibatches 2",
    "ppo_continuous_action.py": "--env-id Hopper-v4 --num-envs 2 --num-steps 64 --total-timesteps 384",
    "dqn_atari.py": "--env-id Breakout-v5 --total-timesteps 260 --learning-starts 100 --buffer-size 200 --batch-size 4",
}


def applied(diff, script):
    """Return a script after a diff, whose hunks must each fit once."""
    for hunk in diff.split("@@\n"):
        lines = hunk.splitlines()
        old = "\n".join(line[1:] for line in lines if line[:1] != "+")
        new = "\n".join(line[1:] for line in lines if line[:1] != "-")
        assert script.count(old) == 1, old
        script = script.replace(old, new)
    return "import envpool\n" + script


@pytest.mark.parametrize("name", SMALL)
def test_script(name, tmp_path):
    (tmp_path / name).write_text(applied(DIFFS[name], (SCRIPTS / name).read_text()))
    done = subprocess.run(
        [sys.executable, name, *SMALL[name].split(), "--cuda", "False"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert re.search(r"^SPS: \d+$", done.stdout, re.M)
    if "Hopper" in SMALL[name]:
        assert re.search(r"^global_step=\d+, episodic_return=\d+\.\d+$", done.stdout, re.M)
    assert list(tmp_path.glob("runs/*/events*"))


def test_every_diff_is_run():
    assert set(DIFFS) == set(SMALL)


def test_the_calls_of_sac():
    """No package holds the script of this diff: the same attributes, assertions and reads of infos."""
    options = {"autoreset_mode": "same_step", "episode_statistics": True}
    envs = envpool.make_vec("Hopper-v4", 2, max_episode_steps=15, **options)
    assert isinstance(envs.single_action_space, gymnasium.spaces.Box)
    assert float(envs.single_action_space.high[0]) == 1
    envs.single_observation_space.dtype = np.float32
    envs.reset(seed=1)
    singles = [gymnasium.make("Hopper-v4", max_episode_steps=15) for _ in range(2)]
    for i, single in enumerate(singles):
        single.reset(seed=1 + i)
    ends = 0
    for _ in range(60):
        actions = np.array([envs.single_action_space.sample() for _ in range(envs.num_envs)])
        next_obs, _, _, truncations, infos = envs.step(actions)
        if "_episode" in infos:
            for i in np.flatnonzero(infos["_episode"]):
                if info := {"episode": {key: infos["episode"][key][i] for key in "rl"}}:
                    assert 1 <= info["episode"]["l"] <= 15
                    ends += 1
        real_next_obs = next_obs.copy()
        for idx, trunc in enumerate(truncations):
            if trunc:
                real_next_obs[idx] = infos["final_obs"][idx]
        for idx, single in enumerate(singles):
            expected, _, terminated, truncated, _ = single.step(actions[idx])
            if truncated or not terminated:
                np.testing.assert_array_equal(real_next_obs[idx], expected)
            if terminated or truncated:
                single.reset()
    assert ends > 4
    envs.close()
