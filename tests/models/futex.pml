/* A futex, for the models beside this file. Only whether a word has changed since a thread read it matters, so it is the set of threads for which it has not
 * (bits); besides, how many sleep on it, and how many of those have been woken and not yet left. */
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
