"""The tables of options in the output of ``envpool spec``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from envpool.cli.text import table
from envpool.config.option_texts import option_texts
from envpool.config.options import (
    CommonOptions,
    GymOptions,
    OptionRow,
    PresetOptions,
    RenderingOptions,
    TransformOptions,
    option_rows,
)
from envpool.tasks.registry import registry

if TYPE_CHECKING:
    from envpool.tasks.spec import EnvSpec

HEADERS = ("option", "type", "value", "allowed", "meaning")


def option_sections(spec: EnvSpec, given: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return titles and tables: options of this task, its presets, options of every task, and of ``env_type="gym"``.

    Parameters
    ----------
    spec : EnvSpec
        The spec of a registered task.
    given : mapping of str to object
        The options that were given.
    """
    from envpool.config.render_options import RENDER_DEFAULTS

    config = spec.config._asdict()
    defaults = type(spec).gen_config._field_defaults | dict(registry.find(str(spec.task_id)).config)
    own = [name for name in spec.definition.options if name not in spec.param_spec]
    texts = option_texts(spec.definition)
    task = [OptionRow(name, kind(defaults[name]), "", "", texts.get(name, "")) for name in own]
    unchanged = defaults | {"batch_size": spec.config.num_envs}
    rendering = {"render_mode": None, **RENDER_DEFAULTS}
    names = ", ".join(map(repr, spec.definition.presets))
    presets = [replace(row, allowed=names) for row in option_rows(PresetOptions, {"preset": None}) if names]
    tables = [
        ("options of this task", task, config, unchanged),
        ("presets", presets, {"preset": dict(given).get("preset")}, {"preset": None}),
        ("options of every task", option_rows(CommonOptions, defaults), config, unchanged),
        ("options of transforms", option_rows(TransformOptions, config), config, unchanged),
        ("options of rendering", option_rows(RenderingOptions, rendering), rendering | dict(given), rendering),
        ('option of env_type="gym"', option_rows(GymOptions, {"gym_api": "auto"}), {"gym_api": "auto"}, {}),
    ]
    sections = []
    for title, rows, values, standard in tables:
        shown = [row for row in rows if row.name not in own or rows is task]
        cells = [
            (
                r.name,
                r.type,
                value_text(values[r.name], standard.get(r.name, values[r.name])),
                plain(r.allowed),
                plain(r.text),
            )
            for r in shown
        ]
        if cells:
            kept = [k for k in range(len(HEADERS)) if any(cell[k] != "-" for cell in cells)]
            columns = [[row[k] for k in kept] for row in (HEADERS, *cells)]
            sections.append((title, table(columns[0], columns[1:], "l" * len(kept), indent="  ")))
    return sections


def kind(default: Any) -> str:
    """Return the type of an option from its default; "-" if the default is None, which tells no type."""
    return "-" if default is None else type(default).__name__


def value_text(value: Any, default: Any) -> str:
    """Return the text of a value, with the default behind it if they differ."""
    return repr(value) if repr(value) == repr(default) else f"{value!r}  (default {default!r})"


def plain(text: str) -> str:
    """Return Markdown as plain text in one line: links and code without their marks, and the first sentence only."""
    text = re.sub(r"[;,]? see (also )?\[[^]]*\]\([^)]*\)", "", text)
    text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", text).replace("`", "")
    return re.split(r"(?<!e\.g)\. (?=[A-Z])", text)[0].rstrip(".") or "-"
