/* Multilayer perceptrons in float32: the forward pass of networks.pyx.
 *
 * Each output is the bias plus the products in the order of the inputs, and no operations are fused, so that every vector
 * width gives the same bits, see simd.h. So does the number of rows that are computed together. */
#ifndef ENVPOOL_ROLLOUT_DENSE_H
#define ENVPOOL_ROLLOUT_DENSE_H

#include <stdint.h>
#include <string.h>

#include "envpool/simd.h"

enum {
  EP_PANEL = 16, /* outputs whose weights lie together */
  EP_ROWS = 8,   /* the numbers of rows in memory are multiples of it */
  EP_SINGLE = 2, /* rows that take less time one by one than together with unused ones */
  EP_TILE = 32   /* rows that pass through all layers together, so that they stay in the first cache */
};

typedef enum ep_activation { EP_LINEAR, EP_TANH, EP_RELU, EP_ELU } ep_activation;

struct ep_dense {
  int64_t inputs, outputs;
  int64_t panels;       /* EP_PANEL outputs each; the last one may be partly unused */
  const float *weights; /* (panels x inputs x EP_PANEL), 0 where unused */
  const float *bias;    /* (panels x EP_PANEL), 0 where unused */
  ep_activation activation;
  float alpha; /* EP_ELU */
};
typedef struct ep_dense ep_dense;

/* EP_MULTIPLY(name, lanes, rows, vectors) defines a function that computes `rows` rows of `vectors` times `lanes` outputs,
 * whose sums fit into the vector registers. */
#define EP_MULTIPLY(name, lanes, rows, vectors)                                                                      \
  static inline __attribute__((always_inline)) void name(const float *w, const float *bias, int64_t inputs,          \
                                                         const float *x, int64_t x_stride, float *y,                 \
                                                         int64_t y_stride) {                                         \
    typedef float lanes_t __attribute__((vector_size(4 * (lanes))));                                                 \
    lanes_t sum[rows][vectors], column[vectors];                                                                     \
    for (int v = 0; v < (vectors); v++) {                                                                            \
      memcpy(&column[v], bias + v * (lanes), sizeof(lanes_t));                                                       \
      for (int r = 0; r < (rows); r++) sum[r][v] = column[v];                                                        \
    }                                                                                                                \
    for (int64_t k = 0; k < inputs; k++) {                                                                           \
      for (int v = 0; v < (vectors); v++) memcpy(&column[v], w + k * EP_PANEL + v * (lanes), sizeof(lanes_t));       \
      for (int r = 0; r < (rows); r++) {                                                                             \
        for (int v = 0; v < (vectors); v++) sum[r][v] += x[r * x_stride + k] * column[v];                            \
      }                                                                                                              \
    }                                                                                                                \
    for (int r = 0; r < (rows); r++) {                                                                               \
      for (int v = 0; v < (vectors); v++) memcpy(y + r * y_stride + v * (lanes), &sum[r][v], sizeof(lanes_t));       \
    }                                                                                                                \
  }

EP_MULTIPLY(ep_multiply_8x16, 16, 8, 1)
EP_MULTIPLY(ep_multiply_4x16, 8, 4, 2)
EP_MULTIPLY(ep_multiply_4x8, 8, 4, 1)
#undef EP_MULTIPLY

/* EP_MULTIPLY_ROW(name, lanes, count) defines a function that computes one row of `count` panels. Enough sums are open at
 * once to hide the latency of an addition. */
#define EP_MULTIPLY_ROW(name, lanes, count)                                                                          \
  static inline __attribute__((always_inline)) void name(const float *w, const float *bias, int64_t inputs,          \
                                                         const float *x, float *y) {                                 \
    typedef float lanes_t __attribute__((vector_size(4 * (lanes))));                                                 \
    enum { VECTORS = EP_PANEL / (lanes) };                                                                           \
    const int64_t panel = inputs * EP_PANEL;                                                                         \
    lanes_t sum[(count) * VECTORS], column;                                                                          \
    for (int v = 0; v < (count) * VECTORS; v++) memcpy(&sum[v], bias + v * (lanes), sizeof(lanes_t));                \
    for (int64_t k = 0; k < inputs; k++) {                                                                           \
      for (int v = 0; v < (count) * VECTORS; v++) {                                                                  \
        memcpy(&column, w + v / VECTORS * panel + k * EP_PANEL + v % VECTORS * (lanes), sizeof(lanes_t));            \
        sum[v] += x[k] * column;                                                                                     \
      }                                                                                                              \
    }                                                                                                                \
    for (int v = 0; v < (count) * VECTORS; v++) memcpy(y + v * (lanes), &sum[v], sizeof(lanes_t));                   \
  }

