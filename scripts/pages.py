"""Writes the generated parts of README.md and docs: the tables of tasks, options, measurements and public names.

A part stands between two comments, `<!-- NAME: begin -->` and `<!-- NAME: end -->`. The figures come from docs/data,
where the commands on the pages write them with --json. With --check, the script only reports whether the pages are up
to date.
"""

import inspect
import json
import re
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from envpool.config.options import POOL_OPTIONS, RENDER_OPTIONS, TRANSFORM_OPTIONS

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "scripts"))

import family_tables  # noqa: E402
from family_tables import table  # noqa: E402

DATA = ROOT / "docs" / "data"


def options(name: str) -> str:
    """Return the table of the options on a page."""
    kinds = {
        "docs/options.md": POOL_OPTIONS,
        "docs/transforms.md": TRANSFORM_OPTIONS,
        "docs/rendering.md": RENDER_OPTIONS,
    }
    rows = kinds[name].values()
    cells = ([f"`{o.name}`", o.default_text or code(o.default), o.allowed or o.type_text, o.text] for o in rows)
    return table(("option", "default", "allowed", "meaning"), cells).replace("[docs/", "[").replace("](docs/", "](")


def code(default: Any) -> str:
    """Return the text of a default as code."""
    return f"`{default!r}`".replace("'", '"')


def machine(report: dict[str, Any]) -> str:
    """Return the line that says on which machine a report was made; the page has the command above the table."""
    m = report["machine"]
    cores = f"{m['cores_available']} cores ({m['cpu']})"
    return f"On {cores}, {m['system']}, {m['python']}, NumPy {m['numpy']}, {m['compiler']}:\n\n"


def compare(report: dict[str, Any]) -> str:
    """Return the table of a comparison with EnvPool, after the line about the machine."""
    rows = (
        [
            row["cell"],
            str(row["num_threads"]),
            rate(row.get("steps_per_second")),
            rate(row.get("peer_steps_per_second")),
            ratio(row.get("ratio")),
            ratio(row.get("cpu_ratio")),
        ]
        for row in report["rows"]
    )
    peer = report["machine"]["peer"]
    head = ("task / envs / batch", "threads", "envpool, steps/s", f"{peer}, steps/s", "ratio", "CPU ratio")
    return machine(report) + table(head, rows)


def atari(report: dict[str, Any]) -> str:
    """Return the table of a comparison with ale_py's AtariVectorEnv."""
    rows = (
        [
            row["cell"],
            rate(row["steps_per_second"]),
            rate(row["ale_steps_per_second"]),
            ratio(row["ale_ratio"]),
            ratio(row["ale_cpu_ratio"]),
        ]
        for row in report["rows"]
        if "ale_ratio" in row
    )
    head = ("task / envs / batch", "envpool, steps/s", "AtariVectorEnv, steps/s", "ratio", "CPU ratio")
    return table(head, rows)


def construction(report: dict[str, Any]) -> str:
    """Return the table of import time, construction time and memory, compared with EnvPool."""
    names = {
        "import_seconds": ("`import envpool`, ms", 1e3),
        "import_bytes": ("resident memory after it, MB", 1e-6),
        "first_pool_seconds": ("import and a first pool of one CartPole, ms", 1e3),
        "first_pool_bytes": ("resident memory after it, MB", 1e-6),
        "make_seconds": ("make 100,000 CartPoles, ms", 1e3),
        "make_and_reset_seconds": ("make and reset them, ms", 1e3),
        "bytes_per_env": ("memory per CartPole, bytes", 1),
    }
    rows = []
    for key, (name, unit) in names.items():
        ours, peer = (report["construction"][key][who] for who in ("envpool", "peer"))
        rows.append([name, f"{ours * unit:,.0f}", f"{peer * unit:,.0f}", ratio(peer / ours)])
    others = {"make_and_reset_seconds": ("make and reset, ms", 1e3), "bytes_per_env": ("memory per env, kB", 1e-3)}
    for cell, figures in report.get("construction_of_others", {}).items():
        for key, (name, unit) in others.items():
            ours, peer = (figures[key][who] for who in ("envpool", "peer"))
            rows.append([f"{cell}: {name}", f"{ours * unit:,.0f}", f"{peer * unit:,.0f}", ratio(peer / ours)])
    return table(("", "envpool", report["machine"]["peer"], "ratio"), rows)


def bench(report: dict[str, Any]) -> str:
    """Return the table of a run of `envpool bench --compare` with one row per task, after that of the machine."""
    tasks: dict[str, list[dict[str, Any]]] = {}
    for row in report["rows"]:
        tasks.setdefault(row["task"], []).append(row)
    engines = [row["engine"] for row in next(iter(tasks.values()))]
    rows = (
        [task, *(f"{rate(row['steps_per_second'])} {speedup(row)}".rstrip() for row in found)]
        for task, found in tasks.items()
    )
    return machine(report) + table(("task", *(f"{engine}, steps/s" for engine in engines)), rows)


