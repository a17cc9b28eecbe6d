"""Writes envpool/config/task_options.py: the types of the options of the package's tasks, for type checkers.

With --check, the script only reports whether the file is up to date.
"""

import sys
from pathlib import Path

from envpool.config.options import POOL_OPTIONS, SHARED_OPTIONS, WORDS
from envpool.registration import registry
from envpool.tasks.spec import spec_class_of

FILE = Path(__file__).parents[1] / "envpool" / "config" / "task_options.py"

HEAD = '''# ruff: noqa: E741 (an option of Pendulum is called l)
"""The types of all options of ``make``, for type checkers and editors; written by scripts/task_options.py.

A type checker finds misspelt names and values of a wrong type. Options of your own environments are not listed here:
pass them as ``**options`` with ``options: dict[str, Any]``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypedDict

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from gymnasium.vector import AutoresetMode
'''

SIMPLE = (bool, int, float, str)


def task_options() -> dict[str, str]:
    """Return the annotations of the options that only some tasks have by name, in the order of the registry.

    A parameter takes a number or an array, for all environments or for each of them; its annotation is Any, and so is
    that of an option whose default does not tell its type. Long annotations would fill the screen: if a call of
    ``make`` is wrong, mypy prints the whole signature.
    """
    found: dict[str, dict[str, None]] = {}
    for entry in registry.tasks.values():
        if entry.import_path.startswith("envpool."):
            spec_cls = spec_class_of(entry)
            for name, default in spec_cls.gen_config._field_defaults.items():
                if name not in SHARED_OPTIONS:
                    is_simple = type(default) in SIMPLE and name not in spec_cls.definition.params
                    found.setdefault(name, {})[type(default).__name__ if is_simple else "Any"] = None
    return {name: "Any" if "Any" in kinds else " | ".join(kinds) for name, kinds in found.items()}


def class_text(header: str, doc: str, annotations: dict[str, str], end: str = "") -> str:
    """Return the definition of a class with annotated attributes."""
    lines = [f"    {name}: {text}\n" for name, text in annotations.items()]
    return f'\n\nclass {header}:\n    """{doc}"""\n' + ("\n" if lines else "") + "".join(lines) + end


def render() -> str:
    """Return the file."""
    own = task_options()
    aliases = {word: SHARED_OPTIONS[names[0]].type for word, names in WORDS.items() if word not in SHARED_OPTIONS}
    config = {name: option.normal_type or option.type for name, option in POOL_OPTIONS.items()}
    any_other = "\n    def __getattr__(self, name: str) -> Any: ...\n"
    return "".join(
        (
            HEAD,
            class_text(
                "CommonOptions(TypedDict, total=False)",
                "The options that tasks share, see `envpool.config.options`.",
                {name: option.type for name, option in SHARED_OPTIONS.items()},
            ),
            class_text(
                "OtherWords(TypedDict, total=False)",
                "The words of other libraries for some of these options.",
                {word: text for word, text in aliases.items() if word not in own},
            ),
            class_text(
                "TaskOptions(TypedDict, total=False)",
                "The options that only some tasks have; ``envpool spec TASK`` describes those of a task.",
                own,
            ),
            class_text(
                "Options(TaskOptions, OtherWords, CommonOptions, total=False)",
                "The options of ``make`` and ``make_spec``.",
                {},
            ),
            class_text(
                "Config(Protocol)",
                "The validated options of a task, a named tuple; those that only some tasks have are of type Any.",
                config,
                any_other,
            ),
        )
    )


if __name__ == "__main__":
    if "--check" not in sys.argv:
        FILE.write_text(render())
    elif FILE.read_text() != render():
        raise SystemExit(f"{FILE} is out of date: run python scripts/task_options.py")
