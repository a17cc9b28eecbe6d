// The engine of Google Research Football, behind a C interface.
//
// A game belongs to one call at a time; otherwise any thread may run any game, and games are independent of each
// other. No function prints, throws, exits, or writes a file. Functions that return an int return 0 or one of the
// errors below; football_error() has the text of the last one in the calling thread.
//
// Coordinates are upstream's: x from -1 (own goal of the left team) to 1, y from -0.42 to 0.42. All numbers are what
// upstream's Python module returns: floats that were computed in single precision.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// In a release build, the compiler sees the whole engine at once and drops what these functions do not need.
#if defined(__GNUC__) && !defined(__clang__)
#define FOOTBALL_API __attribute__((externally_visible))
#else
#define FOOTBALL_API
#endif

enum {
  FOOTBALL_OK = 0,
  FOOTBALL_BAD_ARGUMENT = -1,  // a value of a scenario, an action or an index is out of range
  FOOTBALL_NO_DATA = -2,       // a file of the data is missing
  FOOTBALL_BAD_STATE = -3,     // a saved state is damaged, or is of another scenario
  FOOTBALL_NO_MEMORY = -4,
  FOOTBALL_BROKEN = -5,        // the engine noticed an inconsistency; only football_reset and football_free may follow
};

enum { FOOTBALL_TEAM = 11 };   // most players of a team

enum {                         // roles of players
  FOOTBALL_GK, FOOTBALL_CB, FOOTBALL_LB, FOOTBALL_RB, FOOTBALL_DM,
  FOOTBALL_CM, FOOTBALL_LM, FOOTBALL_RM, FOOTBALL_AM, FOOTBALL_CF,
  FOOTBALL_ROLES
};

enum {                         // modes of the game
  FOOTBALL_NORMAL, FOOTBALL_KICK_OFF, FOOTBALL_GOAL_KICK, FOOTBALL_FREE_KICK,
  FOOTBALL_CORNER, FOOTBALL_THROW_IN, FOOTBALL_PENALTY
};

enum {                         // actions of the engine (upstream's e_BackendAction), not of action sets
  FOOTBALL_IDLE, FOOTBALL_LEFT, FOOTBALL_TOP_LEFT, FOOTBALL_TOP, FOOTBALL_TOP_RIGHT, FOOTBALL_RIGHT,
  FOOTBALL_BOTTOM_RIGHT, FOOTBALL_BOTTOM, FOOTBALL_BOTTOM_LEFT, FOOTBALL_LONG_PASS, FOOTBALL_HIGH_PASS,
  FOOTBALL_SHORT_PASS, FOOTBALL_SHOT, FOOTBALL_KEEPER_RUSH, FOOTBALL_SLIDING, FOOTBALL_PRESSURE,
  FOOTBALL_TEAM_PRESSURE, FOOTBALL_SWITCH, FOOTBALL_SPRINT, FOOTBALL_DRIBBLE, FOOTBALL_RELEASE_DIRECTION,
  FOOTBALL_RELEASE_LONG_PASS, FOOTBALL_RELEASE_HIGH_PASS, FOOTBALL_RELEASE_SHORT_PASS, FOOTBALL_RELEASE_SHOT,
  FOOTBALL_RELEASE_KEEPER_RUSH, FOOTBALL_RELEASE_SLIDING, FOOTBALL_RELEASE_PRESSURE, FOOTBALL_RELEASE_TEAM_PRESSURE,
  FOOTBALL_RELEASE_SWITCH, FOOTBALL_RELEASE_SPRINT, FOOTBALL_RELEASE_DRIBBLE, FOOTBALL_BUILTIN_AI,
  FOOTBALL_ACTIONS
};

// Sticky actions: LEFT .. BOTTOM_LEFT (8, in the order above), SPRINT, DRIBBLE, and three that only the action set "full"
// has: KEEPER_RUSH, PRESSURE, TEAM_PRESSURE.
enum { FOOTBALL_STICKY = 13 };

typedef struct football_entry {  // a player of a scenario
  float x;                       // start position, as in AddPlayer of upstream's scenario builder
  float y;
  int32_t role;
  uint8_t lazy;                  // the built-in AI does not move this player
  uint8_t controllable;          // an agent may control this player
} football_entry;

