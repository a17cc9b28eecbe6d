/* The workers of park.pml: how they claim and execute chunks, wake each other and the receiver, and park. */

/* ---- executing ------------------------------------------------------------------------------------------------------ */

inline wake_receiver() {
  if
  :: recv_waiting ->
     change_word(recv_futex);
     futex_wake(recv_futex, 1)
  :: else
  fi
}

inline rows_written(block, n) {
#ifdef BUG_EXPECTED_BEFORE_COUNT
  goal = expected;
  d_step { count = written[block] + n; written[block] = count };
#else
  d_step { count = written[block] + n; written[block] = count };
  goal = expected;
#endif
  if
#ifdef ASYNC
  :: (count == BATCH) -> wake_receiver()
#else
  :: (count == goal) -> wake_receiver()
#endif
  :: else
  fi
}

/* Claims one chunk of any size from queue q and executes it; `got` tells whether there was one. The compare-and-swap makes
 * the claim one step: it succeeds only if `claim` has not changed since `head` was read, and `head` only grows. */
inline run_from(q) {
  if
  :: atomic { (head[q] > claim[q]) -> got = true; claim[q]++; n = 1 }
  :: atomic { (head[q] > claim[q] + 1) -> got = true; n = head[q] - claim[q]; claim[q] = head[q] }
  :: (head[q] == claim[q]) -> got = false
  fi;
  if
  :: got ->
#ifdef ASYNC
     /* Envs whose episodes end in the same step get their rows later than the others of the chunk. */
     do
     :: (n > 0) ->
        if
        :: atomic { first = alloc; alloc = alloc + n; part = n }
        :: atomic { (n > 1) -> first = alloc; alloc++; part = 1 }
        fi;
        n = n - part;
        do
        :: (part > 0) ->
           rows_written((first / BATCH) % BLOCKS, 1);
           first++;
           part--
        :: else -> break
        od
     :: else -> break
     od;
#else
     rows_written(0, n);
#endif
     atomic { first = 0; n = 0; count = 0; goal = 0 }
  :: else
  fi
}

/* The queue of the thread's own group first. */
inline run_chunk(home) {
  run_from(home);
#if QUEUES > 1
  if
  :: got
  :: else -> run_from((1 - (home)))
  fi
#endif
}

/* ---- waking --------------------------------------------------------------------------------------------------------- */

/* With several queues, the first worker of a group wakes the others, see pass_on(). */
inline wake_group(q, how_many) {
  if
  :: (parked[q] > 0) ->
#if QUEUES > 1
     to_wake[q] = to_wake[q] + how_many - 1;
     change_word(wake_futex[q]);
     futex_wake(wake_futex[q], 1)
#else
     change_word(wake_futex[q]);
     futex_wake(wake_futex[q], how_many)
#endif
  :: else
  fi
}

inline pass_on(q) {
#if QUEUES > 1
  d_step { passed = to_wake[q]; to_wake[q] = 0 };
  if
  :: (passed > 0) -> futex_wake(wake_futex[q], passed)
  :: else
  fi;
  passed = 0
#else
  skip
#endif
}

inline wake(how_many) {
#if QUEUES > 1
  if
  :: (head[0] > claim[0]) -> wake_group(0, how_many)
  :: (head[0] == claim[0])
  fi;
  if
  :: (head[1] > claim[1]) -> wake_group(1, how_many)
  :: (head[1] == claim[1])
  fi;
#else
  wake_group(0, how_many);
#endif
#ifndef BUG_RESERVE_SLEEPS
  if
  :: (reserve_parked > 0) ->
     if
     :: (allowed == THREADS || stop) ->
        change_word(reserve_futex);
        futex_wake(reserve_futex, 1)
     :: else
     fi
  :: else
  fi
#endif
}

/* ---- workers -------------------------------------------------------------------------------------------------------- */

/* A worker may leave work that is not worth sharing to a caller that helps. */
inline look_whether_it_may_claim() {
  may = true;
  if
  :: is_reserve ->
     if
     :: (allowed != THREADS) -> may = false
     :: else
     fi
  :: else
  fi;
  if
  :: may && helps -> may = false
  :: may
  :: else
  fi
}

inline look_for_work() {
  seen_head = head[0]; has_work = seen_head > claim[0];
#if QUEUES > 1 && !defined(BUG_ONE_QUEUE_LOOKED_AT)
  if
  :: has_work
  :: else -> seen_head = head[1]; has_work = seen_head > claim[1]
  fi;
#endif
  seen_head = 0
}

inline park(futex_word, counter) {
#ifndef BUG_WORD_READ_LATE
  read_word(futex_word, me);
#endif
#ifdef BUG_COUNTED_LATE
  look_for_work();
  look_whether_it_may_claim();
  counter++;
#else
  counter++;
  look_for_work();
  look_whether_it_may_claim();
#endif
  if
  :: !stop && !(has_work && may) ->
#ifdef BUG_WORD_READ_LATE
     read_word(futex_word, me);
#endif
     futex_wait(futex_word, me)
  :: else
  fi;
  counter--;
  forget_word(futex_word, me);
  has_work = false; may = false
}

proctype Worker(bool is_reserve; byte me; byte home) {
  byte first, n, part, count, goal, seen_head, passed;
  bool got, has_work, may;
  do
  :: stop -> break
  :: !stop ->
     look_whether_it_may_claim();
     if
     :: may -> run_chunk(home)
     :: else -> got = false
     fi;
     may = false;
     if
     :: got
     :: else ->
        if
        :: is_reserve -> park(reserve_futex, reserve_parked)
        :: else ->
           park(wake_futex[home], parked[home]);
           pass_on(home)
        fi
     fi
  od;
  running--
}
