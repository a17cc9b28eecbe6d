"""Writes the diagrams of the pages as SVG: docs/img/concept_*.svg, and a chart of docs/data.

With --check, the script only reports whether the files are up to date.
"""

import json
import math
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT / "docs" / "data"
IMAGES = ROOT / "docs" / "img"

BLUE, ORANGE, GREY, INK, PALE = "#0072b2", "#e69f00", "#bdbdbd", "#222222", "#f2f2f2"
#: Colours of consecutive batches.
BATCHES = ("#56b4e9", "#e69f00", "#009e73", "#cc79a7", "#f0e442", "#0072b2")


def box(x: float, y: float, width: float, height: float, fill: str, label: str = "", **style: Any) -> str:
    """Return a rectangle with a label in its middle."""
    stroke = style.get("stroke", "none")
    shape = f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="3" fill="{fill}" stroke="{stroke}"/>'
    lines = label.split("\n") if label else []
    middle = y + height / 2 + 4 - 7 * (len(lines) - 1)
    ink = style.get("ink", INK)
    return shape + "".join(text(x + width / 2, middle + 14 * i, line, "middle", ink) for i, line in enumerate(lines))


def text(x: float, y: float, content: str, anchor: str = "start", fill: str = INK, size: int = 12) -> str:
    """Return a line of text."""
    escaped = content.replace("&", "&amp;").replace("<", "&lt;")
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" fill="{fill}" font-size="{size}">{escaped}</text>'


def line(x0: float, y0: float, x1: float, y1: float, color: str = INK, style: str = "") -> str:
    """Return a line; the style "arrow" gives it a head, "dash" makes it dashed."""
    extra = {"arrow": ' marker-end="url(#head)"', "dash": ' stroke-dasharray="4 3"', "": ""}[style]
    return f'<line x1="{x0:g}" y1="{y0:g}" x2="{x1:g}" y2="{y1:g}" stroke="{color}" stroke-width="1.5"{extra}/>'


def drawing(width: int, height: int, title: str, shapes: Iterable[str]) -> str:
    """Return an SVG file on a white background, so that it can be read in dark themes as well."""
    head = (
        '<marker id="head" markerWidth="8" markerHeight="8" refX="7" refY="4" orient="auto">'
        f'<path d="M0,0 L8,4 L0,8 z" fill="{INK}"/></marker>'
    )
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
            'font-family="DejaVu Sans, Verdana, sans-serif">',
            f"<title>{title}</title><defs>{head}</defs>",
            f'<rect width="{width}" height="{height}" fill="white"/>',
            *shapes,
            "</svg>\n",
        )
    )


#: Seconds of the steps of four environments, one row per environment.
DURATIONS = ((3, 2, 3, 2, 3, 2, 3, 2), (2, 3, 2, 2, 3, 2, 2, 3), (2, 2, 8, 2, 2, 2, 2, 2), (3, 2, 2, 3, 2, 3, 2, 2))
#: Seconds between a batch and its actions.
POLICY = 1


def schedule(batch_size: int, batches: int) -> tuple[list[tuple[int, float, float, int]], list[float]]:
    """Return the steps as (environment, begin, end, batch) and the times of the batches, as a pool would run them."""
    steps, times = [], []
    flight = {env: (0.0, float(DURATIONS[env][0])) for env in range(len(DURATIONS))}
    counts = [1] * len(DURATIONS)
    now = 0.0
    for batch in range(batches):
        ready = sorted(flight, key=lambda env: (flight[env][1], env))[:batch_size]
        now = max(now, *(flight[env][1] for env in ready))
        times.append(now)
        for env in ready:
            steps.append((env, *flight.pop(env), batch))
        now += POLICY
        for env in ready:
            flight[env] = now, now + DURATIONS[env][counts[env] % len(DURATIONS[env])]
            counts[env] += 1
    return steps, times


