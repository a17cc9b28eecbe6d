"""Pools inside code that JAX compiles: the implementation of ``pool.xla()``."""
