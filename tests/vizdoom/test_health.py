"""What ``envpool doctor`` says about ViZDoom; tests/cli/test_doctor.py runs it with the installed engine."""

from __future__ import annotations

import pytest

from envpool._support import wheels
from envpool._support.diagnosis import NOTE, OK, PROBLEM
from envpool.vizdoom import health
from envpool.vizdoom.wheel import package_folder


def test_nothing_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wheels, "find", lambda name: None)
    (finding,) = health.findings()
    assert (finding.name, finding.text, finding.state) == ("engine", "not installed", NOTE)
    assert "the engine of vizdoom 1.3.2" in finding.remedy
    assert "pip install 'envpool-cython[vizdoom]'" in finding.remedy


def test_an_engine_that_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "PLAY", "pass")
    (finding,) = health.findings()
    assert (finding.text, finding.state) == (f"vizdoom 1.3.2, {package_folder()}", OK)


def test_an_engine_that_does_not_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "PLAY", "raise SystemExit('libz.so.1 is missing')")
    (finding,) = health.findings()
    assert finding.state == PROBLEM and finding.text.endswith("; no engine starts: libz.so.1 is missing")
    assert "apt-get install libstdc++6 zlib1g" in finding.remedy and "vizdoom==1.3.2" in finding.remedy
