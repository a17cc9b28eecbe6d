"""The Python side of pools, the same for all families."""