def sync_and_async() -> str:
    """Return the timelines of a sync and of an async pool with four environments."""

    def timeline(top: int, title: str, batch_size: int, end: float) -> Iterator[str]:
        steps, times = schedule(batch_size, 20)
        yield text(10, top, title, size=14)
        for env in range(len(DURATIONS)):
            yield text(10, top + 32 + 26 * env, f"env {env}")
        for batch, time in enumerate(times):
            if time <= end:
                x = 70 + 26 * time - 1
                yield line(x, top + 12, x, top + 122, INK, "dash")
                yield text(x, top + 136, str(batch), "middle")
        for env, begin, finish, batch in steps:
            if finish <= end:
                x, y, width = 70 + 26 * begin, top + 16 + 26 * env, 26 * (finish - begin) - 2
                yield box(x, y, width, 22, BATCHES[batch % len(BATCHES)], str(batch))
        yield text(10, top + 136, "recv")

    end = 24
    shapes = [
        *timeline(22, "sync: num_envs=4, batch_size=4. Each batch waits for its slowest environment.", 4, end),
        *timeline(192, "async: num_envs=4, batch_size=2. A batch is the first two that have finished.", 2, end),
        line(70, 346, 70 + 26 * end, 346, INK, "arrow"),
        text(70 + 13 * end, 362, "time", "middle"),
    ]
    return drawing(710, 370, "Timelines of a sync and an async pool", shapes)


def auto_reset() -> str:
    """Return what the calls of step return around the end of an episode, for each auto-reset mode."""
    step, last, first = "#cfe8f7", "#f7c9a0", "#c8e6c9"
    modes = {
        "next_step": [
            ("step", step),
            ("last step\ntruncated\nlast obs", last),
            ("reset\naction ignored\nfirst obs, reward 0", first),
            ("step", step),
        ],
        "same_step": [
            ("step", step),
            ("last step, and reset\ntruncated, first obs\nlast obs: info", "url(#both)"),
            ("step", step),
            ("step", step),
        ],
        "disabled": [
            ("step", step),
            ("last step\ntruncated\nlast obs", last),
            ("you call reset(env_id)\nfirst obs", first),
            ("step", step),
        ],
    }
    shapes = [
        f'<defs><linearGradient id="both"><stop offset="0.5" stop-color="{last}"/>'
        f'<stop offset="0.5" stop-color="{first}"/></linearGradient></defs>'
    ]
    for column in range(4):
        shapes.append(text(190 + 150 * column, 18, f"call {column + 1}", "middle"))
    for row, (mode, cells) in enumerate(modes.items()):
        y = 28 + 76 * row
        shapes.append(text(10, y + 37, mode, size=13))
        shapes += [box(118 + 150 * x, y, 144, 66, fill, label, stroke=GREY) for x, (label, fill) in enumerate(cells)]
    keys = (("inside an episode", step), ("its last step", last), ("first observation of the next episode", first))
    x = 118
    for label, fill in keys:
        shapes += [box(x, 264, 14, 14, fill, stroke=GREY), text(x + 20, 275, label)]
        x += 40 + 7 * len(label)
    return drawing(725, 290, "What a step returns around the end of an episode", shapes)


