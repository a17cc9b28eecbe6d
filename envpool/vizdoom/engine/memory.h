/* The shared memory of an engine of ViZDoom 1.3.2: the state of the game, the input, and the drawn buffers. The engine
 * creates it; sizes and the version are checked when it is opened. */
#ifndef ENVPOOL_VIZDOOM_MEMORY_H
#define ENVPOOL_VIZDOOM_MEMORY_H

#include <stddef.h>
#include <stdint.h>

namespace envpool::vizdoom {

enum {
  kVersion = 132,
  kRegions = 7,
  kButtons = 43,
  kDeltaButtons = 5,
  kUserVariables = 60,
  kSlots = 10,
  kPlayers = 16,
  kNameLength = 128,
};

enum Region { kStateRegion, kInputRegion, kScreenRegion, kDepthRegion, kLabelsRegion, kAutomapRegion };

/* The start of the state region, up to the table of labels. */
struct GameState {
  uint32_t version;
  char version_text[16];
  uint64_t size; /* of the whole memory                                                                   */
  uint64_t region_offset[kRegions];
  uint64_t region_size[kRegions];
  bool region_writable[kRegions];

  uint32_t game_tic;
  int32_t game_state;
  int32_t game_action;
  uint32_t static_seed;
  bool is_settings_controller;
  bool is_netgame;
  bool is_multiplayer;
  bool is_deathmatch;
  bool is_recording;
  bool is_replaying;
  bool has_sound;

  uint32_t screen_width;
  uint32_t screen_height;
  uint64_t screen_pitch;
  uint64_t screen_size;
  int32_t screen_format;
  bool has_buffer[7];

  uint32_t map_start_tic;
  uint32_t map_tic;
  uint32_t map_tic_limit;
  int32_t map_reward; /* in units of 1 / 65536                                                            */
  int32_t user[kUserVariables];
  int32_t kill_count;
  int32_t item_count;
  int32_t secret_count;
  bool is_map_over;

  bool has_actor;
  bool is_dead;
  char name[kNameLength];
  int32_t player_kill_count;
  int32_t player_item_count;
  int32_t player_secret_count;
  int32_t frag_count;
  int32_t death_count;
  bool is_on_ground;
  int32_t health;
  int32_t armor;
  bool is_attack_ready;
  bool is_altattack_ready;
  int32_t selected_weapon;
  int32_t selected_weapon_ammo;
  int32_t ammo[kSlots];
  int32_t weapon[kSlots];
  double movement[10]; /* position, angle, pitch, roll, view height, velocity                             */
  double camera[7];
  bool is_ready_to_respawn;
  uint32_t player_number;
  uint32_t player_count;
  bool player_in_game[kPlayers];
  char player_name[kPlayers][kNameLength];
  int32_t player_frag_count[kPlayers];
};

/* The counters that follow the tables of labels, objects, sectors and lines, at the end of the state region. */
struct Counters {
  int32_t hit_count;
  int32_t hits_taken;
  int32_t damage_count;
  int32_t damage_taken;
};

struct Input {
  double button[kButtons];
  bool is_available[kButtons];
  double max_value[kDeltaButtons];
  double command[kButtons];
};

enum { kStateSize = 10611848, kCountersOffset = kStateSize - 32792 };
static_assert(sizeof(Input) == 776, "the input has the size of the engine's");

/* Numbers of game variables, as in vizdoom.GameVariable. Those between a first and a last one are consecutive. */
enum Variable {
  kKillCount = 0, kItemCount, kSecretCount, kFragCount, kDeathCount, kHitCount, kHitsTaken, kDamageCount, kDamageTaken,
  kHealth, kArmor, kDead, kOnGround, kAttackReady, kAltAttackReady, kSelectedWeapon, kSelectedWeaponAmmo,
  kAmmo0, kAmmo9 = kAmmo0 + 9, kWeapon0, kWeapon9 = kWeapon0 + 9,
  kPositionX, kVelocityZ = kPositionX + 9, kCameraPositionX, kCameraFov = kCameraPositionX + 6,
  kPlayerNumber, kPlayerCount, kPlayer1FragCount, kPlayer16FragCount = kPlayer1FragCount + 15,
  kUser1, kUser60 = kUser1 + 59,
};

inline double read_variable(const GameState *s, int32_t number) {
  const Counters *c = reinterpret_cast<const Counters *>(reinterpret_cast<const char *>(s) + kCountersOffset);
  switch (number) {
    case kKillCount: return s->kill_count;
    case kItemCount: return s->item_count;
    case kSecretCount: return s->secret_count;
    case kFragCount: return s->frag_count;
    case kDeathCount: return s->death_count;
    case kHitCount: return c->hit_count;
    case kHitsTaken: return c->hits_taken;
    case kDamageCount: return c->damage_count;
    case kDamageTaken: return c->damage_taken;
    case kHealth: return s->health;
    case kArmor: return s->armor;
    case kDead: return s->is_dead;
    case kOnGround: return s->is_on_ground;
    case kAttackReady: return s->is_attack_ready;
    case kAltAttackReady: return s->is_altattack_ready;
    case kSelectedWeapon: return s->selected_weapon;
    case kSelectedWeaponAmmo: return s->selected_weapon_ammo;
    case kPlayerNumber: return s->player_number;
    case kPlayerCount: return s->player_count;
  }
  if (number >= kAmmo0 && number <= kAmmo9) return s->ammo[number - kAmmo0];
  if (number >= kWeapon0 && number <= kWeapon9) return s->weapon[number - kWeapon0];
  if (number >= kPositionX && number <= kVelocityZ) return s->movement[number - kPositionX];
  if (number >= kCameraPositionX && number <= kCameraFov) return s->camera[number - kCameraPositionX];
  if (number >= kPlayer1FragCount && number <= kPlayer16FragCount)
    return s->player_frag_count[number - kPlayer1FragCount];
  if (number >= kUser1 && number <= kUser60) return s->user[number - kUser1];
  return 0;
}

}  // namespace envpool::vizdoom

#endif  // ENVPOOL_VIZDOOM_MEMORY_H
