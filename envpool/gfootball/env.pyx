# optimize: -Og
"""The env definition of all football tasks: arrays, frames, and the configuration."""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.stdio cimport snprintf
from libc.string cimport memset

from envpool.env cimport ENVPOOL_NO_MEMORY, envpool_env, envpool_frames, envpool_rows
from envpool.gfootball.episodes cimport create, destroy, seed_many, step_many, steps_left
from envpool.gfootball.frames cimport draw_pitch
from envpool.gfootball.library cimport check_scenario, default_scenario, football_scenario, last_error
from envpool.gfootball.snapshots cimport with_snapshots
from envpool.gfootball.structs cimport (
    EXTRACTED, LAYERS, MAX_VARIANTS, RAW, SIMPLE, SIMPLE115, SIMPLE115V2, STACK, Config, Envs, Game, config_of, game_of,
)
from envpool.gfootball.views cimport write_minimap, write_raw, write_simple
from envpool.raster.canvas cimport canvas, canvas_of_frame
from envpool.scaffold cimport envpool_config_bytes, envpool_new_env, envpool_template, envpool_with_params

from envpool.errors import ConfigError
from envpool.gfootball.scenarios import ROLES
from envpool.native import Field, define, param_fields

REPRESENTATIONS = {"extracted": EXTRACTED, "simple115": SIMPLE115, "simple115v2": SIMPLE115V2, "raw": RAW}
VARIANTS = MAX_VARIANTS

# ---- arrays ----------------------------------------------------------------------------------------------------------


cdef enum:
    NUM_RAW = 23                # arrays of write_raw


cdef void write_player(const Game* g, const Config* c, int32_t team, int32_t agent, int32_t left, void* const* fields,
                       int64_t row) noexcept nogil:
    cdef int32_t k = 1
    if c.representation == EXTRACTED:
        write_minimap(g, c, team, agent, <uint8_t*>fields[0] + row * c.height * c.width * c.stack * LAYERS)
    elif c.representation == RAW:
        write_raw(g, c, team, agent, left, fields, row)
        k = NUM_RAW
    else:
        write_simple(g, c, team, agent, <float*>fields[0] + row * c.stack * SIMPLE)
    if c.has_raw_info:
        write_raw(g, c, team, agent, left, fields + k, row)


cdef void write_infos(const Game* g, int32_t left, void* const* fields, int64_t row) noexcept nogil:
    cdef int32_t k
    for k in range(2):
        (<int32_t*>fields[0])[2 * row + k] = g.info.goals[k]
    (<int32_t*>fields[1])[row] = g.info.game_mode
    (<int32_t*>fields[2])[row] = g.info.ball_owned_team
    (<int32_t*>fields[3])[row] = g.info.ball_owned_player
    (<int32_t*>fields[4])[row] = left
    (<int32_t*>fields[5])[row] = <int32_t>g.memory.seed
    (<int32_t*>fields[6])[row] = g.memory.episode
    (<int32_t*>fields[7])[row] = g.memory.score_reward


cdef void write_many(void* state, const envpool_rows* rows) noexcept nogil:
    cdef Envs* s = <Envs*>state
    cdef const Config* c = config_of(state)
    cdef const Game* g
    cdef int64_t row
    cdef int32_t i, team, agent, left, infos = NUM_RAW if c.representation == RAW else 1
    if c.has_raw_info:
        infos += NUM_RAW
    for i in range(rows.n):
        g = game_of(state, rows.ids[i])
        left = steps_left(s, g)
        row = rows.player_rows[i] if c.num_players > 1 else rows.row0 + i
        for team in range(2):
            for agent in range(c.agents[team]):
                write_player(g, c, team, agent, left, rows.fields, row)
                row += 1
        write_infos(g, left, rows.fields + infos, rows.row0 + i)


cdef int render_many(void* state, const envpool_frames* f) noexcept nogil:
    cdef canvas frame
    cdef int32_t i
    for i in range(f.n):
        frame = canvas_of_frame(f, i)
        draw_pitch(&game_of(state, f.ids[i]).info, &frame)
    return 0


cdef void error_text(void* state, int32_t id, int32_t code, char* text, size_t size) noexcept nogil:
    if code == ENVPOOL_NO_MEMORY:
        snprintf(text, size, "there is not enough memory for its state")
    else:
        snprintf(text, size, "%s", game_of(state, id).text)


# ---- the definition --------------------------------------------------------------------------------------------------


cdef envpool_env ENV_DEF = envpool_new_env("Gfootball", create, step_many, write_many)
ENV_DEF.destroy, ENV_DEF.seed_many = destroy, seed_many
ENV_DEF.render_many, ENV_DEF.error_text = render_many, error_text
ENV_DEF.frame_height, ENV_DEF.frame_width = 720, 1280
with_snapshots(&ENV_DEF)
envpool_with_params(&ENV_DEF)


