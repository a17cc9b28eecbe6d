"""The levels of MiniGrid and BabyAI, as native code with the same bits."""

from typing import TYPE_CHECKING, Any

from envpool.family import classes_of

if TYPE_CHECKING:
    from envpool.minigrid.missions import decode_mission as decode_mission

_class = classes_of(__name__)


def __getattr__(name: str) -> Any:
    if name == "decode_mission":  # loaded when it is used: it needs NumPy, and listing tasks must not
        from envpool.minigrid.missions import decode_mission

        return decode_mission
    return _class(name)
