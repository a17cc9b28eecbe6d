"""Pools inside code that JAX compiles: what ``pool.xla()`` is made of. Importing this loads neither JAX nor a pool."""
