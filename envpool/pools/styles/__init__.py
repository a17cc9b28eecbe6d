"""API styles: each names the arrays of a finished batch, and does nothing else.

A style is a module with a subclass of `envpool.pools.styles.style.Style`, a subclass of EnvPool, and a function
``pool_base()`` that returns the latter. ``envpool.pools.classes.pool_class`` imports the module by the
name of the style.
"""
