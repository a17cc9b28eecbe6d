"""`envpool.rollout.Progress`: lines in files, one line on terminals."""

import io
import sys

import pytest

from envpool.rollout import Progress
from envpool.rollout.progress import duration


class Terminal(io.StringIO):
    def isatty(self):
        return True


class Clock:
    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


def run(file, seconds, count=5, **options):
    clock = Clock()
    with Progress(1000, file=file, clock=clock, **options) as progress:
        for k in range(count):
            clock.now += seconds
            progress.update(100, f"mean return {k}")
    return file.getvalue()


def test_a_file_gets_a_line_every_few_seconds_and_one_at_the_end():
    assert run(io.StringIO(), 4).splitlines() == [
        "300 of 1,000 steps (30 %), 25/s, 28 s left, mean return 2",
        "500 of 1,000 steps (50 %), 25/s, 20 s left, mean return 4",
    ]
    assert len(run(io.StringIO(), 4, every=4).splitlines()) == 6
    assert len(run(io.StringIO(), 0.1).splitlines()) == 1


def test_a_terminal_has_one_line():
    text = run(Terminal(), 0.2, unit="games")
    assert text.count("\r\x1b[K") == 6 and text.count("\n") == 1 and text.endswith("\n")
    assert text.split("\r\x1b[K")[1] == "100 of 1,000 games (10 %), 500/s, 2 s left, mean return 0"


def test_a_finished_run_has_no_time_left():
    assert run(io.StringIO(), 1, count=10).splitlines()[-1] == "1,000 of 1,000 steps (100 %), 100/s, mean return 9"


def test_steps_of_an_earlier_run_do_not_count_into_the_speed():
    clock, file = Clock(), io.StringIO()
    with Progress(1000, file=file, clock=clock) as progress:
        progress.resume(600)
        clock.now += 10
        progress.update(100)
    assert file.getvalue().splitlines()[0] == "700 of 1,000 steps (70 %), 10/s, 30 s left"


def test_the_last_line_is_shown_after_an_exception():
    file = io.StringIO()
    with pytest.raises(KeyboardInterrupt), Progress(10, file=file) as progress:
        progress.update(3)
        raise KeyboardInterrupt
    assert file.getvalue().startswith("3 of 10 steps (30 %)")


def test_a_closed_stderr(monkeypatch):
    monkeypatch.setattr(sys, "stderr", None)
    with Progress(0) as progress:
        progress.update(0)


def test_durations():
    assert [duration(s) for s in (0.4, 99, 150, 5940, 7500)] == ["0 s", "99 s", "2 min", "99 min", "2 h 5 min"]
