"""Reading an environment definition from its capsule."""

from envpool.env cimport envpool_env

# The definition in a capsule that `upgrade_capsule` has returned; ValueError if the ABI does not allow it.
cdef const envpool_env* env_of(object capsule) except NULL
