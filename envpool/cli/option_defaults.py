"""The options of a task and their defaults, for the texts of ``--option``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from envpool.registration import registry
from envpool.tasks.spec import spec_class_of


def defaults_of(task: str) -> Mapping[str, Any]:
    """Return the options of a task with their defaults; none for an id that only gymnasium may have."""
    if not registry.has(task):
        return {}
    defaults: Mapping[str, Any] = spec_class_of(registry.find(task)).gen_config._field_defaults
    return defaults
