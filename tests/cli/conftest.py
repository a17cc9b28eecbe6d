"""The output of commands in tests is not wrapped: pytest-xdist sets COLUMNS in its workers."""

import pytest


@pytest.fixture(autouse=True)
def no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
