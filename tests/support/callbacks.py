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
