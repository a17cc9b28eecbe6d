"""Putting the arrays of a block into the form of an API style.

A style is written down once, as a nest of tuples, named tuples and dicts whose leaves are array names. Every result is
a new nest, since clients write into the dicts; the arrays in it are those of the block. Dicts have entries of ended
episodes and games only if a row of the batch ended one, as in gymnasium. Dicts without such entries may be copied from
prototypes, which is faster than filling them.
"""

import numpy as np

from cpython.ref cimport Py_INCREF, PyObject
from libc.stdint cimport int64_t
from libc.stdlib cimport calloc, free

from envpool._core.statistics cimport EPISODES, GAMES

cdef extern from "Python.h":    # with borrowed references, which Cython need not count
    object PyDict_Copy(PyObject* nest)
    int PyDict_SetItem(object nest, PyObject* key, PyObject* value) except -1
    object PyTuple_New(Py_ssize_t n)
    void PyTuple_SET_ITEM(object items, Py_ssize_t i, PyObject* item)   # takes over a reference to the item
    PyObject** PySequence_Fast_ITEMS(object items)
    void Py_INCREF_BORROWED "Py_INCREF"(PyObject* item)


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


class MadeOf(str):
    """A leaf of a nest that is not an array but what a function makes of it; as a str, the name of the array.

    Parameters
    ----------
    name : str
        Name of the array.
    make : callable
        Called with the array of each batch.
    """

    def __new__(cls, name, make):
        leaf = super().__new__(cls, name)
        leaf.make = make
        return leaf


cdef class RowsTemplate:
    """The compiled nest of a RowsOf.

    Parameters
    ----------
    nest, names
        See `ResultTemplate`.
    """

    def __init__(self, nest, list names):
        self.template = ResultTemplate(nest, [*names, RowsOf.POSITION])
        self.used = sorted(self.template.indices() - {len(names)})
        self.names = len(names)

    cdef object build(self, PyObject** arrays, int mask):
        """Returns the nest with the rows that the array `mask` selects."""
        rows = np.flatnonzero(<object>arrays[mask])
        chosen = [None] * self.names
        for i in self.used:
            chosen[i] = (<object>arrays[<int>i]).take(rows, 0)
        chosen.append(rows)
        return self.template.build(chosen, EPISODES)


