"""Writes envpool/config/task_options.py: the types of the options of the package's tasks, for type checkers.

With --check, the script only reports whether the file is up to date.
"""

import sys
from pathlib import Path

from envpool.config.options import CommonOptions, GymOptions, PresetOptions, RenderingOptions, TransformOptions
from envpool.registration import registry
from envpool.tasks.spec import spec_class_of

FILE = Path(__file__).parents[1] / "envpool" / "task_options.py"

HEAD = '''# ruff: noqa: E741 (an option of Pendulum is called l)
"""The types of all options of ``make``, for type checkers and editors; written by scripts/task_options.py.

A type checker finds misspelt names and values of a wrong type. Options of your own environments are not listed here:
pass them as ``**options`` with ``options: dict[str, Any]``.
"""

from __future__ import annotations

from typing import Any, TypedDict

from envpool.config.options import CommonOptions, GymOptions, PresetOptions, RenderingOptions, TransformOptions


class TaskOptions(TypedDict, total=False):
    """The options that only some tasks have; ``envpool spec TASK`` shows those of a task and describes them."""

'''

TAIL = '''

class Options(TaskOptions, GymOptions, PresetOptions, RenderingOptions, TransformOptions, CommonOptions, total=False):
    """The options of ``make`` and ``make_spec``."""
'''

SIMPLE = (bool, int, float, str)


def annotations() -> dict[str, str]:
    """Return the annotations by name, in the order of the registry.

    A parameter takes a number or an array, for all environments or for each of them; its annotation is Any, and so is
    that of an option whose default does not tell its type. Long annotations would fill the screen: if a call of
    ``make`` is wrong, mypy prints the whole signature.
    """
    shared = CommonOptions, TransformOptions, RenderingOptions, PresetOptions, GymOptions
    common = {name for options in shared for name in options.__annotations__}
    found: dict[str, dict[str, None]] = {}
    for entry in registry.tasks.values():
        if entry.import_path.startswith("envpool."):
            spec_cls = spec_class_of(entry)
            for name, default in spec_cls.gen_config._field_defaults.items():
                if name not in common:
                    is_simple = type(default) in SIMPLE and name not in spec_cls.definition.params
                    found.setdefault(name, {})[type(default).__name__ if is_simple else "Any"] = None
    return {name: "Any" if "Any" in kinds else " | ".join(kinds) for name, kinds in found.items()}


def render() -> str:
    """Return the file."""
    return HEAD + "".join(f"    {name}: {text}\n" for name, text in annotations().items()) + TAIL


if __name__ == "__main__":
    if "--check" not in sys.argv:
        FILE.write_text(render())
    elif FILE.read_text() != render():
        raise SystemExit(f"{FILE} is out of date: run python scripts/task_options.py")
