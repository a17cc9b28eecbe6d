"""The forms of observations as spaces: upstream's own, and those of its wrappers."""

from __future__ import annotations

from typing import Any

import numpy as np

from envpool.errors import ConfigError
from envpool.minigrid.tiles import atlas
from envpool.native import Field
from envpool.spec import check_range

#: Values of the option `observation`, in the order of the enum Form, and upstream's wrappers of that kind.
FORMS = {
    "partial": "",
    "full": "FullyObsWrapper",
    "rgb_partial": "RGBImgPartialObsWrapper",
    "rgb_full": "RGBImgObsWrapper",
    "one_hot": "OneHotPartialObsWrapper",
    "flat": "FlatObsWrapper",
    "symbolic": "SymbolicObsWrapper",
}
LARGEST_TILE = 64
LETTERS = 28


def form_of(config: Any) -> str:
    """Return the form that the options `observation` and `from_pixels` ask for."""
    form: str = config.observation
    if form not in FORMS:
        raise ConfigError(f"observation must be one of {', '.join(map(repr, FORMS))}, got {form!r}")
    if not config.from_pixels or form in ("rgb_partial", "rgb_full"):
        return form
    if form != "partial":
        raise ConfigError(
            f"from_pixels=True is only available with observation='partial', 'rgb_partial' or 'rgb_full', got {form!r}"
        )
    return "rgb_partial"


def image_field(config: Any, width: int, height: int) -> tuple[Field, int]:
    """Return the field of the image, or of the whole observation if it is flat, and its bytes per row."""
    check_range("obs_tile_size", config.obs_tile_size, 1, LARGEST_TILE)
    form, view, tile = form_of(config), config.agent_view_size, config.obs_tile_size
    shapes: dict[str, tuple[int, ...]] = {
        "partial": (view, view, 3),
        "full": (width, height, 3),
        "rgb_partial": (view * tile, view * tile, 3),
        "rgb_full": (height * tile, width * tile, 3),
        "one_hot": (view, view, 20),
        "flat": (3 * view**2 + LETTERS * config.mission_bytes,),
        "symbolic": (width, height, 3),
    }
    shape = shapes[form]
    name, dtype = "obs" if form == "flat" else "obs:image", np.dtype(np.int64 if form == "symbolic" else np.uint8)
    low: Any = 0
    high: Any = 255
    if form == "symbolic":
        low, high = np.broadcast_to([0, 0, -1], shape), np.broadcast_to([width - 1, height - 1, 10], shape)
    return Field(name, dtype, shape, low, high), int(np.prod(shape)) * dtype.itemsize


def tiles_of(config: Any) -> bytes:
    """Return the tiles that observations are painted with; none if they are not painted."""
    return atlas(config.obs_tile_size) if form_of(config).startswith("rgb") else b""