def raw_fields(prefix, rows, sizes, num_sticky):
    """Return the fields of write_raw(): upstream's raw observation.

    Parameters
    ----------
    prefix : str
        Beginning of the names.
    rows : tuple of int
        ``(-1,)`` with several players, else empty.
    sizes : list of int
        Players of the own team and of the other one.
    num_sticky : int
        Sticky actions of the action set.
    """
    def field(name, dtype, shape=(), low=None, high=None):
        return Field(prefix + name, dtype, (*rows, *shape), low, high)

    fields = [field(name, np.float32, (3,)) for name in ("ball", "ball_direction", "ball_rotation")]
    fields += [field("ball_owned_team", np.int32, (), -1, 1), field("ball_owned_player", np.int32, (), -1, 10)]
    for team, size in zip(("left_team", "right_team"), sizes):
        fields += [
            field(team, np.float32, (size, 2)),
            field(f"{team}_direction", np.float32, (size, 2)),
            field(f"{team}_tired_factor", np.float32, (size,)),
            field(f"{team}_yellow_card", np.bool_, (size,)),
            field(f"{team}_active", np.bool_, (size,)),
            field(f"{team}_roles", np.int32, (size,), 0, len(ROLES) - 1),
        ]
    return [
        *fields,
        field("score", np.int32, (2,), 0),
        field("steps_left", np.int32, (), 0),
        field("game_mode", np.int32, (), 0, 6),
        field("sticky_actions", np.uint8, (num_sticky,), 0, 1),
        field("active", np.int32, (), -1, 10),
        field("designated", np.int32, (), -1, 10),
    ]


cdef void fill_scenario(football_scenario* to, object scenario, object agents, object config) except *:
    default_scenario(to)
    for t, players in enumerate((scenario.left_team, scenario.right_team)):
        to.sizes[t], to.agents[t] = len(players), agents[t]
        for i, player in enumerate(players):
            to.teams[t][i].x, to.teams[t][i].y = player.x, player.y
            to.teams[t][i].role = ROLES.index(player.role)
            to.teams[t][i].lazy, to.teams[t][i].controllable = player.lazy, player.controllable
    to.ball_x, to.ball_y = scenario.ball
    to.difficulty[0], to.difficulty[1] = scenario.left_team_difficulty, scenario.right_team_difficulty
    to.seed = scenario.game_engine_random_seed
    to.game_duration, to.second_half = scenario.game_duration, scenario.second_half
    to.physics_steps_per_frame = config.physics_steps_per_frame
    to.use_magnet, to.offsides, to.deterministic = scenario.use_magnet, scenario.offsides, scenario.deterministic
    to.end_episode_on_score = scenario.end_episode_on_score
    to.end_episode_on_possession_change = scenario.end_episode_on_possession_change
    to.end_episode_on_out_of_play = scenario.end_episode_on_out_of_play
    to.control_all_players = scenario.control_all_players
    if check_scenario(to):
        raise ConfigError(f"the engine does not accept the scenario: {last_error().decode()}")


def build(config, params, scenarios, agents, actions, num_sticky, duration, is_limited):
    """Return the capsule of a task.

    Parameters
    ----------
    config : namedtuple
        The checked options of the task.
    params : mapping of str to Param
        The parameters.
    scenarios : list of Scenario
        The variants of episodes 1, 2, ..., which repeat.
    agents : tuple of int
        Controlled players of the left and the right team.
    actions : list of int
        The engine's actions.
    num_sticky : int
        How many of them are sticky.
    duration : int
        Number of the last step of an episode, whose first step has the number 0.
    is_limited : bool
        If True, the environment truncates an episode after `duration`, because the pool does not.
    """
    cdef Config c
    memset(&c, 0, sizeof(Config))
    for k, count in enumerate(agents):
        c.agents[k] = count
    c.num_players = sum(agents)
    c.num_variants, c.duration, c.is_limited = len(scenarios), duration, is_limited
    for k, scenario in enumerate(scenarios):
        fill_scenario(&c.variants[k], scenario, agents, config)
    c.representation, c.has_raw_info = REPRESENTATIONS[config.representation], config.raw_info
    c.stack = STACK if config.stacked else 1
    c.has_checkpoints = "checkpoints" in config.rewards.split(",")
    c.width, c.height = config.channel_dimensions
    sizes = [[max(len(getattr(s, f"{team}_team")) for s in scenarios) for team in ("left", "right")]]
    sizes = [sizes[0]] * (agents[0] > 0) + [sizes[0][::-1]] * (agents[1] > 0)
    for k in range(2):
        c.team_rows[k] = max(pair[k] for pair in sizes)
    c.num_actions = len(actions)
    for k, action in enumerate(actions):
        c.actions[k] = action
    c.num_sticky = num_sticky
    c.seed = -1 if config.game_engine_random_seed is None else config.game_engine_random_seed
    c.params[0], c.params[1] = config.left_team_difficulty, config.right_team_difficulty
    c.frame_height, c.frame_width = config.render_resolution_y, config.render_resolution_x
    rows = (-1,) if c.num_players > 1 else ()
    rows_of_raw = [c.team_rows[0], c.team_rows[1]]
    if c.representation == EXTRACTED:
        fields = [Field("obs", np.uint8, (*rows, c.height, c.width, LAYERS * c.stack), 0, 255)]
    elif c.representation == RAW:
        fields = raw_fields("obs:", rows, rows_of_raw, num_sticky)
    else:
        fields = [Field("obs", np.float32, (*rows, SIMPLE * c.stack))]
    if c.has_raw_info:
        fields += raw_fields("info:raw_", rows, rows_of_raw, num_sticky)
    fields += [
        Field("info:score", np.int32, (2,)),
        *(
            Field(f"info:{name}", np.int32)
            for name in ("game_mode", "ball_owned_team", "ball_owned_player", "steps_left", "engine_seed",
                         "episode_number", "score_reward")
        ),
    ]
    return define(
        envpool_template(&ENV_DEF), fields, [Field("action", np.int32, (-1,), 0, c.num_actions - 1)],
        envpool_config_bytes(&c, sizeof(c)), params=param_fields(params), frame_size=(c.frame_height, c.frame_width),
        step_time=config.physics_steps_per_frame / 100, max_num_players=c.num_players if c.num_players > 1 else None,
    )
