/* The memory that a game allocates. The game leaves most of it to the end of the process, so that each game would leak
 * some. Therefore its calls of malloc, free and the like lead here, where every block is kept in a list of its copy of the
 * library, and the list is freed when the game ends. */
#ifndef ENVPOOL_NETHACK_HEAP_H
#define ENVPOOL_NETHACK_HEAP_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The head of a block, and of the list of blocks, which is circular. */
typedef struct nh_block {
  struct nh_block *next, *previous;
  size_t size;
  uint64_t mark; /* NH_MARK + the address of the block: tells it from memory that the C library has allocated         */
} nh_block;

#define NH_MARK UINT64_C(0x9e3779b97f4a7c15)

/* The list of the game that this thread plays; NULL: none. */
static __thread nh_block *nh_blocks;

static inline int nh_is_block(const nh_block *b) { return b->mark == NH_MARK + (uint64_t)(uintptr_t)b; }

static void *nh_malloc(size_t size) {
  nh_block *list = nh_blocks, *b;
  if (list == NULL || size > PTRDIFF_MAX - sizeof *b) return malloc(size);
  b = (nh_block *)malloc(sizeof *b + size);
  if (b == NULL) return NULL;
  b->size = size;
  b->mark = NH_MARK + (uint64_t)(uintptr_t)b;
  b->next = list->next;
  b->previous = list;
  list->next->previous = b;
  list->next = b;
  return b + 1;
}

static void nh_free(void *memory) {
  nh_block *b = (nh_block *)memory - 1;
  if (memory == NULL) return;
  if (!nh_is_block(b)) {
    free(memory);
    return;
  }
  b->previous->next = b->next;
  b->next->previous = b->previous;
  b->mark = 0;
  free(b);
}

static void *nh_calloc(size_t count, size_t size) {
  size_t bytes;
  void *memory = __builtin_mul_overflow(count, size, &bytes) ? NULL : nh_malloc(bytes);
  return memory == NULL ? NULL : memset(memory, 0, bytes);
}

static void *nh_realloc(void *memory, size_t size) {
  const nh_block *b = (const nh_block *)memory - 1;
  void *moved;
  if (memory == NULL) return nh_malloc(size);
  if (!nh_is_block(b)) return realloc(memory, size);
  moved = nh_malloc(size);
  if (moved == NULL) return NULL;
  memcpy(moved, memory, b->size < size ? b->size : size);
  nh_free(memory);
  return moved;
}

/* Frees all blocks of a list. */
static inline void nh_free_blocks(nh_block *list) {
  for (nh_block *b = list->next, *next; b != NULL && b != list; b = next) {
    next = b->next;
    b->mark = 0;
    free(b);
  }
  list->next = list->previous = list;
}

#endif /* ENVPOOL_NETHACK_HEAP_H */
