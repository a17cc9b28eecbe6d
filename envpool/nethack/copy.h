/* Copies of libnethack.so: each environment has its own, since the game keeps its state in global variables.
 *
 * - A copy is loaded from a memory file, since the loader would return the library that it has if it saw the same file.
 * - Its read-only segments are mapped from the installed file afterwards, so that all copies share their pages, and the
 *   memory of the copied ones is given back.
 * - Its writable data are saved once. Restoring them resets the game much faster than loading the library again.
 * - All symbols are resolved when the copy is loaded, so that the game never calls the loader.
 * - Calls of abort, exit and _exit, with which the game reacts to its own errors, lead back to the caller of the game,
 *   instead of ending the process. The memory of the game is freed when it ends, see heap.h. The files that it opens
 *   are not standard streams of this process, see open.h.
 *
 * Functions return 0, or -1 and say why in `why`. Different copies may be used at the same time. */
#ifndef ENVPOOL_NETHACK_COPY_H
#define ENVPOOL_NETHACK_COPY_H

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include "envpool/nethack/heap.h"
#include "envpool/nethack/interface.h"
#include "envpool/nethack/open.h"

/* ---- the way out of a game that wants to end the process ------------------------------------------------------------ */

static __thread void *nh_way_out[5]; /* of __builtin_setjmp(); longjmp() may be a checked one, which knows one stack */
static __thread int nh_has_way_out;

/* Takes the place of abort, exit and _exit in every copy. */
static void nh_leave(int status) {
  if (!nh_has_way_out) _exit(status);
  __builtin_longjmp(nh_way_out, 1);
}

/* Takes the place of operator new, which must not return NULL. */
static void *nh_new(size_t size) {
  void *memory = nh_malloc(size ? size : 1);
  if (memory == NULL) nh_leave(EXIT_FAILURE);
  return memory;
}

static inline void nh_enter(nh_copy *c) {
  nh_has_way_out = 1;
  nh_blocks = c->blocks;
}

static inline void nh_exit(void) {
  nh_has_way_out = 0;
  nh_blocks = NULL;
}

/* Starts a game if there are settings, else presses a key, and returns when the game waits for the next one. Returns -1
 * if the game wanted to end the process: then only nh_finish() may follow. */
static __attribute__((noinline)) int nh_play(nh_copy *c, nh_exchange *x, nh_settings *settings) {
  if (__builtin_setjmp(nh_way_out)) {
    nh_exit();
    c->has_left = 1;
    return -1;
  }
  nh_enter(c);
  c->context = settings ? c->start(x, NULL, settings) : c->step(c->context, x);
  nh_exit();
  return 0;
}

/* Destroys the windows of a game that waits for a key: their strings are memory that libstdc++ has allocated, which is not
 * in the list of blocks. A game that is over has destroyed them. One that wanted to end the process may have left one of
 * them half changed, and keeps them. */
static __attribute__((noinline)) void nh_drop_windows(nh_copy *c) {
  if (c->has_left || *c->windows == NULL) return;
  if (!__builtin_setjmp(nh_way_out)) {
    nh_enter(c);
    c->drop_windows(c->windows);
  }
  nh_exit();
}

static __attribute__((noinline)) void nh_end_game(nh_copy *c) {
  if (!__builtin_setjmp(nh_way_out)) {
    nh_enter(c);
    c->end(c->context);
  }
  nh_exit();
}

/* A game that wanted to end the process leaves the game data open. */
static __attribute__((noinline)) void nh_close_data(nh_copy *c) {
  if (!__builtin_setjmp(nh_way_out)) {
    nh_enter(c);
    c->close_data();
  }
  nh_exit();
}

/* Ends the game, if there is one, and makes the copy as it was after loading. */
static void nh_finish(nh_copy *c) {
  nh_drop_windows(c);
  if (c->context != NULL) nh_end_game(c);
  nh_close_data(c);
  c->context = NULL;
  c->has_left = 0;
  nh_free_blocks(c->blocks);
  memcpy(c->data, c->initial, c->initial_size);
  memset(c->data + c->initial_size, 0, c->data_size - c->initial_size);
}

/* ---- loading --------------------------------------------------------------------------------------------------------- */

static int nh_fail(nh_copy *c, const char *what, const char *reason) {
  snprintf(c->why, NH_WHY_BYTES, "%s: %s", what, reason);
  return -1;
}

