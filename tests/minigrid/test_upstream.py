"""What users learn if minigrid is missing."""

from __future__ import annotations

import sys

import pytest

from envpool.minigrid import upstream
from envpool.verify.lookup import MissingUpstreamError, oracle_of


def test_the_error_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "minigrid", None)
    with pytest.raises(MissingUpstreamError, match=r"pip install --no-deps minigrid==3\.2\.0"):
        oracle_of("MiniGrid-DoorKey-5x5-v0")


def test_the_version_is_that_of_the_tests() -> None:
    import minigrid

    assert upstream.INSTALL.endswith(f"minigrid=={minigrid.__version__}")
