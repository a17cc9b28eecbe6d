from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from typing_extensions import disjoint_base

DTYPES: tuple[np.dtype[Any], ...]
RAW_PREFIX: str
POOL_FIELDS: tuple[str, ...]
POOL_ACTIONS: tuple[str, ...]
CURRENT_PLAYER: str
LEGAL_ACTION_MASK: str

class _Field(NamedTuple):
    name: str
    dtype: Any
    shape: tuple[int, ...] = ()
    low: Any = None
    high: Any = None

class Field(_Field): ...

class _Description(NamedTuple):
    name: str
    fields: tuple[Field, ...]
    actions: tuple[Field, ...]
    frame_size: tuple[int, int] | None
    params: tuple[Field, ...]
    step_time: float | None
    tracking_camera: int
    num_players: int
    is_turn_based: bool

class Description(_Description): ...

@disjoint_base
class DefinitionMemory:
    def __new__(cls, tables: int, config: int) -> DefinitionMemory: ...

def upgrade_capsule(capsule: Any) -> Any: ...
def describe(capsule: Any) -> Description: ...
def define(
    template: Any,
    fields: Sequence[Field],
    actions: Sequence[Field],
    config: bytes = b"",
    *,
    params: Sequence[Field] = (),
    name: str | None = None,
    keep: object = None,
    flags: int = 0,
    frame_size: tuple[int, int] | None = None,
    step_time: float | None = None,
    tracking_camera: int | None = None,
    max_num_players: int | None = None,
    turns: bool = False,
) -> Any: ...
