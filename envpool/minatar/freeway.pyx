"""Freeway: a chicken crosses eight lanes of cars.

`envpool.minatar.game` says where the rules come from.
"""

from libc.stdint cimport int32_t, uint8_t

from envpool.env cimport envpool_env
from envpool.minatar.game cimport (
    DOWN, LAST, STAY, UP, Agent, Rules, count_down, define_game, is_inside, new_game, put,
)
from envpool.numerics.rng_legacy cimport ep_legacy_randint, ep_legacy_random_sample

from envpool.minatar.game import Game

cdef enum:
    CHICKEN, CAR, FASTEST                       # channels; a trail has the channel FASTEST + interval - 1
    SLOWEST = 5                                 # interval of the slowest cars
    CHANNELS = FASTEST + SLOWEST
    NUM_CARS = 8                                # car i is in row i + 1
    COLUMN = 4                                  # of the chicken
    REST = 3                                    # steps from one move of the chicken to the next
    DURATION = 2500                             # the episode ends in the step after this many

cdef struct Car:
    int32_t x
    int32_t interval            # a car stands for this many steps, 1 to 5, and moves in the next
    int32_t timer               # steps until it moves
    int32_t is_rightward

cdef struct Road:
    Agent agent
    Car cars[NUM_CARS]
    int32_t row                 # of the chicken
    int32_t rest_timer          # steps until the chicken can move
    int32_t time_left


cdef void draw_speeds(Road* r) noexcept nogil:
    """Draw the interval of every car, and then the direction of every car.

    A draw of exactly 0.5, one in 2**53, makes a car of speed 0 upstream, whose frame raises an exception.
    """
    cdef int32_t i
    for i in range(NUM_CARS):
        r.cars[i].interval = r.cars[i].timer = <int32_t>ep_legacy_randint(&r.agent.rng, 1, SLOWEST + 1)
    for i in range(NUM_CARS):
        r.cars[i].is_rightward = ep_legacy_random_sample(&r.agent.rng) > 0.5


cdef void reset(void* game) noexcept nogil:
    cdef Road* r = <Road*>game
    cdef int32_t i
    draw_speeds(r)
    for i in range(NUM_CARS):
        r.cars[i].x = 0
    r.row = LAST
    r.rest_timer = REST
    r.time_left = DURATION


cdef inline int32_t next_column(int32_t x, bint is_rightward) noexcept nogil:
    """Return the neighbour of a column; the board is a ring."""
    cdef int32_t neighbour = x + (1 if is_rightward else -1)
    neighbour = LAST if neighbour < 0 else neighbour
    return 0 if neighbour > LAST else neighbour


cdef inline bint is_in_lane(const Road* r) noexcept nogil:
    """Return whether a car is where the chicken is."""
    return r.row <= NUM_CARS and r.cars[r.row - 1].x == COLUMN


cdef int32_t step(void* game, int32_t action, bint is_ramping) noexcept nogil:
    cdef Road* r = <Road*>game
    cdef Car* car
    cdef bint is_hit, moves
    cdef int32_t i, reward = 0
    if r.rest_timer == 0 and (action == UP or action == DOWN):
        r.rest_timer = REST
        r.row = r.row - 1 if action == UP else min(LAST, r.row + 1)
    if r.row == 0:
        reward = 1
        draw_speeds(r)
        r.row = LAST
    is_hit = is_in_lane(r)
    for i in range(NUM_CARS):
        car = &r.cars[i]
        moves = car.timer == 0
        car.timer = car.interval if moves else car.timer - 1
        car.x = next_column(car.x, car.is_rightward) if moves else car.x
    if is_hit or is_in_lane(r):
        r.row = LAST
    r.rest_timer = count_down(r.rest_timer)
    r.time_left -= 1
    r.agent.is_over = r.time_left < 0
    return reward


cdef void write(const void* game, uint8_t* obs) noexcept nogil:
    cdef const Road* r = <const Road*>game
    cdef const Car* car
    cdef int32_t i
    put(obs, CHANNELS, r.row, COLUMN, CHICKEN)
    for i in range(NUM_CARS):
        car = &r.cars[i]
        put(obs, CHANNELS, i + 1, car.x, CAR)
        put(obs, CHANNELS, i + 1, next_column(car.x, not car.is_rightward), FASTEST + car.interval - 1)


cdef bint is_valid(const void* game, bint is_over) noexcept nogil:
    cdef const Road* r = <const Road*>game
    cdef const Car* car
    cdef int32_t i
    for i in range(NUM_CARS):
        car = &r.cars[i]
        if not (is_inside(car.x) and 1 <= car.interval <= SLOWEST and 0 <= car.timer <= car.interval
                and 0 <= car.is_rightward <= 1):
            return False
    return (
        1 <= r.row <= LAST
        and 0 <= r.rest_timer <= REST
        and (r.time_left == -1 if is_over else 0 <= r.time_left <= DURATION)
    )


cdef Rules RULES = Rules(sizeof(Road), CHANNELS, reset, step, write, is_valid)
cdef envpool_env ENV_DEF = new_game("MinAtarFreeway")


class MinAtarFreeway(Game):
    """A chicken that crosses eight lanes, each with a car, again and again.

    Channels: 0 the chicken, 1 cars, 2 to 6 the cell behind a car that moves in every second, third, fourth, fifth or
    sixth step. The chicken moves in every third step at most. A car sends it back to the last row. In the first row, it
    gets reward 1, is sent back, and the cars get new speeds and directions. An episode has 2501 steps.

    The minimal action set is nothing, up, down. The options are those of ``envpool.minatar.game.Game``.
    """

    channels = ("chicken", "car", "speed1", "speed2", "speed3", "speed4", "speed5")

    @staticmethod
    def build(config):
        return define_game(&ENV_DEF, &RULES, config, (STAY, UP, DOWN))
