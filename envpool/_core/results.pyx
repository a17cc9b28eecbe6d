"""Putting the arrays of a block into the form of an API style.

A style is written down once, as a nest of tuples, named tuples and dicts whose leaves are array names. Every result is
a new nest, since clients write into the dicts; the arrays in it are those of the block. Dicts have entries of ended
episodes and games only if a row of the batch ended one, as in gymnasium.
"""

from cpython.dict cimport PyDict_SetItem
from cpython.ref cimport Py_INCREF
from cpython.tuple cimport PyTuple_New, PyTuple_SET_ITEM
import numpy as np

from libc.stdint cimport int64_t

from envpool._core.statistics cimport EPISODES, GAMES


class RowsOf:
    """A part of a nest whose arrays have only the rows that a mask selects.

    Dicts that contain it have it only in batches that end an episode, as they have the entries of ended episodes.

    Parameters
    ----------
    mask : str
        Name of the array that selects the rows.
    nest : tuple, named tuple or dict
        Its leaves are names of arrays, or `POSITION`, the positions of the rows in the batch, int64.
    """

    #: Name of the positions of the rows.
    POSITION = "position"

    def __init__(self, mask, nest):
        self.mask = mask
        self.nest = nest


cdef class ResultTemplate:
    """A nest of array names, compiled so that build() is fast.

    Parameters
    ----------
    nest : str, tuple, named tuple, dict or RowsOf
        Its leaves are names of arrays.
    names : sequence of str
        Names of the arrays that build() receives, in order.
    add_errors : callable, optional
        Adds the texts of failed envs to a result, see ``Style.add_errors``. By default they are dropped.
    """

    def __init__(self, nest, names, add_errors=None):
        self.add_errors = add_errors
        self.index = self.mask = -1
        self.children = ()
        if isinstance(nest, str):
            self.index = list(names).index(nest)
            self.needs = EPISODES if nest.startswith("episode:") else GAMES if nest.startswith("game:") else 0
        elif isinstance(nest, RowsOf):
            self.mask = list(names).index(nest.mask)
            self.children = (ResultTemplate(nest.nest, [*names, RowsOf.POSITION]),)
            self.used = sorted(self.indices() - {len(names)})
        elif isinstance(nest, dict):
            self.container = dict
            self.keys = tuple(nest)
            self.children = tuple(ResultTemplate(v, names) for v in nest.values())
        else:
            self.container = type(nest)
            self.children = tuple(ResultTemplate(v, names) for v in nest)
        needs = {(<ResultTemplate>child).needs for child in self.children}
        if len(needs) == 1:     # a nest is left out if each of its arrays is
            self.needs = needs.pop()
        if self.mask >= 0:
            self.needs = EPISODES

    cdef set indices(self):
        """Returns the positions of the arrays that build() uses."""
        found = {self.index} if self.index >= 0 else set()
        for child in self.children:
            found |= (<ResultTemplate>child).indices()
        return found

    cdef object build_rows(self, list arrays):
        """Returns the nest of a RowsOf."""
        rows = np.flatnonzero(arrays[self.mask])
        chosen = [None] * len(arrays)
        for i in self.used:
            chosen[i] = arrays[i].take(rows, 0)
        chosen.append(rows)
        return (<ResultTemplate>self.children[0]).build(chosen, EPISODES)

    cdef object build(self, list arrays, int entries):
        """Returns the nest with the arrays in place of their names; `entries` is a result of Statistics.record()."""
        cdef ResultTemplate child
        cdef object item
        cdef Py_ssize_t i, n = len(self.children)
        if self.index >= 0:
            return arrays[self.index]
        if self.mask >= 0:
            return self.build_rows(arrays)
        if self.container is dict:
            nest = {}
            for i in range(n):
                child = <ResultTemplate>self.children[i]
                if child.needs & ~entries:
                    continue
                if child.index >= 0:
                    PyDict_SetItem(nest, self.keys[i], arrays[child.index])
                else:
                    PyDict_SetItem(nest, self.keys[i], child.build(arrays, entries))
            return nest
        items = PyTuple_New(n)
        for i in range(n):
            item = (<ResultTemplate>self.children[i]).build(arrays, entries)
            Py_INCREF(item)         # the tuple takes over a reference
            PyTuple_SET_ITEM(items, i, item)
        return items if self.container is tuple else tuple.__new__(self.container, items)

    cdef object build_failed(self, list arrays, int entries, dict errors, int64_t n):
        """Returns the nest of a batch with n rows, of which some failed: `errors` has their texts by row."""
        result = self.build(arrays, entries)
        if errors and self.add_errors is not None:
            self.add_errors(result, errors, n)
        return result
