/* Receiving some of the envs in flight, as partial.pyx, scheduler.pyx and execute.pyx in envpool/_core do it, in a sync
 * pool: a model for Spin.
 *
 * One thread receives: a whole batch, or the envs that have arrived as soon as there is one, or a certain env. The first
 * call that wants less than a whole batch starts partial batches while workers write to the block, and a later send ends
 * them. Another thread sends to idle envs at any moment. How workers sleep is the subject of park.pml: here they run
 * whenever there is work. Waits have no timeout, so that no timeout can hide a lost wakeup.
 *
 * Spin checks every interleaving of the accesses to shared words, each of which is one step: there is no deadlock; every
 * env that was sent to is received once, with the row of that step; no row is written while somebody may read it.
 *
 * Configurations: ENVS, WORKERS, ROUNDS (number of calls that receive), SENDS (by the other thread), SLOW (env 0 is
 * stepped by itself, and takes until another env has been received). The names BUG_* introduce mistakes that Spin must
 * find: scripts/model_check. */

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
#define RING (2 * ENVS) /* the smallest ring of the engine; ENVS is a power of two */
#define NEVER 255
#define ANY 254

#include "futex.pml"
futex recv_futex;

byte ring[RING], id_ring[RING];
byte head, claim, base, partial_from = NEVER;
byte written, expected;                   /* rows of the only block */
byte block_env[ENVS], block_value[ENVS];  /* its rows */
byte span_first[RING], span_rows[RING];
byte top, count;                          /* `arrivals`, one word: 1 + id of the last arrival, and the number of arrivals */
byte next[ENVS];
byte awaited;
bool recv_waiting, is_moving, stop;
byte row[ENVS];                           /* rows kept for partial batches, by env */
byte running, received;

/* Under the lock, as is everything that only the calling threads touch. */
bool flying[ENVS], is_there[ENVS], is_partial, wants_part;
byte sent[ENVS];                          /* number of sends; a row contains this number */
byte outstanding, num_arrived, first_in_blocks, rows_in_blocks, rows_to_move;

inline tell_caller() {
  if
  :: recv_waiting ->
     change_word(recv_futex);
     futex_wake(recv_futex, 1)
  :: else
  fi
}

#include "partial_workers.pml"

/* ---- sending -------------------------------------------------------------------------------------------------------- */

inline end_partial() {
  if
#ifndef BUG_ENDS_BEFORE_THE_COUNT
  :: (written != rows_in_blocks)
#endif
  :: else ->
     written = 0;
     base = head;
     expected = 0;
     rows_in_blocks = 0;
     partial_from = NEVER;
     is_partial = false
  fi
}

/* Sends to one idle env. */
inline send_to(env) {
  if
  :: is_partial && outstanding == 0 && !wants_part -> end_partial()
  :: else
  fi;
  d_step { flying[env] = true; sent[env] = sent[env] + 1; outstanding++ };
  if
  :: (partial_from != NEVER) -> id_ring[head % RING] = env
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

inline begin_partial() {
  is_partial = true;
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
  partial_from = head;
  if
  :: (n > 0) ->
     env = 0;
     do
     :: (env < n) ->
        id_ring[(head + env) % RING] = ring[(k + env) % RING];
        env++
     :: else -> break
     od;
     head = head + n;
     tell_caller()
  :: else
  fi;
  d_step { env = 0; n = 0; k = 0 }
}

/* A call looks at each chunk once, one word after the other. */
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

/* Delivers a whole batch from the block, while no partial batches are in use. */
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

/* `wanted` is a certain env, ANY (at least one env, and all that have arrived) or NEVER (all envs in flight). */
inline pick() {
  do
  :: if
     :: !is_partial -> begin_partial()
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
     wants_part = wanted != NEVER;
     if
     :: (wanted == NEVER && !is_partial) ->
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
