"""What users learn if minigrid is missing."""

from __future__ import annotations

import sys

import pytest

from envpool.verify.lookup import INSTALL, MissingUpstreamError, oracle_of


def test_the_error_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "minigrid", None)
    with pytest.raises(MissingUpstreamError, match="minigrid") as caught:
        oracle_of("MiniGrid-DoorKey-5x5-v0")
    assert str(caught.value).endswith(INSTALL)
