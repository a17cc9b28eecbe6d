"""``envpool bench`` measures what it claims to; the tests never check how fast that is."""

import json
import struct
import sys
from argparse import Namespace
from dataclasses import fields

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

import envpool
from envpool._support.machine import cpu_limit
from envpool.cli.bench import command, gymnasium_peer
from envpool.cli.bench.actions import draw_actions, rounds_of
from envpool.cli.bench.loops import AsyncLoop, Slice, SyncLoop, bursts
from envpool.cli.bench.measure import LIMIT, POOL, SLICES, Row, cpu_ratio, peer_row, pool_row
from envpool.cli.bench.plot import LIMIT_LABEL, bars_figure
from envpool.cli.main import main
from envpool.cli.progress import Progress
from envpool.registration import registry
from tests.cli.command import run_command

CPUS = cpu_limit()
QUICK = ["--seconds", "0.05"]
MACHINE = {"cpu", "cores_available", "system", "python", "numpy", "envpool", "compiler"}


def png_size(path):
    """Return width and height of a PNG file."""
    data = path.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    assert data[12:16] == b"IHDR"
    return struct.unpack(">II", data[16:24])


def test_table_from_the_command():
    done = run_command("bench", "CartPole-v1", "CartPole-v0", "--num-envs", "16", "--num-threads", "2", *QUICK)
    assert (done.returncode, done.stderr) == (0, "")
    header, *rows = [line.split() for line in done.stdout.splitlines()]
    assert header == ["task", "envs", "batch", "threads", "steps/s", "frames/s", "CPU-s/M", "steps", "of", "limit"]
    assert [row[:4] for row in rows] == [["CartPole-v1", "16", "16", "2"], ["CartPole-v0", "16", "16", "2"]]
    for row in rows:
        assert int(row[4].replace(",", "")) > 0
        assert row[5] == "-"
        assert row[7].endswith("%")


@pytest.mark.parametrize("env_type", ["gymnasium", "gym", "dm"])
@pytest.mark.parametrize("sizes", [["--num-envs", "1"], ["--num-envs", "5", "--batch-size", "2"]])
def test_json(env_type, sizes, tmp_path, capsys):
    file = tmp_path / "out.json"
    option = ["--option", "max_episode_steps=9"]
    assert main(["bench", "CartPole-v1", *sizes, *QUICK, "--env-type", env_type, "--json", str(file), *option]) == 0
    text = file.read_text()
    assert str(tmp_path) not in text
    report = json.loads(text)
    assert set(report) == {"machine", "command", "rows"}
    assert set(report["machine"]) <= MACHINE
    assert report["machine"]["cores_available"] == CPUS
    words = ["envpool bench CartPole-v1", *sizes, "--seconds 0.05", f"--env-type {env_type}", *option]
    assert report["command"] == " ".join(words)
    (row,) = report["rows"]
    assert set(row) == {f.name for f in fields(Row)}
    assert (row["task"], row["engine"], row["env_type"]) == ("CartPole-v1", "envpool", env_type)
    assert [row["num_envs"], row["batch_size"]] == ([1, 1] if len(sizes) == 2 else [5, 2])
    assert row["num_threads"] == min(row["batch_size"], CPUS)
    for name in ("steps_per_second", "cpu_seconds_per_million_steps", "limit_steps_per_second", "share_of_limit"):
        assert row[name] > 0
    assert row["frames_per_second"] is None


@pytest.mark.parametrize(
    ("task", "controlled"),
    [
        ("ConnectFour-v0", "1"),
        ("ConnectFour-v0", "alternate"),
        ("MPE/simple_tag-v3", "adversary"),
        ("MPE/simple_tag-v3", "[0, 3]"),
    ],
)
def test_pools_with_opponents(task, controlled, capsys):
    """The option is no part of the configuration, and actions have a place for each controlled player."""
    assert main(["bench", task, "--num-envs", "2", *QUICK, "--option", f"controlled={controlled}"]) == 0
    assert task in capsys.readouterr().out


def test_compare_and_plot(tmp_path, capsys):
    file, plot = tmp_path / "out.json", tmp_path / "out.png"
    files = ["--json", str(file), "--plot", str(plot)]
    assert main(["bench", "CartPole-v1", "--num-envs", "2", *QUICK, "--compare", "gymnasium", *files]) == 0
    rows = json.loads(file.read_text())["rows"]
    assert [r["engine"] for r in rows] == ["envpool", "gymnasium SyncVectorEnv", "gymnasium AsyncVectorEnv"]
    for row in rows[1:]:
        assert row["steps_per_second"] > 0
        assert row["cpu_seconds_per_million_steps"] > 0
        assert row["speedup"] > 0
        assert row["note"] == ""
    assert min(png_size(plot)) > 200
    assert "speedup" in capsys.readouterr().out.splitlines()[0]