def blocks() -> str:
    """Return how a batch is written: actions, queue, threads, block, arrays."""
    shapes = [
        box(10, 70, 120, 60, "#cfe8f7", "your program\nsend(actions)", stroke=GREY),
        line(130, 100, 168, 100, INK, "arrow"),
        box(170, 70, 110, 60, PALE, "queue of\nenvironment ids", stroke=GREY),
        line(280, 90, 318, 60, INK, "arrow"),
        line(280, 110, 318, 140, INK, "arrow"),
        box(320, 35, 110, 50, "#c8e6c9", "thread 0\nsimulates", stroke=GREY),
        box(320, 115, 110, 50, "#c8e6c9", "thread 1\nsimulates", stroke=GREY),
    ]
    columns = (("obs", 90), ("reward", 60), ("terminated", 84), ("truncated", 78))
    x = 490
    shapes.append(text(x, 16, "block: the memory of one batch", size=13))
    for name, width in columns:
        shapes.append(text(x + width / 2, 34, name, "middle"))
        for row in range(4):
            shapes.append(box(x, 40 + 30 * row, width - 2, 28, BATCHES[0] if row < 2 else BATCHES[2], stroke="white"))
        x += width
    shapes += [text(x + 4, 59 + 30 * row, f"env {row}") for row in range(4)]
    shapes += [line(430, 60, 486, 68, INK, "arrow"), line(430, 140, 486, 130, INK, "arrow")]
    shapes += [
        line(645, 162, 645, 196, INK, "arrow"),
        box(490, 198, 310, 40, "#cfe8f7", "recv(): NumPy arrays of this memory", stroke=GREY),
        text(490, 256, "No copy. The next batch gets another block."),
    ]
    return drawing(860, 268, "The way of a batch through a pool", shapes)


def rate(value: float) -> str:
    """Return a rate with a unit."""
    return f"{value / 1e6:g} M" if value >= 1e6 else f"{value / 1e3:g} k"


def headline() -> str:
    """Return bars with the steps per second of envpool and of EnvPool for some tasks of docs/data/compare.json."""
    report = json.loads((DATA / "compare.json").read_text())
    peer = report["machine"]["peer"]
    wanted = (
        "CartPole-v1/256",
        "FrozenLake-v1/256",
        "Pendulum-v1/256",
        "LunarLander-v3/64",
        "BipedalWalker-v3/64",
        "CheetahRun-v1/64",
        "HalfCheetah-v5/64",
        "CarRacing-v3/64",
        "Pong-v5/64",
        "Breakout-v5/64",
    )
    rows = {row["cell"]: row for row in report["rows"]}
    low, left, width = 3.0, 140, 500

    def end(value: float) -> float:
        return (math.log10(value) - low) / (8.5 - low) * width

    shapes = [text(left, 18, "Environment steps per second on two cores (logarithmic)", size=14)]
    bottom = 34 + 30 * len(wanted)
    for power in range(3, 9):
        x = left + end(10.0**power)
        shapes += [line(x, 28, x, bottom, "#e0e0e0"), text(x, bottom + 14, rate(10.0**power), "middle")]
    for i, cell in enumerate(wanted):
        row, y = rows[cell], 32 + 30 * i
        task, envs = cell.split("/")
        shapes.append(text(left - 6, y + 17, f"{task}, {envs}", "end", size=11))
        shapes.append(box(left, y, end(row["steps_per_second"]), 12, BLUE))
        shapes.append(box(left, y + 13, end(row["peer_steps_per_second"]), 11, ORANGE))
        shapes.append(text(left + end(row["steps_per_second"]) + 5, y + 10, f"{row['ratio']:.3g}x", size=11))
    y = bottom + 26
    shapes += [box(left, y, 14, 12, BLUE), text(left + 20, y + 10, "envpool")]
    shapes += [box(left + 110, y, 14, 12, ORANGE), text(left + 130, y + 10, peer)]
    shapes.append(text(left + 250, y + 10, "task, number of environments"))
    return drawing(700, y + 24, f"Steps per second of envpool and of {peer}", shapes)


#: The files in docs/img, with the functions that draw them.
DIAGRAMS: dict[str, Callable[[], str]] = {
    "concept_sync_async.svg": sync_and_async,
    "concept_auto_reset.svg": auto_reset,
    "concept_blocks.svg": blocks,
    "headline.svg": headline,
}

if __name__ == "__main__":
    for name, draw in DIAGRAMS.items():
        path, new = IMAGES / name, draw()
        if "--check" not in sys.argv:
            path.write_text(new)
        elif not path.exists() or path.read_text() != new:
            raise SystemExit(f"docs/img/{name} is out of date: run python scripts/diagrams.py")
