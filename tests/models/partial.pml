/* Receiving some of the envs in flight, as partial.pyx, consumer.pyx and execute.pyx in envpool/_core do it, in a sync pool: a
 * model for Spin.
 *
 * One thread receives: a whole batch, or what there is as soon as it is one env, or a certain env; the first call that wants
 * less than a batch puts up the shelf while workers write to the block, and a later send takes it down. Another thread
 * sends to idle envs at any moment. How workers sleep is the subject of park.pml: here they run whenever there is work.
 * Waits have no timeout, so that none can hide a lost wake.
 *
 * Spin checks every interleaving of the accesses to shared words, each of which is one step: no deadlock; every env that
 * was sent to is received once, with the row of that step; no row is written that somebody may be reading.
 *
 * Configurations: ENVS, WORKERS, ROUNDS (calls that receive), SENDS (by the other thread), SLOW (env 0 takes until another
 * env has been received, and is stepped by itself). The names BUG_* put in mistakes that Spin must find:
 * scripts/model_check. */

#ifndef ENVS
#define ENVS 2
#endif
#ifndef WORKERS
#define WORKERS 1
#endif
#ifndef ROUNDS
#define ROUNDS 2
#endif
#ifndef SENDS
#define SENDS 1
#endif
#define RING (2 * ENVS) /* the least that the engine has; ENVS is a power of two */
#define NEVER 255
#define ANY 254

#include "futex.pml"
futex recv_futex;

byte ring[RING], shelf_ring[RING];
byte head, claim, base, shelf_from = NEVER;
byte written, expected;                   /* of the one block */
byte block_env[ENVS], block_value[ENVS];  /* its rows */
byte span_first[RING], span_rows[RING];
byte top, count;                          /* `arrivals`, one word: 1 + id of the last one, and their number */
byte next[ENVS];
byte awaited;
bool recv_waiting, is_moving, stop;
byte row[ENVS];                           /* the shelf */
byte running, received;

/* Under the lock, like all that only the callers touch. */
bool gil, flying[ENVS], is_there[ENVS], is_shelved, keeps_shelf;
byte sent[ENVS];                          /* how often; a row has this number */
byte outstanding, num_arrived, first_in_blocks, rows_in_blocks, rows_to_move;

#define lock() atomic { !gil -> gil = true }
#define unlock() gil = false

inline tell_caller() {
  if
  :: recv_waiting ->
     change_word(recv_futex);
     futex_wake(recv_futex, 1)
  :: else
  fi
}

/* ---- workers -------------------------------------------------------------------------------------------------------- */

inline arrive() {
#ifdef BUG_LOOKS_BEFORE_IT_ARRIVES
  is_waiting = recv_waiting;
#endif
  do
  :: d_step { below = top; below_count = count };
     next[id] = below;
     if
     :: atomic { (top == below && count == below_count) -> top = id + 1; count++ };
        break
     :: else
     fi
  od;
#ifndef BUG_LOOKS_BEFORE_IT_ARRIVES
  is_waiting = recv_waiting;
#endif
  if
  :: is_waiting && below_count + 1 >= awaited ->
     change_word(recv_futex);
     futex_wake(recv_futex, 1)
  :: else
  fi
}

inline rows_written() {
#ifndef BUG_COUNTED_BEFORE_THE_SPAN
  d_step { span_rows[first % RING] = n; span_first[first % RING] = first + 1 };
#endif
  d_step { total = written + n; written = total };
#ifdef BUG_COUNTED_BEFORE_THE_SPAN
  d_step { span_rows[first % RING] = n; span_first[first % RING] = first + 1 };
#endif
  if
  :: (total == expected || is_moving) -> tell_caller()
  :: else
  fi
}

inline simulate() {
#ifdef SLOW
  (id != 0 || received > 0 || stop)
#else
  skip
#endif
}

