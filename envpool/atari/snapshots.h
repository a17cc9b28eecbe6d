/* Snapshots of Atari envs: the functions of the ABI that save, restore and copy.
 *
 * A snapshot is an EnvState, the emulator's state, the frames of the observation, the bits of all packed images, and their
 * rows. The images are the emulator's two frame buffers and the planes. */
#ifndef ENVPOOL_ATARI_SNAPSHOTS_H
#define ENVPOOL_ATARI_SNAPSHOTS_H

#include <cstring>

#include "envs.h"
#include "packing.h"

namespace envpool::atari {

enum { kSnapshotNoConsole = 1 }; /* error code of env.pyx: a console could not be built                         */

/* The members of Env without pointers; `is_broken` is 0, and `older` is only used within a step. */
struct EnvState {
  ep_pcg64 rng;
  uint64_t seed;
  int32_t is_fresh, is_over, has_lost_life, lives, steps, newest, num_frames;
  float reward;
};

/* The parts of a snapshot, in bytes. */
struct Layout {
  size_t frames, rows, images, bits, head; /* of the observation's frames; rows of an image; images; bits of all images;
                                              everything but rows                                                */

  explicit Layout(const Envs &s)
      : frames(s.plane * static_cast<size_t>(s.config.num_planes) * static_cast<size_t>(s.config.stack_num)),
        rows(s.pixels / kRow),
        images(2 + static_cast<size_t>(s.config.num_planes)),
        bits(row_bits(rows)),
        head(sizeof(EnvState) + Emulator::state_size() + frames + images * bits) {}

  const uint8_t *emulator(const void *snapshot) const {
    return static_cast<const uint8_t *>(snapshot) + sizeof(EnvState);
  }
};

/* An image of an env: its pixels, and the image that it is packed with. */
struct Image {
  uint8_t *pixels;
  const uint8_t *other;
};

inline Image image_of(const Envs &s, Env &env, size_t number) {
  if (number < 2) return {env.emulator->frame_buffer(static_cast<int>(number)),
                          number == 0 ? nullptr : env.emulator->frame_buffer(0)};
  return {env.planes + (number - 2) * s.pixels, nullptr};
}

inline void save_env(const Env &env, EnvState *state) {
  *state = {env.rng,   env.seed,   env.is_fresh,   env.is_over, env.has_lost_life, env.lives,
            env.steps, env.newest, env.num_frames, env.reward};
}

inline void restore_env(Env *env, const EnvState &state) {
  env->rng = state.rng;
  env->seed = state.seed;
  env->is_fresh = state.is_fresh;
  env->is_broken = 0;
  env->is_over = state.is_over;
  env->has_lost_life = state.has_lost_life;
  env->lives = state.lives;
  env->steps = state.steps;
  env->newest = state.newest;
  env->num_frames = state.num_frames;
  env->reward = state.reward;
}

/* Whether an env can continue from a snapshot: it has the right size, and every number that is used as an index or as the
 * bound of a loop is in its range. The draws of a generator whose increment is even may not end. */
inline bool is_valid(const Envs &s, const Env &env, const void *snapshot, int64_t size) {
  const Layout layout(s);
  if (size < static_cast<int64_t>(layout.head)) return false;
  EnvState state;
  std::memcpy(&state, snapshot, sizeof state);
  const auto is_flag = [](int32_t value) { return value == 0 || value == 1; };
  if (state.rng.step_low % 2 == 0 || state.rng.has_half > 1) return false;
  if (!is_flag(state.is_fresh) || !is_flag(state.is_over) || !is_flag(state.has_lost_life)) return false;
  if (state.steps < 0 || state.steps > s.config.max_episode_steps) return false;
  if (state.newest < 0 || state.newest >= s.config.stack_num) return false;
  if (state.num_frames < 0 || state.num_frames > s.config.stack_num) return false;
  const uint8_t *bits = layout.emulator(snapshot) + Emulator::state_size() + layout.frames;
  size_t stored = 0;
  for (size_t k = 0; k < layout.images; k++, bits += layout.bits) {
    const size_t count = count_stored(bits, layout.rows);
    if (count > layout.rows) return false;
    stored += count;
  }
  return size == static_cast<int64_t>(layout.head + stored * kRow) && env.emulator->is_valid(layout.emulator(snapshot));
}

/* envpool_env.state_size */
inline int64_t state_size(void *state) {
  const Layout layout(*static_cast<const Envs *>(state));
  return static_cast<int64_t>(layout.head + layout.images * layout.rows * kRow);
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
    EnvState saved;
    save_env(env, &saved);
    std::memcpy(at, &saved, sizeof saved);
    uint8_t *bits = at + sizeof saved + Emulator::state_size() + layout.frames, *stored = at + layout.head;
    std::memcpy(bits - layout.frames, env.frames, layout.frames);
    for (size_t k = 0; k < layout.images; k++, bits += layout.bits) {
      const Image image = image_of(s, env, k);
      stored = pack(image.pixels, image.other, layout.rows, bits, stored);
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
      if (!env.emulator->restore(at + sizeof saved)) {
        env.is_broken = 1;
        status = snapshots->errors[i] = kSnapshotNoConsole;
        continue;
      }
      restore_env(&env, saved);
      const uint8_t *bits = at + sizeof saved + Emulator::state_size() + layout.frames, *stored = at + layout.head;
      std::memcpy(env.frames, bits - layout.frames, layout.frames);
      for (size_t k = 0; k < layout.images; k++, bits += layout.bits) {
        const Image image = image_of(s, env, k);
        stored = unpack(image.pixels, image.other, layout.rows, bits, stored);
      }
    }
  }
  return status;
}

/* envpool_env.copy_state */
inline int copy_state(void *state, const envpool_copies *copies) {
  Envs &s = *static_cast<Envs *>(state);
  const Layout layout(s);
  int status = 0;
  uint8_t *const scratch = static_cast<uint8_t *>(std::malloc(Emulator::state_size()));
  if (!scratch) return ENVPOOL_NO_MEMORY;
  for (int32_t i = 0; i < copies->n; i++) {
    Env &from = s.env[copies->from[i]], &to = s.env[copies->to[i]];
    if (from.is_broken || (to.is_broken && !to.emulator->load(0)) || !from.emulator->save(scratch) ||
        !to.emulator->restore(scratch)) {
      to.is_broken = 1;
      status = copies->errors[i] = kSnapshotNoConsole;
      continue;
    }
    EnvState saved;
    save_env(from, &saved);
    restore_env(&to, saved);
    std::memcpy(to.frames, from.frames, layout.frames);
    for (size_t k = 0; k < layout.images; k++)
      std::memcpy(image_of(s, to, k).pixels, image_of(s, from, k).pixels, s.pixels);
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
}

}  // namespace envpool::atari

#endif  // ENVPOOL_ATARI_SNAPSHOTS_H
