"""Texts of values in errors."""

from __future__ import annotations

import numpy as np
import pytest

import envpool
from envpool.errors import ConfigError
from envpool.option_values import MAX_SHOWN, shown


class Mute:
    def __repr__(self) -> str:
        raise RuntimeError


def test_short_values_are_shown_as_they_are() -> None:
    for value in ("it's", 1.5, [1, None], np.arange(3), "x" * (MAX_SHOWN - 2)):
        assert shown(value) == repr(value)


def test_of_long_values_the_beginning_is_shown() -> None:
    assert shown("x" * 1000) == "'" + "x" * (MAX_SHOWN - 1) + "... (1002 characters)"


@pytest.mark.parametrize(
    ("value", "text"),
    [(Mute(), "an object of type Mute that has no text (RuntimeError)"), (10**5000, "type int .* (ValueError)")],
    ids=["class", "int"],
)
def test_values_without_a_text(value: object, text: str) -> None:
    start, _, end = text.partition(" .* ")
    assert start in shown(value) and shown(value).endswith(end)


def test_errors_about_options_are_short() -> None:
    with pytest.raises(TypeError) as error:
        envpool.make_spec("CartPole-v1", num_envs="x" * 100_000)
    assert str(error.value).startswith("num_envs must be of type int, got 'xxx") and len(str(error.value)) < 300


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"num_envs": 10**5000}, "num_envs must be between 1 and"),
        ({"seed": -(10**5000)}, "seed must be between 0 and"),
        ({"num_envs": 1, "seed": [10**5000]}, r"seed\[0\] must be between 0 and"),
        ({"max_episode_steps": 10**5000}, "max_episode_steps must be"),
        ({"reward_threshold": 10**5000}, "reward_threshold must be in the range of float64"),
    ],
)
def test_numbers_that_are_too_large(options: dict[str, object], text: str) -> None:
    with pytest.raises(ConfigError, match=f"{text}.*got an object of type int that has no text"):
        envpool.make_spec("MountainCar-v0", **options)


@pytest.mark.parametrize("value", [10**5000, [10**5000], "x" * 100_000], ids=["int", "list", "text"])
def test_parameters_of_wrong_types(value: object) -> None:
    with pytest.raises(TypeError, match=r"goal_velocity must be .*, got ") as error:
        envpool.make_spec("MountainCar-v0", goal_velocity=value)
    assert len(str(error.value)) < 300
