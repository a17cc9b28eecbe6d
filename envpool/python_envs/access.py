"""Attributes of environments inside wrappers."""

from __future__ import annotations

from typing import Any


def get_attribute(env: Any, name: str) -> Any:
    """Return an attribute of an environment, of the outermost wrapper that has it."""
    if hasattr(env, "get_wrapper_attr"):
        try:
            return env.get_wrapper_attr(name)
        except AttributeError:  # an adapter passes other names on
            return getattr(env, name)
    return getattr(env, name)


def set_attribute(env: Any, name: str, value: Any) -> None:
    """Set an attribute of an environment on the outermost wrapper that has it, else on the environment itself."""
    if hasattr(env, "set_wrapper_attr"):
        env.set_wrapper_attr(name, value)
    else:
        setattr(env, name, value)
