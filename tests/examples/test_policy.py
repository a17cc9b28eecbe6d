"""A policy that the PPO example has learned is saved, evaluated and watched, also after Ctrl-C."""

import json
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import imageio.v3
import numpy as np
import pytest
import torch
from gymnasium.spaces import Box, Discrete

import envpool
from envpool.training import policies
from tests.cli.command import COMMAND
from tests.examples.load import FOLDER, load
from tests.support.process import wait_until
from tests.support.python import environment

SHORT = ["--num-envs", "4", "--num-steps", "16", "--total-timesteps", "128"]


@pytest.fixture(scope="module")
def ppo():
    return load("ppo")


@pytest.mark.slow
def test_a_run_of_a_newcomer(ppo, tmp_path, capsys, monkeypatch):
    """Train, save, evaluate, record; then evaluate the file, and watch it with the command that was printed."""
    monkeypatch.chdir(tmp_path)
    small = json.dumps({"render_width": 60, "render_height": 40})
    ppo.main([*SHORT, "--options", small, "--save", "new/policy.pt", "--eval", "--capture-video", "new/a.mp4"])
    shown = capsys.readouterr().out
    assert len(imageio.v3.imread("new/a.mp4")) == 301
    evaluated = next(line for line in shown.splitlines() if "of the likeliest actions over 100 episodes" in line)
    ppo.main(["--eval", "new/policy.pt"])
    assert capsys.readouterr().out.splitlines() == [evaluated]
    command = shlex.split(shown.splitlines()[0].removeprefix("to watch it: envpool "))
    done = subprocess.run(
        [*COMMAND, *command, "--steps", "2", "--out", "a.png"], env=environment(), capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert imageio.v3.imread("a.png").shape == (2 * (20 + 200) + 2, 2 * 300 + 2, 3)


def test_ctrl_c_saves_what_was_learned(ppo, tmp_path):
    """The signal comes after the first update; the file then differs from the policy of the beginning."""
    first, saved, begun = (tmp_path / name for name in ("first.pt", "policy.pt", "run.pt"))
    command = [sys.executable, Path(FOLDER) / "ppo.py", *SHORT, "--num-envs", "8", "--save"]
    long = [saved, "--total-timesteps", "100000000", "--checkpoint", begun, "--checkpoint-every", "1", "--eval"]
    options = {"env": environment(), "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    process = subprocess.Popen([*command, *long], **options, start_new_session=True)
    wait_until(lambda: begun.exists() or process.poll() is not None)
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert (process.returncode, err.splitlines()[-1]) == (130, "stopped by Ctrl-C")
    assert "mean return" in out and "likeliest" not in out and "Traceback" not in err
    load("ppo").train(
        load("ppo").parse_args([*SHORT, "--num-envs", "8", "--total-timesteps", "0", "--save", str(first)])
    )
    networks = [torch.load(path, weights_only=True)["networks"] for path in (first, saved)]
    assert any(not torch.equal(networks[0][name], networks[1][name]) for name in networks[0])
    assert ppo.load(str(saved))(np.zeros((3, 4), np.float32)).shape == (3,)


TASKS = {
    "CartPole-v1": {},
    "Pendulum-v1": {},
    "CheetahRun-v1": {},  # a Dict of arrays, as in all tasks of dm_control
    "CarRacing-v3": {},  # images whose channels are last
    "Pong-v5": {"img_height": 36, "img_width": 36, "noop_max": 1, "use_fire_reset": False},
}


@pytest.mark.parametrize("task", TASKS)
def test_a_loaded_policy_acts_like_the_one_that_was_saved(ppo, task, tmp_path, monkeypatch):
    agents, path = [], str(tmp_path / "policy.pt")
    use = policies.use
    monkeypatch.setattr(policies, "use", lambda args, agent, *rest: (agents.append(agent), use(args, agent, *rest)))
    ppo.train(ppo.parse_args(["--task", task, "--options", json.dumps(TASKS[task]), *SHORT, "--save", path]))
    act = ppo.load(path)
    with envpool.make_gymnasium(task, num_envs=5, **TASKS[task]) as pool:
        obs, _ = pool.reset()
        for _ in range(3):
            actions = act(obs)
            np.testing.assert_array_equal(actions, agents[0].best(obs))
            obs = pool.step(actions)[0]


@pytest.mark.parametrize(
    "task", ["CartPole-v1", "Pendulum-v1", "MinAtar/Breakout-v1", "WalkerWalk-v1", "FetchReach-v4"]
)
def test_the_best_actions_need_no_transforms_of_the_pool(ppo, task):
    """They are the likeliest ones on the observations of a pool that normalises, also if these are in a Dict."""
    args = ppo.parse_args(["--task", task, *SHORT])
    transformed, agent = ppo.begin(args)
    with transformed, ppo.start(args) as plain:
        data = ppo.Rollout(args, transformed, agent)
        data.collect(args, ppo.Returns(), data.steps.reset()[0], 0)
        transformed.normalization.is_frozen = True
        (seen, _), (obs, _) = transformed.reset(seed=9), plain.reset(seed=9)
        for _ in range(5):
            with torch.no_grad():
                outputs = agent.actor(agent.see(agent.prepare(seen))).numpy()
            mode = outputs.argmax(axis=1) if agent.is_discrete else outputs
            seen, obs = transformed.step(agent.to_pool(mode))[0], plain.step(agent.best(obs))[0]
            np.testing.assert_allclose(agent.prepare(seen), scaled(agent, obs), rtol=1e-3, atol=1e-4)


def scaled(agent, obs):
    return np.clip((agent.join(obs) - agent.scale.mean) / agent.scale.std, -10, 10)


def test_curves_for_tensorboard(ppo, tmp_path):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    ppo.train(ppo.parse_args([*SHORT, "--task", "MinAtar/Breakout-v1", "--tensorboard", str(tmp_path)]))
    events = EventAccumulator(str(tmp_path / "MinAtar-Breakout-v1-seed1"))
    events.Reload()
    assert set(events.Tags()["scalars"]) == {"return of 100 episodes", "policy loss", "value loss", "entropy"}
    assert [event.step for event in events.Scalars("entropy")] == [64, 128]
    assert events.Scalars("entropy")[0].value == pytest.approx(np.log(3), abs=0.05)


@pytest.mark.parametrize("has_bfloat16", [False, True])
def test_images_are_seen_in_bfloat16_where_the_processor_multiplies_it(ppo, has_bfloat16, monkeypatch):
    """Elsewhere, bfloat16 is emulated, which takes far longer than float32."""
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: {"avx2": True, "avx512_bf16": has_bfloat16})
    images = Box(0, 255, (1, 36, 36), np.uint8)
    agent = ppo.Agent(SimpleNamespace(observation_space=images, action_space=Discrete(3)), hidden=8)
    seen = []
    agent.features.register_forward_hook(lambda module, inputs, output: seen.append(output.dtype))
    agent.best(np.zeros((2, *images.shape), np.uint8))
    assert seen == [torch.bfloat16 if has_bfloat16 else torch.float32]


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--device", "nowhere"], "--device nowhere cannot be used here: "),
        (["--save", "a.pt", "--seeds", "2"], "--save belongs to a single run: leave out --seeds"),
        (["--eval", "no.pt"], "--eval: the file 'no.pt' does not exist"),
        (["--eval", "empty.pt"], "empty.pt is not a policy that this program can read, or is damaged"),
        (["--save", "."], "cannot write .: it is a directory"),
        (["--capture-video", "a.avi"], "--capture-video must end in .mp4 or .gif, got 'a.avi'"),
        (["--eval", "--seeds", "2"], "--eval belongs to a single run: leave out --seeds"),
    ],
)
def test_mistakes_are_noticed_before_the_training(ppo, arguments, text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("empty.pt").touch()
    with pytest.raises(SystemExit, match=text):
        ppo.main(arguments)


def test_a_missing_tensorboard(ppo, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    with pytest.raises(SystemExit, match="pip install tensorboard"):
        ppo.main([*SHORT, "--tensorboard", str(tmp_path)])
