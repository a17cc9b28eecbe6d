"""Game variables after a reset and after a step, and the rewards for their changes."""

from libc.stdint cimport int32_t

from envpool.vizdoom.envs cimport (
    DAMAGE_COUNT, DEATH_COUNT, HEALTH, HIT_COUNT, SELECTED_WEAPON, SELECTED_WEAPON_AMMO, SLOTS, Config, Env, Envs,
    GameState, read_variable, state_of,
)


cdef inline int32_t counter_of(int32_t variable) noexcept nogil:
    """Return the index into `base` of a variable that the engine does not reset between episodes; -1 for others."""
    return 0 if variable == HIT_COUNT else 1 if variable == DAMAGE_COUNT else 2 if variable == DEATH_COUNT else -1


cdef inline void start_values(Envs* s, Env* env) noexcept nogil:
    """Read the game variables at the start of an episode."""
    cdef const GameState* game = state_of(&env.engine)
    cdef int32_t i, counter
    for i in range(s.config.num_variables):
        env.value[i] = read_variable(game, s.config.variables[i])
        counter = counter_of(s.config.variables[i])
        if counter >= 0:
            env.base[counter] = env.value[i]
            env.value[i] = 0
        if s.config.variables[i] == SELECTED_WEAPON:
            env.weapon = <int32_t>env.value[i]
        elif s.config.variables[i] == HEALTH:
            env.health = env.value[i]
    env.weapon_steps = 1


cdef inline float update_values(Envs* s, Env* env) noexcept nogil:
    """Read the game variables after a step. Return the reward for their changes, in EnvPool's order and precision."""
    cdef Config* c = &s.config
    cdef const GameState* game = state_of(&env.engine)
    cdef float reward = 0
    cdef double now, last, change
    cdef int32_t i, counter, variable, weapon = -1, ammo = 0
    for i in range(c.num_variables):
        variable = c.variables[i]
        last = env.value[i]
        now = read_variable(game, variable)
        counter = counter_of(variable)
        if counter >= 0:
            now -= env.base[counter]
        env.value[i] = now
        if variable == HEALTH:                      # in multiplayer games, it is -999900 while the player is dead
            last = env.health
            if last < 0 and now < 0:
                last = now = 100
            elif now < 0:
                now = last
            elif last < 0:
                last = now
            env.health = now
        change = now - last
        if variable == DAMAGE_COUNT:                # the strongest weapons must not outweigh everything else
            change = min(change, 200)
        elif variable == HIT_COUNT:
            change = min(change, 5)
        elif variable == SELECTED_WEAPON:
            weapon = <int32_t>now
        elif variable == SELECTED_WEAPON_AMMO:
            ammo = <int32_t>now
        if change >= 0:
            reward += <float>(change * c.gain[i])
        else:
            reward -= <float>(change * c.loss[i])
    env.weapon_steps = env.weapon_steps + 1 if weapon == env.weapon else 1
    env.weapon = weapon
    if 0 <= weapon < SLOTS and env.weapon_steps >= c.weapon_duration and ammo > 0:
        reward += <float>c.weapon_reward[weapon]
    return reward


cdef inline float scenario_reward(Envs* s, Env* env) noexcept nogil:
    """Return the reward of the last step that ``DoomGame.make_action`` returns."""
    cdef const GameState* game = state_of(&env.engine)
    cdef double reward = game.map_reward / 65536.0 - env.map_reward / 65536.0
    reward += <int32_t>(env.engine.last_tic - env.last_tic) * s.config.living_reward
    if game.is_dead:
        reward -= s.config.death_penalty
    elif game.is_map_over:
        reward += s.config.map_exit_reward
    return <float>reward
