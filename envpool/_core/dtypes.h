/* The dtypes of fields and their C types, once. Code with a case for each dtype expands EP_NUMBERS. */
#ifndef ENVPOOL_CORE_DTYPES_H
#define ENVPOOL_CORE_DTYPES_H

#include <stdint.h>
#include <string.h>

#include "envpool/env.h"

/* X(member of envpool_dtype, name of functions, C type). A bool is stored as uint8, see EP_STORED. */
#define EP_INTEGERS(X)                \
  X(ENVPOOL_INT8, int8, int8_t)       \
  X(ENVPOOL_UINT8, uint8, uint8_t)    \
  X(ENVPOOL_INT16, int16, int16_t)    \
  X(ENVPOOL_UINT16, uint16, uint16_t) \
  X(ENVPOOL_INT32, int32, int32_t)    \
  X(ENVPOOL_UINT32, uint32, uint32_t) \
  X(ENVPOOL_INT64, int64, int64_t)    \
  X(ENVPOOL_UINT64, uint64, uint64_t)
#define EP_NUMBERS(X)                \
  EP_INTEGERS(X)                     \
  X(ENVPOOL_FLOAT32, float32, float) \
  X(ENVPOOL_FLOAT64, float64, double)

#define EP_STORED(DTYPE) ((DTYPE) == ENVPOOL_BOOL ? ENVPOOL_UINT8 : (DTYPE))

/* Casts n elements of a dtype to float32. */
static inline void ep_cast_items(int32_t dtype, const void *x, int64_t n, float *y) {
#define EP_CASE(DTYPE, NAME, T)                                      \
  case DTYPE:                                                        \
    for (int64_t k = 0; k < n; k++) y[k] = (float)((const T *)x)[k]; \
    break;
  switch (EP_STORED(dtype)) { EP_NUMBERS(EP_CASE) }
#undef EP_CASE
}

/* Returns element i of an array of a dtype that need not be aligned. */
static inline double ep_element(int32_t dtype, const void *x, int64_t i) {
#define EP_CASE(DTYPE, NAME, T)                                             \
  case DTYPE: {                                                             \
    T item;                                                                 \
    memcpy(&item, (const char *)x + i * (int64_t)sizeof item, sizeof item); \
    return (double)item;                                                    \
  }
  switch (EP_STORED(dtype)) { EP_NUMBERS(EP_CASE) }
#undef EP_CASE
  return 0;
}

/* Stores a number as element i of an aligned array of floats. */
static inline void ep_put_float(int32_t dtype, void *x, int64_t i, double value) {
  if (dtype == ENVPOOL_FLOAT32)
    ((float *)x)[i] = (float)value;
  else
    ((double *)x)[i] = value;
}

/* Stores an integer, of which signed dtypes get the two's complement, as element i of an aligned array of integers. */
static inline void ep_put_integer(int32_t dtype, void *x, int64_t i, uint64_t value) {
#define EP_CASE(DTYPE, NAME, T) \
  case DTYPE:                   \
    ((T *)x)[i] = (T)value;     \
    break;
  switch (EP_STORED(dtype)) { EP_NUMBERS(EP_CASE) }
#undef EP_CASE
}

#endif /* ENVPOOL_CORE_DTYPES_H */
