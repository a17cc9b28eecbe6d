"""Atomics, futex and clock: include/envpool/atomic.h and futex.h say what each one does."""

from libc.stdint cimport int32_t, int64_t

cdef extern from "envpool/atomic.h" nogil:
    int32_t ep_load_rlx32(const int32_t* p)
    int32_t ep_load_sc32(const int32_t* p)
    void ep_store_rlx32(int32_t* p, int32_t v)
    void ep_store_sc32(int32_t* p, int32_t v)
    int32_t ep_add_sc32(int32_t* p, int32_t v)
    int32_t ep_swap_sc32(int32_t* p, int32_t v)
    int64_t ep_load_rlx64(const int64_t* p)
    int64_t ep_load_acq64(const int64_t* p)
    int64_t ep_load_sc64(const int64_t* p)
    void ep_store_rlx64(int64_t* p, int64_t v)
    void ep_store_rel64(int64_t* p, int64_t v)
    void ep_store_sc64(int64_t* p, int64_t v)
    int64_t ep_add_sc64(int64_t* p, int64_t v)
    bint ep_cas64(int64_t* p, int64_t expected, int64_t desired)
    int64_t ep_swap_sc64(int64_t* p, int64_t v)
    void ep_pause()
    int64_t ep_now()
    int64_t ep_thread_time()
    int EP_WOKEN
    int EP_TIMEOUT
    int EP_SIGNAL
    int ep_futex_wait(int32_t* word, int32_t value, int64_t timeout_ns)
    void ep_futex_wake(int32_t* word, int count)

cdef extern from "envpool/futex.h":
    int ep_wake_sleepers(int32_t* word, int count) nogil
    int ep_use_parking_lot() except -1