def plotted(*rows):
    """Return the drawn figure of rows (task, engine, num_envs, batch_size, steps, limit, note), and its texts."""
    names = ("task", "engine", "num_envs", "batch_size", "steps_per_second", "limit_steps_per_second", "note")
    figure = bars_figure([Row(env_type="gymnasium", num_threads=2, **dict(zip(names, r, strict=True))) for r in rows])
    FigureCanvasAgg(figure).draw()
    return figure, figure.axes[0].texts


SYNC, ASYNC = "gymnasium SyncVectorEnv", "gymnasium AsyncVectorEnv"


@pytest.mark.parametrize("share", [0.02, 0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 0.9, 0.99, 1.0, 1.1])
def test_numbers_in_a_plot_stand_at_their_bars_and_are_clear_of_limits(share):
    """The mark of a limit may be anywhere behind the end of a bar, and in it; it has a gap for the number."""
    figure, texts = plotted(
        ("A-v0", POOL, 256, 256, 9e6 * share, 9e6, ""),
        ("A-v0", SYNC, 256, 256, 3e3, None, ""),
        ("B-v0", POOL, 256, 64, 123456.0 * share, 123456.0, ""),
    )
    (lines,) = [c for c in figure.axes[0].collections if c.get_label() == LIMIT_LABEL]
    to_pixels = figure.axes[0].transData.transform
    ends = [to_pixels(segment) for segment in lines.get_segments()]
    bars = [patch.get_window_extent() for patch in figure.axes[0].patches]
    assert [t.get_text() for t in texts] == [f"{9e6 * share:,.0f}", "3,000", f"{123456.0 * share:,.0f}"]
    for text in texts:
        box = text.get_window_extent()
        assert not any(box.overlaps(bar) for bar in bars)
        assert any(bar.y0 < box.y0 < box.y1 < bar.y1 and 0 < box.x0 - bar.x1 < 15 for bar in bars)
        for (x, low), (_, high) in ends:
            assert not (box.x0 - 1 <= x <= box.x1 + 1 and min(low, high) < box.y1 and box.y0 < max(low, high))
        assert figure.axes[0].bbox.contains(box.x1, box.y0)


def test_a_group_in_a_plot_has_one_label():
    note = "left out: it would start 512 processes, at most 256 are allowed; compare it with --num-envs 256 or fewer"
    figure, texts = plotted(
        ("A-v0", POOL, 256, 256, 9e6, 1e7, ""),
        ("A-v0", SYNC, 256, 256, 3e3, None, ""),
        ("A-v0", ASYNC, 256, 256, None, None, note),
        ("B-v0", POOL, 256, 64, 9e5, None, ""),
        ("B-v0", SYNC, 256, 256, None, None, "gymnasium has no task B-v0"),
    )
    labels = [t.get_text() for t in figure.axes[0].get_yticklabels()]
    assert labels == ["A-v0\n256 envs", "B-v0\n256 envs\nbatches of 64"]
    assert [" ".join(t.get_text().split()) for t in texts if "left out" in t.get_text()] == [f"{ASYNC}: {note}"]
    for text in texts:
        box = text.get_window_extent()
        frame = figure.axes[0].bbox
        assert frame.contains(box.x0, box.y0) and frame.contains(box.x1, box.y1)