EP_MULTIPLY_ROW(ep_multiply_row_wide_1, 16, 1)
EP_MULTIPLY_ROW(ep_multiply_row_wide_4, 16, 4)
EP_MULTIPLY_ROW(ep_multiply_row_1, 8, 1)
EP_MULTIPLY_ROW(ep_multiply_row_4, 8, 4)
#undef EP_MULTIPLY_ROW

/* Writes the sums of one row (panels x EP_PANEL) of a layer. */
static inline __attribute__((always_inline)) void ep_layer_row(const ep_dense *d, const float *x, float *y,
                                                               const int is_wide) {
  const float *w = d->weights, *bias = d->bias;
  int64_t left = d->panels;
  for (; left >= 4; left -= 4, w += 4 * d->inputs * EP_PANEL, bias += 4 * EP_PANEL, y += 4 * EP_PANEL) {
    if (is_wide) ep_multiply_row_wide_4(w, bias, d->inputs, x, y);
    else ep_multiply_row_4(w, bias, d->inputs, x, y);
  }
  for (; left > 0; left--, w += d->inputs * EP_PANEL, bias += EP_PANEL, y += EP_PANEL) {
    if (is_wide) ep_multiply_row_wide_1(w, bias, d->inputs, x, y);
    else ep_multiply_row_1(w, bias, d->inputs, x, y);
  }
}

/* Without this option, selections become branches; see recursions.h. */
#pragma GCC push_options
#pragma GCC optimize("no-trapping-math")

/* exp(x) - 1 for x <= 0, to two units in the last place: 2**n * (exp(r) - 1) + (2**n - 1), where x = n * log(2) + r and
 * |r| <= log(2) / 2. */
static inline __attribute__((always_inline)) float ep_expm1(float x) {
  const float round = 12582912; /* 1.5 * 2**23: the sum with it has the nearest integer in its lowest bits */
  const float bounded = x < -30 ? -30 : x, shifted = bounded * 1.44269504f + round, n = shifted - round;
  const float r = (bounded - n * 0.693145752f) - n * 1.42860677e-06f; /* the first product is exact */
  const float series =
      (((((1 / 5040.0f) * r + 1 / 720.0f) * r + 1 / 120.0f) * r + 1 / 24.0f) * r + 1 / 6.0f) * r + 0.5f;
  const float fraction = r + (r * r) * series;
  uint32_t bits;
  float power;
  memcpy(&bits, &shifted, sizeof(bits));
  bits = (bits << 23) + 0x3f800000u;
  memcpy(&power, &bits, sizeof(bits));
  return power * fraction + (power - 1);
}

/* tanh(x) with an error of at most 4e-7, by a quotient that was fitted to it up to |x| = 9; the result never exceeds 1. */
static inline __attribute__((always_inline)) float ep_tanh(float x) {
  const float bounded = x < -7.9f ? -7.9f : x > 7.9f ? 7.9f : x, square = bounded * bounded;
  const float above =
      ((((-1.22461537e-11f * square + 3.06423995e-08f) * square + 2.80312570e-05f) * square + 3.86950533e-03f) * square +
       1.36808543e-01f) * square + 1;
  const float below = (((1.28903134e-06f * square + 3.94070867e-04f) * square + 2.72501469e-02f) * square +
                       4.70141864e-01f) * square + 1;
  return bounded * above / below;
}

/* Writes the outputs of a layer (rows x panels x EP_PANEL); is_wide: with vectors of 64 bytes. Rows are computed in groups.
 * The last group reads and writes up to a multiple of EP_ROWS; if few rows are left, they are computed singly. */
