"""Comparison of tasks with their upstream packages, bit for bit: ``envpool verify``, and the oracles of the tests."""
