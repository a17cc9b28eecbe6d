"""What the class of a native environment declares and returns: errors name the class, and the attribute or method."""

import pytest

from envpool.classic_control.cartpole import CartPole
from envpool.errors import ConfigError
from envpool.native import TextField
from envpool.tasks.spec import spec_class

TEXT = TextField("ab", "words='text'")


def made(**members):
    """Return the spec of a class that is CartPole apart from some members; those that are callable get a config."""
    own = {name: staticmethod(value) if callable(value) else value for name, value in members.items()}
    spec = spec_class(type("Mine", (CartPole,), own))
    return spec(spec.gen_config())


@pytest.mark.parametrize(
    ("members", "error", "text"),
    [
        ({"params": ["g"]}, TypeError, r"params of Mine must be a dict from names to Param, got \['g'\]"),
        ({"params": {"g": 1.0}}, TypeError, r"params of Mine must be a dict from names to Param"),
        ({"options": ["a"]}, TypeError, r"options of Mine must be a dict from names to defaults"),
        ({"presets": {"p": 5}}, TypeError, r"presets of Mine must be a dict from names to dicts of options"),
        ({"presets": ["p"]}, TypeError, r"presets of Mine must be a dict"),
        ({"options": {"_x": 1}}, ConfigError, r"an option of Mine must be an identifier .* got '_x'"),
        ({"options": {"class": 1}}, ConfigError, r"an option of Mine must be an identifier .* got 'class'"),
        ({"options": {1: 2}}, ConfigError, r"an option of Mine must be an identifier .* got 1"),
        ({"options": {"num_envs": 3}}, ConfigError, r"must not be 'num_envs', .* pass num_envs=... to"),
        ({"max_seed": lambda config: "a"}, TypeError, r"max_seed\(\) of Mine must be of type int, got 'a'"),
        ({"build": lambda config: None}, TypeError, r"build\(\) of Mine must return the result of define\(\): .* None"),
    ],
)
def test_classes_that_are_refused(members, error, text):
    with pytest.raises(error, match=text):
        made(**members)


def test_results_that_are_refused():
    with pytest.raises(TypeError, match=r"render_fps\(\) of Mine must be of type float, got 'a'"):
        print(made(render_fps=lambda config: "a").render_fps)
    with pytest.raises(TypeError, match=r"text_fields\(\) of Mine must return a dict of TextField"):
        print(made(text_fields=lambda config: {"obs": "ab"}).text_fields)
    for name in ("obs", "info:absent"):
        with pytest.raises(ConfigError, match=rf"must name fields of dtype uint8 and shape .* got '{name}'"):
            print(made(text_fields=lambda config, name=name: {name: TEXT}).text_fields)


def test_random_seeds_are_within_those_of_the_generator():
    spec = spec_class(type("Mine", (CartPole,), {"max_seed": staticmethod(lambda config: 10)}))
    for _ in range(20):
        assert spec(spec.gen_config(num_envs=10, seed=None)).config.seed in (0, 1)
