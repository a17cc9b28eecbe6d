"""Snapshots of wrapped env definitions: see snapshots.pyx."""

from envpool.env cimport envpool_env

# Adds to a definition the functions for snapshots that the inner one has.
cdef void with_snapshots(envpool_env* env_def, const envpool_env* inner) noexcept
