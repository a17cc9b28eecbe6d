"""Benchmark results as a table and as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from envpool._support.files import write_text
from envpool.cli.bench.machine import describe_machine
from envpool.cli.bench.measure import POOL, Row
from envpool.cli.text import count, short, table

#: Title and alignment of each column.
COLUMNS = (
    ("task", "l"),
    ("engine", "l"),
    ("envs", "r"),
    ("batch", "r"),
    ("threads", "r"),
    ("steps/s", "r"),
    ("frames/s", "r"),
    ("CPU-s/M steps", "r"),
    ("of limit", "r"),
    ("speedup", "r"),
    ("CPU ratio", "r"),
    ("note", "l"),
)
#: Columns that are shown only if peers were measured.
PEER_COLUMNS = ("engine", "speedup", "CPU ratio", "note")


def cells(row: Row) -> list[str]:
    """Return the cells of a row as text, in the order of COLUMNS."""
    return [
        row.task,
        row.engine,
        count(row.num_envs),
        count(row.batch_size),
        count(row.num_threads) if row.engine == POOL else "-",
        count(row.steps_per_second),
        count(row.frames_per_second),
        short(row.cpu_seconds_per_million_steps),
        "-" if row.share_of_limit is None else f"{row.share_of_limit:.0%}",
        short(row.speedup, "x"),
        short(row.cpu_ratio, "x"),
        row.note,
    ]


def results_table(rows: Sequence[Row]) -> str:
    """Return the table of results."""
    has_peers = any(r.engine != POOL for r in rows)
    shown = [i for i, (title, _) in enumerate(COLUMNS) if has_peers or title not in PEER_COLUMNS]
    headers = [COLUMNS[i][0] for i in shown]
    align = "".join(COLUMNS[i][1] for i in shown)
    return table(headers, [[cells(r)[i] for i in shown] for r in rows], align)


def write_json(path: Path, command: str, rows: Sequence[Row]) -> None:
    """Write the machine facts, the command and the rows to a JSON file."""
    report = {"machine": describe_machine(), "command": command, "rows": [asdict(r) for r in rows]}
    write_text(path, json.dumps(report, indent=2) + "\n")
