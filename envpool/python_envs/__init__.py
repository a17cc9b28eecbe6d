"""Pools of Python environments: `make_python`, its environments inline, and in worker processes."""