/* Undoes nh_replace_calls(). Unloading the copy frees what loading it allocated, which must go back to where it
 * comes from. */
static void nh_restore_calls(nh_copy *c) {
  for (size_t k = 0; k < NH_NUM_REPLACED; k++) {
    if (c->calls[k].slot != NULL) *c->calls[k].slot = c->calls[k].original;
  }
}

static void nh_unload(nh_copy *c) {
  if (c->handle != NULL) {
    if (c->initial != NULL && c->blocks != NULL) nh_finish(c);
    nh_restore_calls(c);
    dlclose(c->handle);
  }
  if (c->file > 0) close(c->file);
  free(c->initial);
  free(c->blocks);
  c->blocks = NULL;
  c->handle = NULL;
  c->initial = NULL;
  c->file = 0;
}

static uintptr_t nh_page_floor(uintptr_t x) { return x & ~((uintptr_t)sysconf(_SC_PAGESIZE) - 1); }

/* Maps the read-only segments from the installed file, and finds the writable data. */
static int nh_share_pages(nh_copy *c, int library) {
  const ElfW(Ehdr) *head = (const ElfW(Ehdr) *)c->base;
  const ElfW(Phdr) *segment = (const ElfW(Phdr) *)(c->base + head->e_phoff);
  const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  uintptr_t begin = 0, end = 0;
  for (int i = 0; i < head->e_phnum; i++) {
    const ElfW(Phdr) s = segment[i]; /* a copy: its page is about to be replaced */
    if (s.p_type == PT_GNU_RELRO) begin = nh_page_floor(s.p_vaddr + s.p_memsz);
    if (s.p_type != PT_LOAD) continue;
    if (s.p_flags & PF_W) {
      end = s.p_vaddr + s.p_memsz;
      if (begin < s.p_vaddr) begin = s.p_vaddr;
      continue;
    }
    const uintptr_t from = nh_page_floor(s.p_vaddr), to = nh_page_floor(s.p_vaddr + s.p_memsz + page - 1);
    const uintptr_t at = nh_page_floor(s.p_offset);
    if (mmap(c->base + from, to - from, PROT_READ | (s.p_flags & PF_X ? PROT_EXEC : 0), MAP_PRIVATE | MAP_FIXED,
             library, (off_t)at) == MAP_FAILED)
      return nh_fail(c, "mapping libnethack.so failed", strerror(errno));
    /* Without the hole, the copy works as well, but takes more memory. */
    (void)!fallocate(c->file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)at,
                     (off_t)(nh_page_floor(s.p_offset + s.p_filesz) - at));
  }
  if (end <= begin) return nh_fail(c, "libnethack.so", "it has no writable data");
  c->data = c->base + begin;
  c->data_size = end - begin;
  return 0;
}

/* The functions that are replaced in every copy. Those that begin with _Z are operator new and two forms of operator
 * delete: the library has the second one itself, but calls that of libstdc++ in a process where that is global. */
static const struct {
  const char *name;
  void (*replacement)(void);
} nh_replaced[NH_NUM_REPLACED] = {
    {"abort", (void (*)(void))nh_leave},    {"exit", (void (*)(void))nh_leave},
    {"_exit", (void (*)(void))nh_leave},    {"malloc", (void (*)(void))nh_malloc},
    {"calloc", (void (*)(void))nh_calloc},  {"realloc", (void (*)(void))nh_realloc},
    {"free", (void (*)(void))nh_free},      {"_Znwm", (void (*)(void))nh_new},
    {"_ZdlPv", (void (*)(void))nh_free},    {"_ZdlPvm", (void (*)(void))nh_free},
    {"open", (void (*)(void))nh_open},      {"creat", (void (*)(void))nh_creat},
    {"fopen", (void (*)(void))nh_fopen},
};

