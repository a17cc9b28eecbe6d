"""Every test of ViZDoom closes its pools, and nothing of their engines may be left then."""

from __future__ import annotations

from typing import Any

import pytest

from tests.vizdoom.engines import engines, leftovers


@pytest.fixture(autouse=True)
def nothing_is_left() -> Any:
    yield
    assert engines() == []
    assert leftovers() == []
