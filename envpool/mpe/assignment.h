/* Optimal assignments, as scipy.optimize.linear_sum_assignment finds them for square matrices: shortest augmenting paths
 * (Crouse, On implementing 2D rectangular assignment algorithms, 2016), with scipy's order of columns, on which the
 * choice between assignments of equal costs depends. */
#ifndef ENVPOOL_MPE_ASSIGNMENT_H
#define ENVPOOL_MPE_ASSIGNMENT_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#define ASSIGNMENT_MAX 128

/* Assigns each row of costs (n, n) a column, with the least sum of costs, and writes the columns to chosen (n). Returns
 * 0 if there is none, because of costs that are not finite. 1 <= n <= ASSIGNMENT_MAX. */
static inline int32_t assign(const double *costs, int32_t n, int32_t *chosen) {
  double row_price[ASSIGNMENT_MAX], column_price[ASSIGNMENT_MAX], length[ASSIGNMENT_MAX];
  int32_t row_of[ASSIGNMENT_MAX], previous[ASSIGNMENT_MAX], open[ASSIGNMENT_MAX];
  uint8_t row_seen[ASSIGNMENT_MAX], column_seen[ASSIGNMENT_MAX];
  for (int32_t i = 0; i < n; i++) {
    row_price[i] = column_price[i] = 0;
    row_of[i] = chosen[i] = -1;
  }
  for (int32_t start = 0; start < n; start++) {
    /* Dijkstra's algorithm, from a row without a column to the nearest column without a row. Its first step: */
    int32_t num_open = n, row, end = -1, nearest = -1;
    double reached = INFINITY;
    for (int32_t j = n - 1; j >= 0; j--) {
      length[j] = costs[start * n + j] - column_price[j];
      if (length[j] < reached || (length[j] == reached && row_of[j] < 0)) {
        reached = length[j];
        nearest = j;
      }
    }
    if (nearest < 0 || reached == INFINITY) return 0;
    row_price[start] = reached;
    if (row_of[nearest] < 0) { /* nothing that has been decided changes */
      row_of[nearest] = start;
      chosen[start] = nearest;
      continue;
    }
    for (int32_t j = 0; j < n; j++) {
      open[j] = n - 1 - j;
      previous[j] = start;
      row_seen[j] = column_seen[j] = 0;
    }
    nearest = n - 1 - nearest;
    for (;;) {
      const int32_t column = open[nearest];
      column_seen[column] = 1;
      open[nearest] = open[--num_open];
      if (row_of[column] < 0) {
        end = column;
        break;
      }
      row = row_of[column];
      row_seen[row] = 1;
      nearest = -1;
      double least = INFINITY;
      for (int32_t k = 0; k < num_open; k++) {
        const int32_t other = open[k];
        const double through = reached + costs[row * n + other] - row_price[row] - column_price[other];
        if (through < length[other]) {
          previous[other] = row;
          length[other] = through;
        }
        if (length[other] < least || (length[other] == least && row_of[other] < 0)) {
          least = length[other];
          nearest = k;
        }
      }
      reached = least;
      if (nearest < 0 || reached == INFINITY) return 0;
    }
    row_price[start] = reached;
    for (int32_t i = 0; i < n; i++) {
      if (row_seen[i]) row_price[i] += reached - length[chosen[i]];
      if (column_seen[i]) column_price[i] -= reached - length[i];
    }
    for (;;) { /* the columns along the path move up by one row */
      const int32_t owner = previous[end], next = chosen[owner];
      row_of[end] = owner;
      chosen[owner] = end;
      if (owner == start) break;
      end = next;
    }
  }
  return 1;
}

#endif /* ENVPOOL_MPE_ASSIGNMENT_H */
