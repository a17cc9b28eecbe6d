/* Opening files, for games and for what is written beside them: never with the number of a standard stream. */
#ifndef ENVPOOL_NETHACK_OPEN_H
#define ENVPOOL_NETHACK_OPEN_H

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>

#include "envpool/descriptor.h"

static inline int nh_open(const char *path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const int mode = flags & O_CREAT ? va_arg(more, int) : 0;
  va_end(more);
  return envpool_high_descriptor(open(path, flags | O_CLOEXEC, mode));
}

static inline int nh_creat(const char *path, mode_t mode) { return nh_open(path, O_CREAT | O_WRONLY | O_TRUNC, mode); }

static inline FILE *nh_fopen(const char *path, const char *mode) {
  FILE *file = fopen(path, mode);
  if (file == NULL || fileno(file) > STDERR_FILENO) return file;
  const int high = fcntl(fileno(file), F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  fclose(file);
  file = high < 0 ? NULL : fdopen(high, mode); /* which truncates nothing */
  if (file == NULL && high >= 0) close(high);
  return file;
}

#endif /* ENVPOOL_NETHACK_OPEN_H */
