"""The arrays of observations and info, of upstream's environments and of its wrappers."""

from __future__ import annotations

from typing import Any

import numpy as np

from envpool._support.text import shown
from envpool.config.checks import check_choice
from envpool.errors import ConfigError
from envpool.minigrid.tiles import atlas
from envpool.minigrid.wrappers import DIRECTIONS
from envpool.native import Field

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
#: EnvPool's bound of mission_id.
LAST_MISSION = 1024


def form_of(config: Any) -> str:
    """Return the form that the options `observation` and `from_pixels` ask for."""
    form: str = config.observation
    check_choice("observation", form, FORMS)
    if not config.from_pixels or form in ("rgb_partial", "rgb_full"):
        return form
    if form != "partial":
        raise ConfigError(
            f"observation must be 'partial', 'rgb_partial' or 'rgb_full' with from_pixels=True, got {shown(form)}"
        )
    return "rgb_partial"


def image_field(config: Any, width: int, height: int) -> tuple[Field, int]:
    """Return the field of the image, or of the whole observation if it is flat, and its bytes per row."""
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


def fields_of(config: Any, image: Field, width: int, height: int) -> list[Field]:
    """Return the fields of observations and info, in the order in which rows are written."""
    info = [
        Field("info:agent_pos", np.int32, (2,), 0, max(25, width - 1, height - 1)),
        Field("info:mission_id", np.int32, (-1,), -1, LAST_MISSION),
    ]
    if image.name == "obs":
        return [image, *info]
    mission = Field("obs:mission", np.uint8, (config.mission_bytes,), 0, 255)
    if config.mission == "id":
        mission = Field("obs:mission", np.int32, (-1,), -1, LAST_MISSION)
    obs = [Field("obs:direction", np.int32, (-1,), 0, 3), image, mission]
    if config.goal_direction:
        bound = DIRECTIONS[config.goal_direction]
        obs.append(Field("obs:goal_direction", np.float64, (-1,), -bound, bound))
    return obs + info


def tiles_for(config: Any) -> bytes:
    """Return the tiles that observations are painted with; none if they are not painted."""
    return atlas(config.obs_tile_size) if form_of(config).startswith("rgb") else b""
