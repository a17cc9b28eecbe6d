"""Values of options that are too large or have no text: each ends in an error about the option, which is short."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import pytest

import envpool
from envpool._support.text import shown
from envpool.config.options import SHARED_OPTIONS
from envpool.errors import ConfigError
from envpool.registration import registry
from tests.support.tasks import playable_tasks

#: Characters of an error: those of the values that are allowed, and of the beginning of the value that is not.
LONGEST = 1500
HUGE = 10**5000


class Mute:
    def __repr__(self) -> str:
        raise RuntimeError("this object has no text")


#: Values that no option can have, and whose texts are too long or cannot be made, by what they are.
ODD_VALUES = {
    "int": HUGE,
    "negative": -HUGE,
    "ints": [HUGE, HUGE],
    "mute": Mute(),
    "text": "x" * 100_000,
    "surrogate": "\ud800",
    "null": "a\0b",
    "nested": [[1], [2, 3]],
    "array": np.zeros((3, 3)),
    "pair": np.array([1, 2]),
}


def tasks_by_class() -> dict[str, str]:
    """Return one task of each class of environments, by the name of the class."""
    return {registry.find(task_id).env: task_id for task_id in reversed(playable_tasks())}


def problems(task_id: str, options: Iterable[str], call: Callable[..., Any] = envpool.make_spec) -> Iterator[str]:
    """Yield what is wrong with the errors of a call about odd values of options."""
    for name, (kind, value) in itertools.product(options, ODD_VALUES.items()):
        try:
            call(task_id, **{name: value})
        except (ConfigError, TypeError, ImportError) as error:
            if len(str(error)) > LONGEST:
                yield f"{name}, {kind}: {len(str(error))} characters, {str(error)[:200]}"
            elif name not in str(error) and shown(value)[1:4] not in str(error):
                yield f"{name}, {kind}: the error names neither the option nor its value: {error}"
        except Exception as error:
            yield f"{name}, {kind}: {type(error).__name__}: {error}"[:300]


@pytest.mark.parametrize("task_id", tasks_by_class().values(), ids=tasks_by_class())
def test_odd_values_of_the_options_of_an_environment(task_id: str) -> None:
    definition = envpool.make_spec(task_id).definition
    assert list(problems(task_id, definition.options)) == []


@pytest.mark.parametrize("call", [envpool.make_spec, envpool.make_gymnasium])
def test_odd_values_of_the_options_of_all_tasks(call: Callable[..., Any]) -> None:
    assert list(problems("CartPole-v1", SHARED_OPTIONS, call)) == []


def test_odd_values_beside_a_camera() -> None:
    call = functools.partial(envpool.make_spec, render_camera_id="track")
    assert list(problems("HalfCheetah-v5", ["from_pixels"], call)) == []


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
