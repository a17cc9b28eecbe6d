"""Show the configuration, arrays, spaces and dm_env specs of a task with given options."""

from __future__ import annotations

import argparse
import inspect
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from envpool._support.text import shown as abbreviated
from envpool.cli.option_tables import OptionTables, with_commands
from envpool.cli.parsing import add_option_argument, read_options
from envpool.cli.text import filled, pairs, refilled, table, terminal_width
from envpool.registration import find_native
from envpool.tasks.resolve import spec_for
from envpool.tasks.spec import spec_class_of

if TYPE_CHECKING:
    from envpool.config.spaces import ArraySpec
    from envpool.tasks.spec import EnvSpec

HELP = "show the configuration, arrays and spaces of a task"

#: A bound with more distinct values than this is shown as the range of its values.
SHOWN_BOUNDS = 8


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``envpool spec``."""
    parser.add_argument("task", metavar="TASK", help="task id, see `envpool list`")
    parser.add_argument(
        "--all",
        action="store_true",
        dest="shows_all",
        help="also show the shared options that have an effect in the task",
    )
    add_option_argument(parser)


def run(arguments: argparse.Namespace) -> None:
    """Print the spec of the task."""
    spec = spec_of(arguments.task, arguments.options)
    given = read_options(arguments.options, type(spec).gen_config._field_defaults)
    print("\n\n".join(sections(spec, given, arguments.shows_all, terminal_width())))


def spec_of(task_id: str, pairs: Iterable[tuple[str, str]], **options: Any) -> EnvSpec:
    """Return the spec of a task with the values of ``--option`` and with further options."""
    task = find_native(task_id)
    defaults = spec_class_of(task).gen_config._field_defaults
    return spec_for(task_id, options | read_options(list(pairs), defaults))


def sections(spec: EnvSpec, given: Mapping[str, Any], shows_all: bool = False, width: int | None = None) -> list[str]:
    """Return the sections of the output: title, options, parameters, arrays, spaces, dm_env specs.

    Parameters
    ----------
    spec : EnvSpec
        The spec.
    given : mapping of str to object
        The options that were given.
    shows_all : bool
        If True, the options that tasks share are shown as well, if they have an effect in this one.
    width : int, optional
        Largest length of a line; by default, lines are as long as their contents.
    """
    options = OptionTables(spec, given, width)
    one = "one player" if spec.config.players == "rows" else "one env"
    hint = f"`envpool spec {spec.task_id} --all` also shows the shared options that have an effect"
    if width is not None:
        hint = filled(hint, width)
    return [
        title(spec, width),
        *(f"{title}\n{text}" for title, text in options.of_task()),
        *(["players\n" + players(spec, width)] if spec.num_players else []),
        *(["parameters\n" + parameters(spec, width)] if spec.param_spec else []),
        *(["options of reset()\n" + reset_options(spec, width)] if spec.reset_option_spec else []),
        *([f"{title}\n{text}" for title, text in options.shared()] if shows_all else [hint]),
        "observation and info arrays\n" + arrays(spec.state_array_spec, width),
        "action arrays\n" + arrays(spec.action_array_spec, width),
        f"gymnasium spaces of {one}\n"
        + pairs(
            [(name, " ".join(str(getattr(spec, name)).split())) for name in ("observation_space", "action_space")],
            indent="  ",
            width=width,
        ),
        f"dm_env specs of {one}\n"
        + pairs(
            [*leaves("observation_spec()", spec.observation_spec()), *leaves("action_spec()", spec.action_spec())],
            indent="  ",
            width=width,
        ),
    ]


def title(spec: EnvSpec, width: int | None = None) -> str:
    """Return the task id and the docstring of the env's class, without the options, which have a table."""
    about = (inspect.getdoc(getattr(spec, "env", None)) or "").partition("\nOptions\n---")[0]
    about = with_commands(about)
    if width is not None and any(len(line) > width for line in about.splitlines()):
        about = refilled(about, width)
    return f"{spec.task_id}\n\n{about}".rstrip()


