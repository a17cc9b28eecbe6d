/* Snapshots of Atari envs: the functions of the ABI that save, restore and copy.
 *
 * A snapshot is an EnvState, the emulator's state, the codes of the rows of all images, and the rows that are stored. The
 * images are the emulator's two frame buffers, the planes, and the frames of the observation. */
#ifndef ENVPOOL_ATARI_SNAPSHOTS_H
#define ENVPOOL_ATARI_SNAPSHOTS_H

#include <cstring>

#include "envs.h"
#include "packing.h"
#include "params.h"

namespace envpool::atari {

enum { kSnapshotNoConsole = 1 }; /* error code of env.pyx: a console could not be built                         */

inline size_t num_images(const Envs &s) {
  return 2 + static_cast<size_t>(s.config.num_planes) + static_cast<size_t>(s.config.stack_num);
}

/* Returns an image of an env. Each is only expected to equal what can be computed from images with lower numbers. */
inline Image image_of(const Envs &s, const Env &env, size_t number) {
  const size_t planes = static_cast<size_t>(s.config.num_planes), width = kLongestRow;
  const uint8_t *const screen = env.emulator->frame_buffer(0), *const earlier = env.emulator->frame_buffer(1);
  if (number < 2) {
    uint8_t *const buffer = env.emulator->frame_buffer(static_cast<int>(number));
    return {buffer, s.pixels / width, width, number == 0 ? nullptr : screen, nullptr, nullptr};
  }
  number -= 2;
  if (number < planes) {
    const uint8_t *const table = s.tables[planes == 1 ? 0 : 1 + number];
    return {env.planes + number * s.pixels, s.pixels / width, width, screen, earlier, table};
  }
  number -= planes;
  uint8_t *const frame = env.frames + number * planes * s.plane;
  const size_t columns = static_cast<size_t>(s.config.width);
  return {frame, planes * s.plane / columns, columns, number == 0 ? nullptr : frame - planes * s.plane, nullptr, nullptr};
}

/* Bytes of the parts of a snapshot. */
struct Layout {
  size_t codes; /* offset of the codes                                                                          */
  size_t head;  /* everything but the rows                                                                      */
  size_t all;   /* the largest snapshot                                                                         */

