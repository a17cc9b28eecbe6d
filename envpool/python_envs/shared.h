/* Words that the processes of a pool share, and how they wake each other.
 *
 * The arena is a file in memory, mapped by the pool's process and by every worker; offsets in it are the same everywhere, addresses
 * need not be. Every word has one writer, named in its comment, so that a process which is killed leaves nothing
 * half-changed; while a worker has no process, its words are the pool's. */
#ifndef ENVPOOL_PYTHON_SHARED_H
#define ENVPOOL_PYTHON_SHARED_H
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <sched.h>
#include <stdint.h>
#include <time.h>

#include "envpool/atomic.h"
#include "parent.h"

#define EPY_RESET 0x40000000   /* bit of a ring entry: start an episode                                    */
#define EPY_COMMAND 0x20000000 /* bit of a ring entry: a pickled command is in the window of the env       */
#define EPY_OPTIONS 0x10000000 /* bit of a ring entry: the pickled options of this reset are in the window */
#define EPY_ID 0x0fffffff      /* the other bits: the env id                                               */

enum epy_readiness { EPY_STARTING, EPY_READY, EPY_FAILED };

typedef struct {                  /* of one worker                                                         */
  _Alignas(64) int64_t head;      /* pool: ring entries published                                          */
  int32_t bell;                   /* pool: futex word on which the worker sleeps                           */
  int32_t waiting;                /* pool: threads asleep on `reply`                                       */
  int32_t stop;                   /* pool: nonzero: end when the ring is empty                             */
  _Alignas(64) int64_t tail;      /* worker: entries answered; their rows and outcomes are written         */
  int64_t begun;                  /* worker: entries whose answer was begun: `tail`, or one more           */
  _Alignas(64) int64_t announced; /* worker: `tail` at the last announcement. The pool spins on it, so that
                                     the cache line of `tail` stays with the worker                        */
  int32_t reply;                  /* worker: futex word on which threads of the pool sleep                 */
  int32_t parked;                 /* worker: nonzero: asleep on `bell`                                     */
  int32_t readiness;              /* worker: an epy_readiness                                              */
} epy_mailbox;

typedef struct { /* what the last step of an env returned, except for its row; worker */
  float reward;
  float discount;
  uint8_t terminated;
  uint8_t truncated;
  uint8_t failed; /* the window has the text of a failure */
  int32_t extra;  /* bytes in the window                  */
} epy_outcome;

static inline int64_t epy_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}
static inline int64_t epy_load(const int64_t *p) { return __atomic_load_n(p, __ATOMIC_SEQ_CST); }
static inline int32_t epy_load32(const int32_t *p) { return __atomic_load_n(p, __ATOMIC_SEQ_CST); }
static inline void epy_store(int64_t *p, int64_t v) { __atomic_store_n(p, v, __ATOMIC_SEQ_CST); }
static inline void epy_release(int64_t *p, int64_t v) { __atomic_store_n(p, v, __ATOMIC_RELEASE); }
static inline void epy_store32(int32_t *p, int32_t v) { __atomic_store_n(p, v, __ATOMIC_SEQ_CST); }
/* For hints, whose order does not matter. */
static inline int64_t epy_peek(const int64_t *p) { return __atomic_load_n(p, __ATOMIC_RELAXED); }
static inline void epy_hint(int64_t *p, int64_t v) { __atomic_store_n(p, v, __ATOMIC_RELAXED); }
static inline void epy_add32(int32_t *p, int32_t v) { __atomic_add_fetch(p, v, __ATOMIC_SEQ_CST); }
static inline void epy_lock(int32_t *p) {
  while (__atomic_exchange_n(p, 1, __ATOMIC_ACQUIRE)) sched_yield();
}
static inline void epy_unlock(int32_t *p) { __atomic_store_n(p, 0, __ATOMIC_RELEASE); }

