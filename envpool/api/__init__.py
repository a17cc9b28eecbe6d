"""API styles: each names the arrays of a finished batch, and does nothing else.

A style is a module with a subclass of `envpool.api.style.Style`, a subclass of EnvPool, and a function ``pool_base()``
that returns the latter. ``envpool.registration.pool_class`` imports the module by the name of the style.
"""
