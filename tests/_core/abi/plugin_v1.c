/* A plug-in that was built against version 1 of the ABI. The pool must refuse it before it calls any function. */
#include <stdlib.h>

#include "env_v1.h"

static void *create(const void *config, int32_t num_envs) {
  (void)config, (void)num_envs;
  abort();
}

static void destroy(void *state) {
  (void)state;
  abort();
}

static void seed_many(void *state, const int32_t *ids, int32_t n, const uint64_t *seeds) {
  (void)state, (void)ids, (void)n, (void)seeds;
  abort();
}

static int step_many(void *state, const envpool_batch *batch) {
  (void)state, (void)batch;
  abort();
}

static void write_many(void *state, const int32_t *ids, int32_t n, void *const *fields, int64_t row0) {
  (void)state, (void)ids, (void)n, (void)fields, (void)row0;
  abort();
}

static const envpool_field FIELDS[] = {{.name = "obs", .dtype = ENVPOOL_INT32}};
static const envpool_field ACTIONS[] = {{.name = "action", .dtype = ENVPOOL_INT32}};

const envpool_env SEPARATE = {
    .abi_version = ENVPOOL_ABI_VERSION, .struct_size = sizeof(envpool_env), .name = "Old",
    .num_fields = 1, .num_actions = 1, .fields = FIELDS, .actions = ACTIONS,
    .create = create, .destroy = destroy, .seed_many = seed_many, .step_many = step_many, .write_many = write_many,
};
