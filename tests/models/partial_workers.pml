/* The workers of partial.pml, which claim chunks, write their rows and announce them. */

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

inline announce_rows() {
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
     from = partial_from;
     if
     :: (n == 0 || n > RING) -> n = 0 /* others have claimed the chunk since */
     :: else ->
        if
        :: (first >= from) -> n = 1; id = id_ring[first % RING]
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
        announce_rows()
     fi;
     d_step { first = 0; n = 0; from = 0; id = 0; below = 0; below_count = 0; total = 0; is_waiting = false }
  od;
  running--
}
