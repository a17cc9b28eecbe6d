"""Blackjack: hit or stick against a dealer (Sutton and Barto, Reinforcement Learning, example 5.1).

Source of the dynamics: ``gymnasium.envs.toy_text.blackjack``. A card is one ``Generator.choice`` of 13; a reset also
draws the suit and the face that the picture shows.
"""

import numpy as np

from cpython.pycapsule cimport PyCapsule_New
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.stdio cimport snprintf
from libc.stdlib cimport calloc, free

from envpool.raster.canvas cimport canvas
from envpool.raster.image cimport sheet_copy, sheet_draw, sheet_numbers
from envpool.raster.scaled cimport scaled_begin, scaled_canvas, scaled_end, scaled_finish, scaled_frames
from envpool.env cimport (
    ENVPOOL_CAPSULE_NAME, ENVPOOL_MAX_BATCH, envpool_batch, envpool_env, envpool_env_init, envpool_frames,
)
from envpool.numerics.rng cimport ep_choice, ep_pcg64, ep_pcg64_seed

from envpool.native import Field, define
from envpool.toy_text.sprites import BLACKJACK_SIZE, blackjack

cdef enum:
    OUT_OF_MEMORY = 1
    # Images of the sheet.
    TABLE = 0
    USABLE_ACE = 1
    SMALL_DIGITS = 2
    BIG_DIGITS = 12
    CARDS = 22                  # by rank and suit
    # Pixels from a digit to the next.
    SMALL_STEP = 16
    BIG_STEP = 48

cdef struct Config:
    bint natural
    bint sab

cdef struct Hand:
    int32_t points              # an ace counts 1
    uint8_t has_ace
    uint8_t is_natural          # an ace and a ten, and nothing else

cdef struct Game:
    ep_pcg64 rng
    Hand player
    Hand dealer
    int32_t shown               # the dealer's first card
    int32_t suit                # its suit, 0 to 3
    int32_t rank                # 0 ace, 1 to 8 the numbers from 2, 9 to 11 jack, queen and king

cdef struct Games:
    const Config* config
    Game* games                 # (n)


cdef void destroy(void* state) noexcept nogil:
    cdef Games* s = <Games*>state
    free(s.games)
    free(s)


cdef void* create(const void* config, int32_t n) noexcept nogil:
    cdef Games* s = <Games*>calloc(1, sizeof(Games))
    if s == NULL:
        return NULL
    s.config = <const Config*>config
    s.games = <Game*>calloc(n, sizeof(Game))
    if s.games == NULL:
        destroy(s)
        return NULL
    return s


cdef void seed_many(void* state, const int32_t* ids, int32_t n, const uint64_t* seeds) noexcept nogil:
    cdef Games* s = <Games*>state
    cdef int32_t i
    for i in range(n):
        ep_pcg64_seed(&s.games[ids[i]].rng, seeds[i])


cdef inline int32_t draw_card(ep_pcg64* rng) noexcept nogil:
    """Ace 1, numbers, and 10 for the four kinds of ten."""
    return min(<int32_t>ep_choice(rng, 13) + 1, 10)


cdef inline void take_card(Hand* hand, ep_pcg64* rng) noexcept nogil:
    cdef int32_t card = draw_card(rng)
    hand.points += card
    hand.has_ace |= card == 1
    hand.is_natural = 0


cdef inline int32_t draw_hand(Hand* hand, ep_pcg64* rng) noexcept nogil:
    """Draws two cards and returns the first."""
    cdef int32_t first = draw_card(rng)
    cdef int32_t second = draw_card(rng)
    hand.points = first + second
    hand.has_ace = (first == 1) | (second == 1)
    hand.is_natural = hand.has_ace & (hand.points == 11)
    return first


cdef inline int32_t has_usable_ace(const Hand* hand) noexcept nogil:
    return hand.has_ace & (hand.points + 10 <= 21)


cdef inline int32_t total(const Hand* hand) noexcept nogil:
    return hand.points + 10 * has_usable_ace(hand)


cdef inline int32_t score(const Hand* hand) noexcept nogil:
    cdef int32_t points = total(hand)
    return 0 if points > 21 else points


cdef inline void deal(Game* g) noexcept nogil:
    g.shown = draw_hand(&g.dealer, &g.rng)
    draw_hand(&g.player, &g.rng)
    g.suit = <int32_t>ep_choice(&g.rng, 4)
    g.rank = g.shown - 1
    if g.shown == 10:
        g.rank += <int32_t>ep_choice(&g.rng, 3)


cdef inline float play_dealer(Game* g, const Config* config) noexcept nogil:
    """Draws the dealer's cards and returns the reward."""
    cdef int32_t mine, dealers
    while total(&g.dealer) < 17:
        take_card(&g.dealer, &g.rng)
    mine = score(&g.player)
    dealers = score(&g.dealer)
    if g.player.is_natural and config.sab and not g.dealer.is_natural:
        return 1
    if g.player.is_natural and config.natural and not config.sab and mine > dealers:
        return 1.5
    return (mine > dealers) - (mine < dealers)


