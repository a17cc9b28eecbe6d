"""The parts of ``scripts/compare``."""
