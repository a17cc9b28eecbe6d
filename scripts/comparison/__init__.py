"""The modules of ``scripts/compare``."""
