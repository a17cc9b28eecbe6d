"""Utilities that every package may use: the machine, locks, packages, text of errors, windows."""
