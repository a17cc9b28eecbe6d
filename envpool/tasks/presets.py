"""Presets: named sets of options that a definition declares and ``make(task_id, preset=...)`` applies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from envpool._support.text import shown
from envpool.errors import ConfigError

Presets = Mapping[str, Mapping[str, Any]]


def with_preset(task_id: str, presets: Presets, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of ``make`` with those of the preset that they name; options beside it override its own.

    Parameters
    ----------
    task_id : str
        Id of the task, for error texts.
    presets : mapping of str to mapping
        The options of each preset of the task's environment, by name.
    options : mapping of str to object
        All options of ``make``. ``preset`` is the name of a preset, or None for none.

    Raises
    ------
    ConfigError
        The task has no such preset, or ``preset`` is not a str.
    """
    own = {name: value for name, value in options.items() if name != "preset"}
    preset = options.get("preset")
    if preset is None:
        return own
    if not presets:
        raise ConfigError(f"preset must be None, since {task_id} has no presets, got {shown(preset)}")
    if not isinstance(preset, str) or preset not in presets:
        allowed = ", ".join(map(repr, sorted(presets)))
        raise ConfigError(f"preset must be one of {allowed} for {task_id}, got {shown(preset)}")
    return dict(presets[preset]) | own
