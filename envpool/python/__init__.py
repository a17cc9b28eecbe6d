"""Names that clients of EnvPool import from ``envpool.python``."""
