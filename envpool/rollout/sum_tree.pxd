"""A binary tree of sums, for drawing items with probabilities in proportion to their priorities.

The tree is an array of 2 * leaves doubles. `leaves` is a power of two; item k is entry leaves + k, entry 1 is the root,
and the entry k is always the rounded sum of the entries 2 * k and 2 * k + 1: no errors add up over time.
"""

from libc.stdint cimport int64_t


cdef inline void set_priority(double* tree, int64_t leaves, int64_t item, double priority) noexcept nogil:
    cdef int64_t k = leaves + item
    tree[k] = priority
    while k > 1:
        k >>= 1
        tree[k] = tree[2 * k] + tree[2 * k + 1]


cdef inline int64_t find_item(const double* tree, int64_t leaves, double below) noexcept nogil:
    """Returns the item in whose part of the sums `below` lies; its priority is not 0 unless all are."""
    cdef int64_t k = 1
    while k < leaves:
        k *= 2
        # Rounding may let `below` be as large as the sum: an empty branch is never entered.
        if tree[k + 1] > 0 and not below < tree[k]:
            below -= tree[k]
            k += 1
    return k - leaves
