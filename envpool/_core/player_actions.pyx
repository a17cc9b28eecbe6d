"""Moving the actions of players into the slots of the engine: see actions.pyx for the two stages of a send.

A send has a row for each player that has one in the last results of these envs, in their order; or a place for every
player, as an array (envs, players, ...), or such an array for each group of players. Only players that act need one:
what is passed for others is ignored, whatever it is, and their slots are zero. If players move in turn, an env has one
slot, for the move of the player whose turn it is; a send may also have one row for each env.
"""

import numpy as np

cimport numpy as cnp
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.string cimport memcpy, memset

from envpool._core.actions cimport (
    MISFIT, NAN, NO_FLOAT, STORED, ActionField, ActionTable, has_refused, unbiased,
)
from envpool._core.inputs cimport as_array, as_ids, flatten, release, take_idle
from envpool._core.players cimport ACTS, HAS_ROW, flags_of, mover_of
from envpool._core.structs cimport Engine, RUNNING

from envpool._core.casts import as_action
from envpool.errors import ActionError, EnvIdError

cnp.import_array()


cdef class PlayerField(ActionField):
    """One action array of envs with players. One without a dimension of players has a row for each env."""

    cdef cnp.ndarray convert_players(self, object action, int64_t envs, int32_t players, bint in_turn, bint has_rows,
                                     bint may_cast):
        """Returns an action as an array that store_players() takes or, where players move in turn, moves_of(): rows of
        players, or (envs, players, ...). It has a row for each env if the field is without players, unless `in_turn`
        and `has_rows`."""
        if not self.players and not in_turn:
            return self.convert(action, envs, may_cast)
        if in_turn and not has_rows and action.shape == (envs, *self.shape):
            return self.convert(action, envs, may_cast)
        if action.shape != (envs, players, *self.shape) and (
                action.ndim != 1 + self.ndim or action.shape[1:] != self.shape):
            raise self.wrong_shape(action, envs, players, in_turn, "R")
        if not may_cast:
            self.check_exact(action)
        return self.to_numbers(action)

    cdef object wrong_shape(self, action, int64_t envs, int32_t players, bint in_turn, rows):
        """Returns the exception for an action of `envs` envs, whose last results have `rows` rows of players."""
        moves = f"{(envs, *self.shape)}, the move of each env, or " if in_turn else ""
        shape = ", ".join(map(str, (rows, *self.shape))) + ("" if self.shape else ",")
        way = ": call reset() first, which returns the rows" if rows == 0 and envs else ""
        return ActionError(
            f"action {self.name!r} must have the shape {moves}({shape}), a row for each player in the last results of "
            f"the {envs} envs, or {(envs, players, *self.shape)}, a place for each player, got {action.shape}{way}; "
            "nothing was sent"
        )

    cdef cnp.ndarray to_numbers(self, object action):
        """Returns numbers in a dtype that store_players() takes. Those that cannot be an action become one that is
        refused, since they may be of players that do not act."""
        if not self.is_bounded:
            self.check_numbers(action)
            return np.ascontiguousarray(as_action(self.name, action, self.dtype))
        if action.dtype.kind == "f" and self.low > -(2**62) and not self.is_biased:
            wide = action.astype(np.promote_types(action.dtype, np.float64), copy=False)
            fits = (np.rint(wide) == wide) & (wide >= -(2.0**62)) & (wide <= 2.0**62)
            return np.ascontiguousarray(np.where(fits, wide, -(2.0**63)), np.int64)
        if action.dtype == np.int32 and not self.is_biased:
            return np.ascontiguousarray(action)
        return self.to_int64(action)

    cdef bint is_grid(self, cnp.ndarray a) noexcept:
        """Whether an array has a place for each player, rather than a row for some."""
        return cnp.PyArray_NDIM(a) == 2 + self.ndim

    cdef int64_t store_players(self, Engine* e, int index, cnp.ndarray a, const int32_t* ids, int32_t n,
                               const int64_t* sources) noexcept:
        """Stores actions of players like store(): those of player p of env ids[i] are in row
        sources[i * players + p], unless `a` is a grid. Returns a position in such an array in place of one of an env.
        """
        cdef int64_t at, source, bytes = self.items // self.players * cnp.PyArray_ITEMSIZE(a), first = STORED
        cdef const char* data = <const char*>cnp.PyArray_DATA(a)
        cdef int typenum = cnp.PyArray_TYPE(a)
        cdef bint is_grid = self.is_grid(a)
        cdef const uint8_t* flags
        cdef char* slot
        cdef int32_t i, p
        if not cnp.PyArray_ISCARRAY_RO(a) or (is_grid and cnp.PyArray_SIZE(a) != n * self.items):
            return MISFIT
        if typenum != self.typenum and not (self.is_bounded and typenum in (cnp.NPY_INT32, cnp.NPY_INT64)):
            return MISFIT
        for i in range(n):
            flags = flags_of(e, ids[i])
            for p in range(self.players):
                at = <int64_t>i * self.players + p
                source = at if is_grid else sources[at]
                slot = <char*>e.actions[index] + ids[i] * e.action_bytes[index]
                slot += p * (e.action_bytes[index] // self.players)
                if not flags[p] & ACTS or e.reset[ids[i]] != RUNNING:
                    memset(slot, 0, e.action_bytes[index] // self.players)
                elif (source + 1) * bytes > cnp.PyArray_NBYTES(a):
                    return MISFIT
                elif not self.store_row(data + source * bytes, typenum == cnp.NPY_INT64, slot, p) and first < 0:
                    first = at
        return first

    cdef bint store_row(self, const char* row, bint is_wide, char* slot, int32_t player) noexcept:
        """Copies the action of a player that acts into its slot; False, with an allowed action in the slot if it is
        bounded, if a value is refused. Each value is read once."""
        cdef int64_t k, value, items = self.items // self.players, own = player * items
        cdef bint bad = False, is_double = self.typenum == cnp.NPY_FLOAT64, only_nan = self.refused == NAN
        if not self.is_bounded:
            memcpy(slot, row, items * self.itemsize)
            if self.refused == NO_FLOAT:
                return True
            return not (has_refused(<const double*>slot, items, only_nan) if is_double else
                        has_refused(<const float*>slot, items, only_nan))
        for k in range(items):
            value = (<const int64_t*>row)[k] if is_wide else (<const int32_t*>row)[k]
            if value < self.lows[own + k] or value > self.highs[own + k]:
                bad = True
                value = self.lows[own + k]
            self.put(value, slot + k * self.itemsize)
        return not bad

    cdef object refusal_of_player(self, const Engine* e, cnp.ndarray a, object passed, int64_t at, const int32_t* ids,
                                  const int64_t* sources):
        """Returns the exception for an action that store_players() has refused, of which `passed` was converted."""
        cdef int64_t i, player
        if at == MISFIT:
            return self.refusal(e, 0, a, MISFIT, 0)
        i, player = at // self.players, at % self.players
        where = (i, player) if self.is_grid(a) else int(sources[at])
        got = np.array((<object>a)[where])
        if self.is_bounded:
            got = self.as_passed(got, passed[where])
        return self.refusal_of_values(f"player {player} of env {ids[i]}", player * (self.items // self.players), got)


cdef class PlayerTable(ActionTable):
    """All action arrays of an env with players.

    Parameters
    ----------
    fields, refused, flatten_action
        See ActionTable.
    num_players : int
        Places for players in each env.
    groups : sequence of PlayerGroup
        The groups of the players.
    has_turns : bool
        True if the players move in turn.
    """

    def __init__(self, fields, int refused, flatten_action, int32_t num_players, groups, bint has_turns):
        self.fields = tuple(PlayerField(f, refused, num_players) for f in fields)
        self.flatten_action = flatten_action
        self.num_players = num_players
        self.groups = tuple(groups)
        self.has_turns = has_turns

    cdef int32_t load(self, Engine* e, object action, object env_id, const int32_t** ids) except -1:
        """See ActionTable.load().

        `action` is an array, or a dict by group, or a dict by field that may also contain "env_id", "players.env_id"
        and "players.id".
        """
        cdef PlayerField field
        cdef cnp.ndarray owners = None, players = None
        cdef list passed, arrays
        cdef int64_t envs, rows, result
        cdef int32_t n
        cdef int i
        cdef bint may_cast = True
        if self.memory is None:
            self.memory = np.empty(<int64_t>e.num_envs * self.num_players, np.int64)
            self.sources = <int64_t*>cnp.PyArray_DATA(self.memory)
        if self.flatten_action is not None:
            action = self.flatten_action(action)
        own_ids = None
        if isinstance(action, dict):
            names = {group.name for group in self.groups}
            if action and set(action) - {"env_id"} <= names:
                own_ids = action.get("env_id")
                env_id = as_ids(own_ids if env_id is None else env_id)
                envs = e.num_envs if env_id is None else (<cnp.ndarray>env_id).shape[0]
                action = self.merge_groups({k: v for k, v in action.items() if k in names}, envs)
            else:
                action = flatten(action)
                own_ids = action.pop("env_id", None)
                owners = as_ids(action.pop("players.env_id", None), "players.env_id")
                players = as_ids(action.pop("players.id", None), "players.id")
                may_cast = False
        elif len(self.fields) == 1:
            action = {(<PlayerField>self.fields[0]).name: action}
        else:
            raise ActionError(f"action must be a dict with the keys {self.names()}, got {type(action).__name__}")
        self.check_keys(action, f", or those of groups of players, {[group.name for group in self.groups]}")
        env_id = as_ids(own_ids if env_id is None else env_id)
        envs = e.num_envs if env_id is None else (<cnp.ndarray>env_id).shape[0]
        if e.turns != NULL and owners is not None and players is None and np.array_equal(
                owners, np.arange(envs) if env_id is None else env_id):
            owners = None       # one move for each env, in EnvPool's form
        passed = [as_array((<PlayerField>f).name, action[(<PlayerField>f).name]) for f in self.fields]
        arrays = [
            (<PlayerField>f).convert_players(a, envs, self.num_players, self.has_turns, owners is not None, may_cast)
            for f, a in zip(self.fields, passed)
        ]
        if players is not None and owners is None:
            raise ActionError("action dict has 'players.id' without 'players.env_id': pass both, or neither")
        if owners is not None:
            owners = np.array(owners, np.int64)
            players = None if players is None else np.array(players, np.int64)
            if players is not None and players.shape[0] != owners.shape[0]:
                raise EnvIdError(
                    f"players.id has {players.shape[0]} entries and players.env_id has {owners.shape[0]}: pass one of "
                    "each per row"
                )
        n = take_idle(e, env_id, ids, False)
        try:
            if owners is None:
                rows = self.find_rows(e, ids[0], n)
            else:
                rows = owners.shape[0]
                self.place_rows(e, ids[0], n, <const int64_t*>cnp.PyArray_DATA(owners),
                                <const int64_t*>(NULL if players is None else cnp.PyArray_DATA(players)), rows)
            if e.turns != NULL:
                arrays = [self.moves_of(e, f, a, ids[0], n, rows, owners is not None)
                          for f, a in zip(self.fields, arrays)]
            self.check_rows(arrays, rows, n)
            for i in range(len(self.fields)):
                field = <PlayerField>self.fields[i]
                if not field.players:
                    result = field.store(e, i, <cnp.ndarray>arrays[i], ids[0], n)
                    if result != STORED:
                        own = passed[i] if e.turns == NULL else self.moves_of(
                            e, field, passed[i], ids[0], n, rows, owners is not None)
                        raise field.refusal(e, i, <cnp.ndarray>arrays[i], result, ids[0][max(result, 0)], own)
                    continue
                result = field.store_players(e, i, <cnp.ndarray>arrays[i], ids[0], n, self.sources)
                if result != STORED:
                    raise field.refusal_of_player(e, <cnp.ndarray>arrays[i], passed[i], result, ids[0],
                                                  self.sources)
            if e.turns != NULL and e.turns.num_moves and e.turns.checks_moves:
                self.check_moves(e, ids[0], n)
        except BaseException:
            release(e, ids[0], n)
            raise
        return n

    cdef dict merge_groups(self, dict action, int64_t envs):
        """Returns arrays (envs, players, ...) by field, of the actions of groups."""
        cdef PlayerField field
        cdef cnp.ndarray part
        missing = [group.name for group in self.groups if group.name not in action]
        if missing:
            raise ActionError(f"action dict needs an entry for each group of players; missing are {missing}")
        merged = {}
        for field in self.fields:
            if not field.players and not self.has_turns:
                raise ActionError(
                    f"action {field.name!r} is of whole envs and belongs to no group: pass a dict with the keys "
                    f"{self.names()}"
                )
            is_int64 = field.is_bounded and not field.is_biased
            merged[field.name] = grid = np.zeros(
                (envs, self.num_players, *field.shape), np.int64 if is_int64 else field.dtype
            )
            for group in self.groups:
                own = action[group.name]
                if isinstance(own, dict):
                    inner = flatten({"action": own}) | flatten(own)
                    if field.name not in inner:
                        raise ActionError(f"action of group {group.name!r} needs the key {field.name!r}")
                    own = inner[field.name]
                elif len(self.fields) > 1:
                    raise ActionError(
                        f"action of group {group.name!r} must be a dict, got {type(own).__name__}: it has "
                        f"the arrays {self.names()}"
                    )
                own = as_array(field.name, own)
                shape = group.shapes.get(field.name, field.shape)
                if own.shape != (envs, len(group.players), *shape):
                    raise ActionError(
                        f"action {field.name!r} of group {group.name!r} must have the shape "
                        f"{(envs, len(group.players), *shape)}, a row for each of its players in each of the {envs} "
                        f"envs, got {own.shape}"
                    )
                part = unbiased(field.to_int64(own)) if field.is_biased else field.to_numbers(own)
                grid[(slice(None), list(group.players), *map(slice, shape))] = part
        return merged

    cdef int64_t find_rows(self, const Engine* e, const int32_t* ids, int32_t n) noexcept:
        """Numbers the rows in the last results of n envs in `sources`, and returns how many they are."""
        cdef const uint8_t* flags
        cdef int64_t rows = 0
        cdef int32_t i, p
        for i in range(n):
            flags = flags_of(e, ids[i])
            for p in range(self.num_players):
                self.sources[<int64_t>i * self.num_players + p] = rows if flags[p] & HAS_ROW else -1
                rows += (flags[p] & HAS_ROW) != 0
        return rows

    cdef int place_rows(self, const Engine* e, const int32_t* ids, int32_t n, const int64_t* owners,
                        const int64_t* players, int64_t rows) except -1:
        """Notes in `sources` the rows of players of n envs: row r is of the env owners[r] and of its player players[r]
        or, without `players`, of its next player that has a row in the last results. Raises EnvIdError for another env,
        another player, or a player with two rows; and for one that acts and has none."""
        cdef const uint8_t* flags
        cdef int64_t r, at, player
        cdef int32_t i, p
        where = {ids[i]: i for i in range(n)}
        for at in range(<int64_t>n * self.num_players):
            self.sources[at] = -1
        for r in range(rows):
            i = where.get(owners[r], -1)
            if i < 0:
                raise EnvIdError(f"players.env_id[{r}] is {owners[r]}, which is not in env_id; nothing was sent")
            flags = flags_of(e, ids[i])
            if players != NULL:
                player = players[r]
            else:
                player = 0
                while player < self.num_players and (
                    not flags[player] & HAS_ROW or self.sources[i * self.num_players + player] >= 0
                ):
                    player += 1
            if not 0 <= player < self.num_players:
                got = f"players.id[{r}] is {player}" if players != NULL else f"row {r} is one too many for its env"
                raise EnvIdError(
                    f"{got}: env {owners[r]} has {self.num_players} players, numbered from 0; nothing was sent"
                )
            at = i * self.num_players + player
            if self.sources[at] >= 0:
                raise EnvIdError(
                    f"rows {self.sources[at]} and {r} are both of player {player} of env {owners[r]}; nothing was sent"
                )
            self.sources[at] = r
        for i in range(n):
            flags = flags_of(e, ids[i])
            for p in range(self.num_players):
                at = <int64_t>i * self.num_players + p
                if self.sources[at] < 0 and flags[p] & ACTS and e.reset[ids[i]] == RUNNING:
                    raise EnvIdError(f"player {p} of env {ids[i]} acts, but has no row; nothing was sent")
        return 0

    cdef int check_rows(self, list arrays, int64_t rows, int32_t n) except -1:
        """Raises ActionError for an array of rows of players that has not one row for each."""
        cdef PlayerField field
        cdef cnp.ndarray a
        for field, a in zip(self.fields, arrays):
            if field.players and not field.is_grid(a) and cnp.PyArray_DIMS(a)[0] != rows:
                raise field.wrong_shape(a, n, self.num_players, False, rows)
        return 0

    cdef cnp.ndarray moves_of(self, const Engine* e, PlayerField field, cnp.ndarray a, const int32_t* ids, int32_t n,
                              int64_t rows, bint has_rows):
        """Returns the moves of n envs, a row for each, of what convert_turns() has returned: in rows of players, that
        of the player whose turn it is, as `sources` says; zero where it is nobody's turn."""
        cdef int64_t i, source
        cdef int32_t mover
        cdef bint is_grid = cnp.PyArray_NDIM(a) == 2 + field.ndim
        if not is_grid and not has_rows and cnp.PyArray_DIMS(a)[0] == n:
            return a
        if not is_grid and cnp.PyArray_DIMS(a)[0] != rows:
            raise field.wrong_shape(a, n, self.num_players, True, rows)
        moves = np.zeros((n, *field.shape), (<object>a).dtype)
        for i in range(n):
            mover = mover_of(e, ids[i])
            if mover < 0:
                continue
            if is_grid:
                moves[i] = (<object>a)[i, mover]
                continue
            source = self.sources[i * self.num_players + mover]
            if source >= 0:
                moves[i] = (<object>a)[source]
        return moves

    cdef int check_moves(self, const Engine* e, const int32_t* ids, int32_t n) except -1:
        """Raises ActionError if a move that was stored is not legal. Moves are within their bounds."""
        cdef PlayerField field = <PlayerField>self.fields[0]
        cdef const uint8_t* legal
        cdef int64_t move
        cdef int32_t i, mover
        for i in range(n):
            if e.reset[ids[i]] != RUNNING:
                continue
            legal = e.turns.legal + <int64_t>ids[i] * e.turns.num_moves
            move = ((<int64_t*>e.actions[0])[ids[i]] if field.itemsize == 8 else
                    (<int32_t*>e.actions[0])[ids[i]])
            mover = mover_of(e, ids[i])
            if mover >= 0 and not legal[move]:
                moves = [k for k in range(e.turns.num_moves) if legal[k]]
                raise ActionError(
                    f"action {field.name!r} of player {mover} of env {ids[i]} must be a legal move, one of {moves}, "
                    f"got {move}: mask the moves with info['legal_action_mask'], or let the rules of the game decide "
                    "with illegal_actions='lose'; nothing was sent"
                )
        return 0
