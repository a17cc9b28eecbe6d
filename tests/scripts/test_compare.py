"""``scripts/compare``: cells, the worker's protocol, and a comparison of this package with itself."""

import io
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from gymnasium.spaces import Box

import envpool
from envpool.cli.bench import loops
from tests.cli.command import ENVIRONMENT

SCRIPTS = Path(__file__).parents[2] / "scripts"


@pytest.fixture(autouse=True)
def script_path(monkeypatch):
    """Makes the parts of the script importable, and envpool in its subprocesses."""
    monkeypatch.syspath_prepend(str(SCRIPTS))
    monkeypatch.setenv("PYTHONPATH", ENVIRONMENT["PYTHONPATH"])


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("CartPole-v1/1", ("CartPole-v1", 1, 1)),
        ("CartPole-v1/64/32", ("CartPole-v1", 64, 32)),
        ("phys2d/CartPole-v1/8", ("phys2d/CartPole-v1", 8, 8)),
    ],
)
def test_cells(text, cell):
    from comparison.cells import parse

    parsed = parse(text)
    assert (parsed.task, parsed.num_envs, parsed.batch_size) == cell
    assert str(parsed) == text


@pytest.mark.parametrize("text", ["CartPole-v1", "CartPole-v1/0", "CartPole-v1/4/5", "/4", "No*/3"])
def test_bad_cells(text):
    from comparison.cells import select

    with pytest.raises(ValueError, match="cell"):
        select([text])


def test_selection():
    from comparison.cells import DEFAULT_CELLS, TARGETS, select

    assert [str(c) for c in select([])] == list(DEFAULT_CELLS)
    assert [str(c) for c in select(["Frozen*", "A-v0/3", "FrozenLake-v1/256"])] == ["FrozenLake-v1/256", "A-v0/3"]
    assert select(["CartPole-v1/16"])[0].target == TARGETS["CartPole-v1/16"]
    assert select(["A-v0/3"])[0].target is None
    assert select(["Ant-v5/64/32"])[0].cpu_target == 1.15
    assert select(["CartPole-v1/16"])[0].cpu_target is None


def test_worker_answers_each_request():
    from comparison.worker import Worker, load, serve

    sizes = {"task": "CartPole-v1", "num_threads": 1}
    requests = [
        {"do": "hello"},
        {"do": "open", "num_envs": 4, "batch_size": 4} | sizes,
        {"do": "run", "seconds": 0.01},
        {"do": "open", "num_envs": 4, "batch_size": 2} | sizes,
        {"do": "run", "seconds": 0.01},
        {"do": "open", "num_envs": 4, "batch_size": 2, "num_threads": 1, "task": "No-v0"},
        {"do": "close"},
    ]
    out = io.StringIO()
    serve(Worker(load(loops.__file__)), [json.dumps(r) for r in requests], out)
    hello, sync, sync_run, started, async_run, refused, closed = map(json.loads, out.getvalue().splitlines())
    assert hello == {"version": envpool.__version__}
    assert sync == started == closed == {}
    assert (sync_run["steps"] % 4, async_run["steps"] % 2) == (0, 0)
    for run in (sync_run, async_run):
        assert set(run) == {"steps", "seconds", "cpu_seconds"}
        assert min(run["steps"], run["seconds"]) > 0
    assert list(refused) == ["error"]
    assert "No-v0 is not supported" in refused["error"]


def test_actions_without_bounds():
    """As those of ViZDoom: the numbers of its buttons may be anything."""
    from comparison.worker import draw_actions

    low, high = np.array([-np.inf, -2.0, 3.0]), np.array([np.inf, np.inf, 4.0])
    drawn = np.concatenate(draw_actions(Box(low, high, dtype=np.float64), 5))
    assert (drawn >= [0, -2, 3]).all() and (drawn <= [1, 1, 4]).all()


@pytest.mark.parametrize("batch_size", [3, 1])
def test_worker_of_ale_py(batch_size):
    from comparison import engines

    with engines.ale_engine() as engine:
        engine.ask("open", task="Pong-v5", num_envs=3, batch_size=batch_size, num_threads=1)
        run = engine.ask("run", seconds=0.05)
        assert engine.ask("close") == {}
    assert run["steps"] % batch_size == 0
    assert min(run.values()) > 0


def test_what_an_engine_writes_does_not_stay():
    from comparison import engines

    with engines.own_engine() as engine:
        folder = Path(f"/proc/{engine.process.pid}/cwd").readlink()
        assert folder.is_dir() and not folder.is_relative_to(SCRIPTS)
    assert not folder.exists()


def test_compares_this_package_with_itself(tmp_path, capsys, monkeypatch):
    from comparison import engines, main

    monkeypatch.setattr(engines, "PEER_FLAGS", ("-P",))
    monkeypatch.setattr(engines, "PEER_VERSION", envpool.__version__)
    monkeypatch.setattr(main, "PROBES", 1)
    monkeypatch.setattr(main, "PROBE_ENVS", 1000)
    monkeypatch.setattr(main, "PROBE_CELLS", ("Pendulum-v1/100",))
    files = ["--json", str(tmp_path / "a.json"), "--plot", str(tmp_path / "a.png")]
    cells = ["CartPole-v1/4", "CartPole-v1/4/2", "No-v0/4"]
    assert main.main([*cells, "--seconds", "0.05", "--peer-python", sys.executable, *files]) == 0
    text = (tmp_path / "a.json").read_text()
    assert str(tmp_path) not in text
    report = json.loads(text)
    assert set(report) == {"machine", "command", "rows", "construction", "construction_envs", "construction_of_others"}
    *rows, missing = report["rows"]
    assert [r["cell"] for r in report["rows"]] == cells
    for row in rows:
        assert row["note"] == ""
        assert min(row[k] for k in ("steps_per_second", "peer_steps_per_second", "ratio", "cpu_ratio")) > 0
    assert "No-v0 is not supported" in missing["note"]
    assert "ratio" not in missing
    for figure in ("import_seconds", "import_bytes", "first_pool_seconds", "first_pool_bytes", "make_seconds"):
        assert min(report["construction"][figure].values()) > 0
    assert min(report["construction_of_others"]["Pendulum-v1/100"]["make_and_reset_seconds"].values()) > 0
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    shown = capsys.readouterr().out
    assert "make 100,000 CartPoles" in shown
    assert "Pendulum-v1/100: make and first reset, ms" in shown


def test_peer_of_another_version_is_refused(monkeypatch):
    from comparison import engines

    monkeypatch.setattr(engines, "PEER_FLAGS", ("-P",))
    with pytest.raises(ValueError, match=f"must be EnvPool 1.2.5, .* has envpool {envpool.__version__}"):
        engines.peer_engine(Path(sys.executable))


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["CartPole"], "a cell must have the form"),
        (["--peer-dir", str(SCRIPTS)], "is neither empty nor a venv"),
        (["--seconds", "0"], "must be a number of seconds greater than 0"),
    ],
)
def test_errors_are_one_line_and_status_2(arguments, text, tmp_path):
    files = ["--json", str(tmp_path / "a.json"), "--plot", str(tmp_path / "a.png")]
    command = [sys.executable, str(SCRIPTS / "compare"), *arguments, *files]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines()[-1].startswith("compare: error: ")
    assert text in done.stderr
