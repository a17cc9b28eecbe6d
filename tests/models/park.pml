/* Publishing, claiming, parking and receiving, as scheduler.pyx in envpool/_core does it: a model for Spin.
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

#include "park_workers.pml"

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
  byte first, n, part, count, goal, seen_head, sent, round;
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
