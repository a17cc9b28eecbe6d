"""Objects that refer to functions of the user, and release them at the end of the program.

The garbage collector does not see what a pool refers to, since threads write to its memory. A function or class of the
user behind a pool would therefore keep the module alive that defines both: none of the objects of that module would be
destroyed at the end, and a file that is open would lose what it has not flushed.
"""

from __future__ import annotations

import atexit
import weakref
from typing import Any, NoReturn, Protocol

from envpool.errors import PoolStateError


class Holder(Protocol):
    """An object that refers to functions of the user."""

    def release(self) -> None:
        """Release these functions; a call of the object afterwards raises an exception."""


_holders: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()


def release_at_exit(holder: Holder) -> None:
    """Call ``holder.release()`` when the program ends, if the object still exists then."""
    _holders[id(holder)] = holder


def released(*_: Any, **__: Any) -> NoReturn:
    """Stand for a function that was released."""
    raise PoolStateError("the interpreter is shutting down: functions of the user were released")


@atexit.register
def _release_all() -> None:
    for holder in list(_holders.values()):
        holder.release()