def speedup(row: dict[str, Any]) -> str:
    """Return how many times as fast as an engine envpool is, in parentheses."""
    return f"({ratio(row['speedup'])})" if row["speedup"] else ""


def builds(report: dict[str, Any]) -> str:
    """Return the table of what builds cost and yield, after the line about the machine."""
    columns = {
        "load_before": "load before",
        "cpu_s": "CPU, s",
        "wall_s": "time, s",
        "demo_s": "demo, s",
        "shared_objects": "modules",
        "wheel_mb": "wheel, MB",
        "installed_mb": "installed, MB",
        "import_ms": "`import envpool`, ms",
        "first_pool_ms": "with a first pool, ms",
    }
    used = [key for key in columns if any(row[key] is not None for row in report["builds"])]
    rows = (
        [row["revision"], *("" if row[key] is None else f"{row[key]:g}" for key in used)] for row in report["builds"]
    )
    m = report["machine"]
    where = f"Measured on {m['cores']} cores ({m['cpu']}) with Python {m['python']} and {m['compiler']}:\n\n"
    return where + table(("revision", *(columns[key] for key in used)), rows)


def dispatch(rows: list[dict[str, Any]]) -> str:
    """Return the smallest and the largest ratio of the dispatch benchmark for each mode, number of threads and cost."""
    costs = list(dict.fromkeys(row["cost"] for row in rows))
    lines = []
    for mode in ("sync", "async"):
        for threads in sorted({row["threads"] for row in rows}):
            cells = [
                [r["ratio"] for r in rows if (r["mode"], r["threads"], r["cost"]) == (mode, threads, c)] for c in costs
            ]
            lines.append([mode, str(threads), *(f"{min(c):.2f} to {max(c):.2f}" if c else "" for c in cells)])
    return table(("mode", "threads", *costs), lines)


def upstream(report: dict[str, Any]) -> str:
    """Return the table of a comparison with upstream, after the line about the machine."""
    rows = (
        [
            row["task"],
            rate(row["steps_per_second"]),
            rate(row["upstream_steps_per_second"]),
            ratio(row["ratio"]),
            ratio(row["cpu_ratio"]),
        ]
        for row in report["upstream"]
    )
    return machine(report) + table(("task", "envpool, steps/s", "upstream, steps/s", "ratio", "CPU ratio"), rows)


def football(report: dict[str, Any]) -> str:
    """Return the table of a comparison with upstream in CPU time, after the sentence about the machine."""
    rows = (
        [
            row["task"],
            rate(row["steps_per_cpu_second"]),
            rate(row["upstream_steps_per_cpu_second"]),
            ratio(row["cpu_ratio"]),
        ]
        for row in report["upstream"]
    )
    return machine(report) + table(("task", "envpool, steps/CPU s", "upstream, steps/CPU s", "ratio"), rows)


def robotics(report: dict[str, Any]) -> str:
    """Return the table of a comparison with upstream and with MuJoCo alone, after the line about the machine."""
    rates = ("steps_per_second", "upstream_steps_per_second", "mujoco_steps_per_second")
    ratios = ("ratio", "cpu_ratio", "upstream_mujoco_cpu_ratio", "mujoco_cpu_ratio")
    titles = ("task", "envpool, steps/s", "upstream, steps/s", "MuJoCo alone, steps/s", "ratio", "CPU ratio")
    titles += ("CPU, upstream to MuJoCo", "CPU, envpool to MuJoCo")
    rows = (
        [row["task"], *(rate(row[key]) for key in rates), *(ratio(row[key]) for key in ratios)]
        for row in report["upstream"]
    )
    return machine(report) + table(titles, rows)


def training(report: dict[str, Any]) -> str:
    """Return the table of whole training loops, without the sentence about the machine."""
    loops = list(report["rows"][0]["steps_per_cpu_second"])
    others = list(report["rows"][0]["ratios"]["envpool"])

    def faster(ratios: dict[str, dict[str, float]], name: str) -> str:
        """Return the ratio of our loop to another one, and that of our loop with an MLP."""
        cell = ratio(ratios["envpool"][name])
        return f"{cell}; {ratio(ratios['with MLP'][name])} with MLP" if "with MLP" in ratios else cell

    head = ("task, algorithm, environments", *loops, *(f"speedup over {name}" for name in others))
    rows = (
        [
            f"{row['task']}, {row['algorithm']}, {row['num_envs']}",
            *(
                f"{row['steps_per_cpu_second'][name]:,.0f}" if name in row["steps_per_cpu_second"] else ""
                for name in loops
            ),
            *(faster(row["ratios"], name) for name in others),
        ]
        for row in report["rows"]
    )
    return table(head, rows)


