"""The runs of a training program: its reports, and what belongs to a single run."""

from dataclasses import dataclass

import numpy as np
import pytest

from envpool.training.curves import Returns
from envpool.training.options import PolicyArgs, RunArgs
from envpool.training.runs import INTERRUPTED, run_seeds, start


def returns_of(value, count=100):
    returns = Returns()
    for step in range(count):
        returns.add({"finished": {"r": np.array([value])}}, step)
    return returns


def test_large_returns_are_printed_in_full(capsys):
    run_seeds(RunArgs(), lambda args: returns_of(12345.678), "PPO")
    assert "CartPole-v1: mean return 12345.7 over the last 100 of 100 episodes, seed 1, " in capsys.readouterr().out


def test_each_seed_is_a_run(capsys):
    seeds = []
    with pytest.raises(SystemExit, match=r"the target 6 was not reached in 1000000 steps with the seeds \[4, 5\]"):
        run_seeds(
            RunArgs(seed=4, seeds=3, target=6.0), lambda args: returns_of(seeds.append(args.seed) or seeds[-1]), ""
        )
    assert seeds == [4, 5, 6]
    assert [line.split(", ")[1] for line in capsys.readouterr().out.splitlines()] == ["seed 4", "seed 5", "seed 6"]


def test_an_interrupted_run_ends_all_runs(capsys):
    returns = returns_of(1.0)
    returns.is_interrupted = True
    with pytest.raises(SystemExit) as stopped:
        run_seeds(RunArgs(seeds=2), lambda args: returns, "PPO")
    assert stopped.value.code == INTERRUPTED
    assert capsys.readouterr().err == "stopped by Ctrl-C\n"


@pytest.mark.parametrize("name", ["save", "eval", "capture_video"])
def test_files_belong_to_a_single_run(name):
    @dataclass(frozen=True)
    class Args(PolicyArgs, RunArgs):
        pass

    with pytest.raises(SystemExit, match=f"--{name.replace('_', '-')} belongs to a single run: leave out --seeds"):
        run_seeds(Args(seeds=2, **{name: "file"}), None, "PPO")


def test_options_of_the_command_line_take_precedence():
    with start(RunArgs(num_envs=3, seed=2, options='{"num_envs": 2, "max_episode_steps": 7}')) as pool:
        assert pool.num_envs == 2
        assert pool.spec.config.max_episode_steps == 7
        assert pool.spec.seeds().tolist() == [6, 7]


@pytest.mark.parametrize(("task", "count"), [("MPE/simple_spread-v3", 3), ("ConnectFour-v0", 2)])
def test_a_task_with_several_players(task, count):
    with pytest.raises(SystemExit, match=f"{task} has {count}: examples/mappo.py"):
        start(RunArgs(task=task))
