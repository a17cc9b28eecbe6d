"""Numbers and options of tasks on the command lines of the examples: those that make no sense are refused."""

import pytest

from envpool.training import curves
from envpool.training.options import parse_args
from tests.examples.load import load

NUMBERS = [
    ("ppo", "--num-envs", ["0", "-1", "1.5", "nan"], "a positive integer"),
    ("ppo", "--hidden", ["0"], "a positive integer"),
    ("ppo", "--seed", ["-1"], "an integer of 0 or more"),
    ("ppo", "--learning-rate", ["0", "-1", "nan", "inf"], "a positive number"),
    ("ppo", "--gamma", ["-0.1", "1.1", "nan"], "a number from 0 to 1"),
    ("ppo", "--target", ["nan", "inf"], "a finite number"),
    ("ppo", "--options", ["{", "[1]"], "a JSON object"),
    ("random_shooting", "--options", ["{", "[1]"], "a JSON object"),
    ("async_ppo", "--batch-size", ["-1"], "an integer of 0 or more"),
    ("ppo_atari", "--clip", ["0"], "a positive number"),
    ("ppo_recurrent", "--burn-in", ["-1"], "an integer of 0 or more"),
    ("dqn", "--n-step", ["0", "1.5"], "a positive integer"),
    ("dqn", "--final-epsilon", ["2"], "a number from 0 to 1"),
    ("sac", "--updates-per-step", ["-1"], "a number of 0 or more"),
    ("sac_her", "--hidden", ["0", "-3"], "a positive integer"),
    ("sac_her", "--hindsight", ["2", "-0.5", "nan"], "a number from 0 to 1"),
    ("sac_her", "--updates-per-step", ["-1", "inf"], "a number of 0 or more"),
    ("curriculum", "--evaluate-every", ["0"], "a positive integer"),
    ("domain_randomization", "--episodes", ["0"], "a positive integer"),
    ("random_shooting", "--games", ["0"], "a positive integer"),
    ("random_shooting", "--discount", ["1.5"], "a number from 0 to 1"),
    ("rock_paper_scissors", "--updates", ["0"], "a positive integer"),
]


def parse(example, words):
    """Parse the command line of an example, or raise SystemExit before it does anything else."""
    if hasattr(example, "Args"):
        parse_args(words, example.Args)
    else:
        getattr(example, "parse_args", example.main)(words)


@pytest.mark.parametrize(
    ("name", "flag", "value", "what"),
    [(name, flag, value, what) for name, flag, values, what in NUMBERS for value in values],
)
def test_numbers_that_are_refused(name, flag, value, what, capsys):
    with pytest.raises(SystemExit):
        parse(load(name), [f"{flag}={value}"])
    assert f"argument {flag}: {value} is not {what}" in capsys.readouterr().err


def test_numbers_of_the_examples_for_other_libraries(capsys):
    with pytest.raises(SystemExit):
        curves.parse_args("", ["--num-envs=0"])
    assert "argument --num-envs: 0 is not a positive integer" in capsys.readouterr().err


@pytest.mark.parametrize(("flag", "value"), [("--minibatches", "0"), ("--gamma", "2"), ("--hidden", "-1")])
def test_numbers_of_the_example_in_jax(flag, value, capsys):
    pytest.importorskip("jax")
    with pytest.raises(SystemExit):
        load("jax_ppo").parse_args([f"{flag}={value}"])
    assert f"argument {flag}: {value} is not" in capsys.readouterr().err
