"""Snapshots of games: see snapshots.pyx."""

from envpool.env cimport envpool_env

cdef void with_snapshots(envpool_env* env_def) noexcept
