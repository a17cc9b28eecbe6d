/* Sleeping until another thread or process changes a word: futexes, or in a portable build what POSIX has. */
#ifndef ENVPOOL_FUTEX_H
#define ENVPOOL_FUTEX_H

#include <stdint.h>
#include <time.h>

#include "envpool/platform.h"

enum { EP_WOKEN = 0, EP_TIMEOUT = 1, EP_SIGNAL = 2 };

#ifdef ENVPOOL_PORTABLE

#include "envpool/parking_lot.h"

/* Sleeps while *word == seen, for about ns at most. Other processes may share the word, and none of them can be trusted
 * to release a lock, since it may be killed: so this looks at the word again and again, at first often. */
static inline void ep_shared_futex_wait(int32_t *word, int32_t seen, int64_t ns) {
  int64_t pause = 20000;
  while (ns > 0 && __atomic_load_n(word, __ATOMIC_SEQ_CST) == seen) {
    const struct timespec t = {0, (long)pause};
    nanosleep(&t, NULL);
    ns -= pause;
    pause = pause < 1000000 ? pause + pause / 4 : pause;
  }
}

static inline void ep_shared_futex_wake(int32_t *word) { (void)word; }

#else

#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Sleeps while *word == value, at most timeout_ns (negative: no limit). Spurious EP_WOKEN is allowed. */
static inline int ep_futex_wait(int32_t *word, int32_t value, int64_t timeout_ns) {
  struct timespec t = {timeout_ns / 1000000000, timeout_ns % 1000000000};
  if (syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, timeout_ns < 0 ? (void *)0 : (void *)&t, 0, 0) == 0) return EP_WOKEN;
  return errno == ETIMEDOUT ? EP_TIMEOUT : errno == EINTR ? EP_SIGNAL : EP_WOKEN;
}

/* Wakes at most `count` sleepers. The caller has changed *word before, or a sleeper could miss it. */
static inline void ep_futex_wake(int32_t *word, int count) { syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, count, 0, 0, 0); }

/* Wakes up to `count` sleepers, as ep_futex_wake() does, and returns how many were woken. */
static inline int ep_wake_sleepers(int32_t *word, int count) {
  return (int)syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, count, 0, 0, 0);
}

/* Modules that sleep or wake call this once, when they are imported. Returns -1 with a Python exception. */
static inline int ep_use_parking_lot(void) { return 0; }

/* Sleeps while *word == seen, for ns at most. The word may be shared by processes: without the PRIVATE flag, the kernel
 * finds it by its page. */
static inline void ep_shared_futex_wait(int32_t *word, int32_t seen, int64_t ns) {
  struct timespec t = {ns / 1000000000, ns % 1000000000};
  syscall(SYS_futex, word, FUTEX_WAIT, seen, &t, 0, 0);
}

/* Wakes all threads of all processes that sleep on a word. */
static inline void ep_shared_futex_wake(int32_t *word) { syscall(SYS_futex, word, FUTEX_WAKE, INT32_MAX, 0, 0, 0); }

#endif /* ENVPOOL_PORTABLE */
#endif /* ENVPOOL_FUTEX_H */