proctype Worker() {
  byte first, n, from, id, below, below_count, total;
  bool is_waiting;
  do
  :: stop -> break
  :: atomic { !stop && head > claim -> first = claim };
     n = head - first;
     from = shelf_from;
     if
     :: (n == 0 || n > RING) -> n = 0 /* others have claimed it since */
     :: else ->
        if
        :: (first >= from) -> n = 1; id = shelf_ring[first % RING]
#ifndef SLOW
        :: (first < from && from - first < n) -> n = from - first
        :: (first < from && from - first >= n)
#endif
        :: (first < from) -> n = 1
        fi;
        if
        :: atomic { (claim == first) -> claim = first + n }
        :: else -> n = 0
        fi
     fi;
     if
     :: (n == 0)
     :: (n > 0 && first >= from) ->
        simulate();
        assert(flying[id] && !is_there[id]);
        row[id] = sent[id];
        arrive()
     :: (n > 0 && first < from) ->
        below = 0;
        do
        :: (below < n) ->
           id = ring[(first + below) % RING];
           simulate();
           assert(flying[id] && !is_there[id]);
           d_step { block_env[first + below - base] = id; block_value[first + below - base] = sent[id] };
           below++
        :: else -> break
        od;
        rows_written()
     fi;
     d_step { first = 0; n = 0; from = 0; id = 0; below = 0; below_count = 0; total = 0; is_waiting = false }
  od;
  running--
}

/* ---- sending -------------------------------------------------------------------------------------------------------- */

inline end_shelf() {
  if
#ifndef BUG_ENDS_BEFORE_THE_COUNT
  :: (written != rows_in_blocks)
#endif
  :: else ->
     written = 0;
     base = head;
     expected = 0;
     rows_in_blocks = 0;
     shelf_from = NEVER;
     is_shelved = false
  fi
}

/* Sends to one idle env. */
inline send_to(env) {
  if
  :: is_shelved && outstanding == 0 && !keeps_shelf -> end_shelf()
  :: else
  fi;
  d_step { flying[env] = true; sent[env] = sent[env] + 1; outstanding++ };
  if
  :: (shelf_from != NEVER) -> shelf_ring[head % RING] = env
  :: else -> ring[head % RING] = env; expected++
  fi;
  head++;
  tell_caller()
}

active proctype Sender() {
  byte env, times;
  do
  :: (times == SENDS) -> break
  :: (times < SENDS) ->
     lock();
     select(env : 0 .. ENVS - 1);
     if
     :: !flying[env] -> send_to(env)
     :: else
     fi;
     unlock();
     env = 0;
     times++
  od
}

/* ---- receiving ------------------------------------------------------------------------------------------------------ */

inline begin_shelf() {
  is_shelved = true;
  do
  :: k = claim;
     if
     :: (k == head) -> break
     :: atomic { (k != head && claim == k) -> claim = head }; break
     :: else
     fi
  od;
  n = head - k;
  first_in_blocks = base;
  rows_in_blocks = outstanding - n;
  rows_to_move = rows_in_blocks;
  expected = rows_in_blocks;
#ifndef BUG_NOT_TOLD_OF_CHUNKS
  is_moving = rows_to_move > 0;
#endif
  shelf_from = head;
  if
  :: (n > 0) ->
     env = 0;
     do
     :: (env < n) ->
        shelf_ring[(head + env) % RING] = ring[(k + env) % RING];
        env++
     :: else -> break
     od;
     head = head + n;
     tell_caller()
  :: else
  fi;
  d_step { env = 0; n = 0; k = 0 }
}

/* Each chunk is looked at once a call, one word after the other. */
inline move_from_blocks() {
  k = first_in_blocks;
  do
  :: (k < first_in_blocks + rows_in_blocks) ->
     if
     :: (span_first[k % RING] == k + 1) ->
        d_step {
          n = span_rows[k % RING];
          span_first[k % RING] = 0;
          rows_to_move = rows_to_move - n;
          do
          :: (n > 0) ->
             env = block_env[k - base];
             assert(!is_there[env]);
             is_there[env] = true;
             row[env] = block_value[k - base];
             num_arrived++;
             k++;
             n--
          :: else -> break
          od;
          env = 0
        }
     :: else -> k++
     fi
  :: else -> break
  od;
  k = 0;
  if
  :: (rows_to_move == 0) -> is_moving = false
  :: else
  fi
}

