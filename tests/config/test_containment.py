"""The options on_error and step_timeout: which values they take, and where they are shown."""

import math
from decimal import Decimal

import numpy as np
import pytest

import envpool
from envpool.cli.main import main
from envpool.config.checks import nanoseconds
from envpool.errors import ConfigError


@pytest.mark.parametrize("value", ["raise", "restart"])
def test_on_error(value):
    assert envpool.make_spec("CartPole-v1", on_error=value).config.on_error == value


@pytest.mark.parametrize("value", ["", "ignore", "Raise", "restart "])
def test_unknown_words_for_on_error(value):
    with pytest.raises(ConfigError, match=f"on_error must be one of 'raise', 'restart', got {value!r}"):
        envpool.make_spec("CartPole-v1", on_error=value)


@pytest.mark.parametrize("value", [None, True, 1, b"raise", ["raise"]])
def test_on_error_of_another_type(value):
    with pytest.raises(ConfigError, match="on_error must be one of 'raise', 'restart', got"):
        envpool.make_spec("CartPole-v1", on_error=value)


@pytest.mark.parametrize("value", [1, 0.25, 1e-9, 1e9, np.float32(0.5), np.int64(3), np.array(2.0), Decimal("1.5")])
def test_step_timeout(value):
    timeout = envpool.make_spec("CartPole-v1", step_timeout=value).config.step_timeout
    assert type(timeout) is float
    assert timeout == float(value)


def test_no_step_timeout():
    assert envpool.make_spec("CartPole-v1", step_timeout=None).config.step_timeout is None


@pytest.mark.parametrize(
    "value", [0, -1, -0.0, math.inf, -math.inf, math.nan, np.nan, 1.0000001e9, pytest.param(10**400, id="huge")]
)
def test_timeouts_that_are_not_allowed(value):
    with pytest.raises(ConfigError, match="step_timeout must be greater than 0 and at most 1e") as caught:
        envpool.make_spec("CartPole-v1", step_timeout=value)
    assert "or None for no timeout, got" in str(caught.value)


@pytest.mark.parametrize("value", [True, np.True_, "1", b"1", [1, 2], np.ones(2), 1j, object()])
def test_timeouts_of_another_type(value):
    with pytest.raises(TypeError, match="step_timeout must be a number of seconds, or None for no timeout, got"):
        envpool.make_spec("CartPole-v1", step_timeout=value)


@pytest.mark.parametrize(("seconds", "expected"), [(None, 0), (1e-12, 1), (0.5, 500_000_000), (1e9, 10**18)])
def test_nanoseconds(seconds, expected):
    assert nanoseconds(seconds) == expected


def test_the_command_shows_both(capsys):
    main(["spec", "CartPole-v1", "--all"])
    shown = capsys.readouterr().out
    assert "on_error" in shown
    assert "step_timeout" in shown


@pytest.mark.parametrize("style", ["gymnasium", "gym", "dm"])
def test_every_style_takes_both(style):
    with envpool.make("CartPole-v1", style, num_envs=3, on_error="restart", step_timeout=60) as pool:
        assert (pool.config["on_error"], pool.config["step_timeout"]) == ("restart", 60.0)
        pool.reset()
        pool.step(np.zeros(3, np.int32))


def test_neither_changes_any_bit():
    plain = envpool.make_gymnasium("CartPole-v1", num_envs=5)
    other = envpool.make_gymnasium("CartPole-v1", num_envs=5, num_threads=2, on_error="restart", step_timeout=60)
    assert plain.reset()[0].tobytes() == other.reset()[0].tobytes()
    actions = np.random.default_rng(1).integers(0, 2, (300, 5), np.int32)
    for action in actions:
        mine, theirs = other.step(action), plain.step(action)
        assert mine[4].keys() == theirs[4].keys()
        for k in range(4):
            assert mine[k].tobytes() == theirs[k].tobytes()
