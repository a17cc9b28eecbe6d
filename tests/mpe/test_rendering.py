"""Frames of MPE without upstream's font."""

from __future__ import annotations

import pytest

import envpool
from envpool._support import wheels
from tests.mpe.cases import SPEAKING, TASKS


def test_without_the_font(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only scenarios in which agents speak need it."""
    monkeypatch.setattr(wheels, "find", lambda *args: None)
    for name, task_id in TASKS.items():
        if name in SPEAKING:
            with pytest.raises(ImportError, match="need the font of mpe2: pip install mpe2"):
                envpool.make_gymnasium(task_id, render_mode="rgb_array")
        else:
            with envpool.make_gymnasium(task_id, render_mode="rgb_array") as pool:
                pool.reset()
                assert pool.render().shape == (1, 700, 700, 3)
