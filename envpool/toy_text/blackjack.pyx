"""Blackjack: hit or stick against a dealer (Sutton and Barto, Reinforcement Learning, example 5.1).

Source of the dynamics: ``gymnasium.envs.toy_text.blackjack``. A card is one ``Generator.choice`` of 13. A reset also
draws the suit and the face card that the frame shows.
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint8_t

from envpool.env cimport ENVPOOL_MAX_BATCH, envpool_batch, envpool_env, envpool_frames, envpool_rows
from envpool.numerics.rng cimport ep_choice, ep_pcg64
from envpool.raster.canvas cimport canvas
from envpool.raster.image cimport sheet_copy, sheet_draw, sheet_numbers
from envpool.records cimport (
    envpool_new_records_env, envpool_records, envpool_records_config, envpool_template, envpool_write_each,
)
from envpool.scaffold cimport envpool_no_memory_text, envpool_state
from envpool.toy_text.frames cimport render_scaled

from envpool.native import EnvDefinition, Field, define
from envpool.toy_text.sprites import BLACKJACK_SIZE, blackjack

cdef enum:
    # Images of the sheet.
    TABLE = 0
    USABLE_ACE = 1
    SMALL_DIGITS = 2
    BIG_DIGITS = 12
    CARDS = 22                  # by rank and suit
    # Distance between two digits in pixels.
    SMALL_STEP = 16
    BIG_STEP = 48

cdef struct Config:
    bint natural
    bint sab

cdef struct Hand:
    int32_t points              # an ace counts 1
    uint8_t has_ace
    uint8_t is_natural          # an ace and a ten, and nothing else

cdef struct Game:               # one environment
    ep_pcg64 rng
    Hand player
    Hand dealer
    int32_t shown               # the dealer's first card
    int32_t suit                # its suit, 0 to 3
    int32_t rank                # 0 ace, 1 to 8 the numbers from 2, 9 to 11 jack, queen and king


cdef inline bint is_hand(const Hand* hand, int32_t least, int32_t most) noexcept nogil:
    return least <= hand.points <= most and hand.has_ace <= 1 and hand.is_natural <= 1


cdef int is_valid(const void* record, const void* config, int32_t resets) noexcept nogil:
    """A game may be played past its end: both hands may be what they can only be there. The bound keeps sums of points
    from overflowing."""
    cdef const Game* g = <const Game*>record
    if not (1 <= g.shown <= 10 and 0 <= g.suit <= 3):
        return False
    if not (g.rank == g.shown - 1 or (g.shown == 10 and 9 <= g.rank <= 11)):
        return False
    return is_hand(&g.player, 2, 1 << 30) and is_hand(&g.dealer, 2, 26)


cdef inline int32_t draw_card(ep_pcg64* rng) noexcept nogil:
    """Draw a card and return its value: 1 for an ace, 10 for a ten or a face card."""
    return min(<int32_t>ep_choice(rng, 13) + 1, 10)


cdef inline void take_card(Hand* hand, ep_pcg64* rng) noexcept nogil:
    cdef int32_t card = draw_card(rng)
    hand.points += card
    hand.has_ace |= card == 1
    hand.is_natural = 0


cdef inline int32_t draw_hand(Hand* hand, ep_pcg64* rng) noexcept nogil:
    """Draw two cards and return the first."""
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
    """Draw the dealer's cards and return the reward."""
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
    """Step a batch, sorted by what each game does: this is cheaper than an unpredictable branch."""
    cdef envpool_state* s = <envpool_state*>state
    cdef Game* games = <Game*>s.records
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
        deal(&games[b.ids[b.resets[k]]])
    for k in range(num_hits):
        i = hits[k]
        g = &games[b.ids[i]]
        take_card(&g.player, &g.rng)
        is_bust = g.player.points > 21
        b.reward[i] = -1 if is_bust else 0
        b.terminated[i] = is_bust
    for k in range(num_sticks):
        i = sticks[k]
        b.reward[i] = play_dealer(&games[b.ids[i]], <const Config*>s.config)
        b.terminated[i] = 1
    return 0


