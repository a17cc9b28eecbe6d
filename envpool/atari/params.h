/* Parameters of Atari envs: the functions of the ABI that read and set them. */
#ifndef ENVPOOL_ATARI_PARAMS_H
#define ENVPOOL_ATARI_PARAMS_H

#include "envs.h"

namespace envpool::atari {

inline constexpr int kBadMode = 3; /* error code of env.pyx: the game lacks the mode or the difficulty          */

/* Whether the parameters of an env, which may be forged, are allowed. */
inline bool are_allowed(const Env &env, const EnvParams &p) {
  return 1 <= p.frame_skip && p.frame_skip <= kMaxFrameSkip && p.repeat_action_probability >= 0 &&
         p.repeat_action_probability <= 1 && env.emulator->accepts(p.mode, p.difficulty);
}

/* Puts allowed parameters into force. Returns false if memory is exhausted. */
inline bool put_params(Env *env, const EnvParams &p) {
  env->params = p;
  return env->emulator->configure(p.mode, p.difficulty, static_cast<float>(p.repeat_action_probability));
}

/* envpool_env.get_params */
inline int get_params(void *state, const envpool_params *call) {
  const Envs &s = *static_cast<const Envs *>(state);
  int64_t *const skips = static_cast<int64_t *>(call->values[0]);
  int64_t *const modes = static_cast<int64_t *>(call->values[1]);
  int64_t *const difficulties = static_cast<int64_t *>(call->values[2]);
  double *const repeats = static_cast<double *>(call->values[3]);
  for (int32_t i = 0; i < call->n; i++) {
    const int32_t id = call->ids[i];
    const EnvParams &p = s.env[id].params;
    skips[id] = p.frame_skip;
    modes[id] = p.mode;
    difficulties[id] = p.difficulty;
    repeats[id] = p.repeat_action_probability;
  }
  return 0;
}

/* envpool_env.set_params */
inline int set_params(void *state, const envpool_params *call) {
  Envs &s = *static_cast<Envs *>(state);
  const int64_t *const skips = static_cast<const int64_t *>(call->values[0]);
  const int64_t *const modes = static_cast<const int64_t *>(call->values[1]);
  const int64_t *const difficulties = static_cast<const int64_t *>(call->values[2]);
  const double *const repeats = static_cast<const double *>(call->values[3]);
  int status = 0;
  for (int32_t i = 0; i < call->n; i++) {
    const int32_t id = call->ids[i];
    const EnvParams p = {static_cast<int32_t>(skips[id]), static_cast<int32_t>(modes[id]),
                         static_cast<int32_t>(difficulties[id]), 0, repeats[id]};
    if (!are_allowed(s.env[id], p) || !put_params(&s.env[id], p)) status = call->errors[i] = kBadMode;
  }
  return status;
}

/* Adds parameters to a definition. */
inline void with_params(envpool_env *env) {
  env->get_params = get_params;
  env->set_params = set_params;
}

}  // namespace envpool::atari

#endif  // ENVPOOL_ATARI_PARAMS_H
