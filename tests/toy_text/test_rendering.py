"""Rendering of toy text without the images and libraries that it needs, and the layout of packed images."""

from __future__ import annotations

import sys
from typing import Any

import gymnasium
import numpy as np
import pytest

import envpool
from envpool.errors import ConfigError
from envpool.raster import sheet
from tests.conformance.cases import describe
from tests.toy_text.cases import RENDERED


def test_a_task_without_a_renderer() -> None:
    with pytest.raises(ConfigError, match="NChain-v0 has no renderer"):
        envpool.make_gymnasium("NChain-v0", render_mode="rgb_array")


@pytest.mark.parametrize(("task_id", "options"), RENDERED, ids=[f"{t}-{describe(o)}" for t, o in RENDERED])
def test_without_pygame_or_images(
    task_id: str, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    def make() -> None:
        envpool.make_gymnasium(task_id, render_mode="rgb_array", **options).close()

    monkeypatch.setattr(gymnasium, "__file__", str(tmp_path / "__init__.py"))
    with pytest.raises(ImportError, match=r"has no image toy_text/img.*pip install 'gymnasium>=1.4'"):
        make()
    monkeypatch.setitem(sys.modules, "pygame", None)
    with pytest.raises(ImportError, match=r"need pygame-ce: pip install 'envpool-cython\[render\]'"):
        make()


def test_sheet() -> None:
    """Images and numbers are at the offsets that the header gives."""
    images = [np.arange(24, dtype=np.uint8).reshape(2, 3, 4), np.arange(6, dtype=np.uint8).reshape(1, 2, 3)]
    packed = sheet.pack(images, [7, -8])
    head = np.frombuffer(packed[:48], np.int32).tolist()
    assert head == [2, 2, 2, 3, 4, 48, 1, 2, 3, 72, 7, -8]
    assert packed[48:72] == images[0].tobytes()
    assert packed[72:] == images[1].tobytes()
