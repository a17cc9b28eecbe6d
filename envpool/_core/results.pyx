"""Putting the arrays of a block into the form of an API style.

A style is written down once as a nest of tuples, named tuples and dicts whose leaves are array names. Every result is a
new nest, since clients write into the dicts; the arrays in it are the block's own.
"""


cdef class Form:
    """A compiled nest.

    Parameters
    ----------
    nest : str, tuple, named tuple or dict
        Leaves are names of arrays.
    names : sequence of str
        Names of the arrays that build() will get, in order.
    """

    def __init__(self, nest, names):
        self.index = -1
        self.children = ()
        if isinstance(nest, str):
            self.index = list(names).index(nest)
        elif isinstance(nest, dict):
            self.kind = dict
            self.keys = tuple(nest)
            self.children = tuple(Form(v, names) for v in nest.values())
        else:
            self.kind = type(nest)
            self.children = tuple(Form(v, names) for v in nest)

    cdef object build(self, list arrays):
        cdef Form child
        cdef Py_ssize_t i
        cdef dict d
        if self.index >= 0:
            return arrays[self.index]
        if self.kind is dict:
            d = {}
            for i in range(len(self.children)):
                child = <Form>self.children[i]
                d[self.keys[i]] = child.build(arrays)
            return d
        items = []
        for i in range(len(self.children)):
            child = <Form>self.children[i]
            items.append(child.build(arrays))
        built = tuple(items)
        return built if self.kind is tuple else tuple.__new__(self.kind, built)
