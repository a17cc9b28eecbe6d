"""Ctrl-C at each place where CPython would notice it in the code of a package."""

import dis
import sys

#: After these, CPython looks for signals; also when a function begins.
CALLS = {dis.opmap[name] for name in ("CALL", "CALL_FUNCTION_EX", "CALL_KW") if name in dis.opmap}
JUMPS = {dis.opmap["JUMP_BACKWARD"]}
RESUME = dis.opmap["RESUME"]


class interrupted_at:
    """Raise KeyboardInterrupt in the body at the n-th place, from 0, at which a package could be interrupted.

    Functions of Python return without a look at signals, so a place behind a call is one after a call of compiled code.

    Attributes
    ----------
    is_over : bool
        Whether the body has fewer places.
    """

    def __init__(self, package, n):
        self.folder, self.left = package.__path__[0], n
        self.last = {}  # the last opcode of each frame
        self.is_over = False

    def __enter__(self):
        self.before = sys.gettrace()
        sys.settrace(self.enter)
        return self

    def __exit__(self, kind, error, traceback):
        sys.settrace(self.before)
        self.is_over = kind is None
        return kind is KeyboardInterrupt

    def enter(self, frame, event, _):
        if frame.f_back in self.last:
            self.last[frame.f_back] = None  # a function of Python
        if not frame.f_code.co_filename.startswith(self.folder):
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        self.last[frame] = None
        return self.look

    def look(self, frame, event, _):
        if event == "return":
            del self.last[frame]
        if event != "opcode":
            return self.look
        now, last = frame.f_code.co_code[frame.f_lasti], self.last[frame]
        self.last[frame] = now
        if now == RESUME or last in CALLS | JUMPS:
            self.left -= 1
            if self.left < 0:
                sys.settrace(None)
                raise KeyboardInterrupt
        return self.look
