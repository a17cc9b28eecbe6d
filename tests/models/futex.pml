/* A futex and the lock of the calling threads, for the models beside this file.
 *
 * Only whether a word has changed since a thread read it matters. So a futex is the set of threads (bits) for which it
 * has not changed, the number of threads that sleep on it, and the number of those that were woken and still have to
 * leave. */
typedef futex {
  byte unchanged;
  byte asleep;
  byte woken;
};

#define read_word(f, me) f.unchanged = f.unchanged | me
#define change_word(f) f.unchanged = 0
#define forget_word(f, me) f.unchanged = f.unchanged & ~me

#define futex_wait(f, me)                                                      \
  if                                                                           \
  :: atomic { ((f.unchanged & me) == 0) -> skip }                              \
  :: atomic { (f.unchanged & me) -> f.asleep++; f.unchanged = f.unchanged & ~me }; \
     atomic { (f.woken > 0) -> f.woken--; f.asleep-- }                         \
  fi

#define futex_wake(f, count)                                                   \
  d_step {                                                                     \
    if                                                                         \
    :: (count < f.asleep - f.woken) -> f.woken = f.woken + count               \
    :: else -> f.woken = f.asleep                                              \
    fi                                                                         \
  }

bool gil;
#define lock() atomic { !gil -> gil = true }
#define unlock() gil = false
