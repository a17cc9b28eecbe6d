"""``scripts/full``: parts, slices, what belongs to a change, counting tests, and resuming."""

import importlib.machinery
import importlib.util
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def full(tmp_path, monkeypatch):
    """Return the script as a module whose record and logs lie in a temporary folder."""
    loader = importlib.machinery.SourceFileLoader("full_script", str(ROOT / "scripts/full"))
    spec = importlib.util.spec_from_loader(loader.name, loader)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, loader.name, module)  # where dataclasses look for the module of a class
    loader.exec_module(module)
    monkeypatch.setattr(module, "RECORD", tmp_path / "full.json")
    monkeypatch.setattr(module, "LOGS", tmp_path / "full")
    return module


def names(parts):
    return [part.name for part in parts]


def test_every_room_belongs_to_one_part_of_each_kind(full):
    rooms = {path.relative_to(ROOT / "tests").parts[0] for path in (ROOT / "tests").glob("*/**/test_*.py")}
    for kind in ("slow", "sweep"):
        commands = [part.command for part in full.parts_of_rooms(kind)]
        taken = [room for command in commands for room in command[command.index("--room") + 1].split(",")]
        assert sorted(taken) == sorted(rooms - {"clients"} | {"package", "conformance"})


def test_slices_have_every_whole_part_once(full):
    whole = [part.name for part in full.parts() if part.minutes]
    divided = full.slices(4)
    assert sorted(name for part in divided for name in names(part)) == sorted(whole)
    minutes = [sum(part.minutes for part in chosen) for chosen in divided]
    assert max(minutes) - min(minutes) <= 2
    for k in (1, 2, 3, 4):
        slow, *rest = full.parts_of_slice(f"{k}/4")
        assert list(slow.command[-2:]) == ["--slice", f"{k}/4"]
        assert rest == divided[k - 1]


def test_changes_choose_parts(full, monkeypatch):
    def changed(*files):
        answers = {"diff": "\n".join(files), "ls-files": "", "rev-list": "1"}
        monkeypatch.setattr(full, "git", lambda command, *_: answers[command])
        return names(full.changed_since("HEAD"))

    always = ["build", "lint", "fast"]
    assert changed("docs/failures.md") == [*always, "site", "newcomer"]
    assert changed("tests/clients/sb3/test_vec_env.py") == [*always, "client-sb3"]
    atari = changed("envpool/atari/env.pyx")
    assert {"slow-atari", "sweeps", "sanitize-families"} <= set(atari) and "slow-box2d" not in atari
    assert changed("envpool/_core/pool.pyx") == names(full.parts())


def test_the_number_of_commits_selects_the_share_of_the_sweeps(full, monkeypatch):
    taken = []
    for count in range(full.SHARES):
        monkeypatch.setattr(full, "number_of_commits", lambda count=count: 1000 + count)
        (part,) = [part for part in full.parts() if part.name == "sweeps"]
        taken.append(part.command[part.command.index("--slice") + 1])
    assert sorted(taken) == sorted(f"{k}/{full.SHARES}" for k in range(1, full.SHARES + 1))


@pytest.mark.parametrize(
    ("output", "count"),
    [
        ("....\n12 passed in 3.21s\n", 12),
        ("=== 2 failed, 10 passed, 1 skipped in 61.00s (0:01:01) ===\n", 12),
        ("3 passed in 1s\nmore\n4 passed, 1 warning in 2.5s\n", 7),
        ("no tests ran in 0.1s\n", 0),
        ("1 passed the post\n", 0),
    ],
)
def test_counting_tests(full, output, count):
    assert full.count_of(output) == count


def test_parts_that_passed_are_not_run_again(full, monkeypatch, capsys):
    ran = []

    def run(part):
        ran.append(part.name)
        return part.name != "bad", 3, 60.0

    parts = [full.Part(name, ["true"], [""]) for name in ("good", "bad")]
    monkeypatch.setattr(full, "parts", lambda: parts)
    monkeypatch.setattr(full, "tree_of", lambda: ("tree", "abc1234"))
    monkeypatch.setattr(full, "run", run)
    monkeypatch.setattr(sys, "argv", ["full"])
    assert full.main() == 1 and ran == ["good", "bad"]
    assert full.main() == 1 and ran == ["good", "bad", "bad"]
    rows = capsys.readouterr().out.splitlines()[-3:]
    assert [row.split() for row in rows] == [
        ["part", "tests", "minutes", "verdict", "commit"],
        ["good", "3", "1.0", "passed", "abc1234"],
        ["bad", "3", "1.0", "FAILED", "abc1234"],
    ]
    monkeypatch.setattr(full, "tree_of", lambda: ("other tree", "abc1234+"))
    assert full.main() == 1 and ran[3:] == ["good", "bad"]
    assert json.loads(full.RECORD.read_text())["good"]["commit"] == "abc1234+"


def test_a_part_runs_in_the_tree_and_is_logged(full, capfd):
    part = full.Part("echo", ["bash", "-c", "pwd; echo '2 passed in 0.1s'; exit 3"], [""])
    passed, count, _ = full.run(part)
    assert (passed, count) == (False, 2)
    assert (full.LOGS / "echo.txt").read_text().splitlines()[0] == str(ROOT)
    assert str(ROOT) in capfd.readouterr().out


def test_mistakes_are_named():
    for arguments, text in [(["--part", "nothing"], "no part 'nothing'"), (["--slice", "5"], "must be 'auto' or K/N")]:
        done = subprocess.run([ROOT / "scripts/full", *arguments], capture_output=True, text=True, check=False)
        assert done.returncode == 1 and text in done.stderr


def test_what_a_part_leaves_behind_does_not_hold_up_the_next(full):
    """An orphan that has inherited the part's output would keep a pipe open."""
    command = ["bash", "-c", "sleep 60 & echo $!; echo 3 passed in 0.1s; exit 1"]
    passed, count, seconds = full.run(full.Part("orphan", command, []))
    orphan = int((full.LOGS / "orphan.txt").read_text().split()[0])
    os.kill(orphan, signal.SIGKILL)  # it still runs
    assert (passed, count) == (False, 3) and seconds < 60
