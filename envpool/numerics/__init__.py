"""Arithmetic and random generators that equal NumPy bit for bit, for environments in Cython."""
