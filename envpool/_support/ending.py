"""What refers to functions of the user, and lets them go at the end of the program.

The garbage collector does not see what a pool refers to, since threads write to its memory. A function or class of the
user behind a pool would therefore keep the module alive that defines both: none of the objects of that module would be
destroyed at the end, and a file that is open would lose what it has not flushed.
"""

from __future__ import annotations

import atexit
import weakref
from typing import Any, NoReturn, Protocol


class Holder(Protocol):
    """An object that refers to functions of the user."""

    def let_go(self) -> None:
        """Forget these functions; whoever calls the object afterwards gets an exception."""


_holders: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()


def lets_go_at_exit(holder: Holder) -> None:
    """Let ``holder.let_go()`` be called when the program ends, unless the object does not exist any more."""
    _holders[id(holder)] = holder


def gone(*_: Any, **__: Any) -> NoReturn:
    """Stand for a function that was let go."""
    raise RuntimeError("the program ends, and its functions are not called any more")


@atexit.register
def _let_go() -> None:
    for holder in list(_holders.values()):
        holder.let_go()
