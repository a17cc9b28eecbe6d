/* Rows of players that come and go, as players.pyx, execute.pyx and actions.pyx in envpool/_core and
 * pools/styles/players.py keep them: a model for Spin.
 *
 * Workers step envs. A player that acts has a row; others may join; a player may end, and join again later. What a step
 * reports lies in arrays by env until the row of the env is written, and a row has a place for each player, present or
 * not. One thread receives: it makes rows of the places, and sends an action for each row of the last results. How
 * threads claim, sleep and wake is the subject of park.pml: here they run whenever there is work.
 *
 * Spin checks every interleaving of the accesses to shared words, each of which is one step: every player that is
 * present has one row of the right step, sorted by env (the order of the batch), then by player; places of others are
 * zero, in recycled blocks, too; who acted has a row; the rows that a send expects are those that were handed out; each
 * player that acts gets the action of its own row, and a player that has ended gets none.
 *
 * Configurations: ENVS, PLAYERS, WORKERS, ROUNDS (batches received), ASYNC (batches of one env). The names BUG_*
 * introduce mistakes that Spin must find: scripts/model_check. */

#ifndef ENVS
#define ENVS 2
#endif
#ifndef PLAYERS
#define PLAYERS 2
#endif
#ifndef WORKERS
#define WORKERS 2
#endif
#ifndef ROUNDS
#define ROUNDS 2
#endif
#ifdef ASYNC
#define BATCH 1
#define BLOCKS (ENVS + 2)
#else
#define BATCH ENVS
#define BLOCKS 1
#endif
#define PLACES (ENVS * PLAYERS)
#define RING (2 * ENVS)
#define ROW(block, row) (((block) * BATCH + (row)) * PLAYERS)

byte ring[RING], head, claim, alloc, written[BLOCKS];
bool present[PLACES], ended[PLACES];               /* PlayerArrays, by env */
bool has_row[PLACES], acts[PLACES];                /* player_flags, by env */
byte action[PLACES];                               /* action slots, by env */
byte block_env[BLOCKS * BATCH], value[BLOCKS * BATCH * PLAYERS];
bool mask[BLOCKS * BATCH * PLAYERS];
bool stop;
byte running;

/* Not in the engine: what must hold. */
byte steps[ENVS];                                  /* finished steps of an env */
bool is_out[PLACES];                               /* the player has ended, and has not joined again */
bool has_acted[PLACES];                            /* an action was sent for the player */

#ifdef BUG_PRESENCE_IS_SHARED
#define AT(p) (p)
#else
#define AT(p) (env * PLAYERS + (p))
#endif

/* step_many() of the env, then end_players(). */
inline simulate() {
  p = 0;
  do
  :: (p < PLAYERS) ->
     if
     :: (acts[env * PLAYERS + p]) ->
        assert(!is_out[env * PLAYERS + p]);
        assert(action[env * PLAYERS + p] == 1 + env * PLAYERS + p);
        present[AT(p)] = true;
        if
        :: ended[AT(p)] = false
        :: ended[AT(p)] = true
        fi
     :: else ->
        ended[AT(p)] = false;
        if
        :: present[AT(p)] = false
        :: present[AT(p)] = true; is_out[env * PLAYERS + p] = false
        fi
     fi;
     p++
  :: else -> break
  od
}

inline note_flags() {
  p = 0;
  do
  :: (p < PLAYERS) ->
     d_step {
       has_row[env * PLAYERS + p] = present[AT(p)];
#ifdef BUG_ENDED_PLAYERS_ACT
       acts[env * PLAYERS + p] = present[AT(p)];
#else
       acts[env * PLAYERS + p] = present[AT(p)] && !ended[AT(p)];
#endif
       is_out[env * PLAYERS + p] = is_out[env * PLAYERS + p] || (present[AT(p)] && ended[AT(p)])
     };
     p++
  :: else -> break
  od
}

/* write_many() of the env, clear_absent() and write_players(). An env writes garbage where nobody is present. */
inline write_row() {
  block_env[block * BATCH + row] = env;
  p = 0;
  do
  :: (p < PLAYERS) ->
     mask[ROW(block, row) + p] = present[AT(p)];
     if
     :: present[AT(p)] -> value[ROW(block, row) + p] = steps[env]
#ifdef BUG_PLACES_ARE_NOT_CLEARED
     :: else -> value[ROW(block, row) + p] = 77
#else
     :: else -> value[ROW(block, row) + p] = 77; value[ROW(block, row) + p] = 0
#endif
     fi;
     p++
  :: else -> break
  od
}

