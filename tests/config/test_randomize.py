"""Which values of the option `randomize` are accepted, and what the errors say."""

import re

import numpy as np
import pytest

import envpool
from envpool.errors import ConfigError
from envpool.native import Param
from tests.support.parameters import pool_with_params


def refused(randomize, text, task="CartPole-v1", error=ConfigError, **options):
    with pytest.raises(error, match=text):
        envpool.make_spec(task, randomize=randomize, **options)
    with envpool.make_gymnasium(task, num_envs=2, **options) as pool:
        with pytest.raises(error, match=text):
            pool.set_randomize(randomize)
        assert pool.get_randomize() == [{}, {}]


@pytest.mark.parametrize(
    "entry",
    [
        3,
        "uniform",
        (),
        ("uniform",),
        ("uniform", 1),
        ("uniform", 1, 2, 3),
        ("uniform", 1, "shared"),
        ("uniform", 1, 2, "common"),
        ("gaussian", 1, 2),
        (1, 2),
        (["uniform"], 1, 2),
        ("normal", 1, 2, 3),
        ("choice", []),
        ("choice", 3),
        ("choice", 3, 4),
        ("choice", [3, 4], "shared"),
        None,
        {"uniform": (1, 2)},
    ],
)
def test_forms(entry):
    refused(
        {"length": entry}, r"randomize\['length'\] must be \('uniform', low, high\), .* or \('choice', values\), got"
    )


@pytest.mark.parametrize("value", [5, "length", [("length", ("uniform", 1, 2))], {"length"}])
def test_types(value):
    refused(value, "randomize must be a dict from names of parameters to distributions, got", error=TypeError)


@pytest.mark.parametrize(
    ("entry", "text"),
    [
        (("uniform", 2, 1), "low must be at most high, got 2.0 and 1.0"),
        (("uniform", -2, 1), "must stay a finite number of at least 1e-06 and at most 1e+06, but -2 may be drawn"),
        (("uniform", 1, 2e6), "must stay a finite number .*, but 2e+06 may be drawn"),
        (("loguniform", 0, 1), "must be ('loguniform', low, high) with low above 0, got ('loguniform', 0, 1)"),
        (("scale", -1, 1), "must stay a finite number .*, but -0.5 may be drawn"),
        (("scale", 1, 1e300), "must stay a finite number .*, but 5e+299 may be drawn"),
        (("uniform", float("nan"), 1), "must have finite numbers, got nan"),
        (("scale", 1, float("inf")), "must have finite numbers, got inf"),
        (("uniform", [1, 2], 3), "must have numbers, got the shape (2,)"),
        (("normal", 1, 0.1), "must be ('normal', mean, std, low, high), since each element must be a finite number"),
        (("normal", 1, -0.1, 0.5, 2), "the standard deviation must be at least 0, got -0.1"),
        (("normal", 1, 0.1, 2, 0.5), "low must be at most high, got 2.0 and 0.5"),
        (("normal", 1, 0.1, 0, 2), "must stay a finite number .*, but 0 may be drawn"),
        (("choice", [1, -1]), "value 1 must be a finite number of at least 1e-06 and at most 1e+06, got -1"),
    ],
)
def test_values(entry, text):
    refused({"length": entry}, r"randomize\['length'\]:? " + re.escape(text).replace(r"\.\*", ".*"))


@pytest.mark.parametrize("argument", ["1", None, [1, [2]], True, 1j])
def test_arguments_that_are_no_numbers(argument):
    refused({"length": ("uniform", argument, 2)}, r"randomize\['length'\] must have numbers, got", error=TypeError)


def test_names():
    refused(
        {"lenght": ("uniform", 1, 2)}, "randomize draws 'lenght', but CartPole.* has no such parameter; did you mean"
    )
    refused({3: ("uniform", 1, 2)}, "randomize draws '3', but CartPole.* its parameters are gravity, masscart")
    refused({"a": ("uniform", 1, 2)}, "randomize draws 'a', but .* has no parameters", task="MinAtar/Breakout-v1")


def test_ranges_that_are_too_wide():
    with pytest.raises(ConfigError, match=r"randomize\['x'\]: the difference of high and low must be finite"):
        pool_with_params({"x": Param(0.0)}, randomize={"x": ("uniform", -1.5e308, 1.5e308)})


def test_elements():
    refused(
        {"body_mass": ("uniform", [0, 1, 1, 1, -1], 2)},
        r"randomize\['body_mass'\]\[4\] must stay a finite number of at least 0.*, but -1 may be drawn",
        task="Hopper-v5",
    )
    refused(
        {"gravity": ("uniform", [1, 2], 3)},
        r"randomize\['gravity'\] must have numbers or arrays of the shape \(3,\), got the shape \(2,\)",
        task="Hopper-v5",
    )
    refused(
        {"gravity": ("uniform", [0, 0, 1], [0, 0, 0])},
        r"randomize\['gravity'\]: low must be at most high, got 1.0 and 0.0",
        task="Hopper-v5",
    )


def test_integers_and_choices():
    refused(
        {"curriculum_stage": ("scale", 1, 2)},
        r"must be \('uniform', low, high\) or \('choice', values\), since curriculum_stage consists of integers",
        task="MPE/simple_tag-v3",
    )
    refused(
        {"difficulty": ("uniform", 0, 1)},
        r"randomize\['difficulty'\] must be \('choice', values\), since difficulty must be one of the integers",
        task="Breakout-v5",
    )
    maps = ["SFFF", "FHFH", "FFFH", "HFFG"], ["SFFF", "FFFF", "FFFF", "FFFG"]
    with envpool.make_gymnasium("FrozenLake-v1", num_envs=50, randomize={"desc": ("choice", maps)}) as pool:
        pool.reset()
        drawn = pool.get_params(in_force=True)["desc"]
        assert len(np.unique(drawn.reshape(50, -1), axis=0)) == 2
    refused({"desc": ("choice", [maps[0][:3]])}, "desc", task="FrozenLake-v1")


def test_the_normal_form():
    given = {
        "gravity": ["uniform", np.float32(0.5), np.array([1.0, 2, 3])],
        "body_mass": ("choice", [np.arange(1.0, 6), (2, 2, 2, 2, 2)]),
    }
    config = envpool.make_spec("Hopper-v5", randomize=given).config
    assert config.randomize == {
        "gravity": ("uniform", 0.5, (1.0, 2.0, 3.0)),
        "body_mass": ("choice", ((1.0, 2.0, 3.0, 4.0, 5.0), (2, 2, 2, 2, 2))),
    }
    given["gravity"][1] = 7
    assert config.randomize["gravity"][1] == 0.5
    assert envpool.make_spec("Hopper-v5", randomize={}).config.randomize is None


def test_python_environments_draw_their_own_values():
    with pytest.raises(ConfigError, match=r"has no parameters. An environment written in Python .* in its reset\(\)"):
        envpool.make_python("CartPole-v1", randomize={"length": ("uniform", 1, 2)})
