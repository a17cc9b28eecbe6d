"""What ``envpool doctor`` says about NetHack; tests/cli/test_doctor.py runs it with the installed library."""

from __future__ import annotations

from pathlib import Path

import pytest

from envpool._support import wheels
from envpool._support.diagnosis import NOTE, OK, PROBLEM
from envpool.nethack import health
from envpool.nethack.files import Files


def test_nothing_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wheels, "find", lambda name: None)
    (finding,) = health.findings()
    assert (finding.name, finding.text, finding.state) == ("library", "not installed", NOTE)
    assert "nle==1.3.0" in finding.remedy


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    files = Files(Path("/nle/libnethack.so"), Path("/nle/nhdat"))
    monkeypatch.setattr(health, "find_files", lambda: files)


@pytest.mark.usefixtures("installed")
def test_a_game_that_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "PLAY", "pass")
    (finding,) = health.findings()
    assert (finding.text, finding.state) == ("nle 1.3.0, /nle/libnethack.so", OK)


@pytest.mark.usefixtures("installed")
def test_a_game_that_does_not_start(monkeypatch: pytest.MonkeyPatch) -> None:
    """The version is right, so that installing it, as it is named for a missing one, would change nothing."""
    monkeypatch.setattr(health, "PLAY", "raise OSError('no folder in /tmp can be locked')")
    (finding,) = health.findings()
    assert finding.state == PROBLEM
    assert finding.text.endswith("; no game starts: OSError: no folder in /tmp can be locked")
    assert finding.remedy.startswith("remove the reason that is named; ") and "--force-reinstall" in finding.remedy