/* Enters the replacements into the table through which the copy calls functions of other libraries. */
static int nh_replace_calls(nh_copy *c, const ElfW(Dyn) *entry) {
  const ElfW(Rela) *slot = NULL;
  const ElfW(Sym) *symbols = NULL;
  const char *names = NULL;
  size_t size = 0, num_replaced = 0;
  for (; entry->d_tag != DT_NULL; entry++) {
    /* The loader has added the base address, except on some architectures. */
    char *address = (char *)entry->d_un.d_ptr;
    if (address < c->base) address = c->base + entry->d_un.d_ptr;
    if (entry->d_tag == DT_JMPREL) slot = (const ElfW(Rela) *)address;
    if (entry->d_tag == DT_SYMTAB) symbols = (const ElfW(Sym) *)address;
    if (entry->d_tag == DT_STRTAB) names = address;
    if (entry->d_tag == DT_PLTRELSZ) size = entry->d_un.d_val;
  }
  if (slot == NULL || symbols == NULL || names == NULL) return nh_fail(c, "libnethack.so", "it has no table of calls");
  for (size_t i = 0; i < size / sizeof *slot; i++) {
    const char *name = names + symbols[ELF64_R_SYM(slot[i].r_info)].st_name;
    char *target = c->base + slot[i].r_offset;
    for (size_t k = 0; k < NH_NUM_REPLACED; k++) {
      if (strcmp(name, nh_replaced[k].name) != 0) continue;
      if (target < c->data || target >= c->data + c->data_size)
        return nh_fail(c, "libnethack.so", "its table of calls is read-only");
      c->calls[k] = (nh_call){(void (**)(void))target, *(void (**)(void))target};
      *c->calls[k].slot = nh_replaced[k].replacement;
      num_replaced++;
    }
  }
  if (num_replaced != NH_NUM_REPLACED) return nh_fail(c, "libnethack.so", "it does not call the functions of nle 1.3.0");
  return 0;
}

static int nh_save_data(nh_copy *c) {
  c->initial_size = c->data_size;
  while (c->initial_size > 0 && c->data[c->initial_size - 1] == 0) c->initial_size--;
  c->initial = (char *)malloc(c->initial_size);
  c->blocks = (nh_block *)calloc(1, sizeof(nh_block));
  if (c->initial == NULL || c->blocks == NULL) return nh_fail(c, "saving its initial data failed", strerror(ENOMEM));
  nh_free_blocks(c->blocks);
  memcpy(c->initial, c->data, c->initial_size);
  return 0;
}

static int nh_copy_file(nh_copy *c, int library, size_t size) {
  off_t at = 0;
  c->file = envpool_high_descriptor(memfd_create("envpool-nethack", MFD_CLOEXEC));
  if (c->file < 0) return nh_fail(c, "memfd_create failed", strerror(errno));
  while ((size_t)at < size) {
    const ssize_t n = sendfile(c->file, library, &at, size - (size_t)at);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return nh_fail(c, "copying libnethack.so failed", n ? strerror(errno) : "it became shorter");
  }
  return 0;
}

/* Loads a copy of the open file `library` of `size` bytes into *c, which is zeroed. */
static int nh_load(nh_copy *c, int library, size_t size) {
  char path[64];
  struct link_map *map;
  if (nh_copy_file(c, library, size)) goto failed;
  snprintf(path, sizeof path, "/proc/self/fd/%d", c->file);
  c->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (c->handle == NULL || dlinfo(c->handle, RTLD_DI_LINKMAP, &map)) {
    nh_fail(c, "loading libnethack.so failed", dlerror());
    goto failed;
  }
  c->base = (char *)map->l_addr;
  *(void **)&c->start = dlsym(c->handle, "nle_start");
  *(void **)&c->step = dlsym(c->handle, "nle_step");
  *(void **)&c->end = dlsym(c->handle, "nle_end");
  *(void **)&c->close_data = dlsym(c->handle, "dlb_cleanup");
  c->windows = (void **)dlsym(c->handle, "_ZN10nethack_rl9NetHackRL8instanceE");
  *(void **)&c->drop_windows = dlsym(c->handle, "_ZNSt10unique_ptrIN10nethack_rl9NetHackRLESt14default_deleteIS1_EED1Ev");
  if (c->start == NULL || c->step == NULL || c->end == NULL || c->close_data == NULL || c->windows == NULL ||
      c->drop_windows == NULL) {
    nh_fail(c, "libnethack.so", "it has no functions nle_start, nle_step, nle_end and dlb_cleanup, or no NetHackRL");
    goto failed;
  }
  if (nh_share_pages(c, library) || nh_replace_calls(c, map->l_ld) || nh_save_data(c)) goto failed;
  return 0;
failed:
  nh_unload(c);
  return -1;
}

#endif /* ENVPOOL_NETHACK_COPY_H */
