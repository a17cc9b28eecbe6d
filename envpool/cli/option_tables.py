"""The tables of options in the output of ``envpool spec``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from envpool._support.text import shown
from envpool.cli.text import table
from envpool.config.option_texts import option_texts

if TYPE_CHECKING:
    from envpool.config.options import Option
    from envpool.tasks.spec import EnvSpec

HEADERS = ("option", "type", "value", "allowed", "meaning")
#: Begin of the description of an option of a task that is only accepted because upstream or EnvPool has it.
NO_EFFECT = "this option has no effect"


class OptionTables:
    """The tables of options of a spec; each method returns titles with tables, without empty tables.

    Options that have no effect are not shown.

    Parameters
    ----------
    spec : EnvSpec
        The spec of a registered task.
    given : mapping of str to object
        The options that were given.
    width : int, optional
        Largest length of a line; by default, lines are as long as their cells.
    """

    def __init__(self, spec: EnvSpec, given: Mapping[str, Any], width: int | None = None):
        from envpool.config.options import (
            GYM_OPTIONS,
            OPPONENT_OPTIONS,
            PRESET_OPTIONS,
            RENDER_OPTIONS,
            SHARED_OPTIONS,
        )

        self._spec, self._width, self._shared = spec, width, SHARED_OPTIONS
        of_pool = RENDER_OPTIONS | PRESET_OPTIONS | GYM_OPTIONS | OPPONENT_OPTIONS
        self._values = {name: SHARED_OPTIONS[name].default for name in of_pool}
        self._defaults = self._values | spec.defaults
        self._values |= dict(spec.pool_options) | {"preset": given.get("preset")} | spec.config._asdict()

    def of_task(self) -> list[tuple[str, str]]:
        """Return the options that this task has, or for which it or the user has another value than other tasks."""
        texts = option_texts(self._spec.definition)
        names = [name for name in self._spec.definition.options if name not in self._spec.param_spec]
        rows = [(name, texts.get(name, "")) for name in names]
        own = [self._own_row(name, text) for name, text in rows if not text.startswith(NO_EFFECT)]
        changed = [option for option in self._shared.values() if self._is_changed(option)]
        presets = ", ".join(map(repr, self._spec.definition.presets))
        preset = [(*self._row(self._shared["preset"])[:3], presets, plain(self._shared["preset"].text))]
        return self._tables(
            ("options of this task", [*own, *map(self._row, changed)]), ("presets", preset if presets else [])
        )

    def shared(self) -> list[tuple[str, str]]:
        """Return the options that tasks share."""
        from envpool.config.options import (
            GYM_OPTIONS,
            OPPONENT_OPTIONS,
            POOL_OPTIONS,
            RENDER_OPTIONS,
            TRANSFORM_OPTIONS,
        )

        kinds = {
            "options of every task": POOL_OPTIONS,
            "options of transforms": {name: TRANSFORM_OPTIONS[name] for name in self._spec.transforms.options},
            "options of rendering": RENDER_OPTIONS if self._spec.render_modes else {},
            'option of env_type="gym"': GYM_OPTIONS,
            "options of opponents": OPPONENT_OPTIONS if self._spec.num_players else {},
        }
        return self._tables(
            *(
                (title, [self._row(o) for o in options.values() if self._is_shared(o) and not self._is_changed(o)])
                for title, options in kinds.items()
            )
        )

    def _is_shared(self, option: Option) -> bool:
        spec = self._spec
        holds = {
            "": True,
            "players": bool(spec.num_players),
            "turns": spec.is_turn_based,
            "chosen players": spec.definition.chooses_players,
            "legacy": self._values["gym_api"] == "legacy",
        }
        return holds[option.where] and option.name not in spec.definition.options

    def _is_changed(self, option: Option) -> bool:
        if option.name not in self._values or not self._is_shared(option):
            return False
        value, default = self._values[option.name], self._defaults[option.name]
        if option.name == "batch_size":
            return repr(value) != repr(default)
        return option.name != "preset" and {repr(value), repr(default)} != {repr(option.default)}

    def _own_row(self, name: str, text: str) -> tuple[str, ...]:
        default = self._defaults[name]
        return name, kind(default), value_text(self._values[name], default), "-", plain(text)

    def _row(self, option: Option) -> tuple[str, ...]:
        value = value_text(self._values[option.name], self._defaults[option.name])
        return option.name, option.type_text, value, plain(option.allowed), plain(option.text)

    def _tables(self, *tables: tuple[str, Iterable[tuple[str, ...]]]) -> list[tuple[str, str]]:
        made = []
        for title, rows in tables:
            cells = list(rows)
            kept = [k for k in range(len(HEADERS)) if any(cell[k] != "-" for cell in cells)]
            if cells:
                columns = [[row[k] for k in kept] for row in (HEADERS, *cells)]
                made.append((title, table(columns[0], columns[1:], "l" * len(kept), "  ", self._width)))
        return made


def kind(default: Any) -> str:
    """Return the type of an option from its default; "-" if the default is None, which tells no type."""
    return "-" if default is None else type(default).__name__


def value_text(value: Any, default: Any) -> str:
    """Return the text of a value, with the default behind it if they differ."""
    return shown(value) if repr(value) == repr(default) else f"{shown(value)}  (default {shown(default)})"


def plain(text: str) -> str:
    """Return Markdown as plain text in one line: code without its marks, links as commands, the first sentence only."""
    text = re.sub(r"\[docs/[^]]*\]\((docs/[^)]*)\)", r"\1", text)
    text = with_commands(re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", text)).replace("`", "")
    return re.split(r"(?<!e\.g)\. (?=[A-Z])", text)[0].rstrip(".") or "-"


def with_commands(text: str) -> str:
    """Return a text in which the name of a page, such as docs/players.md#turns, is the command that prints the page."""
    return re.sub(r"\bdocs/(\w+)\.md(#[\w-]*\w)?", r"`envpool docs \1\2`", text)