def test_sweep(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(command, "SWEEP_ENVS", (1, 2))
    monkeypatch.setattr(command, "thread_counts", lambda: [1, 2])
    file, plot = tmp_path / "out.json", tmp_path / "out.png"
    tasks = ["CartPole-v1", "CartPole-v0"]
    assert main(["bench", *tasks, "--sweep", *QUICK, "--json", str(file), "--plot", str(plot)]) == 0
    rows = json.loads(file.read_text())["rows"]
    expected = [(task, *sizes) for task in tasks for sizes in ((1, 1), (2, 1), (2, 2))]
    assert [(r["task"], r["num_envs"], r["num_threads"]) for r in rows] == expected
    width, height = png_size(plot)
    assert width > height > 200


def test_thread_counts_end_at_the_available_cpus():
    counts = command.thread_counts()
    assert counts[0] == 1
    assert counts[-1] == CPUS
    assert counts == sorted(set(counts))


def test_missing_matplotlib_names_the_way_out(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    assert main(["bench", "CartPole-v1", "--plot", str(tmp_path / "a.png")]) == 2
    assert "pip install 'envpool-cython[plot]'" in capsys.readouterr().err


@pytest.fixture
def own_task():
    """A task that gymnasium does not have."""
    registry.tasks["Own-v0"] = registry.find("CartPole-v1")
    yield "Own-v0"
    del registry.tasks["Own-v0"]


def test_compare_says_why_there_is_no_peer(own_task, capsys):
    assert main(["bench", own_task, "--num-envs", "2", *QUICK, "--compare", "gymnasium"]) == 0
    assert capsys.readouterr().out.count(f"gymnasium has no task {own_task}") == 2


def test_every_peer_is_compared_at_the_default_number_of_envs():
    default = Namespace(num_envs=None, batch_size=None, num_threads=None)
    assert command.single(default)["num_envs"] <= gymnasium_peer.MAX_PROCESSES


def test_many_processes_are_not_started(capsys, monkeypatch):
    monkeypatch.setattr(gymnasium_peer, "MAX_PROCESSES", 1)
    assert main(["bench", "CartPole-v1", "--num-envs", "2", *QUICK, "--compare", "gymnasium"]) == 0
    shown = capsys.readouterr().out
    assert "it would start 2 processes, at most 1 are allowed; compare it with --num-envs 1 or fewer" in shown


def test_cpu_time_of_processes_is_counted():
    peer = gymnasium_peer.GymnasiumLoop("CartPole-v1", 2, "async")
    try:
        assert len(peer.clocks) == 2
        before = peer.cpu_seconds()
        assert peer.run(0.02).cpu_seconds > 0
        assert peer.cpu_seconds() > before
    finally:
        peer.close()


def test_sync_loop_counts_steps_and_uses_actions_in_turn():
    seen = []
    done = SyncLoop(seen.append, "abc", 7).run(0.001)
    assert done.steps == 7 * len(seen)
    assert done.seconds >= 0.001
    assert "".join(seen[:7]) == "abcabca"


def test_async_loop_leaves_no_batch_behind():
    with envpool.make_gymnasium("CartPole-v1", num_envs=5, batch_size=2) as pool:
        loop = AsyncLoop(pool, [np.zeros(2, np.int32)], lambda result: result[-1]["env_id"])
        for _ in range(3):
            done = loop.run(0.002)
            assert done.steps % 2 == 0
            assert pool.num_outstanding == 1


def test_bursts_end_with_the_time():
    assert list(bursts(0)) == [1]


def test_rounds_of_one_array_and_of_several():
    actions = draw_actions(envpool.make_spec("CartPole-v1", num_envs=6))
    assert draw_actions(envpool.make_spec("CartPole-v1", num_envs=6))["action"].tobytes() == actions["action"].tobytes()
    rounds = rounds_of(actions, 4)
    assert [r.tolist() for r in rounds] == actions["action"][:, :4].tolist()
    several = rounds_of({"a": np.zeros((2, 6)), "b": np.ones((2, 6, 3))}, 4)
    assert [{name: value.shape for name, value in r.items()} for r in several] == [{"a": (4,), "b": (4, 3)}] * 2


def test_figures_are_medians_over_turns():
    ours = [Slice(100, 1.0, 2.0), Slice(300, 1.0, 3.0), Slice(10, 1.0, 1.0)]
    limit = [Slice(200, 1.0, 1.0), Slice(400, 1.0, 1.0), Slice(100, 1.0, 1.0)]
    row = pool_row(Row("T", POOL, "gymnasium", 4, 4, 1), {POOL: ours, LIMIT: limit}, 4)
    assert row.steps_per_second == 100
    assert row.frames_per_second == 400
    assert row.cpu_seconds_per_million_steps == 2e6 / 100
    assert row.limit_steps_per_second == 200
    assert row.share_of_limit == 0.5
    peer = peer_row(Row("T", "other", "gymnasium", 4, 4, 1), [Slice(10, 1.0, 1.0)] * 3, ours)
    assert peer.speedup == 10
    assert peer.cpu_ratio == 5


def test_ratio_of_cpu_time_needs_a_clock_that_ticked():
    assert cpu_ratio([Slice(1, 1.0, 1.0)], [Slice(1, 1.0, 0.0)]) is None


def test_progress_is_silent_without_a_terminal_and_one_line_with_one(capsys, monkeypatch):
    Progress()("text")
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert main(["bench", "CartPole-v1", "--num-envs", "4", *QUICK]) == 0
    shown = capsys.readouterr().err
    assert "\n" not in shown
    assert f"{SLICES}/{SLICES}" in shown
    assert shown.endswith("\r\x1b[K")