def end_to_end(report: dict[str, Any]) -> str:
    """Return the table of whole training loops after the sentence about the machine."""
    return machine(report) + training(report)


def ratio(value: float | None) -> str:
    """Return a ratio with three significant digits, or without decimals from 1000 on."""
    return "" if value is None else f"{value:.3g}x" if value < 1000 else f"{value:,.0f}x"


def rate(steps_per_second: float | None) -> str:
    """Return a rate in millions or thousands of steps, with two decimals below ten and one above."""
    if steps_per_second is None:
        return ""
    value, unit = (steps_per_second / 1e6, "M") if steps_per_second >= 1e6 else (steps_per_second / 1e3, "k")
    return f"{value:.2f} {unit}" if value < 10 else f"{value:.1f} {unit}"


def names(module: str) -> str:
    """Return the table of the public names of a module, with the first lines of their docstrings."""
    content = import_module(module)
    rows = ([f"`{name}`", summary(getattr(content, name))] for name in content.__all__)
    return table(("name", "content"), rows)


def exceptions(module: str) -> str:
    """Return the table of the exceptions of a module, with their base classes."""
    kinds = [kind for kind in vars(import_module(module)).values() if getattr(kind, "__module__", None) == module]
    rows = (
        [f"`{kind.__name__}`", ", ".join(f"`{base.__name__}`" for base in kind.__bases__), summary(kind)]
        for kind in kinds
        if isinstance(kind, type)
    )
    return table(("exception", "is also", "meaning"), rows)


def summary(item: Any) -> str:
    """Return the first line of a docstring; names of reStructuredText are those of Markdown."""
    return (inspect.getdoc(item) or "").partition("\n")[0].replace("``", "`").replace("|", "\\|")


#: The parts of the API reference, by kind.
REFERENCE = {"names": names, "exceptions": exceptions}


def reference(text: str) -> Iterator[tuple[str, str]]:
    """Yield the names and contents of the parts of the API reference on a page."""
    for kind, module in re.findall(rf"<!-- ({'|'.join(REFERENCE)}) ([\w.]+): begin", text):
        yield f"{kind} {module}", REFERENCE[kind](module)


def replace(text: str, name: str, content: str) -> str:
    """Return the text with the content between the two markers of a part replaced."""
    begin = text.index("\n", text.index(f"<!-- {name}: begin")) + 1
    end = text.index(f"<!-- {name}: end -->")
    return text[:begin] + content + "\n" + text[end:]


#: Tables of measurements by page: the name of the part, the function that renders it, and the name of its data file.
MEASUREMENTS: dict[str, dict[str, tuple[Any, str]]] = {
    "docs/benchmarks.md": {
        "simulators_gymnasium": (bench, "simulators_gymnasium"),
        "compare": (compare, "compare"),
        "atari": (atari, "compare"),
        "construction": (construction, "compare"),
        "dispatch": (dispatch, "dispatch"),
        "compare_minigrid": (compare, "minigrid"),
        "upstream_minigrid": (upstream, "minigrid_speed"),
        "upstream_minatar": (upstream, "minatar_speed"),
        "upstream_mpe": (upstream, "mpe_speed"),
        "upstream_gfootball": (football, "gfootball_speed"),
        "upstream_robotics": (robotics, "robotics_speed"),
        "compare_robotics": (compare, "robotics"),
        "compare_vizdoom": (compare, "vizdoom"),
        "end_to_end": (end_to_end, "end_to_end"),
    },
    "README.md": {"end_to_end": (training, "end_to_end")},
    "docs/architecture.md": {"builds": (builds, "build")},
}


def pages() -> list[str]:
    """Return the pages that have generated parts."""
    found = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    return [str(path.relative_to(ROOT)) for path in found if ": begin (" in path.read_text()]


def render(name: str, text: str) -> str:
    """Return the text of a page with its generated parts up to date."""
    for part, content in family_tables.parts(text).items():
        text = replace(text, part, content)
    for part, content in reference(text):
        text = replace(text, part, content)
    if "<!-- options: begin" in text:
        text = replace(text, "options", options(name))
    for part, (renderer, data) in MEASUREMENTS.get(name, {}).items():
        source = DATA / f"{data}.json"
        if source.exists():
            text = replace(text, part, renderer(json.loads(source.read_text())))
    return text


if __name__ == "__main__":
    for name in pages():
        old = (ROOT / name).read_text()
        new = render(name, old)
        if "--check" not in sys.argv:
            (ROOT / name).write_text(new)
        elif new != old:
            raise SystemExit(f"{name} is out of date: run python scripts/pages.py")
