/* Prints what version 2 of the ABI fixes: constants, and the offset and size of each member that its first header has.
 * HEADER is the header to look at. */
#include <stdio.h>

#include HEADER

#define STRUCT(type) printf("%s sizeof %zu\n", #type, sizeof(type))
#define MEMBER(type, m) printf("%s.%s %zu %zu\n", #type, #m, offsetof(type, m), sizeof(((type *)0)->m))
#define NUMBER(name) printf("%s = %lld\n", #name, (long long)(name))
#define CALL(m, type) printf("%s %d\n", #m, _Generic(((envpool_env *)0)->m, type: 1, default: 0))

int main(void) {
  NUMBER(ENVPOOL_ABI_VERSION), NUMBER(ENVPOOL_MAX_DIMS), NUMBER(ENVPOOL_MAX_FIELDS), NUMBER(ENVPOOL_MAX_BATCH);
  NUMBER(ENVPOOL_NO_MEMORY), NUMBER(ENVPOOL_TRUNCATION_KEEPS_DISCOUNT);
  NUMBER(ENVPOOL_BOOL), NUMBER(ENVPOOL_INT8), NUMBER(ENVPOOL_UINT8), NUMBER(ENVPOOL_INT32), NUMBER(ENVPOOL_INT64);
  NUMBER(ENVPOOL_FLOAT32), NUMBER(ENVPOOL_FLOAT64);
  printf("ENVPOOL_CAPSULE_NAME = %s\n", ENVPOOL_CAPSULE_NAME);

  STRUCT(envpool_field);
  MEMBER(envpool_field, name), MEMBER(envpool_field, dtype), MEMBER(envpool_field, ndim);
  MEMBER(envpool_field, shape), MEMBER(envpool_field, low), MEMBER(envpool_field, high);
  MEMBER(envpool_field, num_low), MEMBER(envpool_field, num_high);

  STRUCT(envpool_setup);
  MEMBER(envpool_setup, struct_size), MEMBER(envpool_setup, abi_version), MEMBER(envpool_setup, config);
  MEMBER(envpool_setup, text), MEMBER(envpool_setup, text_size), MEMBER(envpool_setup, num_envs);

  STRUCT(envpool_seeds);
  MEMBER(envpool_seeds, struct_size), MEMBER(envpool_seeds, n), MEMBER(envpool_seeds, ids);
  MEMBER(envpool_seeds, seeds), MEMBER(envpool_seeds, errors);

  STRUCT(envpool_batch);
  MEMBER(envpool_batch, struct_size), MEMBER(envpool_batch, n), MEMBER(envpool_batch, ids);
  MEMBER(envpool_batch, reset), MEMBER(envpool_batch, resets), MEMBER(envpool_batch, num_resets);
  MEMBER(envpool_batch, contiguous), MEMBER(envpool_batch, actions), MEMBER(envpool_batch, reward);
  MEMBER(envpool_batch, terminated), MEMBER(envpool_batch, truncated), MEMBER(envpool_batch, errors);
  MEMBER(envpool_batch, discount), MEMBER(envpool_batch, num_players), MEMBER(envpool_batch, player_reward);
  MEMBER(envpool_batch, player_terminated), MEMBER(envpool_batch, player_truncated);

  STRUCT(envpool_rows);
  MEMBER(envpool_rows, struct_size), MEMBER(envpool_rows, n), MEMBER(envpool_rows, ids);
  MEMBER(envpool_rows, fields), MEMBER(envpool_rows, row0), MEMBER(envpool_rows, player_rows);

  STRUCT(envpool_frames);
  MEMBER(envpool_frames, struct_size), MEMBER(envpool_frames, n), MEMBER(envpool_frames, ids);
  MEMBER(envpool_frames, assets), MEMBER(envpool_frames, pixels), MEMBER(envpool_frames, errors);
  MEMBER(envpool_frames, height), MEMBER(envpool_frames, width), MEMBER(envpool_frames, camera);
  MEMBER(envpool_frames, kind);

  STRUCT(envpool_env);
  MEMBER(envpool_env, abi_version), MEMBER(envpool_env, struct_size), MEMBER(envpool_env, name);
  MEMBER(envpool_env, flags), MEMBER(envpool_env, required_flags), MEMBER(envpool_env, field_size);
  MEMBER(envpool_env, max_num_players), MEMBER(envpool_env, num_fields), MEMBER(envpool_env, num_actions);
  MEMBER(envpool_env, fields), MEMBER(envpool_env, actions), MEMBER(envpool_env, config);
  MEMBER(envpool_env, create), MEMBER(envpool_env, destroy), MEMBER(envpool_env, seed_many);
  MEMBER(envpool_env, step_many), MEMBER(envpool_env, write_many), MEMBER(envpool_env, run_many);
  MEMBER(envpool_env, error_text), MEMBER(envpool_env, render_many), MEMBER(envpool_env, frame_height);
  MEMBER(envpool_env, frame_width), MEMBER(envpool_env, lanes), MEMBER(envpool_env, reserved);

  CALL(create, int (*)(const envpool_setup *, void **));
  CALL(destroy, void (*)(void *));
  CALL(seed_many, int (*)(void *, const envpool_seeds *));
  CALL(step_many, int (*)(void *, const envpool_batch *));
  CALL(write_many, void (*)(void *, const envpool_rows *));
  CALL(run_many, int (*)(void *, const envpool_batch *, const envpool_rows *));
  CALL(error_text, void (*)(void *, int32_t, int32_t, char *, size_t));
  CALL(render_many, int (*)(void *, const envpool_frames *));
  return 0;
}