cdef void write(const void* record, const void* config, void* const* fields, int64_t row) noexcept nogil:
    cdef const Game* g = <const Game*>record
    cdef int32_t* obs = <int32_t*>fields[0] + 3 * row
    obs[0] = total(&g.player)
    obs[1] = g.shown
    obs[2] = has_usable_ace(&g.player)


cdef void write_many(void* state, const envpool_rows* rows) noexcept nogil:
    envpool_write_each(state, rows, write)


cdef inline int32_t count_digits(int32_t number) noexcept nogil:
    cdef int32_t count = 1
    while number >= 10:
        number //= 10
        count += 1
    return count


cdef void draw_number(const canvas* c, const void* sheet, int32_t digits, int32_t number, int32_t x, int32_t y,
                      int32_t step) noexcept nogil:
    cdef int32_t k
    for k in range(count_digits(number) - 1, -1, -1):
        sheet_draw(c, sheet, digits + number % 10, x + k * step, y)
        number //= 10


cdef void draw(const canvas* c, const void* sheet, const void* state, int32_t id) noexcept nogil:
    cdef const Game* g = <const Game*>(<const envpool_state*>state).records + id
    cdef const int32_t* places = sheet_numbers(sheet)
    cdef int32_t points = total(&g.player)
    sheet_copy(c, sheet, TABLE)
    draw_number(c, sheet, SMALL_DIGITS, g.shown, places[2], places[3], SMALL_STEP)
    sheet_draw(c, sheet, CARDS + 4 * g.rank + g.suit, 96, 72)
    # In the middle: a digit is 12 pixels narrower than a step, and positions are multiples of 4.
    draw_number(c, sheet, BIG_DIGITS, points, ((384 + 12 - BIG_STEP * count_digits(points)) >> 3) * 4, 248, BIG_STEP)
    if has_usable_ace(&g.player):
        sheet_draw(c, sheet, USABLE_ACE, places[0], places[1])


cdef int render_many(void* state, const envpool_frames* f) noexcept nogil:
    return render_scaled(state, f, ENV_DEF.frame_height, ENV_DEF.frame_width, draw)


cdef envpool_records GAMES
GAMES.size, GAMES.is_valid = sizeof(Game), is_valid
cdef envpool_env ENV_DEF = envpool_new_records_env("Blackjack", &GAMES)
ENV_DEF.step_many, ENV_DEF.write_many, ENV_DEF.render_many = step_many, write_many, render_many
ENV_DEF.error_text = envpool_no_memory_text
ENV_DEF.frame_height, ENV_DEF.frame_width = BLACKJACK_SIZE


class Blackjack(EnvDefinition):
    """One round of blackjack with an endless deck.

    Observation int32 (3,), upstream's tuple: the player's points, the dealer's open card (1 is an ace), and whether the
    player has an ace that counts 11. Action int32: 0 sticks, 1 hits. Reward at the end: 1 for winning, 0 for a draw,
    -1 for losing.

    Options
    -------
    natural : bool
        If True, winning with an ace and a ten pays 1.5. Default False; ignored if `sab` is True.
    sab : bool
        If True, the rules of Sutton and Barto apply: an ace and a ten win unless the dealer has them too. True by
        default, as in ``gymnasium.make``.
    """

    options = {"natural": False, "sab": True}
    continues_after_end = True

    @staticmethod
    def build(config):
        cdef Config c
        c.natural = config.natural
        c.sab = config.sab
        fields = [Field("obs", np.int32, (3,), 0, 31)]
        actions = [Field("action", np.int32, (-1,), 0, 1)]
        return define(envpool_template(&ENV_DEF), fields, actions, envpool_records_config(&GAMES, &c, sizeof(c)))

    @staticmethod
    def render_assets(config, height, width):
        """Return upstream's sprites as a sheet."""
        return blackjack()

    @staticmethod
    def render_fps(config):
        """Return the frame rate of the upstream environment, in frames per second."""
        return 4
