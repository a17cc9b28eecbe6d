"""Reading a kind of env out of its capsule."""

from libc.stdint cimport int32_t

from envpool.env cimport envpool_env

cdef const envpool_env* env_of(object capsule) except NULL
