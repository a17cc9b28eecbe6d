/* Publishing, claiming, parking and receiving, as claims.pyx, workers.pyx and consumer.pyx in envpool/_core do it: a model
 * for Spin.
 *
 * Workers step envs; the last worker, the reserve, only while the receiving thread does not help. One thread receives; it
 * also sends when too little is in flight. Another thread sends at any moment, even while the first one waits. What is
 * policy in the engine (who helps, how many to wake, how much to claim) is any choice here, so that no estimate matters.
 * Waits have no timeout, so that none can hide a lost wakeup.
 *
 * Spin checks every interleaving of the accesses to shared words, each of which is one step: there is no deadlock, no
 * batch is delivered before all of its rows are written, no row is lost or doubled, and every thread ends after a close.
 * Accesses are sequentially consistent here; where the engine has weaker ones, the comment beside them says why.
 *
 * Configurations: THREADS (1 to 3), QUEUES, ASYNC, ENVS, BATCH, ROUNDS (batches received), SENDS (by the other thread), CLOSER
 * (the other thread closes the pool). The names BUG_* introduce mistakes that Spin must find: scripts/model_check. */

#ifndef THREADS
#define THREADS 2
#endif
#ifndef QUEUES
#define QUEUES 1
#endif
#ifndef ENVS
#define ENVS 2
#endif
#ifndef BATCH
#define BATCH 1
#endif
#ifndef ROUNDS
#define ROUNDS 2
#endif
#ifndef SENDS
#define SENDS 1
#endif
#ifdef ASYNC
#define BLOCKS (ENVS / BATCH + 2)
#else
#define BLOCKS 1
#endif

#include "futex.pml"
futex wake_futex[QUEUES], reserve_futex, recv_futex;

byte head[QUEUES], claim[QUEUES], parked[QUEUES], to_wake[QUEUES], reserve_parked;
byte allowed = THREADS - 1; /* workers that may claim: `active` in the engine */
bool helps = true, stop, recv_waiting, reserve_runs;
byte alloc;              /* async: rows given out */
byte written[BLOCKS];    /* rows finished, by block */
byte expected;           /* sync: rows the block has when it is ready */
byte next_block;
byte outstanding;        /* under the lock, as is everything that only the calling threads touch */
byte running = THREADS - 1;
bool closing;

#ifdef ASYNC
#define is_ready() (written[next_block % BLOCKS] >= BATCH)
#else
#define is_ready() (written[0] >= expected)
#endif

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
     atomic { first = alloc; alloc = alloc + n };
     do
     :: (n > 0) ->
        rows_written((first / BATCH) % BLOCKS, 1);
        first++;
        n--
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
     to_wake[q] = how_many - 1;
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
  byte first, n, count, goal, seen_head, passed;
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

/* ---- the threads that call: both hold the lock except while they wait ------------------------------------------------ */

/* Sends to any number of idle envs, up to `most`. */
inline send(most) {
  if
  :: sent = 1
  :: (most > 1) -> sent = most
  fi;
  outstanding = outstanding + sent;
#ifndef ASYNC
  expected = expected + sent; /* relaxed in the engine: who counts the last row has seen the counts of all others */
#endif
  if
  :: will_help = true
  :: will_help = false;
     if
     :: !reserve_runs -> reserve_runs = true; running++; run Worker(true, 1, QUEUES - 1)
     :: else
     fi
  fi;
  if
  :: (will_help != helps) ->
     helps = will_help;
     allowed = THREADS - will_help
  :: else
  fi;
#if QUEUES > 1
  if /* the envs belong to any of the queues */
  :: head[0] = head[0] + sent
  :: head[1] = head[1] + sent
  :: (sent > 1) -> head[0] = head[0] + 1; head[1] = head[1] + sent - 1
  fi;
#else
  head[0] = head[0] + sent;
#endif
#ifndef BUG_RECEIVER_NOT_TOLD
  wake_receiver();
#endif
  if
  :: (THREADS - will_help == 0)
  :: else ->
     if
     :: will_help /* the policy wakes nobody */
     :: will_help -> wake(1)
#ifndef BUG_SLEEP_OVER_WORK
     :: !will_help -> wake(sent)
#else
     :: !will_help
#endif
     fi
  fi;
  sent = 0; will_help = false
}

inline wait_ready() {
  do
  :: is_ready() -> break
  :: stop -> break
  :: else ->
     got = false;
     if
     :: helps -> run_chunk(QUEUES - 1)
     :: else
     fi;
     if
     :: got
     :: else ->
#ifndef BUG_RECV_WORD_READ_LATE
        read_word(recv_futex, 1);
#endif
        recv_waiting = true;
        if
        :: is_ready() || stop
        :: else ->
           look_for_work();
           may = true;
           if
           :: has_work ->
              if
              :: helps -> may = false
              :: else ->
#ifndef BUG_SLEEP_OVER_WORK
                 wake(THREADS)
#endif
              fi
           :: else
           fi;
           if
           :: may ->
#ifdef BUG_RECV_WORD_READ_LATE
              read_word(recv_futex, 1);
#endif
              futex_wait(recv_futex, 1)
           :: else
           fi
        fi;
        recv_waiting = false;
        forget_word(recv_futex, 1);
        has_work = false; may = false
     fi;
     got = false
  od
}

inline close() {
  lock();
  closing = true;
  unlock();
  stop = true;
  change_word(wake_futex[0]);
  futex_wake(wake_futex[0], THREADS);
#if QUEUES > 1
  change_word(wake_futex[1]);
  futex_wake(wake_futex[1], THREADS);
#endif
  change_word(reserve_futex);
  futex_wake(reserve_futex, 1);
#ifndef BUG_CLOSE_IS_SILENT
  change_word(recv_futex);
  futex_wake(recv_futex, 1);
#endif
  (running == 0)
}

inline deliver() {
#ifdef ASYNC
  assert(written[next_block % BLOCKS] == BATCH);
  written[next_block % BLOCKS] = 0;
  next_block++;
  outstanding = outstanding - BATCH
#else
  assert(written[0] == outstanding && expected == outstanding);
  written[0] = 0;
  expected = 0;
  outstanding = 0
#endif
}

active proctype Receiver() {
  byte first, n, count, goal, seen_head, sent, round;
  bool got, has_work, may, will_help;
  do
  :: (round == ROUNDS) -> break
  :: (round < ROUNDS) ->
     lock();
     if
     :: closing -> unlock(); break
     :: else
     fi;
     do
#ifdef ASYNC
     :: (outstanding < BATCH) -> send(ENVS - outstanding)
#else
     :: (outstanding == 0) -> send(ENVS)
#endif
     :: else -> break
     od;
     unlock();
     do
     :: wait_ready();
        lock();
#ifdef BUG_NOT_LOOKED_AT_AGAIN
        break
#else
        if
        :: is_ready() || closing -> break
        :: else -> unlock() /* more was sent between the wait and the lock */
        fi
#endif
     od;
     if
     :: closing -> unlock(); break
     :: else -> deliver(); unlock(); round++
     fi
  od;
#ifndef CLOSER
  close()
#endif
}

active proctype Sender() {
  byte sent, times;
  bool will_help;
  do
  :: (times == SENDS) -> break
  :: (times < SENDS) ->
     lock();
     if
     :: !closing && outstanding < ENVS -> send(ENVS - outstanding)
     :: else
     fi;
     unlock();
     times++
  od;
#ifdef CLOSER
  close()
#endif
}

init {
  byte k = 0;
  do
  :: (k < THREADS - 1) -> run Worker(false, 1 << k, k * QUEUES / THREADS); k++
  :: else -> break
  od
}
