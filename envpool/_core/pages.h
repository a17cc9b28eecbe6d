/* The unit in which memory is mapped. */
#ifndef ENVPOOL_CORE_PAGES_H
#define ENVPOOL_CORE_PAGES_H

/* A multiple of the page size of every kernel for this processor, so that mappings may begin and end at multiples of it.
 * On x86-64, all pages have 4 KiB; on aarch64, kernels are built with pages of 4, 16 or 64 KiB. */
#define EP_LEAST_PAGE ((size_t)4 << 10)
#ifdef __x86_64__
#define EP_PAGE EP_LEAST_PAGE
#else
#define EP_PAGE ((size_t)64 << 10)
#endif

#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#include "envpool/platform.h"

/* ep_clear_pages() makes pages zero: those of ordinary memory, or of the mapping of a file that processes share. If it
 * fails, it returns -1, and nothing has changed. */
#ifdef ENVPOOL_PORTABLE
enum { EP_PRIVATE_PAGES, EP_SHARED_PAGES };
static inline int ep_clear_pages(void *at, size_t size, int kind) {
  if (kind == EP_SHARED_PAGES) return memset(at, 0, size), 0;
  void *fresh = mmap(at, size, PROT_READ | PROT_WRITE, MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return fresh == MAP_FAILED ? -1 : 0;
}
static inline void ep_use_huge_pages(void *at, size_t size) { (void)at, (void)size; }
#else
enum { EP_PRIVATE_PAGES = MADV_DONTNEED, EP_SHARED_PAGES = MADV_REMOVE };
static inline int ep_clear_pages(void *at, size_t size, int kind) { return madvise(at, size, kind); }
static inline void ep_use_huge_pages(void *at, size_t size) { madvise(at, size, MADV_HUGEPAGE); }
#endif

#endif
