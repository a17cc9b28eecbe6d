"""Arguments that run code of the test while the pool looks at them."""

import numpy as np


class CallsBack:
    """Call a function while NumPy converts the object to an array."""

    def __init__(self, values, act):
        self.values, self.act = values, act

    def __array__(self, dtype=None, copy=None):
        self.act()
        return np.asarray(self.values)


class ComparesBack:
    """Call a function while NumPy compares the object."""

    def __init__(self, act):
        self.act = act

    def __eq__(self, other):
        self.act()
        return True

    __hash__ = None


class CountsBack:
    """Call a function while the object becomes a number."""

    def __init__(self, value, act):
        self.value, self.act = value, act

    def __index__(self):
        self.act()
        return int(self.value)

    def __float__(self):
        self.act()
        return float(self.value)


class ListsBack:
    """A sequence that calls a function whenever its length or an entry is read."""

    def __init__(self, values, act):
        self.values, self.act = values, act

    def __len__(self):
        self.act()
        return len(self.values)

    def __getitem__(self, index):
        self.act()
        return self.values[index]

    def __iter__(self):
        self.act()
        return iter(self.values)


class DiesBack:
    """Call a function when the garbage collector destroys the object, which only a cycle keeps."""

    def __init__(self, act):
        self.act, self.itself = act, self

    def __del__(self):
        self.act()