inline collect() {
  if
  :: (rows_to_move > 0) -> move_from_blocks()
  :: else
  fi;
  atomic { n = count; k = top; count = 0; top = 0 };
  d_step {
    do
    :: (n > 0) ->
       assert(k > 0 && !is_there[k - 1]);
       is_there[k - 1] = true;
       num_arrived++;
       k = next[k - 1];
       n--
    :: else -> break
    od;
    n = 0;
    k = 0
  }
}

#define has_arrived() (count >= missing || written != seen_rows)

inline wait_arrivals() {
  if
  :: has_arrived()
  :: else ->
     read_word(recv_futex, 1);
     awaited = missing;
     recv_waiting = true;
     if
     :: has_arrived()
     :: else -> futex_wait(recv_futex, 1)
     fi;
     recv_waiting = false;
     forget_word(recv_futex, 1)
  fi
}

inline wait_ready() {
  do
  :: (written >= expected) -> break
  :: else ->
     read_word(recv_futex, 1);
     recv_waiting = true;
     if
     :: (written >= expected)
     :: else -> futex_wait(recv_futex, 1)
     fi;
     recv_waiting = false;
     forget_word(recv_futex, 1)
  od
}

/* Of a whole batch, without the shelf. */
inline deliver() {
  assert(written == outstanding && expected == outstanding);
  d_step {
    do
    :: (n < outstanding) ->
       env = block_env[n];
       assert(flying[env] && block_value[n] == sent[env]);
       flying[env] = false;
       n++
    :: else -> break
    od;
    n = 0;
    env = 0
  };
  outstanding = 0;
  written = 0;
  base = head;
  expected = 0
}

inline hand_out(env) {
  assert(is_there[env] && flying[env] && row[env] == sent[env]);
  is_there[env] = false;
  flying[env] = false;
  num_arrived--;
  outstanding--
}

/* What is wanted: a certain env, ANY (one at least, and all that have come), or NEVER (all in flight). */
inline pick() {
  do
  :: if
     :: !is_shelved -> begin_shelf()
     :: else
     fi;
     seen_rows = written;
     collect();
     if
     :: (wanted == NEVER) -> missing = outstanding - num_arrived
     :: (wanted == ANY) -> missing = (num_arrived == 0)
     :: else -> missing = !is_there[wanted]
     fi;
     if
     :: (missing == 0) -> break
     :: else
     fi;
     unlock();
     wait_arrivals();
     lock()
  od;
  seen_rows = 0;
  if
  :: (wanted < ENVS) -> d_step { hand_out(wanted) }
  :: else ->
     d_step {
       do
       :: (k < ENVS) ->
          if
          :: is_there[k] -> hand_out(k)
          :: else
          fi;
          k++
       :: else -> break
       od;
       k = 0
     }
  fi
}

active proctype Receiver() {
  byte wanted, seen_rows, missing, n, k, env;
  do
  :: (received == ROUNDS) -> break
  :: (received < ROUNDS) ->
     lock();
     if
     :: (outstanding == 0) ->
        env = 0;
        do
        :: (env < ENVS) -> send_to(env); env++
        :: else -> break
        od;
        env = 0
     :: else
     fi;
     if
#ifdef SLOW
     :: (received > 0) -> wanted = NEVER
     :: select(wanted : 1 .. ENVS - 1);
#else
     :: wanted = NEVER
     :: select(wanted : 0 .. ENVS - 1);
#endif
        if
        :: flying[wanted]
        :: else -> wanted = ANY
        fi
     :: wanted = ANY
     fi;
     keeps_shelf = wanted != NEVER;
     if
     :: (wanted == NEVER && !is_shelved) ->
        do
        :: unlock();
           wait_ready();
           lock();
           if
           :: (written >= expected) -> break
           :: else /* more was sent between the wait and the lock */
           fi
        od;
        deliver()
     :: else -> pick()
     fi;
     unlock();
     received++;
     d_step { wanted = 0; missing = 0 }
  od;
  lock();
  stop = true;
  unlock();
  (running == 0)
}

init {
  byte k = 0;
  atomic {
    do
    :: (k < WORKERS) -> running++; run Worker(); k++
    :: else -> break
    od
  }
}