cdef class ResultTemplate:
    """A nest of array names, compiled so that build() is fast.

    Parameters
    ----------
    nest : str, tuple, named tuple, dict or RowsOf
        Its leaves are names of arrays, see also `MadeOf`.
    names : sequence of str
        Names of the arrays that build() receives, in order.
    add_errors : callable, optional
        Adds the texts of failed envs to a result, see ``Style.add_errors``. By default they are dropped.
    finish : callable, optional
        Completes a result by what is not in the block, see ``Style.finish``.
    """

    def __init__(self, nest, names, add_errors=None, finish=None):
        self.nest, self.add_errors, self.finish = nest, add_errors, finish
        self.objects = []
        self.nodes = <Node*>calloc(count_nodes(nest), sizeof(Node))
        if self.nodes == NULL:
            raise MemoryError
        self.compile(0, nest, list(names))

    def __dealloc__(self):
        free(self.nodes)

    cdef int compile(self, int at, nest, list names) except -1:
        """Describes a nest by the nodes from `at` on."""
        cdef Node* node = &self.nodes[at]
        cdef int child = at + 1
        node.size, node.prototype = 1, -1
        if isinstance(nest, str):
            node.kind = LEAF
            node.index = names.index(nest)
            node.needs = EPISODES if nest.startswith("episode:") else GAMES if nest.startswith("game:") else 0
            if isinstance(nest, MadeOf):
                node.kind = MADE_OF
                make = nest.make
                node.container = <PyObject*>make
                self.objects.append(make)
            return 0
        if isinstance(nest, RowsOf):
            node.kind = ROWS_OF
            node.index = names.index(nest.mask)
            node.needs = EPISODES
            rows = RowsTemplate(nest.nest, names)
            node.container = <PyObject*>rows
            self.objects.append(rows)
            return 0
        keys = None
        if isinstance(nest, dict):
            node.kind = DICT
            keys, nest = list(nest), list(nest.values())
            self.objects.extend(keys)
        elif type(nest) is tuple:
            node.kind = TUPLE
        else:
            node.kind = NAMED_TUPLE
            container = type(nest)
            node.container = <PyObject*>container
            self.objects.append(container)
        needs = set()
        for i, part in enumerate(nest):
            self.compile(child, part, names)
            if keys is not None:
                key = keys[i]
                self.nodes[child].key = <PyObject*>key
            needs.add(self.nodes[child].needs)
            child += self.nodes[child].size
        node.children, node.size = <int>len(nest), child - at
        if keys is not None and needs <= {0}:
            node.prototype = self.num_prototypes
            self.num_prototypes += 1
        if len(needs) == 1:     # a nest is left out if each of its arrays is
            node.needs = needs.pop()
        return 0

    cdef set indices(self):
        """Returns the positions of the arrays that are leaves."""
        return {self.nodes[i].index for i in range(self.nodes[0].size) if self.nodes[i].kind in (LEAF, MADE_OF)}

    def make(self, list arrays, bint has_ended, dict errors, int64_t n):
        """Return the nest with arrays in place of their names, for arrays that are not those of a block.

        Parameters
        ----------
        arrays : list of numpy.ndarray
            The arrays, in the order of the names.
        has_ended : bool
            True if an episode has ended in a row.
        errors : dict of int to str
            Texts of environments that failed, by row.
        n : int
            Number of environments; arrays of players may have another number of rows.
        """
        return self.build_failed(arrays, EPISODES if has_ended else 0, errors, n)

    cdef list prototypes(self, list arrays):
        """Returns dicts that build() copies if it gets the same arrays, with None where it puts something new."""
        cdef const Node* node
        cdef const Node* child
        cdef int i, _i
        found = [{} for _i in range(self.num_prototypes)]
        for i in range(self.nodes[0].size):
            node = &self.nodes[i]
            if node.kind == DICT and node.prototype >= 0:
                child = node + 1
                for _i in range(node.children):
                    found[node.prototype][<object>child.key] = arrays[child.index] if child.kind == LEAF else None
                    child += child.size
        return found

    cdef object build(self, list arrays, int entries, list prototypes=None):
        """Returns the nest with the arrays in place of their names.

        `entries` is a result of Statistics.record(), `prototypes` one of prototypes() for the same arrays, or None.
        """
        result = fill(self.nodes, PySequence_Fast_ITEMS(arrays), entries,
                      NULL if prototypes is None else PySequence_Fast_ITEMS(prototypes))
        return result if self.finish is None else self.finish(result, arrays)

    cdef object build_failed(self, list arrays, int entries, dict errors, int64_t n):
        """Returns the nest of a batch with n rows, of which some failed: `errors` has their texts by row."""
        result = self.build(arrays, entries)
        if errors and self.add_errors is not None:
            self.add_errors(result, errors, n)
        return result


cdef int count_nodes(nest) except -1:
    """Returns the number of nodes of a nest."""
    cdef int count = 1
    if not isinstance(nest, (str, RowsOf)):
        for part in nest.values() if isinstance(nest, dict) else nest:
            count += count_nodes(part)
    return count


cdef object fill(const Node* node, PyObject** arrays, int entries, PyObject** prototypes):
    """Returns the nest of a node."""
    cdef const Node* child = node + 1
    cdef int i, _i
    cdef bint is_copy
    if node.kind == LEAF:
        return <object>arrays[node.index]
    if node.kind == MADE_OF:
        return (<object>node.container)(<object>arrays[node.index])
    if node.kind == ROWS_OF:
        return (<RowsTemplate>node.container).build(arrays, node.index)
    if node.kind == DICT:
        is_copy = prototypes != NULL and node.prototype >= 0
        nest = PyDict_Copy(prototypes[node.prototype]) if is_copy else {}
        for _i in range(node.children):
            if not child.needs & ~entries:
                if child.kind == LEAF:
                    if not is_copy:
                        PyDict_SetItem(nest, child.key, arrays[child.index])
                else:
                    part = fill(child, arrays, entries, prototypes)
                    PyDict_SetItem(nest, child.key, <PyObject*>part)
            child += child.size
        return nest
    items = PyTuple_New(node.children)
    for i in range(node.children):
        if child.kind == LEAF:
            Py_INCREF_BORROWED(arrays[child.index])
            PyTuple_SET_ITEM(items, i, arrays[child.index])
        else:
            part = fill(child, arrays, entries, prototypes)
            Py_INCREF(part)
            PyTuple_SET_ITEM(items, i, <PyObject*>part)
        child += child.size
    return items if node.kind == TUPLE else tuple.__new__(<object>node.container, items)