static inline __attribute__((always_inline)) void ep_layer(const ep_dense *d, const float *x, int64_t x_stride,
                                                           int64_t rows, float *y, const int is_wide) {
  const int64_t y_stride = d->panels * EP_PANEL, n = rows * y_stride;
  const int64_t group = is_wide ? 8 : 4, single = rows % group <= EP_SINGLE ? rows % group : 0, grouped = rows - single;
  const float alpha = d->alpha;
  for (int64_t p = 0; p < d->panels && grouped > 0; p++) {
    const float *w = d->weights + p * d->inputs * EP_PANEL, *bias = d->bias + p * EP_PANEL;
    float *to = y + p * EP_PANEL;
    const int is_half = d->outputs - p * EP_PANEL <= EP_PANEL / 2;
    for (int64_t r = 0; r < grouped; r += group) {
      const float *from = x + r * x_stride;
      if (is_wide) ep_multiply_8x16(w, bias, d->inputs, from, x_stride, to + r * y_stride, y_stride);
      else if (is_half) ep_multiply_4x8(w, bias, d->inputs, from, x_stride, to + r * y_stride, y_stride);
      else ep_multiply_4x16(w, bias, d->inputs, from, x_stride, to + r * y_stride, y_stride);
    }
  }
  for (int64_t r = grouped; r < rows; r++) ep_layer_row(d, x + r * x_stride, y + r * y_stride, is_wide);
  if (d->activation == EP_TANH) {
    for (int64_t i = 0; i < n; i++) {
      y[i] = ep_tanh(y[i]);
    }
  } else if (d->activation == EP_RELU) {
    for (int64_t i = 0; i < n; i++) y[i] = y[i] < 0 ? 0 : y[i]; /* NaN stays */
  } else if (d->activation == EP_ELU) {
    for (int64_t i = 0; i < n; i++) {
      const float below = alpha * ep_expm1(y[i] > 0 ? 0 : y[i]);
      y[i] = y[i] > 0 ? y[i] : below;
    }
  }
}

ENVPOOL_SIMD static void ep_layer_narrow(const ep_dense *d, const float *x, int64_t x_stride, int64_t rows, float *y) {
  ep_layer(d, x, x_stride, rows, y, 0);
}

#if defined(__x86_64__) && defined(__GNUC__)
__attribute__((target("avx512f"))) static void ep_layer_wide(const ep_dense *d, const float *x, int64_t x_stride,
                                                             int64_t rows, float *y) {
  ep_layer(d, x, x_stride, rows, y, 1);
}
#endif

static inline void ep_layer_of_this_cpu(const ep_dense *d, const float *x, int64_t x_stride, int64_t rows, float *y) {
#if defined(__x86_64__) && defined(__GNUC__)
  if (__builtin_cpu_supports("avx512f")) {
    ep_layer_wide(d, x, x_stride, rows, y);
    return;
  }
#endif
  ep_layer_narrow(d, x, x_stride, rows, y);
}
#pragma GCC pop_options

/* Computes the outputs (rows x outputs of the last layer) of inputs (rows x inputs), whose memory has rows up to the next
 * multiple of EP_ROWS. `scratch` has room for two tiles of the widest layer, panels included. */
static inline void ep_forward(const ep_dense *layers, int count, const float *x, int64_t rows, float *out,
                              float *scratch, int64_t width) {
  const ep_dense *last = &layers[count - 1];
  for (int64_t first = 0; first < rows; first += EP_TILE) {
    const int64_t left = rows - first, own = left < EP_TILE ? left : EP_TILE;
    const float *from = x + first * layers[0].inputs;
    int64_t stride = layers[0].inputs;
    for (int k = 0; k < count; k++) {
      const ep_dense *d = &layers[k];
      float *to = scratch + (k % 2) * EP_TILE * width;
      ep_layer_of_this_cpu(d, from, stride, own, to);
      from = to;
      stride = d->panels * EP_PANEL;
    }
    for (int64_t r = 0; r < own; r++)
      memcpy(out + (first + r) * last->outputs, from + r * stride, last->outputs * sizeof(float));
  }
}

#endif /* ENVPOOL_ROLLOUT_DENSE_H */
