"""A call in a background thread, and when it waits."""

import sys
import threading

from tests.support.process import PATIENCE, wait_until


class BackgroundCall(threading.Thread):
    """Makes a call immediately, in another thread.

    Parameters
    ----------
    call : callable
        Without arguments; ``functools.partial``, not a lambda, for ``wait_until_inside``.
    """

    def __init__(self, call):
        super().__init__(daemon=True)
        self.call, self.result, self.error = call, None, None
        self.start()

    def run(self):
        try:
            self.result = self._make()
        except BaseException as error:
            self.error = error

    def _make(self):
        return self.call()

    def wait_until_inside(self):
        """Wait until the call, of a compiled method, has let go of the GIL: recv() and step() do so only to wait."""
        wait_until(lambda: self._is_inside() or not self.is_alive())
        assert self.is_alive(), f"the call did not wait: {self.error or self.result!r}"

    def _is_inside(self):
        # The asking thread has the GIL. In Python code, another thread may have released it at the start of a function,
        # on the line of its head, and after a call: a thread in the body of _make() is in the call, or was.
        frame = sys._current_frames().get(self.ident)
        code = self._make.__func__.__code__
        return frame is not None and frame.f_code is code and frame.f_lineno > code.co_firstlineno

    def finish(self):
        """Wait for the end; return what the call returned, or raise what it raised."""
        self.join(PATIENCE)
        assert not self.is_alive(), "the call hangs"
        if self.error is not None:
            raise self.error
        return self.result
