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

#endif
