"""Attributes and wrappers of environments: functions that `PythonPool._visit` runs where the environments are."""

from __future__ import annotations

from typing import Any

import gymnasium


def get_attribute(env: Any, name: str) -> Any:
    """Return an attribute of an environment, of the outermost wrapper that has it."""
    return env.get_wrapper_attr(name)


def set_attribute(env: Any, name: str, value: Any) -> None:
    """Set an attribute of an environment on the outermost wrapper that has it, else on the environment itself."""
    if env.has_wrapper_attr(name):
        env.set_wrapper_attr(name, value)
    else:  # gymnasium would set it on the outermost wrapper
        setattr(env.unwrapped, name, value)


def has_attribute(env: Any, name: str) -> bool:
    """Return whether an environment, or a wrapper of it, has an attribute; its value need not be picklable."""
    try:
        get_attribute(env, name)
    except AttributeError:
        return False
    return True


def method_or_value(env: Any, name: str) -> tuple[bool, Any]:
    """Return whether an attribute is callable, and its value unless it is."""
    value = get_attribute(env, name)
    return (True, None) if callable(value) else (False, value)


def call_method(env: Any, name: str, args: Any, kwargs: Any) -> Any:
    """Return what a method of an environment, of the outermost wrapper that has it, returns."""
    return get_attribute(env, name)(*args, **kwargs)


def is_wrapped(env: Any, wrapper_class: type) -> bool:
    """Return whether an environment is inside a wrapper of a class."""
    while not isinstance(env, wrapper_class):
        if not isinstance(env, gymnasium.Wrapper):
            return False
        env = env.env
    return True
