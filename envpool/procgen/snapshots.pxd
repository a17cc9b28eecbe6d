"""Saving, restoring and copying Procgen environments."""

from envpool.env cimport envpool_env

cdef void with_snapshots(envpool_env* env_def) noexcept