proctype Worker() {
  byte k, env, p, block, row;
  do
  :: stop -> break
  :: atomic { !stop && head != claim -> k = claim };
#ifdef ASYNC
     env = ring[k % RING]; /* before the claim: later, another env may be there */
#endif
     if
     :: atomic { (claim == k) -> claim++ }
     :: else -> goto again
     fi;
#ifndef ASYNC
     env = ring[k % RING];
#endif
     simulate();
     steps[env] = steps[env] + 1;
#ifndef BUG_FLAGS_AFTER_THE_COUNT
     note_flags();
#endif
#ifdef ASYNC
     atomic { row = alloc; alloc++ };
     block = (row / BATCH) % BLOCKS;
     row = row % BATCH;
#else
     row = k % ENVS; /* all envs are sent at once */
#endif
#ifdef BUG_COUNTED_BEFORE_THE_PLACES
     written[block] = written[block] + 1;
     write_row();
#else
     write_row();
     atomic { written[block] = written[block] + 1 };
#endif
#ifdef BUG_FLAGS_AFTER_THE_COUNT
     note_flags();
#endif
again:
     atomic { k = 0; env = 0; p = 0; block = 0; row = 0 }
  od;
  running--
}

/* Rows of the batch: who is present, in order. rows_of[i] notes the place of row i, by env. */
inline make_rows() {
  rows = 0;
  i = 0;
  do
  :: (i < BATCH) ->
     env = block_env[next * BATCH + i];
#ifndef ASYNC
     assert(env == i); /* a sync pool has the order of the call */
#endif
     p = 0;
     do
     :: (p < PLAYERS) ->
        if
        :: mask[ROW(next, i) + p] ->
           assert(value[ROW(next, i) + p] == steps[env]);
           rows_of[rows] = env * PLAYERS + p;
           rows++
        :: else ->
           assert(value[ROW(next, i) + p] == 0);
           assert(!has_acted[env * PLAYERS + p])
        fi;
        has_acted[env * PLAYERS + p] = false;
        p++
     :: else -> break
     od;
     i++
  :: else -> break
  od
}

/* find_rows() and store_players(): an action for each row of the last results, of which those of players that act count. */
inline send_rows() {
  found = 0;
  i = 0;
  do
  :: (i < BATCH) ->
     env = sent[i];
     p = 0;
     do
     :: (p < PLAYERS) ->
        if
        :: has_row[env * PLAYERS + p] ->
           assert(found < rows);
           if
           :: acts[env * PLAYERS + p] ->
              action[env * PLAYERS + p] = 1 + rows_of[found];
              has_acted[env * PLAYERS + p] = true
           :: else
           fi;
           found++
        :: else -> assert(!acts[env * PLAYERS + p])
        fi;
        p++
     :: else -> break
     od;
     ring[(head + i) % RING] = env;
     i++
  :: else -> break
  od;
  assert(found == rows);
  head = head + BATCH
}

init {
  byte received, next, i, env, p, rows, found, rows_of[PLACES], sent[BATCH];
  atomic {
    do
    :: (i < WORKERS) -> running++; run Worker(); i++
    :: else -> break
    od;
    i = 0;
    do /* the first step of each env begins an episode, and nobody acts */
    :: (i < ENVS) -> ring[i] = i; i++
    :: else -> break
    od;
    head = ENVS
  };
  do
  :: (received == ROUNDS) -> break
  :: (received < ROUNDS) ->
     (written[next] == BATCH);
     make_rows();
     i = 0;
     do
     :: (i < BATCH) -> sent[i] = block_env[next * BATCH + i]; i++
     :: else -> break
     od;
     written[next] = 0;
     next = (next + 1) % BLOCKS;
     received++;
     if
     :: (received < ROUNDS) -> send_rows()
     :: else
     fi;
     atomic { i = 0; env = 0; p = 0; found = 0; rows = 0 }
  od;
  stop = true;
  (running == 0)
}
