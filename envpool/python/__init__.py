"""Modules under EnvPool's paths, for code that imports its names from ``envpool.python``."""