typedef struct football_scenario {
  football_entry teams[2][FOOTBALL_TEAM];  // left, right
  int32_t sizes[2];                // players of each team, 1 to 11 (upstream gives an empty team one lazy goalkeeper)
  int32_t agents[2];               // controlled players of each team, 0 to its size
  float ball_x;                    // start position of the ball
  float ball_y;
  float difficulty[2];             // of the built-in AI of each team, 0 to 1
  uint32_t seed;                   // game_engine_random_seed; 42 in deterministic scenarios
  int32_t game_duration;           // steps
  int32_t second_half;             // step at which the second half begins
  int32_t physics_steps_per_frame; // 10
  uint8_t use_magnet;
  uint8_t offsides;
  uint8_t reverse_team_processing;
  uint8_t deterministic;
  uint8_t end_episode_on_score;              // not used by the engine; saved with a state
  uint8_t end_episode_on_possession_change;  // likewise
  uint8_t end_episode_on_out_of_play;        // likewise
  uint8_t control_all_players;
} football_scenario;

typedef struct football_player {
  float position[2];
  float direction[2];            // distance per step
  float tired_factor;            // 0 to 1
  int32_t role;
  uint8_t active;                // 0 after a red card
  uint8_t yellow_card;
  uint8_t designated;            // upstream's designated_player of this player
} football_player;

typedef struct football_info {   // upstream's get_info()
  float ball[3];
  float ball_direction[3];
  float ball_rotation[3];
  int32_t ball_owned_team;       // -1: none, 0: left, 1: right
  int32_t ball_owned_player;     // -1: none
  int32_t goals[2];
  int32_t game_mode;
  int32_t step;                  // -1 before the first step
  int32_t waiting_for_game_count;  // see football_set_waiting
  uint8_t is_in_play;
  uint8_t sticky[2][FOOTBALL_TEAM][FOOTBALL_STICKY];  // of agent i of a team
  int32_t controlled[2][FOOTBALL_TEAM];  // index of the player that agent i of a team controls, or -1
  int32_t sizes[2];              // players of each team
  football_player teams[2][FOOTBALL_TEAM];
} football_info;

typedef struct football_data football_data;  // upstream's files; shared by games and threads
typedef struct football_game football_game;

// Opens the files of upstream that the library contains. Returns NULL on failure. Games keep what they use, so the data
// may be closed before they are freed.
FOOTBALL_API football_data *football_open_data(void);
FOOTBALL_API void football_close_data(football_data *data);

// Fills a scenario with upstream's defaults: empty teams, one agent on the left, difficulties 1 and 0.6, 3000 steps.
FOOTBALL_API void football_default_scenario(football_scenario *scenario);

// Checks a scenario: 0, or FOOTBALL_BAD_ARGUMENT with a text that names the member.
FOOTBALL_API int football_check_scenario(const football_scenario *scenario);

// Makes a game, which must be reset before anything else. Returns NULL on failure.
FOOTBALL_API football_game *football_new(football_data *data);
FOOTBALL_API void football_free(football_game *game);  // NULL is allowed

// Starts an episode. Upstream's environment also steps until is_in_play; the caller does this.
FOOTBALL_API int football_reset(football_game *game, const football_scenario *scenario);

// Presses or releases a button of agent `index` of a team (0: left, 1: right). FOOTBALL_IDLE changes nothing but gives
// control to the agent; FOOTBALL_BUILTIN_AI gives it back to the built-in AI.
FOOTBALL_API int football_act(football_game *game, int team, int index, int action);

// Runs one step: physics_steps_per_frame frames. While info.is_in_play is 0, upstream's environment steps again without
// new actions.
FOOTBALL_API int football_step(football_game *game);

FOOTBALL_API int football_read(football_game *game, football_info *info);

// A counter of upstream's environment that is part of a saved state: steps in a row outside of FOOTBALL_NORMAL.
FOOTBALL_API void football_set_waiting(football_game *game, int32_t count);

// Saves the game together with `extra` bytes of the caller. *size is the capacity of `buffer` and becomes the needed size;
// with a NULL buffer or too little capacity (FOOTBALL_BAD_ARGUMENT), nothing is written. The scenario is part of the state.
FOOTBALL_API int football_save(football_game *game, const void *extra, size_t extra_size, void *buffer, size_t *size);

// Restores a state in a game of any scenario. Bytes that are refused return FOOTBALL_BAD_STATE and leave the game as it was.
// A hash catches corruption, not tampering; lengths, references and ranges of forged values are checked. `extra` must have the size
// with which the state was saved.
FOOTBALL_API int football_load(football_game *game, const void *buffer, size_t size, void *extra, size_t extra_size);

// The scenario of the current episode, as it was given to football_reset (or saved with the loaded state).
FOOTBALL_API int football_get_scenario(football_game *game, football_scenario *scenario);

// The text of the last error of the calling thread, in English, without a full stop; valid until its next call.
FOOTBALL_API const char *football_error(void);

#ifdef __cplusplus
}
#endif