/* How one side waits for the other. Several threads of a pool share one, since its values are hints. */
typedef struct {
  int64_t usual;        /* usual wait, ns                                              */
  int64_t rests_until;  /* epy_now() from which it spins again                         */
  int64_t yields_until; /* epy_now() from which it may keep the CPU while it spins;
                           INT64_MAX: never, since threads may share CPUs              */
} epy_pace;

#define EPY_LONG 300000  /* ns: usual wait from which spinning does not pay off                              */
#define EPY_SHORT 25000  /* ns: usual wait up to which it keeps the CPU at first: a yield takes a microsecond */
#define EPY_SLICE 200000 /* ns: another program had the CPU for a time slice                                 */
#define EPY_SHARED 5000  /* ns: a yield that takes longer has run another thread on this CPU                 */

/* Notes for how long another thread had the CPU of this one. True: do not spin. */
static inline int epy_note_absence(epy_pace *pace, int64_t now, int64_t ns) {
  if (ns > EPY_SLICE)
    epy_hint(&pace->rests_until, now + 64 * ns);
  else if (ns > EPY_SHARED && epy_peek(&pace->yields_until) < now)
    epy_hint(&pace->yields_until, now + 64 * ns);
  return ns > EPY_SLICE;
}

/* Spins until *word is at least `at`, for up to twice the usual wait, if that is short. First it keeps the CPU if waits
 * are very short, then it yields between two looks: threads with work run, and the CPU does not go idle, since waking it
 * takes long. If a yield shows that threads share this CPU, perhaps with the one that is waited for, each look is
 * followed by a yield for 64 times as long as that took. On a busy machine, a yield even gives away a time slice,
 * whereas a thread that sleeps runs as soon as it is woken. Therefore spinning rests after the loss of a time slice for
 * 64 times as long as that took. */
static inline void epy_spin(const int64_t *word, int64_t at, epy_pace *pace) {
  const int64_t usual = epy_peek(&pace->usual), began = epy_now(), end = began + 2 * usual + 5000;
  int64_t before = began, now = began;
  if (now < epy_peek(&pace->rests_until) || usual >= EPY_LONG) return;
  if (now >= epy_peek(&pace->yields_until) && usual <= EPY_SHORT)
    for (int64_t last = end - 3000; now < last;) {
      for (int k = 0; k < 16; k++) {
        if (epy_load(word) >= at) return;
        ep_pause();
      }
      before = now, now = epy_now();
      if (epy_note_absence(pace, now, now - before)) return;
    }
  while (epy_load(word) < at && now < end) {
    before = now;
    sched_yield();
    now = epy_now();
    if (epy_note_absence(pace, now, now - before)) return;
  }
}

/* Notes how long a wait took. */
static inline void epy_note_wait(epy_pace *pace, int64_t ns) {
  const int64_t usual = epy_peek(&pace->usual);
  epy_hint(&pace->usual, usual + ((ns < 1000000 ? ns : 1000000) - usual) / 4);
}

static inline void epy_sleep(int32_t *word, int32_t seen, int64_t ns) {
  ep_shared_futex_wait(word, seen, ns);
}

/* Wakes all that sleep on a word, if there may be any. They read the word, raise `asleep`, look once more for what they
 * wait for, and sleep; it was stored before this call. All these accesses are sequentially consistent, so one side sees
 * the other. */
static inline void epy_wake(int32_t *word, const int32_t *asleep) {
  if (!epy_load32(asleep)) return;
  epy_add32(word, 1);
  ep_shared_futex_wake(word);
}

/* Gives this process copies of its own of the pages of a private mapping of a file, by writing to each what is there. */
static inline void epy_copy_pages(char *at, size_t size) {
  for (size_t k = 0; k < size; k += 4096) {
    char found = __atomic_load_n(at + k, __ATOMIC_RELAXED);
    __atomic_compare_exchange_n(at + k, &found, found, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  }
}

#endif