  explicit Layout(const Envs &s) : codes(sizeof(EnvState) + Emulator::state_size()), head(codes), all(codes) {
    const size_t planes = static_cast<size_t>(s.config.num_planes), stack = static_cast<size_t>(s.config.stack_num);
    const size_t rows = s.pixels / kLongestRow, frame_rows = planes * static_cast<size_t>(s.config.height);
    head += (2 + planes) * ((rows + 3) / 4) + stack * ((frame_rows + 3) / 4);
    all = head + (2 + planes) * s.pixels + stack * planes * s.plane;
  }
};

/* Gives an env the numbers of another one. */
inline void restore_env(Env *env, const EnvState &state) {
  static_cast<EnvState &>(*env) = state;
  env->unused = 0;
  env->is_broken = 0;
}

/* Whether an env can continue from a snapshot: it has the right size, and every number that is used as an index or as the
 * bound of a loop is in its range. */
inline bool is_valid(const Envs &s, const Env &env, const uint8_t *snapshot, int64_t size) {
  const Layout layout(s);
  if (size < static_cast<int64_t>(layout.head)) return false;
  EnvState state;
  std::memcpy(&state, snapshot, sizeof state);
  if (!are_allowed(env, state.params) || state.params.unused != 0) return false;
  const auto is_flag = [](int32_t value) { return value == 0 || value == 1; };
  if (!ep_pcg64_is_valid(&state.rng)) return false;
  if (!is_flag(state.is_fresh) || !is_flag(state.is_over) || !is_flag(state.has_lost_life)) return false;
  if (!is_flag(state.life_loss)) return false;
  if (state.steps < 0 || state.steps > s.config.max_episode_steps) return false;
  if (state.newest < 0 || state.newest >= s.config.stack_num) return false;
  if (state.num_frames < 0 || state.num_frames > s.config.stack_num) return false;
  const uint8_t *codes = snapshot + layout.codes;
  int64_t expected = static_cast<int64_t>(layout.head);
  for (size_t k = 0; k < num_images(s); k++) {
    const Image image = image_of(s, env, k);
    const int64_t stored = image.stored_bytes(codes);
    if (stored < 0) return false;
    expected += stored;
    codes += image.code_bytes();
  }
  return size == expected && env.emulator->is_valid(snapshot + sizeof(EnvState));
}

/* envpool_env.state_size */
inline int64_t state_size(void *state) {
  return static_cast<int64_t>(Layout(*static_cast<const Envs *>(state)).all);
}

/* envpool_env.get_state */
inline int get_state(void *state, const envpool_snapshots *snapshots) {
  const Envs &s = *static_cast<const Envs *>(state);
  const Layout layout(s);
  int status = 0;
  for (int32_t i = 0; i < snapshots->n; i++) {
    Env &env = s.env[snapshots->ids[i]];
    uint8_t *at = static_cast<uint8_t *>(snapshots->bytes[i]);
    if (env.is_broken || !env.emulator->save(at + sizeof(EnvState))) {
      status = snapshots->errors[i] = kSnapshotNoConsole;
      continue;
    }
    std::memcpy(at, static_cast<const EnvState *>(&env), sizeof(EnvState));
    uint8_t *codes = at + layout.codes, *stored = at + layout.head;
    for (size_t k = 0; k < num_images(s); k++) {
      const Image image = image_of(s, env, k);
      stored = image.pack(codes, stored);
      codes += image.code_bytes();
    }
    snapshots->sizes[i] = stored - at;
  }
  return status;
}

/* envpool_env.set_state. An env whose console could not be built gets a new one, whatever its seed: all generators are
 * restored. */
inline int set_state(void *state, const envpool_snapshots *snapshots) {
  Envs &s = *static_cast<Envs *>(state);
  const Layout layout(s);
  int status = 0;
  for (int32_t i = 0; i < snapshots->n; i++) {
    Env &env = s.env[snapshots->ids[i]];
    const uint8_t *at = static_cast<const uint8_t *>(snapshots->bytes[i]);
    if (env.is_broken && !env.emulator->load(0)) {
      status = snapshots->errors[i] = kSnapshotNoConsole;
    } else if (!is_valid(s, env, at, snapshots->sizes[i])) {
      status = snapshots->errors[i] = ENVPOOL_BAD_SNAPSHOT;
    } else if (!snapshots->only_checks) {
      EnvState saved;
      std::memcpy(&saved, at, sizeof saved);
      if (!put_params(&env, saved.params) || !env.emulator->restore(at + sizeof saved)) {
        env.is_broken = 1;
        status = snapshots->errors[i] = kSnapshotNoConsole;
        continue;
      }
      restore_env(&env, saved);
      const uint8_t *codes = at + layout.codes, *stored = at + layout.head;
      for (size_t k = 0; k < num_images(s); k++) {
        const Image image = image_of(s, env, k);
        stored = image.unpack(codes, stored);
        codes += image.code_bytes();
      }
    }
  }
  return status;
}

/* envpool_env.copy_state */
inline int copy_state(void *state, const envpool_copies *copies) {
  Envs &s = *static_cast<Envs *>(state);
  int status = 0;
  uint8_t *const scratch = static_cast<uint8_t *>(std::malloc(Emulator::state_size()));
  if (!scratch) return ENVPOOL_NO_MEMORY;
  for (int32_t i = 0; i < copies->n; i++) {
    Env &from = s.env[copies->from[i]], &to = s.env[copies->to[i]];
    if (from.is_broken || (to.is_broken && !to.emulator->load(0)) || !from.emulator->save(scratch) ||
        !put_params(&to, from.params) || !to.emulator->restore(scratch)) {
      to.is_broken = 1;
      status = copies->errors[i] = kSnapshotNoConsole;
      continue;
    }
    restore_env(&to, from);
    for (size_t k = 0; k < num_images(s); k++) {
      const Image image = image_of(s, from, k);
      std::memcpy(image_of(s, to, k).pixels, image.pixels, image.rows * image.width);
    }
  }
  std::free(scratch);
  return status;
}

/* Adds snapshots to a definition. */
inline void with_snapshots(envpool_env *env) {
  env->state_size = state_size;
  env->get_state = get_state;
  env->set_state = set_state;
  env->copy_state = copy_state;
  env->state_version = 2; /* version 0 had no parameters, and version 1 neither strengths nor numbers of frames */
}

}  // namespace envpool::atari

#endif  // ENVPOOL_ATARI_SNAPSHOTS_H
