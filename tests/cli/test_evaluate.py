"""``envpool evaluate`` and ``envpool record``."""

import json
import sys

import gymnasium
import imageio.v3
import numpy as np
import pytest

import envpool
from envpool.cli.main import main
from envpool.evaluation.datasets import read_episodes
from tests.evaluation.test_evaluate import Lengths


def test_evaluate_prints_the_table_and_writes_all_episodes(tmp_path, capsys):
    arguments = ["evaluate", "CartPole-v1", "--episodes", "6", "--num-envs", "3", "--seed", "9"]
    assert main([*arguments, "--option", "max_episode_steps=10", "--json", f"{tmp_path}/a.json"]) == 0
    result = envpool.evaluate("random", "CartPole-v1", 6, 9, num_envs=3, max_episode_steps=10)
    assert capsys.readouterr().out == f"{result}\n"
    assert json.loads((tmp_path / "a.json").read_text()) == result.to_dict()


@pytest.mark.parametrize(
    ("command", "option", "text"),
    [
        ("evaluate", "num_envs=3", "use --num-envs instead of --option num_envs=..."),
        ("evaluate", "seed=3", "use --seed instead of --option seed=..."),
        ("evaluate", "env_seed=[3]", "use --seed instead of --option env_seed=..."),
        ("evaluate", "seeds=3", "use --seed instead of --option seeds=..."),
        ("evaluate", "confidence=0.5", "this command sets confidence itself: leave out --option confidence=..."),
        ("record", "num_envs=3", "use --num-envs instead of --option num_envs=..."),
        ("record", "seed=3", "use --seed instead of --option seed=..."),
        ("watch", "seed=3", "use --seed instead of --option seed=..."),
        ("watch", "render_mode=human", "use --window or --out instead of --option render_mode=..."),
    ],
)
def test_options_that_have_an_argument(command, option, text, tmp_path, capsys):
    out = [f"{tmp_path}/a.npz"] if command == "record" else []
    assert main([command, "CartPole-v1", *out, "--option", option]) == 2
    assert text in " ".join(capsys.readouterr().err.split())


class Failing(Lengths):
    """Its step raises, or its constructor ends the program."""

    def __init__(self, ends=False):
        super().__init__()
        if ends:
            sys.exit("goodbye")

    def step(self, action):
        raise ValueError("broken on\n  purpose")


@pytest.fixture
def task():
    """The id of a task that only gymnasium has."""
    gymnasium.register("envpool-tests/Lengths-v0", Lengths)
    gymnasium.register("envpool-tests/Failing-v0", Failing)
    yield "envpool-tests/Lengths-v0"
    del gymnasium.registry["envpool-tests/Lengths-v0"], gymnasium.registry["envpool-tests/Failing-v0"]


@pytest.mark.parametrize("workers", ["inline", "process"])
def test_the_traceback_of_an_environment_stands_above_the_error(workers, task, capsys):
    assert main(["evaluate", "envpool-tests/Failing-v0", "--episodes", "2", "--option", f"workers={workers}"]) == 2
    *trace, line = capsys.readouterr().err.splitlines()
    failed = "ValueError: broken on purpose"
    assert line == f"envpool evaluate: error: 2 env(s) failed: env 0: {failed}; env 1: {failed}, see above"
    assert trace[0] == "Traceback (most recent call last):" and trace[-2:] == ["ValueError: broken on", "  purpose"]


def test_an_environment_that_ends_the_program(task, capsys):
    assert main(["evaluate", "envpool-tests/Failing-v0", "--option", 'env_kwargs={"ends": True}']) == 2
    assert capsys.readouterr().err.endswith("the code of an environment ended the command: SystemExit: goodbye\n")


def test_evaluate_a_policy_of_a_file_in_python_environments(task, tmp_path, capsys):
    (tmp_path / "lengths_policy.py").write_text("def load(saved):\n    return lambda obs: [int(saved)] * len(obs)\n")
    policy = ["--policy", f"{tmp_path}/lengths_policy.py:load", "--load", "0"]
    assert main(["evaluate", task, "--episodes", "7", "--seed", "0", *policy]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"{task}: 7 episodes of 7 envs" and lines[2].split()[1] == "4"


def test_evaluate_writes_videos(tmp_path):
    options = ["--option", "render_width=60", "--option", "render_height=40"]
    assert main(["evaluate", "CartPole-v1", "--episodes", "2", "--video", f"{tmp_path}/a.gif", *options]) == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a-best.gif", "a-median.gif", "a-worst.gif"]


def test_record_a_dataset(task, tmp_path, capsys):
    path = tmp_path / "a.npz"
    assert main(["record", "CartPole-v1", str(path), "--num-envs", "2", "--episodes", "4", "--seed", "3"]) == 0
    episodes = list(read_episodes(path))
    steps = sum(map(len, episodes))
    assert capsys.readouterr().out == f"{path}: {steps} steps, 4 episodes, mean return {steps / 4:.4g}\n"
    assert {e.seed for e in episodes if e.number == 0} == {3, 4}
    assert main(["record", task, str(path), "--steps", "20", "--seed", "0"]) == 0
    assert [len(e) for e in read_episodes(path) if e.number == 0] == [1, 2, 3, 4]


def test_record_a_video(tmp_path, capsys):
    options = ["--option", "render_width=60", "--option", "render_height=40"]
    assert main(["record", "CartPole-v1", f"{tmp_path}/a.mp4", "--steps", "5", "--num-envs", "1", *options]) == 0
    assert len(imageio.v3.imread(tmp_path / "a.mp4")) == 6
    assert capsys.readouterr().out == f"{tmp_path}/a.mp4: 5 steps, 0 episodes\n"


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["record", "CartPole-v1", "a.csv"], "path must end in"),
        (["record", "Pong-v4000", "a.npz"], "Pong-v4000"),
        (["evaluate", "CartPole-v1", "--video", "a.png"], "a video must end in .mp4 or .gif"),
        (["evaluate", "CartPole-v1", "--load", "x"], "--load needs a function that loads the file"),
        (["evaluate", "CartPole-v1", "--json", "nowhere/a.json"], "the directory nowhere does not exist"),
        (["evaluate", "CartPole-v1", "--option", "normalize_obs=True"], "normalize_obs needs statistics"),
        (["record", "Pendulum-v1", "a.npz", "--option", "normalize_reward=True"], "pass normalize_reward=False"),
    ],
)
def test_mistakes(arguments, text, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    assert text in capsys.readouterr().err
    assert np.size(list(tmp_path.iterdir())) == 0