def parameters(spec: EnvSpec, width: int | None = None) -> str:
    """Return a table of the parameters with their values; the default is next to each value that differs from it."""
    rows, drawn = [], spec.config.randomize or {}
    for name, param in spec.param_spec.items():
        given, default = getattr(spec.config, name), value_text(param.default)
        value = default if given is None else value_text(given)
        if spec.definition.params[name].default is None and spec.definition.default_source:
            default += f" {spec.definition.default_source}"
        shown = default if given is None or value == value_text(param.default) else f"{value}  (default {default})"
        if name in drawn:
            shown += f"  (drawn: {abbreviated(drawn[name])})"
        rows.append((name, str(param.dtype), str(param.shape), shown, param.bounds(), param.unit or "-", param.text))
    return table(("name", "dtype", "shape", "value", "allowed", "unit", "meaning"), rows, "lllllll", "  ", width)


def players(spec: EnvSpec, width: int | None = None) -> str:
    """Return a table of the groups of players, with the shapes in which a group differs from the arrays."""
    rows = [
        (
            group.name,
            ranges(group.players),
            ", ".join(f"{name} {shape}" for name, shape in group.shapes.items()) or "-",
        )
        for group in spec.groups
    ]
    return table(("group", "players", "shapes of its own"), rows, "lll", "  ", width)


def ranges(numbers: Sequence[int]) -> str:
    """Return increasing numbers as a text in which three and more in a row are a range."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and runs[-1][-1] == number - 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    texts = (f"{run[0]} to {run[-1]}" if len(run) > 2 else ", ".join(map(str, run)) for run in runs)
    return ", ".join(texts)


def reset_options(spec: EnvSpec, width: int | None = None) -> str:
    """Return a table of the options of ``reset(options=)``."""
    rows = [
        (name, str(o.dtype), str(o.shape), value_text(o.default), o.bounds(), o.unit or "-", o.text)
        for name, o in spec.reset_option_spec.items()
    ]
    return table(("name", "dtype", "shape", "default", "allowed", "unit", "meaning"), rows, "lllllll", "  ", width)


def value_text(value: Any) -> str:
    """Return the text of the value of a parameter; of more than SHOWN_BOUNDS elements, their range."""
    import numpy as np

    array = np.asarray(value)
    return f"{bound(array.min())} to {bound(array.max())}" if array.size > SHOWN_BOUNDS else bound(array)


def arrays(specs: dict[str, ArraySpec], width: int | None = None) -> str:
    """Return a table of arrays with dtype, shape and bounds; in narrow terminals, the bounds share a column."""
    rows = [(n, str(s.dtype), str(tuple(s.shape)), bound(s.minimum), bound(s.maximum)) for n, s in specs.items()]
    text = table(("name", "dtype", "shape", "minimum", "maximum"), rows, "lllll", indent="  ")
    if width is None or max(map(len, text.splitlines())) <= width:
        return text
    narrow = [(*row[:3], f"{row[3]} to {row[4]}") for row in rows]
    return table(("name", "dtype", "shape", "minimum to maximum"), narrow, "llll", "  ", width)


def bound(value: Any) -> str:
    """Return the text of a bound, abbreviated to its range if it has more than SHOWN_BOUNDS different values."""
    import numpy as np

    flat = np.unique(value) if np.size(value) > SHOWN_BOUNDS or np.size(np.unique(value)) == 1 else np.ravel(value)
    numbers = [f"{v:.6g}" if isinstance(v, float) else str(v) for v in flat.tolist()]
    if len(numbers) > SHOWN_BOUNDS:
        return f"{numbers[0]} to {numbers[-1]}"
    return numbers[0] if len(numbers) == 1 else f"[{', '.join(numbers)}]"


def leaves(path: str, spec: Any) -> list[tuple[str, str]]:
    """Return the leaves of nested named tuples as (path, text)."""
    if hasattr(spec, "_fields"):
        return [row for name in spec._fields for row in leaves(f"{path}.{name}", getattr(spec, name))]
    text = f"{type(spec).__name__}(shape={spec.shape}, dtype={spec.dtype}"
    if hasattr(spec, "num_values"):
        return [(path, f"{text}, num_values={spec.num_values})")]
    return [(path, f"{text}, minimum={bound(spec.minimum)}, maximum={bound(spec.maximum)})")]
