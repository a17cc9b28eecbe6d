# optimize: -Og
"""Changes of several things that Ctrl-C cannot divide.

Python looks for signals between bytecodes and in a few calls, so a function of Python can be interrupted anywhere.
These functions look for signals before they change anything, and then run no bytecode, provided that the functions that
they call are compiled and that the targets are arrays and dicts.
"""

from cpython.exc cimport PyErr_CheckSignals


def assign(list changes, list done):
    """Do ``target[key] = value`` for each ``(target, key, value)``, and empty the list `done`."""
    PyErr_CheckSignals()
    put(changes, done)


def call_and_assign(function, tuple arguments, list changes, list done):
    """Call a function, `assign` unless it raises, and return its result."""
    PyErr_CheckSignals()
    result = function(*arguments)
    put(changes, done)
    return result


def call_and_append(function, dict keywords, list results):
    """Call a function and append its result to a list."""
    results.append(function(**keywords))


cdef int put(list changes, list done) except -1:
    for target, key, value in changes:
        target[key] = value
    done.clear()
    return 0
