from collections.abc import Callable, Collection
from typing import Any

from envpool.config.params import Param

PARAMS: dict[str, Param]

def resolve_params(build: Callable[[Any], Any], config: Any, names: Collection[str]) -> dict[str, Param]: ...