cdef int step_many(void* state, const envpool_batch* b) noexcept nogil:
    """Sorts the batch by what is to be done, which is cheaper than a branch that nobody can predict."""
    cdef Games* s = <Games*>state
    cdef const int32_t* actions = <const int32_t*>b.actions[0]
    cdef int32_t hits[ENVPOOL_MAX_BATCH]
    cdef int32_t sticks[ENVPOOL_MAX_BATCH]
    cdef int32_t num_hits = 0, num_sticks = 0
    cdef Game* g
    cdef bint is_bust
    cdef int32_t i, k
    for i in range(b.n):
        hits[num_hits] = i
        sticks[num_sticks] = i
        num_hits += (actions[b.ids[i]] != 0) & (b.reset[i] == 0)
        num_sticks += (actions[b.ids[i]] == 0) & (b.reset[i] == 0)
    for k in range(b.num_resets):
        deal(&s.games[b.ids[b.resets[k]]])
    for k in range(num_hits):
        i = hits[k]
        g = &s.games[b.ids[i]]
        take_card(&g.player, &g.rng)
        is_bust = g.player.points > 21
        b.reward[i] = -1 if is_bust else 0
        b.terminated[i] = is_bust
    for k in range(num_sticks):
        i = sticks[k]
        b.reward[i] = play_dealer(&s.games[b.ids[i]], s.config)
        b.terminated[i] = 1
    return 0


cdef void write_many(void* state, const int32_t* ids, int32_t n, void* const* fields, int64_t row0) noexcept nogil:
    cdef Games* s = <Games*>state
    cdef int32_t* obs = <int32_t*>fields[0] + 3 * row0
    cdef const Game* g
    cdef int32_t i
    for i in range(n):
        g = &s.games[ids[i]]
        obs[3 * i] = total(&g.player)
        obs[3 * i + 1] = g.shown
        obs[3 * i + 2] = has_usable_ace(&g.player)


cdef void draw_number(const canvas* c, const void* sheet, int32_t digits, int32_t number, int32_t x, int32_t y,
                      int32_t step) noexcept nogil:
    """Draws a number below 100."""
    if number >= 10:
        sheet_draw(c, sheet, digits + number // 10, x, y)
        x += step
    sheet_draw(c, sheet, digits + number % 10, x, y)


cdef void draw(const canvas* c, const void* sheet, const Game* g) noexcept nogil:
    cdef const int32_t* places = sheet_numbers(sheet)
    cdef int32_t points = total(&g.player)
    sheet_copy(c, sheet, TABLE)
    draw_number(c, sheet, SMALL_DIGITS, g.shown, places[2], places[3], SMALL_STEP)
    sheet_draw(c, sheet, CARDS + 4 * g.rank + g.suit, 96, 72)
    draw_number(c, sheet, BIG_DIGITS, points, 148 if points >= 10 else 172, 248, BIG_STEP)
    if has_usable_ace(&g.player):
        sheet_draw(c, sheet, USABLE_ACE, places[0], places[1])


cdef int render_many(void* state, const envpool_frames* f) noexcept nogil:
    cdef Games* s = <Games*>state
    cdef scaled_frames frames
    cdef canvas c
    cdef int32_t i
    if not scaled_begin(&frames, f, ENV_DEF.frame_height, ENV_DEF.frame_width):
        return OUT_OF_MEMORY
    for i in range(f.n):
        c = scaled_canvas(&frames, i)
        draw(&c, f.assets, &s.games[f.ids[i]])
        scaled_finish(&frames, i)
    scaled_end(&frames)
    return 0


cdef void error_text(void* state, int32_t id, int32_t code, char* text, size_t size) noexcept nogil:
    """There is only one code."""
    snprintf(text, size, "there is no memory for its picture")


cdef envpool_env ENV_DEF
envpool_env_init(&ENV_DEF, "Blackjack")
ENV_DEF.create = create
ENV_DEF.destroy = destroy
ENV_DEF.seed_many = seed_many
ENV_DEF.step_many = step_many
ENV_DEF.write_many = write_many
ENV_DEF.error_text = error_text
ENV_DEF.render_many = render_many
ENV_DEF.frame_height, ENV_DEF.frame_width = BLACKJACK_SIZE


class Blackjack:
    """One round of blackjack with an endless deck.

    Observation int32 (3,), upstream's tuple: the player's points, the dealer's open card (1 is an ace), and whether the
    player has an ace that counts 11. Action int32: 0 sticks, 1 hits. Reward at the end: 1 won, 0 drawn, -1 lost.

    Options
    -------
    natural : bool
        Whether winning with an ace and a ten pays 1.5. Does not matter with `sab`.
    sab : bool
        The rules of Sutton and Barto: an ace and a ten win unless the dealer has them too. On by default, as in
        ``gymnasium.make``.
    """

    options = {"natural": False, "sab": True}

    @staticmethod
    def build(config):
        """Return the capsule of this kind."""
        cdef Config c
        c.natural = config.natural
        c.sab = config.sab
        fields = [Field("obs", np.int32, (3,), 0, 31)]
        actions = [Field("action", np.int32, (-1,), 0, 1)]
        template = PyCapsule_New(&ENV_DEF, ENVPOOL_CAPSULE_NAME, NULL)
        return define(template, fields, actions, (<const char*>&c)[:sizeof(Config)])

    @staticmethod
    def render_assets(config, height, width):
        """Return upstream's images."""
        return blackjack()

    @staticmethod
    def render_fps(config):
        """Return the pictures a second of upstream."""
        return 4
