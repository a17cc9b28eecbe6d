"""The upstream environments of MinAtar, with frames as uint8."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

import matplotlib
import numpy as np

from envpool.minatar import upstream
from tests.support.oracles.frames import Resized, Size, rendered
from tests.support.oracles.gymnasium_oracle import Upstream


def upstream_of(task_id: str, kwargs: Mapping[str, Any] | None = None) -> Upstream:
    """Return the oracle of a task, with arguments of ``gymnasium.make``."""
    return Upstream.of(upstream.upstream_of(task_id), kwargs=kwargs or {})


def color_palette(name: str, count: int) -> list[tuple[float, ...]]:
    """Return what ``seaborn.color_palette`` does for a colour map of matplotlib, which is not a list of colours."""
    return [tuple(colour) for colour in matplotlib.colormaps[name](np.linspace(0, 1, count + 2)[1:-1])[:, :3]]


def to_pixels(frame: np.ndarray, size: Size) -> np.ndarray:
    """Return a frame of numbers in [0, 1] as uint8, with cells that are as large as the size allows."""
    rows, columns = (np.arange(length) * 10 // length for length in size)
    pixels: np.ndarray = np.rint(255 * frame).astype(np.uint8)[rows][:, columns]
    return pixels


def frames_of(task_id: str) -> Callable[[Size | None], Any]:
    """Return a factory of upstream environments. Without seaborn, they have its palette all the same."""
    module: Any = upstream.load()
    if not hasattr(module, "sns"):
        module.sns = SimpleNamespace(color_palette=color_palette)
    make = rendered(upstream_of(task_id))
    return lambda size: Resized(make(None), lambda frame: to_pixels(frame, size or (10, 10)))
